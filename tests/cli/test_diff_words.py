"""`mmp diff` on real files, as a person reads it: what was loaded or started, and what growth is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mmpscope.analysis.diffs.groups import GROUPINGS
from support.diff_command import ask, draw
from support.smaps_text import Block, MapLine, make_block

SAMPLES = Path(__file__).parents[2] / "samples"
LEAK, ARENAS = SAMPLES / "linux-leak-v1.0.mmp", SAMPLES / "linux-arenas-v1.0.mmp"
PYTHON, JAVA = SAMPLES / "linux-python-v1.0.mmp", SAMPLES / "linux-java-v1.0.mmp"
BEFORE, AFTER = (SAMPLES / f"linux-reserve-commit-{side}-v1.0.mmp" for side in "ab")
WINDOWS = SAMPLES / "windows-reserve-commit-v1.0.mmp"
PAIRS = [
    pytest.param((BEFORE, AFTER), id="same"),
    pytest.param((PYTHON, JAVA), id="different"),
    pytest.param((f"{WINDOWS}#0", f"{WINDOWS}#-1"), id="windows"),
    pytest.param((f"{LEAK}#-1", ARENAS), id="programs"),
]


@pytest.mark.parametrize("by", GROUPINGS)
@pytest.mark.parametrize("pair", PAIRS)
def test_groups_of_real_processes_add_up(pair: tuple[object, ...], by: str) -> None:
    """Whatever groups them and however few are shown, rows add up to the totals."""
    answer = ask(*pair, "--by", by, "--top", 2)
    totals = {row["metric"]: row["delta"] for row in answer["totals"]}
    for name in ("size", "committed", "private", "total_ws"):
        deltas = [row[f"{name}_delta"] for row in answer["rows"]]
        if totals[name] is not None and None not in deltas:
            assert sum(deltas) == totals[name], name
    assert {row["match"] for row in answer["rows"]} <= {f"by {by}", "summary", None}
    assert all(row["unit"] for row in answer["rows"] if row["word"] != "others")


def test_a_thread_of_one_process_started_or_ended() -> None:
    """In the text; JSON has new and gone for all that can come and go. Of two processes neither happened."""
    assert re.search(r"^started +8 +reserve_commit$", draw(BEFORE, AFTER), re.MULTILINE)
    assert re.search(r"^ended +8 +reserve_commit$", draw(AFTER, BEFORE, "--as-given"), re.MULTILINE)
    assert [row["word"] for row in ask(BEFORE, AFTER)["threads"]] == ["new"]
    text = draw(f"{LEAK}#-1", ARENAS)
    assert "started" not in text
    assert "loaded" not in text
    assert re.search(r"^new +52 +arenas$", text, re.MULTILINE)


def _write(path: Path, *blocks: Block) -> Path:
    path.write_bytes(b"".join(map(make_block, blocks)))
    return path


def _library(name: bytes, start: int, **counters: int) -> Block:
    line = MapLine(start, start + 0x4000, b"r-xp", 0, (8, 1), 77, name)
    return Block(line, {"Rss": 4, "Pss": 4, "Private_Clean": 4, **counters}, b"rd ex mr mw me ")


def test_a_library_of_one_process_was_loaded_or_unloaded(tmp_path: Path) -> None:
    """A plug-in of which only one snapshot knows."""
    libc = _library(b"/usr/lib/libc.so.6", 0x7000_0000)
    a = _write(tmp_path / "a", libc)
    b = _write(tmp_path / "b", libc, _library(b"/opt/plugin.so", 0x7100_0000))
    assert re.search(r"^loaded +71000000 +\+16 +/opt/plugin.so$", draw(a, b, "--same"), re.MULTILINE)
    assert re.search(r"^unloaded +71000000 +-16 +/opt/plugin.so$", draw(b, a, "--same"), re.MULTILINE)


def test_what_units_grew_by_is_said_below_their_table(tmp_path: Path) -> None:
    """Once for all of one kind, three of them by name, and never cut off for want of room."""
    names = [f"/opt/lib{number}.so".encode() for number in range(5)]
    a, b = (
        _write(
            tmp_path / side,
            *(
                _library(name, base + at * 0x10000, Rss=rss, Private_Clean=rss)
                for at, name in enumerate(names)
            ),
        )
        for side, base, rss in (("a", 0x7000_0000, 4), ("b", 0x7800_0000, 12))
    )
    text = " ".join(draw(a, b, "--other", "--metric", "total_ws").split())
    units = "/opt/lib0.so r-xp, /opt/lib1.so r-xp, /opt/lib2.so r-xp and 2 more"
    assert f"net growth is only clean file pages: {units}" in text


def test_f30_a_heap_that_was_given_back_is_called_that(tmp_path: Path) -> None:
    """F30: Rss 200 to 900 MiB and LazyFree 0 to 720; JSON has the -20 MiB that are left, text the reason."""
    sides = []
    for side, rss, lazy in (("a", 200, 0), ("b", 900, 720)):
        kib = rss << 10
        heap = {"Rss": kib, "Pss": kib, "Private_Dirty": kib, "Anonymous": kib, "LazyFree": lazy << 10}
        sides.append(_write(tmp_path / side, Block(MapLine(0x1000_0000, 0x5000_0000, path=b"[heap]"), heap)))
    [row] = ask(*sides)["rows"]
    assert (row["total_ws_delta"], row["effective_ws_delta"]) == (700 << 20, -20 << 20)
    text = " ".join(draw(*sides, "--metric", "total_ws").split())
    assert "net growth is only LazyFree (MADV_FREE: given back" in text
    assert "Lazy" in text


def test_where_the_largest_block_lay_is_told_of_two_processes() -> None:
    """Nobody took it from the other; the neighbours are named, and in one process who took it."""
    two = " ".join(draw(PYTHON, JAVA).split())
    assert re.search(r"Largest free block: .* TiB -> .* TiB; in a between .* and .*, in b between", two)
    assert "; taken by Private Data rw-p, 16,384 KiB at 300012340000; Private Data ---p" in " ".join(
        draw(BEFORE, AFTER).split()
    )


def test_mappings_stand_beside_their_limit() -> None:
    """What the kernel counts, and vm.max_map_count; not on systems without."""
    assert re.search(r"^Mappings +26 +31 +\+5  of at most 65,530$", draw(BEFORE, AFTER), re.MULTILINE)
    assert "Mappings" not in draw(f"{WINDOWS}#0", f"{WINDOWS}#-1")


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_two_of_one_file_are_both_named(columns: int) -> None:
    """Heads share what is not known of either, and never the rest of a line that was too long."""
    assert draw(PYTHON, PYTHON, columns=columns).count("linux-python-v1.0.mmp#0\n") == 2


@pytest.mark.parametrize(
    ("rights", "inode", "told"),
    [(b"rwxp", 77, "1 changed in protection"), (b"r-xp", 78, "1 changed in backing")],
)
def test_what_changed_of_a_range_is_said(rights: bytes, inode: int, told: str, tmp_path: Path) -> None:
    """Rights are seen in the row; a file that was replaced under its name is seen nowhere else."""
    line = MapLine(0x7000_0000, 0x7000_4000, b"r-xp", 0, (8, 1), 77, b"/usr/lib/libc.so.6")
    other = MapLine(0x7000_0000, 0x7000_4000, rights, 0, (8, 1), inode, b"/usr/lib/libc.so.6")
    a, b = (_write(tmp_path / name, Block(each, {"Rss": 4})) for name, each in (("a", line), ("b", other)))
    text = draw(a, b, "--same")
    assert f"1 range of addresses: {told} (-v lists them)" in text
    assert ("1 more changed only in backing or in figures that -v shows" in text) == (inode == 78)


def test_a_type_that_changed_only_in_hidden_figures_is_no_row_of_zeros() -> None:
    """Libraries whose PSS alone changed are listed by -v, which shows PSS."""
    zeros = re.compile(r"^(Image|Heap|Stack)( +0)+$", re.MULTILINE)
    assert not zeros.search(draw(BEFORE, AFTER))
    assert re.search(r"^Image .*[+-]\d", draw(BEFORE, AFTER, "-v", columns=240), re.MULTILINE)


def test_growth_of_another_figure_among_the_others_is_told() -> None:
    """Ranked by private memory, shared pages are in the folded row: a line says so, and how to list them."""
    told = "others have the largest change of Total WS (+16,452): --metric total_ws lists it"
    assert told in draw(BEFORE, AFTER, "--top", "1", columns=160)
    assert "others have" not in draw(BEFORE, AFTER, columns=160)
