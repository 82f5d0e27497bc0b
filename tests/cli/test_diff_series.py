"""`mmp diff` of three snapshots and more: columns side by side, the first and the last compared."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, load, summarize
from mmpscope.analysis.diffs.series import number_instances, read_series
from support.diff_command import ask, draw
from support.mmp_command import run_mmp

SAMPLES = Path(__file__).parents[2] / "samples"
LEAK = SAMPLES / "linux-leak-v1.0.mmp"
ARENAS, PYTHON = SAMPLES / "linux-arenas-v1.0.mmp", SAMPLES / "linux-python-v1.0.mmp"
JAVA = SAMPLES / "linux-java-v1.0.mmp"


def _read(text: str, row: str) -> list[int]:
    [found] = re.findall(rf"^{row} +(.*)$", text, re.MULTILINE)[:1]
    return [int(cell.strip("+*").replace(",", "")) for cell in found.split()]


def _sum_up(snapshot: LoadedSnapshot) -> dict[str, Any]:
    total: dict[str, Any] = summarize(snapshot).to_pylist()[0]
    return total


@pytest.mark.parametrize("columns", [80, 160])
def test_three_stand_side_by_side_and_the_ends_are_compared(columns: int) -> None:
    """Each column is the summary of its snapshot, and the change is that of the last from the first."""
    text = draw(f"{LEAK}#0", f"{LEAK}#5", f"{LEAK}#-1", columns=columns)
    private = _read(text, "Private")
    own = [_sum_up(each)["private"] >> 10 for at in (0, 5, -1) for each in load(f"{LEAK}#{at}")]
    assert private == [*own, own[-1] - own[0]]
    assert _read(text, "Heap") == [196, 1160, 3856, 3660]
    assert "Before" not in text
    assert "the first and the last of 3 snapshots" in text


def test_every_column_of_json_is_a_summary_and_the_rest_is_the_diff_of_the_ends() -> None:
    """`series` has all snapshots, unfolded; all other keys are those of the two ends."""
    answer, ends = ask(f"{LEAK}#0:"), ask(f"{LEAK}#0", f"{LEAK}#-1")
    snapshots = list(load(str(LEAK)))
    assert [step["label"] for step in answer["series"]] == [each.label for each in snapshots]
    for step, snapshot in zip(answer["series"], snapshots, strict=True):
        total = _sum_up(snapshot)
        assert step["totals"] == {name: total[name] for name in step["totals"]}
        assert sum(row["private"] for row in step["types"].values()) == total["private"]
    assert {**answer, "series": 0} == {**ends, "series": 0}


@pytest.mark.parametrize("columns", [80, 160])
def test_of_many_as_many_are_shown_as_fit_and_the_rest_is_told(columns: int) -> None:
    """Both ends always, the others evenly between, the same in each table, and how many are not there."""
    text = draw(f"{LEAK}#0:", columns=columns)
    numbers = [
        re.findall(r"\d+", line) for line in re.findall(r"^(?:Total|Private by type) .*Change", text, re.M)
    ]
    assert numbers[0] == numbers[1]
    assert (numbers[0][0], numbers[0][-1]) == ("1", "20")
    assert f"{20 - len(numbers[0])} more between them (-v names them" in text
    assert "no room for" not in text.partition("\na: ")[0]
    verbose = draw(f"{LEAK}#0:", "-v", columns=columns)
    assert len(re.findall(r"^ ?\d+  leak", verbose, re.M)) == 20
    assert "of them have no column (--json has their figures)" in verbose


@pytest.mark.parametrize("columns", [80, 100])
def test_types_that_are_wider_than_totals_fit_too(columns: int) -> None:
    """Free space in TiB makes wider columns than any total of these, and fewer of them."""
    text = draw(f"{LEAK}#0:", "--metric", "size", columns=columns)
    assert "Free " in text
    assert max(map(len, text.partition("\na: ")[0].splitlines())) <= columns


def test_a_figure_of_which_there_is_nothing_has_no_table_of_types() -> None:
    """Nothing is swapped out: one row of zeros among the totals, and no empty lines."""
    head = draw(f"{LEAK}#0:", "--metric", "swap").partition("\na: ")[0]
    assert re.search(r"^Swap +0 ", head, re.MULTILINE)
    assert "by type" not in head
    assert "\n\n\n" not in head


def test_the_clock_orders_snapshots_of_one_program() -> None:
    """Whatever the order given, unless told to keep it; that is said."""
    given = (f"{LEAK}#9", f"{LEAK}#0", f"{LEAK}#4")
    answer = ask(*given)
    assert [step["label"] for step in answer["series"]] == [given[1], given[2], given[0]]
    assert "in the order of the clock of their boot" in draw(*given).replace("\n", " ")
    assert [step["label"] for step in ask(*given, "--as-given")["series"]] == list(given)


def test_programs_of_one_boot_stay_as_given() -> None:
    """Neither is the earlier state of another: the order is the user's."""
    given = (JAVA, ARENAS, PYTHON)
    answer = ask(*given)
    assert [step["name"] for step in answer["series"]] == ["java", "arenas", "python3"]
    assert [step["instance"] for step in answer["series"]] == [1, 2, 3]
    assert re.search(r"^ +Process +Instance", draw(*given), re.MULTILINE)


