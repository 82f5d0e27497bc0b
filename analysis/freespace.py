"""The holes of an address space: which are free, which are lost to the allocation granularity, and by size.

Nothing is judged here: what the holes are good for is told by fragmentation.py and fit.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.extent import ALL, find_extent, require_all_regions
from mmpscope.analysis.free_schema import HISTOGRAM
from mmpscope.analysis.intervals import NO_ROW, Ranges, Rows, clip, find_gaps, measure_coverage, settle
from mmpscope.analysis.schema import FREE
from mmpscope.analysis.space import has_address_space
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "Holes",
    "Window",
    "compare_stated_free",
    "find_free",
    "find_holes",
    "find_snapshot_holes",
    "hole_histogram",
    "list_holes",
]

Window = tuple[int, int]
"""First byte, and first byte after."""


@dataclass(frozen=True)
class Holes:
    """What no region covers, in address order.

    `unusable` tells the heads of gaps from what is free; `before` and `after` are rows of the regions around
    the gap, NO_ROW where there is none.
    """

    ranges: Ranges
    unusable: Bools
    before: Rows
    after: Rows

    @property
    def free(self) -> Ranges:
        """The free holes alone."""
        return self.ranges[~self.unusable]

    def clip(self, window: Window) -> Holes:
        """Cut to a window; a hole keeps its neighbours, also where the window ends before them."""
        ranges, rows = clip(self.ranges, *window)
        return Holes(ranges, self.unusable[rows], self.before[rows], self.after[rows])


def find_holes(starts: Uints, ends: Uints, usable: Window, granularity: int) -> Holes:
    """Walk regions in address order over the usable range and return the holes between them.

    The head of a gap up to the next multiple of the allocation granularity is Unusable, the rest is Free
    (VMMap's definition: an allocation can only start at such a multiple). Sizes of regions within the range
    and of holes add up to the range.
    """
    settled = settle(starts, ends)
    gaps = find_gaps(settled.ranges, *usable)
    size, unit = gaps.ranges.size, np.uint64(granularity)
    past = gaps.ranges.start % unit
    head = gaps.ranges.start + np.minimum(size, np.where(past == 0, past, unit - past))
    ranges = Ranges(_alternate(gaps.ranges.start, head), _alternate(head, gaps.ranges.end))
    kept = np.flatnonzero(ranges.end > ranges.start)
    gap = kept // 2
    before, after = (_look_up(settled.rows, rows[gap]) for rows in (gaps.before, gaps.after))
    return Holes(ranges[kept], kept % 2 == 0, before, after)


def _alternate(even: Uints, odd: Uints) -> Uints:
    return np.column_stack([even, odd]).ravel()


def _look_up(rows: Rows, at: Rows) -> Rows:
    return np.append(rows, NO_ROW)[at]


def find_snapshot_holes(snapshot: LoadedSnapshot, window: Window | None = None) -> Holes:
    """Return the holes of a snapshot over its usable range, or of a window of it.

    `before` and `after` are rows of `snapshot.regions`. Where the source states its allocations, holes are
    between these: what an allocation has besides its listed parts is not free. Without an address space there
    are none. Raises CannotTellError where the source does not list every region.
    """
    holes = snapshot.holes
    return holes if window is None else holes.clip(window)


def list_holes(snapshot: LoadedSnapshot) -> Holes:
    """Find the holes of a snapshot anew; it keeps them (`find_snapshot_holes`)."""
    require_all_regions(snapshot, "free space")
    low, high, _ = snapshot.usable_range
    if not has_address_space(snapshot):
        high = low
    taken = _find_taken(snapshot)
    holes = find_holes(taken.start, taken.end, (low, high), snapshot.granularity)
    before, after = _look_up(taken.last, holes.before), _look_up(taken.first, holes.after)
    return Holes(holes.ranges, holes.unusable, before, after)


class _Taken(NamedTuple):
    """What is not free, and the first and the last row of `snapshot.regions` that each of it consists of."""

    start: Uints
    end: Uints
    first: Rows
    last: Rows


def _find_taken(snapshot: LoadedSnapshot) -> _Taken:
    if snapshot.stated_allocations is not None:
        return _find_allocated(RawColumns(list_allocations(snapshot)), snapshot.classified.columns)
    columns = snapshot.classified.columns
    counted = np.flatnonzero(snapshot.classified.counted)
    address, end = (columns.numbers(name).values[counted] for name in ("address", "end"))
    return _Taken(address, end, counted, counted)


def _find_allocated(allocations: RawColumns, regions: RawColumns) -> _Taken:
    address, end = (allocations.numbers(name).values for name in ("address", "end"))
    # Regions are in address order, so an allocation's parts are the rows from its start to its end.
    starts = regions.numbers("address").values
    first, after = np.searchsorted(starts, address), np.searchsorted(starts, end)
    is_listed = after > first
    return _Taken(address, end, np.where(is_listed, first, NO_ROW), np.where(is_listed, after - 1, NO_ROW))


def compare_stated_free(snapshot: LoadedSnapshot) -> str | None:
    """Say how free space that the source lists itself differs from the holes; None where it does not.

    A source that lists it (VMMap with Free and Unusable shown) had the same system to ask; where the two are
    not the same, rows are missing or wrong, and nobody can tell on which side: ours are shown.
    """
    if not (table := snapshot.raw.tables.get("free")) or not table.rows:
        return None
    if find_extent(snapshot).shown != ALL:
        return None
    stated, holes = snapshot.decode_raw("free"), find_snapshot_holes(snapshot)
    said = set(zip(*(stated.numbers(name).values.tolist() for name in ("start", "size")), strict=True))
    found = set(zip(holes.ranges.start.tolist(), holes.ranges.size.tolist(), strict=True))
    if said == found:
        return None
    first = min(said ^ found)[0]
    return (
        f"the source lists {len(said):,} free ranges that add up to {sum(size for _, size in said):,} bytes, "
        f"between its allocations are {len(found):,} of {measure_coverage(holes.ranges):,} bytes, which are "
        f"shown; the first that differs is at {first:x}"
    )


def find_free(snapshot: LoadedSnapshot, window: Window | None = None) -> pa.Table:
    """List the holes of a snapshot with both neighbours (columns of schema.FREE), in address order.

    Free and Unusable rows over the usable range, or over a window of it.
    """
    holes = find_snapshot_holes(snapshot, window)
    columns = {
        "address": holes.ranges.start,
        "size": holes.ranges.size,
        "end": holes.ranges.end,
        "type": pa.DictionaryArray.from_arrays(holes.unusable.astype(np.int32), ["Free", "Unusable"]),
        "before": _describe_rows(snapshot.regions, holes.before),
        "after": _describe_rows(snapshot.regions, holes.after),
    }
    return build_table(FREE, columns, len(holes.ranges))


def _describe_rows(regions: pa.Table, rows: Rows) -> pa.ChunkedArray:
    """Name regions for a person to read, as in `Image /usr/lib/libc.so.6`; null for NO_ROW."""
    taken = regions.select(["type", "details"]).take(pa.array(rows, mask=rows == NO_ROW))
    type_, details = (column.cast(pa.string()) for column in taken.columns)
    return pc.coalesce(pc.binary_join_element_wise(type_, details, " "), type_)


def hole_histogram(snapshot: LoadedSnapshot, window: Window | None = None) -> pa.Table:
    """Count the free holes by power-of-two classes of size (columns of free_schema.HISTOGRAM)."""
    return _tabulate_sizes(find_snapshot_holes(snapshot, window).free.size)


def _tabulate_sizes(sizes: Uints) -> pa.Table:
    powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
    classes = np.searchsorted(powers, sizes, side="right") - 1
    first, last = (classes.min(), classes.max()) if len(classes) else (0, -1)
    shown = range(int(first), int(last) + 1)
    columns = {
        "from_size": powers[first : last + 1],
        "holes": [int(np.count_nonzero(classes == power)) for power in shown],
        "free": [int(sizes[classes == power].sum()) for power in shown],
    }
    return build_table(HISTOGRAM, columns, len(shown))
