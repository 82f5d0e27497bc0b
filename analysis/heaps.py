"""The heaps of a snapshot: the main heap, each arena, and the memory of each allocator that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations, list_private_parts
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.grouping import Groups, group_by
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

    Regions belong to one heap where type and subtype are the same, as in all of ``[anon:scudo:*]``. Where the
    source states its allocations (VMMap), these are added up, as in a summary: its sub-blocks are rounded.
    """
    stated = snapshot.stated_allocations
    regions = RawColumns(snapshot.regions if stated is None else stated)
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
    if stated is not None:
        columns |= _sum_stated(snapshot, rows, groups)
    return build_table(HEAPS, columns, len(first)).sort_by("address")


def _sum_stated(snapshot: LoadedSnapshot, rows: Rows, groups: Groups) -> dict[str, object]:
    """Count blocks as they are stated, and sum up private as a summary does: over sub-blocks."""
    allocations = list_allocations(snapshot)
    blocks = RawColumns(allocations.select(["blocks"]).cast(pa.schema([("blocks", pa.uint64())])))
    parts = RawColumns(list_private_parts(snapshot.regions, allocations))
    numbers = groups.sum(blocks.numbers("blocks").take(rows)).numbers
    whole = RawColumns(allocations)
    keys = [_name(whole, row) for row in rows[groups.first].tolist()]
    kept = np.flatnonzero(parts.text("type").equals(*_TYPES))
    of_parts = group_by(_number_names(parts, kept))
    sums = of_parts.sum(parts.numbers("private").take(kept)).numbers
    found = dict(
        zip(
            [_name(parts, row) for row in kept[of_parts.first].tolist()],
            sums.to_arrow().to_pylist(),
            strict=True,
        )
    )
    counts = numbers.only(numbers.values < 1 << 32)  # more than the column holds, no file states in earnest
    return {"blocks": counts.to_arrow().cast(pa.uint32()), "private": [found.get(key) for key in keys]}


def _name(columns: RawColumns, row: int) -> tuple[str | None, str | None]:
    kind, name = columns.text("type"), columns.text("subtype")
    return kind.values[kind.codes[row]], name.values[name.codes[row]]


def _number_heaps(regions: RawColumns, rows: Rows) -> Rows:
    """Number the heaps: an arena by its allocation, any other by type and name."""
    name = regions.text("subtype")
    allocation = regions.numbers("allocation").values[rows]
    is_arena = name.equals(_ARENA)[rows]
    _, arena = np.unique(np.where(is_arena, allocation, np.uint64(0)), return_inverse=True)
    names = _number_names(regions, rows)
    numbers: Rows = arena * (names.max(initial=0) + 1) + names
    return numbers


def _number_names(regions: RawColumns, rows: Rows) -> Rows:
    kind, name = regions.text("type"), regions.text("subtype")
    numbers: Rows = kind.codes[rows].astype(np.int64) * len(name.values) + name.codes[rows]
    return numbers
