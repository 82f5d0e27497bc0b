"""Raw tables that no honest reader makes: answers come or are refused in words, and nothing wraps."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, check_fit, diff, find_free, list_allocations, summarize
from mmpscope.analysis.listing import expand_allocations, nest_regions
from mmpscope.analysis.reporters.diff_report import report_diff
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.summary_report import report_summary
from mmpscope.formats.errors import MmpError
from support.effort import scale
from support.foreign import load_foreign, missing

LAST = 2**64 - 1
NUMBERS = st.one_of(
    st.none(), st.integers(0, LAST), st.sampled_from([0, 1, 4096, 1 << 16, 2**32, 2**63, LAST - 4095, LAST])
)
ADDRESSES = st.one_of(st.integers(0, 1 << 20), st.sampled_from([0, 1 << 16, 2**62]))
SIZES = st.one_of(st.integers(0, 1 << 18), st.sampled_from([2**63, 2**63 + 2**62 - 1]))
"""No range ends beyond 2^64: that is refused before anything is asked."""
NAMES = st.sampled_from(
    ["Image", "Heap", "Free", "Total", "TOTAL", "[rollup]", "Page Table", "", None, "\x1b[2J"]
)
FIGURES = (
    *("Commit", "PrivateBytes", "TotalWS", "PrivateWS", "ShareableWS", "SharedWS", "LockedWS", "Blocks"),
    *("Protection", "AllocationBase"),
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"start": ADDRESSES, "size": SIZES, "VmmapType": NAMES}, optional=dict.fromkeys(FIGURES, NUMBERS)
    ),
    max_size=6,
)
TOTALS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional=dict.fromkeys(("Size", "Rss", "Pss", "count", "Largest", "RegionSize"), NUMBERS),
    ),
    max_size=4,
)
FREE = st.lists(st.fixed_dictionaries({"start": ADDRESSES, "size": SIZES}), max_size=4)
FACTS = st.fixed_dictionaries(
    {},
    optional={"page_table": st.one_of(NUMBERS, st.just("many")), "bits": st.sampled_from([32, 64, 7, "x"])},
)
SAVES = st.builds(
    lambda regions, allocations, tables, facts, cut: load_foreign(
        [{**row, "VmmapType": row["VmmapType"] or "x"} for row in regions],
        host={"os": "windows", "allocation_granularity": 1 << 16},
        tables={"allocations": [{**a, "VmmapType": "Image"} for a in allocations], **tables},
        capability=[missing("hostile")] if cut else [],
        **facts,
    ),
    ROWS, ROWS, st.fixed_dictionaries({"totals": TOTALS, "free": FREE}), FACTS, st.booleans(),
)  # fmt: skip


def _ask(snapshot: LoadedSnapshot) -> list[Any]:
    """Ask everything, and draw it."""
    allocations = list_allocations(snapshot)
    answers = [
        nest_regions(allocations, snapshot.regions),
        expand_allocations(allocations, snapshot.regions),
        report_summary(snapshot, summarize(snapshot)).draw(Screen(100)),
        check_fit(snapshot, 1 << 20),
    ]
    return [*answers, find_free(snapshot)]


@settings(max_examples=scale(60), deadline=None)
@given(SAVES)
def test_any_save_is_answered_or_refused(snapshot: LoadedSnapshot) -> None:
    """Overlaps, sizes beyond 2^63, null figures, facts of the wrong kind: no crash, and nothing wraps."""
    with contextlib.suppress(MmpError):
        _ask(snapshot)


@settings(max_examples=scale(40), deadline=None)
@given(SAVES, SAVES)
def test_any_two_saves_are_compared_or_refused(a: LoadedSnapshot, b: LoadedSnapshot) -> None:
    """Turned around, every change has the other sign; a save is no change of itself."""
    try:
        result, back = diff(a, b), diff(b, a)
        assert diff(a, a).is_empty
    except MmpError:
        return
    pairs = zip(result.totals.to_pylist(), back.totals.to_pylist(), strict=True)
    for row, turned in pairs:
        assert (row["delta"] is None) == (turned["delta"] is None), row["metric"]
        assert row["delta"] is None or row["delta"] == -turned["delta"], row["metric"]
    assert report_diff((a, b), result, [], 0).draw(Screen(120))
