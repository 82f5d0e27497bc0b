"""The heaps of a snapshot: the main heap, each arena, and the memory of each allocator that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import HEAPS
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["list_heaps"]

_TYPES = ("Heap", "Managed Heap")
_ARENA = "glibc arena"
_SUMMED = ("size", "committed", "private", "total_ws", "private_ws", "swap", "lazyfree")


def list_heaps(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.HEAPS, sorted by address: one row an arena, and one for all memory of any other heap.

    Regions belong to one heap where type and subtype are the same, as in all of ``[anon:scudo:*]``.
    """
    regions = RawColumns(snapshot.regions)
    rows = np.flatnonzero(regions.text("type").equals(*_TYPES))
    groups = group_by(_number_heaps(regions, rows))
    first = rows[groups.first]
    columns: dict[str, object] = {
        name: groups.sum(regions.numbers(name).take(rows)).numbers for name in _SUMMED
    }
    columns |= {
        "name": regions.text("subtype").take(first),
        "address": Numbers(regions.numbers("address").values[first]),
        "blocks": groups.count.astype(np.uint32),
        **{name: regions.text(name).take(first) for name in ("type", "rule", "confidence")},
    }
    return build_table(HEAPS, columns, len(first)).sort_by("address")


def _number_heaps(regions: RawColumns, rows: Rows) -> Rows:
    """Number the heaps: an arena by its allocation, any other by type and name."""
    kind, name = regions.text("type"), regions.text("subtype")
    allocation = regions.numbers("allocation").values[rows]
    is_arena = name.equals(_ARENA)[rows]
    _, arena = np.unique(np.where(is_arena, allocation, np.uint64(0)), return_inverse=True)
    names = len(name.values)
    return (arena * len(kind.values) + kind.codes[rows]) * names + name.codes[rows]
