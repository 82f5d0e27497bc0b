"""`mmp diff`: which two are compared and why so, what is listed, and that what is folded still adds up."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.formats.mmp.writer import write_file
from support.diff_command import ask, draw
from support.mmp_command import run_mmp
from support.shop import make_shop, write_shop
from support.smaps_text import Block, MapLine, make_block

SAMPLES = Path(__file__).parents[2] / "samples"
LEAK = SAMPLES / "linux-leak-v1.0.mmp"
LIBRARIES = tuple(f"/usr/lib/lib{number}.so" for number in range(4))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file of two snapshots of one process."""
    return write_shop(tmp_path)


def _write(path: Path, blocks: Sequence[Block]) -> Path:
    path.write_bytes(b"".join(map(make_block, blocks)))
    return path


def _heap(*, rss: int = 8, **counters: int) -> Block:
    line = MapLine(0x1000_0000, 0x1010_0000, path=b"[heap]")
    return Block(line, {"Rss": rss, "Pss": rss, "Private_Dirty": rss, "Anonymous": rss, **counters})


def _library(path: str, start: int) -> Block:
    line = MapLine(start, start + 0x4000, b"r-xp", 0, (8, 1), 77, path.encode())
    return Block(line, {"Rss": 16, "Pss": 16, "Private_Clean": 16}, b"rd ex mr mw me ")


def _fold(text: str) -> str:
    """Undo the line breaks of prose."""
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [80, 160])
def test_the_same_twice_is_no_change_in_one_line(shop: Path, columns: int) -> None:
    """Exit 0, and no table of zeros; why it was compared so stands below."""
    text = draw(f"{shop}#0", f"{shop}#0", columns=columns)
    assert "\nmode same: same instance\n\nnothing changed\n\nwhy same: boot id, pid namespace" in text
    assert text.count("same instance") == 1
    assert "KiB" not in text


