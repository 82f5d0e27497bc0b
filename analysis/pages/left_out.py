"""Where in the address space the regions lie that a page does not list, so that its map can show it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns, Uints
from mmpscope.analysis.pages.schema import LEFT_OUT
from mmpscope.analysis.tables import build_table

__all__ = ["list_left_out"]


def list_left_out(regions: pa.Table, kept: pa.Table, holes: pa.Table | None) -> pa.Table:
    """List the stretches of regions that were not kept (columns of pages.schema.LEFT_OUT), by address.

    A stretch ends where a kept region or a listed hole lies: nothing overlaps what is listed.
    """
    starts, sizes = _read(regions)
    order = np.argsort(starts, kind="stable")
    starts, sizes = starts[order], sizes[order]
    is_left = ~np.isin(starts, _read(kept)[0])
    between = np.sort(np.concatenate([_read(kept)[0], *([_read(holes)[0]] if holes is not None else [])]))
    starts, sizes = starts[is_left], sizes[is_left]
    if not len(starts):
        return build_table(LEFT_OUT, {field.name: [] for field in LEFT_OUT}, 0)
    listed = np.searchsorted(between, starts)
    firsts = np.flatnonzero(np.append(True, listed[1:] != listed[:-1]))
    lasts = np.append(firsts[1:], len(starts)) - 1
    ends = starts[lasts] + sizes[lasts]
    columns = {
        "address": starts[firsts],
        "end": ends,
        "size": ends - starts[firsts],
        "regions": (lasts - firsts + 1).astype(np.uint64),
        "mapped": np.add.reduceat(sizes, firsts),
    }
    return build_table(LEFT_OUT, columns, len(firsts))


def _read(table: pa.Table) -> tuple[Uints, Uints]:
    """Return address and size of the rows that tell both."""
    columns = RawColumns(table.select(["address", "size"]))
    addresses, sizes = columns.numbers("address"), columns.numbers("size")
    known = addresses.is_known & sizes.is_known
    return addresses.values[known], sizes.values[known]
