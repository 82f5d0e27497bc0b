"""Free space and diff on every sample and every real smaps file: laws hold where nobody drew the input."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mmpscope import analysis
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.diffs.sides import read_side
from mmpscope.analysis.freespace import find_snapshot_holes
from mmpscope.analysis.intervals import clip, measure_coverage
from support.corpus import CORPUS

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

ROOT = Path(__file__).parents[2]
REFUSED = ("broken-headers.smaps",)
EXCERPTS = ("shuffled-keys.smaps",)
"""Its regions are in no order that a kernel has: it does not tell what is free."""
SAMPLES = sorted((ROOT / "samples").glob("*.mmp"))
TEXTS = sorted(path for path in (CORPUS / "smaps").rglob("*.smaps") if path.name not in REFUSED)


@cache
def load(path: Path) -> list[LoadedSnapshot]:
    """Load a file once for all tests."""
    return analysis.load(path)


@pytest.fixture(params=[*SAMPLES, *TEXTS], ids=lambda path: path.name)
def snapshot(request: pytest.FixtureRequest) -> LoadedSnapshot:
    """The last snapshot of each file."""
    return load(request.param)[-1]


WHOLE = [path for path in (*SAMPLES, *TEXTS) if path.name not in EXCERPTS]


@pytest.fixture(params=WHOLE, ids=lambda path: path.name)
def mapped(request: pytest.FixtureRequest) -> LoadedSnapshot:
    """A snapshot of which every region is known, and so what is free."""
    return load(request.param)[-1]


def test_the_corpus_is_here() -> None:
    """Say so where the real files are missing, rather than test nothing in silence."""
    if not TEXTS:
        pytest.skip(f"no smaps files in {CORPUS} (set MMP_CORPUS)")
    assert len(TEXTS) > 10


def test_regions_and_holes_are_the_whole_usable_range(mapped: LoadedSnapshot) -> None:
    """Every byte of the range is in a region, free or unusable, in one of them only; where there is any."""
    low, high, _ = mapped.usable_range
    if mapped.regions.num_rows == 0:  # a kernel thread has no address space, so nothing in it is free
        high = low
    holes = find_snapshot_holes(mapped)
    regions, _ = clip(read_side(mapped.regions).settled.ranges, low, high)
    assert measure_coverage(regions) + measure_coverage(holes.ranges) == high - low


def test_windows_add_up_and_figures_stay_between_0_and_1(mapped: LoadedSnapshot) -> None:
    """Mapped, unusable and free are the window; no ratio leaves its range."""
    answer = analysis.measure_fragmentation(mapped)
    for row in answer.windows.to_pylist():
        assert row["size"] == row["mapped"] + row["unusable"] + row["free"] == row["high"] - row["low"]
        assert row["external"] is None or 0 <= row["external"] < 1
    for row in answer.requests.to_pylist():
        assert 0 <= row["unusable_index"] <= 1
        assert (row["fragmentation_index"] is None) == (row["holes"] > 0)


def test_a_splitter_joins_what_lies_beside_it(mapped: LoadedSnapshot) -> None:
    """Merged is both holes and the splitter; the gain exceeds neither hole, and falls from row to row."""
    rows = analysis.list_splitters(mapped).to_pylist()
    for row in rows:
        assert row["merged"] == row["below"] + row["size"] + row["above"]
        assert row["gain"] == min(row["below"], row["above"])
        assert row["regions"] > 0
    assert [row["gain"] for row in rows] == sorted((row["gain"] for row in rows), reverse=True)


def test_nothing_changes_against_itself(snapshot: LoadedSnapshot) -> None:
    """diff(a, a) is empty for every real process."""
    assert analysis.diff(snapshot, snapshot).is_empty


@pytest.mark.parametrize(("before", "after"), list(pairwise(TEXTS)), ids=lambda path: path.name)
def test_even_two_strange_processes_add_up(before: Path, after: Path) -> None:
    """Two processes that have nothing to do with each other, by address: sums hold, signs turn."""
    a, b = load(before)[0], load(after)[0]
    forth, back = (analysis.diff(*pair, mode="same", limit=9) for pair in ((a, b), (b, a)))
    for row, turned in zip(forth.totals.to_pylist(), back.totals.to_pylist(), strict=True):
        name = f"{row['metric']}_delta"
        assert (row["delta"] is None) == (turned["delta"] is None)
        if row["delta"] is None:
            continue
        assert row["delta"] == -turned["delta"]
        for table in (forth.components, forth.movers):
            assert sum(delta for delta in table.column(name).to_pylist() if delta is not None) == row["delta"]
        if not row["partial"]:
            assert row["delta"] == row["b"] - row["a"]
    assert forth.components.num_rows == back.components.num_rows


def test_a_leak_is_the_heap_and_nothing_else() -> None:
    """From the first to the last snapshot of the leak, the mover that counts is the heap."""
    series = load(ROOT / "samples" / "linux-leak-v1.0.mmp")
    result = analysis.diff(series[0], series[-1])
    assert result.identity.verdict == "same instance"
    top = result.movers.to_pylist()[0]
    assert (top["word"], top["type_b"], top["details_b"]) == ("grown", "Heap", "[heap]")
    steps = [analysis.diff(a, b).totals.column("delta").to_pylist() for a, b in pairwise(series)]
    assert [sum(each) for each in zip(*steps, strict=True)] == result.totals.column("delta").to_pylist()
    assert len(result.totals) == len(METRICS)


def test_the_fragmented_sample_holds_20_mib_and_no_page_more() -> None:
    """Ten holes, the largest of 20 MiB; what the kernel keeps below the stack is free, and no place."""
    [snapshot] = load(ROOT / "samples" / "linux-fragmented-v1.0.mmp")
    mib = 1 << 20
    assert analysis.check_fit(snapshot, 20 * mib).checks[0].outcome == "fits"
    refused = analysis.check_fit(snapshot, 20 * mib + 1)
    assert (refused.outcome, refused.binding.name) == ("does not fit", "address space")
    assert refused.binding.available == 20 * mib
    whole = analysis.measure_fragmentation(snapshot).windows.to_pylist()[0]
    assert (whole["holes"], whole["largest"]) == (11, 20 * mib)
