"""Sums of figures by type of memory, over any table that has types: regions or allocations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.schema import GATE

__all__ = ["TypeSums", "sum_types"]

_BLOCKS = "blocks"


class TypeSums(NamedTuple):
    """One row: null where nothing is known, ``partial`` where something is left out."""

    values: dict[str, int | None]
    partial: set[str]


def sum_types(columns: RawColumns, figures: Iterable[str]) -> dict[str, TypeSums]:
    """Sum up figures and blocks by type; gate areas take no part. A sum of 2^64 or more is unknown."""
    counted = ~columns.text("subtype").equals(GATE)
    types = columns.text("type")
    groups = group_by(np.where(counted, types.codes, -1))
    names = [types.values[types.codes[row]] if counted[row] else None for row in groups.first]
    rows = {name: TypeSums({}, set()) for name in names}
    for figure in (*figures, _BLOCKS):
        sums = groups.sum(columns.numbers(figure))
        known = sums.numbers.is_known
        for index, name in enumerate(names):
            rows[name].values[figure] = int(sums.numbers.values[index]) if known[index] else None
            if sums.partial[index]:
                rows[name].partial.add(figure)
    return {name: row for name, row in rows.items() if name is not None}
