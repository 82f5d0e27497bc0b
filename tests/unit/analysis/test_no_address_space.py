"""F16, F20: what is said of a process without an address space, whatever is asked of it."""

from __future__ import annotations

import pytest
from mmpscope.analysis import LoadedSnapshot, diff, measure_fragmentation, summarize
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.reporters.diff_report import report_diff
from mmpscope.analysis.reporters.head import draw_head
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from support.loaded import load_map, load_text

SENTENCE = "no address space: a kernel thread, a zombie, or no permission to read it"


@pytest.fixture
def empty() -> LoadedSnapshot:
    """A snapshot of an empty map."""
    return load_text(b"")


def test_f16_the_second_line_says_that_there_is_no_address_space(empty: LoadedSnapshot) -> None:
    """Before any figure, and once; a process with one region has nothing like it."""
    assert draw_head(empty, Screen(100))[1] == SENTENCE
    assert SENTENCE not in "".join(draw_head(load_map("1000-2000 rw-p"), Screen(100)))


def test_f20_the_summary_shows_no_zero(empty: LoadedSnapshot) -> None:
    """A table of question marks would say nothing more, and zeros would be false."""
    lines = report_summary(empty, summarize(empty)).draw(Screen(100))
    assert not any(line.startswith(("Total", "Heap", "Free")) for line in lines)
    assert "no figures are known" in lines


@pytest.mark.parametrize("turned", [False, True])
def test_f20_a_diff_with_no_address_space_is_unknown(empty: LoadedSnapshot, *, turned: bool) -> None:
    """Nothing vanished and nothing appeared: one side could not be read, and so the change is not known."""
    sides = [load_map("10000-20000 rw-p"), empty]
    before, after = reversed(sides) if turned else sides
    result = diff(before, after)
    assert {row["metric"]: row["delta"] for row in result.totals.to_pylist()} == dict.fromkeys(METRICS)
    assert (result.ranges.num_rows, result.components.num_rows, result.movers.num_rows) == (0, 0, 0)
    assert all(f"in {'a' if turned else 'b'}: {SENTENCE}" in row["note"] for row in result.totals.to_pylist())
    text = "\n".join(report_diff((before, after), result, [], 0).draw(Screen(160)))
    assert SENTENCE in text
    assert "nothing changed" not in text


def test_f20_free_space_of_no_address_space_is_not_measured(empty: LoadedSnapshot) -> None:
    """The usual range of an unknown process is no free space."""
    assert measure_fragmentation(empty).windows.num_rows == 0