def test_moments_of_one_second_are_told_apart() -> None:
    """Their heads have the milliseconds; those of two seconds need none."""
    close = [str(SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp") for side in "ab"]
    moments = re.findall(r"\d\d:\d\d:\d\d\.\d{3} UTC", draw(*close, columns=160))
    assert len(set(moments)) == 2
    assert not re.search(r"\d\.\d{3} UTC", draw(f"{LEAK}#0", f"{LEAK}#3", columns=160))


def test_what_neither_side_knows_has_not_changed(tmp_path: Path) -> None:
    """Two maps texts tell no counter; that is no change."""
    text = tmp_path / "a.maps"
    text.write_bytes(_library(LIBRARIES[0], 0x7000_0000).line.text + b"\n")
    assert "\n\nnothing changed\n" in draw(text, text)


def test_of_one_series_the_ends_are_compared(tmp_path: Path) -> None:
    """First and last, and the head says of how many; two are what they are."""
    path = tmp_path / "run.mmp"
    first, second = make_shop()
    write_file(path, [first, first, second])
    assert "the first and the last of 3 snapshots" in draw(path)
    assert [ask(path)[side]["snapshot"]["label"] for side in "ab"] == [f"{path}#0", f"{path}#2"]
    assert ask(path)["rows"] == ask(f"{path}#0", f"{path}#-1")["rows"] != []
    assert "the first and the last" not in draw(f"{path}#0", f"{path}#2")


def test_one_snapshot_is_refused(shop: Path) -> None:
    """One sentence on stderr that says what to give; exit 2."""
    answer = run_mmp("diff", f"{shop}#0")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "a comparison takes two" in answer.err
    assert "Give a second file" in answer.err


def test_a_table_is_of_two_snapshots(shop: Path) -> None:
    """`diff` sets three side by side; an exported table has room for two, and says how to choose them."""
    answer = run_mmp("export", *[f"{shop}#0"] * 3, "-t", "diff", "--format", "csv")
    assert (answer.code, answer.out) == (2, "")
    assert "Choose them as in FILE#0 FILE#-1" in answer.err


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_the_listed_and_the_folded_add_up_to_the_totals(metric: str, limit: int, shop: Path) -> None:
    """Every figure, whatever ranks the rows and however few are shown."""
    answer = ask(shop, "--metric", metric, "-n", limit)
    assert len(answer["rows"]) == (limit + 1 if limit else 4)
    totals = {row["metric"]: row["delta"] for row in answer["totals"]}
    sums = {name: sum(row[f"{name}_delta"] for row in answer["rows"]) for name in METRICS}
    assert sums == totals


def test_deltas_carry_their_sign(shop: Path) -> None:
    """Growth has a plus, loss a minus, and no change neither."""
    there, back = draw(shop, columns=160), draw(f"{shop}#1", f"{shop}#0", columns=160)
    assert re.search(r"^Private +12,940 +21,260 +\+8,320$", there, re.MULTILINE)
    assert re.search(r"^Private +21,260 +12,940 +-8,320$", back, re.MULTILINE)
    assert re.search(r"^Locked WS +0 +0 +0$", there, re.MULTILINE)


def test_a_type_narrows_the_lists_and_not_the_totals(shop: Path) -> None:
    """Types, movers and ranges are of that type; the head says that Total is of the whole process."""
    every, heap = ask(shop), ask(shop, "--type", "heap")
    assert heap["totals"] == every["totals"]
    assert [row["type"] for row in heap["types"]] == ["Total", "Heap"]
    for name in ("rows", "ranges"):
        assert {row["type_b"] for row in heap[name]} == {"Heap"}
        assert len(heap[name]) < len(every[name])
    assert "only what changed of Heap; Total is that of the whole process" in draw(shop, "--type", "heap")
    assert "Shareable  " not in draw(shop, "--type", "heap").partition("Change by type")[2]


def test_an_export_of_a_comparison_is_narrowed_alike(shop: Path) -> None:
    """`export -t diff --type` has the rows of `diff --type`, unfolded."""
    text = run_mmp("export", shop, "-t", "diff", "--type", "heap", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["address_b"] for row in rows] == [
        row["address_b"] for row in ask(shop, "--type", "heap")["rows"]
    ]


def test_the_user_decides_where_the_files_do_not_tell(tmp_path: Path) -> None:
    """Text names no process: taken for one, with the advice how to say that it is two."""
    a, b = (_write(tmp_path / name, [_heap(rss=rss)]) for name, rss in (("a", 8), ("b", 12)))
    assert "if they are two processes, --other" in _fold(draw(a, b))
    assert ask(a, b)["mode"] == "same"
    for mode, rows in (("same", 1), ("different", 1)):
        answer = ask(a, b, "--mode", mode)
        assert (answer["mode"], len(answer["rows"])) == (mode, rows)
        assert "if they are two" not in _fold(draw(a, b, "--mode", mode))


def test_what_shares_no_address_is_taken_for_two_processes(restarted: tuple[Path, Path]) -> None:
    """Nothing names a process, and everything lies elsewhere; the advice is how to say that it is one."""
    text = _fold(draw(*restarted))
    assert "mode different: unproven; if they are one, --same" in text
    assert "and no address in common: taken for two processes" in text


def test_the_sides_are_named_as_the_reasons_name_them(shop: Path) -> None:
    """Notes speak of a and b: so do the heads."""
    heads = [line for line in draw(shop, columns=160).splitlines() if "shop (pid 4242)" in line]
    assert [head[:3] for head in heads] == ["a: ", "b: "]


def test_a_known_identity_needs_no_advice(shop: Path) -> None:
    """Boot, pid and start time are alike: nobody has to be asked."""
    assert "--mode" not in draw(shop)


@pytest.mark.parametrize("words", [("--mode", "colour"), ("--metric", "colour"), ("--type", "colour")])
def test_unknown_words_are_refused_with_those_there_are(words: tuple[str, str], shop: Path) -> None:
    """Exit 2, and a list to choose from."""
    answer = run_mmp("diff", shop, *words)
    assert (answer.code, answer.out) == (2, "")
    assert "colour" in answer.err


def test_growth_that_is_no_new_memory_is_called_that(tmp_path: Path) -> None:
    """Whole below the totals, as prose; short in the row."""
    a = _write(tmp_path / "a", [_heap()])
    b = _write(tmp_path / "b", [_heap(rss=208, LazyFree=200)])
    text = draw(a, b, "--metric", "total_ws")
    told = "(MADV_FREE: given back, still resident until the system wants it)"
    assert f"Total WS: net growth is only LazyFree {told}" in _fold(text)
    assert "[heap]; net growth is only LazyFree\n" in draw(a, b, columns=160)


def test_what_one_side_does_not_know_is_no_zero(tmp_path: Path) -> None:
    """Maps text has no counters: `?`, with the reason in full, once; and no row that only repeats it."""
    blocks = [_heap(), *(_library(path, 0x7000_0000 + at * 0x10000) for at, path in enumerate(LIBRARIES))]
    b = _write(tmp_path / "b", blocks)
    a = tmp_path / "a"
    a.write_bytes(b"".join(block.line.text + b"\n" for block in blocks))
    assert "... (-v tells all reasons)" in draw(a, b)
    text = draw(a, b, "-v")
    assert re.search(r"^Total WS +\? +72\+ +\?$", text, re.MULTILINE)
    assert "Total WS: not all known" in text
    assert "lack Rss" in _fold(text)
    assert "What changed most" not in text
    assert "…" not in text


@pytest.fixture
def restarted(tmp_path: Path) -> tuple[Path, Path]:
    """Two texts with the same libraries, each at another address; the second has one more."""
    sides = []
    for name, base, count in (("a", 0x7000_0000, 3), ("b", 0x7800_0000, 4)):
        rows = [_library(path, base + at * 0x10000) for at, path in enumerate(LIBRARIES[:count])]
        sides.append(_write(tmp_path / name, rows))
    return sides[0], sides[1]


def test_modules_that_only_moved_are_counted(restarted: tuple[Path, Path]) -> None:
    """All of them do where a program started anew; -v lists them."""
    text = draw(*restarted, "--mode", "same")
    assert "3 modules at another address (-v lists them)" in text
    assert LIBRARIES[3] in text.partition("\nModules")[2]
    assert "\nmoved" not in text
    assert draw(*restarted, "--mode", "same", "-v").count("\nmoved") == 3


def test_a_limit_holds_for_modules_too(restarted: tuple[Path, Path]) -> None:
    """The one that matters by size stays, the rest is counted; JSON has all."""
    text = draw(*restarted, "--mode", "same", "-v", "-n", 1).partition("\nModules")[2]
    assert LIBRARIES[3] in text
    assert "(3 more)" in text
    assert len(ask(*restarted, "--mode", "same", "-n", 1)["modules"]) == 4


def _dlls(start: int) -> list[Block]:
    return [_library(path, start + number * 0x10000) for number, path in enumerate(LIBRARIES)]


def test_two_processes_are_compared_by_what_their_memory_is(tmp_path: Path) -> None:
    """No address in common, one library more: that is the change, and the head says how much was matched."""
    a = _write(tmp_path / "a", _dlls(0x7F00_0000_0000)[:3])
    b = _write(tmp_path / "b", _dlls(0x7FF0_0000_0000))
    text = draw(a, b)
    assert "matched 85 % of committed bytes: 85 % by path" in _fold(text)
    [row] = [line for line in text.splitlines() if line.startswith("new")][:1]
    assert "/lib3.so" in row
    answer = ask(a, b)
    assert [(row["word"], row["unit"]) for row in answer["rows"]] == [("new", "/usr/lib/lib3.so r-xp")]
    assert [row["match"] for row in answer["matching"]] == ["path", "not matched"]


def test_groups_and_small_changes_fold_into_sums_that_hold(shop: Path) -> None:
    """--by and --min choose what is shown; what is not is one row, and the sum is the total."""
    for words in (("--by", "type"), ("--by", "rule", "--min", "1M"), ("--by", "size-class", "--top", "1")):
        answer = ask(shop, *words)
        for metric in ("size", "private", "total_ws"):
            [total] = [row["delta"] for row in answer["totals"] if row["metric"] == metric]
            assert sum(row[f"{metric}_delta"] for row in answer["rows"]) == total
    assert answer["rows"][-1]["word"] == "others"
    assert "others" in draw(shop, "--min", "1M")


def test_the_user_says_what_the_two_are(tmp_path: Path) -> None:
    """--same and --other are the modes; both at once make no sense."""
    a, b = (_write(tmp_path / name, [_heap(rss=rss)]) for name, rss in (("a", 8), ("b", 12)))
    assert (ask(a, b, "--same")["mode"], ask(a, b, "--other")["mode"]) == ("same", "different")
    answer = run_mmp("diff", a, b, "--same", "--other")
    assert answer.code == 2
    assert "exclude each other" in answer.err


def test_the_clock_says_which_is_before() -> None:
    """Of one boot the earlier is before, in whatever order they are given, and that is said; unless told."""
    early, late = (f"{LEAK}#{number}" for number in (0, 1))
    forth, back = ask(early, late), ask(late, early)
    assert forth["totals"] == back["totals"]
    assert "taken before the first" in run_mmp("diff", late, early).out
    kept = ask(late, early, "--as-given")
    assert [row["a"] for row in kept["totals"]] == [row["b"] for row in forth["totals"]]


def test_groups_are_what_is_written_as_a_table(tmp_path: Path) -> None:
    """With --by a CSV has one row a group, all of them, and its changes add up to the total."""
    output = tmp_path / "groups.csv"
    words = ("diff", f"{LEAK}#0", f"{LEAK}#-1", "--by", "name")
    assert run_mmp(*words, "--top", 1, "-o", output).code == 0
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    answer = json.loads(run_mmp(*words, "--top", 0, "--json").out)
    listed = [row["unit"] for row in rows if row["word"] != "same"]
    assert sorted(listed) == sorted(row["unit"] for row in answer["rows"])
    assert {row["match"] for row in rows} == {"by name", "summary"}
    [private] = [row["delta"] for row in answer["totals"] if row["metric"] == "private"]
    assert sum(int(row["private_delta"]) for row in rows) == private
