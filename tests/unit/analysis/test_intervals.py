"""The edges of the range map: touching ranges, the top of a 64-bit space, input from strangers."""

from __future__ import annotations

import numpy as np
import pytest
from mmpscope.analysis.intervals import (
    NO_ROW,
    Ranges,
    find_common,
    find_components,
    find_ends,
    find_gaps,
    find_overlaps,
    measure_coverage,
    merge_like,
    merge_touching,
    settle,
    split_segments,
)

TOP = 2**64 - 1


def make(*pairs: tuple[int, int]) -> Ranges:
    """Write ranges as pairs."""
    return Ranges(np.array([p[0] for p in pairs], np.uint64), np.array([p[1] for p in pairs], np.uint64))


@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_f13_touching_regions_are_kept_apart(count: int) -> None:
    """F13: n touching regions stay n regions, with no overlap and no hole."""
    edges = np.arange(0x1000, 0x1000 * (count + 2), 0x1000, dtype=np.uint64)
    settled = settle(edges[:-1], edges[1:])
    assert settled.is_clean
    assert len(settled.ranges) == count
    assert len(find_overlaps(edges[:-1], edges[1:])) == 0
    assert len(find_gaps(settled.ranges, 0x1000, 0x1000 * (count + 1)).ranges) == 0
    assert len(merge_touching(settled.ranges)) == 1


def test_touching_connects_no_component() -> None:
    """A region that ends where one of the other side starts is no relative of it."""
    of_a, of_b, count = find_components(make((0, 10), (20, 30)), make((10, 20), (25, 40)))
    assert (of_a.tolist(), of_b.tolist(), count) == ([0, 2], [1, 2], 3)


def test_settled_arrays_are_not_copied() -> None:
    """A million clean regions cost no second copy."""
    ranges = make((0, 1), (1, 2), (5, 9))
    assert settle(ranges.start, ranges.end).ranges.start is ranges.start


def test_the_last_byte_of_a_64_bit_space_belongs_to_no_range() -> None:
    """A size that reaches 2^64 or wraps is cut at 2^64 - 1 and flagged; one that just fits is not."""
    starts = np.array([TOP - 1, TOP - 1, TOP, 0, 0x1000], np.uint64)
    sizes = np.array([1, 2, TOP, TOP, 0x1000], np.uint64)
    ends, cut = find_ends(starts, sizes)
    assert ends.tolist() == [TOP, TOP, TOP, TOP, 0x2000]
    assert cut.tolist() == [False, True, True, False, False]


def test_gaps_reach_the_last_end_without_wrapping() -> None:
    """The hole between the highest region and 2^64 - 1 has its exact size."""
    gaps = find_gaps(make((0xFFFF_FFFF_FF60_0000, 0xFFFF_FFFF_FF60_1000)), 0, TOP)
    assert gaps.ranges.size.tolist() == [0xFFFF_FFFF_FF60_0000, TOP - 0xFFFF_FFFF_FF60_1000]
    assert measure_coverage(gaps.ranges) == TOP - 0x1000
    assert (gaps.before.tolist(), gaps.after.tolist()) == ([NO_ROW, 0], [0, NO_ROW])


def test_a_backward_region_is_flagged_and_covers_nothing() -> None:
    """A region that ends before it starts, as one that wraps at 2^64 does, is dropped and told."""
    settled = settle(np.array([0xFFFF_F000, 0x1000], np.uint64), np.array([0, 0x3000], np.uint64))
    assert settled.empty.tolist() == [True, False]
    assert measure_coverage(settled.ranges) == 0x2000


def test_a_region_inside_another_is_dropped_and_flagged() -> None:
    """Of two regions that claim the same bytes the one that starts first keeps them."""
    settled = settle(np.array([0, 10, 40, 90], np.uint64), np.array([100, 20, 120, 130], np.uint64))
    assert (settled.ranges.start.tolist(), settled.ranges.end.tolist()) == ([0, 100, 120], [100, 120, 130])
    assert settled.rows.tolist() == [0, 2, 3]
    assert settled.overlapping.tolist() == [False, True, True, True]


def test_a_window_upside_down_has_no_gaps() -> None:
    """A window that ends before it starts holds nothing, rather than a negative amount."""
    assert len(find_gaps(make((5, 6)), 20, 10).ranges) == 0


def test_nothing_in_gives_nothing_out() -> None:
    """Empty sides are no special case for the caller."""
    none = make()
    assert len(settle(none.start, none.end).ranges) == 0
    assert len(find_overlaps(none.start, none.end)) == len(merge_touching(none)) == 0
    assert len(merge_like(none, np.zeros(0, np.int32))[1]) == 0
    assert find_components(none, none)[2] == 0
    assert len(split_segments(none, none).ranges) == 0
    assert len(find_common(make((1, 2)), none)[0]) == len(find_common(none, make((1, 2)))[0]) == 0
    assert find_gaps(none, 3, 7).ranges.size.tolist() == [4]
