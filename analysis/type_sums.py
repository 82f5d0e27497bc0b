"""Sums of figures by type of memory, over any table that has types: regions or allocations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.allocations import measure_allocations
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import GATE

__all__ = ["TypeSums", "sum_regions", "sum_types"]

_BLOCKS = "blocks"


class TypeSums(NamedTuple):
    """One row: null where nothing is known, ``partial`` where something is left out."""

    values: dict[str, int | None]
    partial: set[str]

    def copy(self) -> TypeSums:
        """Return one that may be written to."""
        return TypeSums(dict(self.values), set(self.partial))


def sum_types(columns: RawColumns, figures: Iterable[str]) -> dict[str, TypeSums]:
    """Sum up figures and blocks by type; gate areas take no part. A sum of 2^64 or more is unknown."""
    return _sum_slots(columns, figures, np.zeros(columns.rows, np.int64), 1)[0]


def sum_regions(
    columns: RawColumns, figures: Iterable[str], slot: Rows, slots: int
) -> list[dict[str, TypeSums]]:
    """Sum up regions by type, and count what is allocated; one answer for each slot, the process of a row.

    Of regions that belong together the first that is no guard tells the type of the allocation.
    """
    sums = _sum_slots(columns, figures, slot, slots)
    allocations, first = measure_allocations(columns)
    groups, names = _group(allocations, slot[first])
    largest = groups.max(allocations.numbers("size").values)
    for rows in sums:
        for row in rows.values():
            row.values.update(allocations=0, largest=0)
    for name, place, count, most in zip(
        names, slot[first][groups.first].tolist(), groups.count.tolist(), largest.tolist(), strict=True
    ):
        if name is not None and name in sums[place]:
            sums[place][name].values.update(allocations=count, largest=most)
    return sums


def _sum_slots(
    columns: RawColumns, figures: Iterable[str], slot: Rows, slots: int
) -> list[dict[str, TypeSums]]:
    groups, names = _group(columns, slot)
    rows = [TypeSums({}, set()) for _ in names]
    for figure in (*figures, _BLOCKS):
        sums = groups.sum(columns.numbers(figure))
        known, values = sums.numbers.is_known.tolist(), sums.numbers.values.tolist()
        for row, value, is_known, is_partial in zip(rows, values, known, sums.partial.tolist(), strict=True):
            row.values[figure] = value if is_known else None
            if is_partial:
                row.partial.add(figure)
    found: list[dict[str, TypeSums]] = [{} for _ in range(slots)]
    for name, place, row in zip(names, slot[groups.first].tolist(), rows, strict=True):
        if name is not None:
            found[place][name] = row
    return found


def _group(columns: RawColumns, slot: Rows) -> tuple[Groups, list[str | None]]:
    """Group rows by slot and type; also return the type of each group, None for gate areas."""
    counted = ~columns.text("subtype").equals(GATE)
    types = columns.text("type")
    codes = np.where(counted, types.codes, -1).astype(np.int64)
    groups = group_by(slot * (len(types.values) + 1) + codes)
    names = [types.values[code] if code >= 0 else None for code in codes[groups.first].tolist()]
    return groups, names