def test_another_instance_in_the_middle_shows() -> None:
    """A column that is of another process has another number; of one process there is no such column."""
    text = draw(f"{LEAK}#0", ARENAS, f"{LEAK}#-1", columns=160)
    assert re.findall(r"^\d  \w+ \(pid \d+\) +(\d)", text, re.MULTILINE) == ["1", "2", "1"]
    assert "Instance" not in draw(f"{LEAK}#0", f"{LEAK}#1", f"{LEAK}#2")


def test_what_one_end_lacks_is_marked_and_no_change(tmp_path: Path) -> None:
    """Text knows no page tables: its column is at least that, and the change is without them."""
    text_file = tmp_path / "b.smaps"
    assert run_mmp("export", f"{LEAK}#-1", "-t", "regions", "--format", "smaps", "-o", text_file).code == 0
    text = draw(f"{LEAK}#0", f"{LEAK}#5", text_file)
    [private] = re.findall(r"^Private  +(.*)$", text, re.MULTILINE)
    assert private.split() == ["748", "1,716", "4,364+", "+3,660*"]
    assert "+ at least: the rest is not known" in text
    assert "* of what the first and the last both know" in text.replace("\n", " ")


def test_a_middle_that_does_not_know_is_a_question_mark(tmp_path: Path) -> None:
    """Maps have no counters: that column is unknown, and the change of the ends is not."""
    maps = tmp_path / "middle.maps"
    maps.write_text("55ee3e76e000-55ee3e79f000 rw-p 00000000 00:00 0 [heap]\n")
    text = draw(f"{LEAK}#0", maps, f"{LEAK}#-1")
    [private] = re.findall(r"^Total WS  +(.*)$", text, re.MULTILINE)
    assert private.split() == ["2,812", "?", "6,480", "+3,668"]
    step = ask(f"{LEAK}#0", maps, f"{LEAK}#-1")["series"][1]
    assert (step["totals"]["total_ws"], step["instance"], step["pid"]) == (None, None, None)


def test_types_are_narrowed_side_by_side_too() -> None:
    """--type chooses rows of the table of types; totals stay those of the whole."""
    text = draw(f"{LEAK}#0:", "--type", "heap").partition("\na: ")[0]
    assert "\nHeap " in text
    assert "\nStack " not in text
    assert "\nPrivate " in text


def test_the_tables_of_the_ends_alone_are_kept() -> None:
    """However many snapshots there are, no more than those that may be an end stay in memory."""
    found = list(load(str(LEAK)))
    found.append(found.pop(0))
    alive = [weakref.ref(each) for each in found]
    series = read_series(found, "private", as_given=False)
    gc.collect()
    assert [at for at, each in enumerate(alive) if each() is not None] == [18, 19]
    assert (series.first.label, series.last.label) == (f"{LEAK}#0", f"{LEAK}#19")
    assert series.is_sorted
    assert number_instances(series.steps) == [1] * 20
