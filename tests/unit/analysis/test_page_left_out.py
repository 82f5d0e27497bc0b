"""Stretches of regions that a page does not list: all of them, once, and beside whatever is listed."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis.pages.left_out import list_left_out

PAGE = 4096
Span = tuple[int, int]


def _table(spans: list[Span]) -> pa.Table:
    return pa.table(
        {
            "address": pa.array([start for start, _ in spans], pa.uint64()),
            "size": pa.array([size for _, size in spans], pa.uint64()),
        }
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans(), st.booleans()), max_size=30))
def test_every_region_is_listed_or_in_one_stretch(parts: list[tuple[int, int, bool, bool]]) -> None:
    """Counts and bytes conserve, stretches rise, and none overlaps a listed region or hole."""
    at, regions, kept, holes = 0, [], [], []
    for gap, pages, is_kept, is_hole_listed in parts:
        if gap and is_hole_listed:
            holes.append((at, gap * PAGE))
        at += gap * PAGE
        regions.append((at, pages * PAGE))
        kept += [regions[-1]] * is_kept
        at += pages * PAGE
    rows = list_left_out(_table(regions), _table(kept), _table(holes)).to_pylist()
    assert sum(row["regions"] for row in rows) == len(regions) - len(kept)
    assert sum(row["mapped"] for row in rows) == sum(size for _, size in set(regions) - set(kept))
    spans = [(row["address"], row["end"]) for row in rows] + [
        (start, start + size) for start, size in kept + holes
    ]
    assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))
