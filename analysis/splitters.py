"""What stands between two holes, and the one hole that would be there without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns, Uints
from mmpscope.analysis.free_schema import SPLITTERS
from mmpscope.analysis.freespace import Window, find_snapshot_holes
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.mapping_count import find_counted
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["list_splitters"]


def list_splitters(snapshot: LoadedSnapshot, window: Window | None = None) -> pa.Table:
    """List what lies between free holes (columns of free_schema.SPLITTERS), the largest gain first.

    The gain is the smaller of the two holes: by so much would the larger one grow, besides the splitter's own
    size. So a small library between two large holes goes before a large heap beside a sliver.
    """
    free = find_snapshot_holes(snapshot, window).free
    below, above = free.size[:-1], free.size[1:]
    start, end = free.end[:-1], free.start[1:]
    gain = np.minimum(below, above)
    order = np.lexsort([start, ~gain])  # ~ reverses unsigned numbers: the largest gain first, then by address
    start, end = start[order], end[order]
    largest, count = _find_largest(snapshot.regions, start, end)
    named = snapshot.regions.select(["type", "details"]).take(pa.array(largest))
    columns = {
        "address": start,
        "size": end - start,
        "end": end,
        "regions": count,
        "type": named.column("type"),
        "details": named.column("details"),
        "below": below[order],
        "above": above[order],
        "merged": (free.end[1:] - free.start[:-1])[order],
        "gain": gain[order],
    }
    return build_table(SPLITTERS, columns, len(start))


def _find_largest(regions: pa.Table, start: Uints, end: Uints) -> tuple[Rows, Rows]:
    """Return the row to be told of each stretch: the largest of the type that most of it is of; count all."""
    rows = np.flatnonzero(find_counted(regions))
    address, size = (RawColumns(regions).numbers(name).values[rows] for name in ("address", "size"))
    by_address = np.argsort(start)
    stretch = np.full(len(rows), -1, np.int64)
    at = np.searchsorted(start[by_address], address, side="right") - 1
    inside = at >= 0
    inside[inside] = address[inside] < end[by_address][at[inside]]
    stretch[inside] = by_address[at[inside]]
    of_type = _add_up_types(RawColumns(regions).text("type").codes[rows].astype(np.int64), size, stretch)
    # Sorted by stretch, by what its type comes to there and by size, the last row is the one to be told.
    order = np.lexsort([~rows, size, of_type, stretch])
    lasts = np.searchsorted(stretch[order], np.arange(len(start)), side="right") - 1
    return rows[order[lasts]], np.bincount(stretch[inside], minlength=len(start))


def _add_up_types(types: Rows, size: Uints, stretch: Rows) -> Uints:
    """Return for each region the bytes of all regions of its type in its stretch."""
    _, places = np.unique(np.stack([stretch, types]), axis=1, return_inverse=True)
    sums = np.zeros(len(size), np.uint64)
    np.add.at(sums, places.ravel(), size)
    return sums[places.ravel()]
