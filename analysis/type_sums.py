"""Sums of figures by type of memory, over any table that has types: regions or allocations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.allocations import measure_allocations
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.grouping import Groups, group_by
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.schema import GATE, TYPES

__all__ = ["SlotSums", "TypeSums", "sum_regions", "sum_types"]

_BLOCKS = "blocks"
_CODES: dict[str | None, int] = {name: code for code, name in enumerate(TYPES)}


class TypeSums(NamedTuple):
    """One row: null where nothing is known, ``partial`` where something is left out."""

    values: dict[str, int | None]
    partial: set[str]

    def copy(self) -> TypeSums:
        """Return one that may be written to."""
        return TypeSums(dict(self.values), set(self.partial))


@dataclass(frozen=True)
class SlotSums:
    """Sums by figure, slot and type (schema.TYPES), in arrays of that shape.

    ``present`` tells by slot and type if there is a row at all; where there is none, nothing is known.
    """

    figures: tuple[str, ...]
    values: Uints
    known: Bools
    partial: Bools
    present: Bools

    def list_rows(self, slot: int) -> dict[str, TypeSums]:
        """Return the row of each type of one slot, in the order of the types."""
        rows = {}
        for place in np.flatnonzero(self.present[slot]).tolist():
            values, known, partial = (
                part[:, slot, place].tolist() for part in (self.values, self.known, self.partial)
            )
            told = list(zip(self.figures, values, known, partial, strict=True))
            row = {figure: value if is_known else None for figure, value, is_known, _ in told}
            rows[TYPES[place]] = TypeSums(row, {figure for figure, *_, is_partial in told if is_partial})
        return rows


def sum_types(columns: RawColumns, figures: Iterable[str]) -> dict[str, TypeSums]:
    """Sum up figures and blocks by type; gate areas take no part. A sum of 2^64 or more is unknown."""
    return _sum_slots(columns, (*figures, _BLOCKS), np.zeros(columns.rows, np.int64), 1).list_rows(0)


def sum_regions(columns: RawColumns, figures: Iterable[str], slot: Rows, slots: int) -> SlotSums:
    """Sum up figures and blocks by type, and count what is allocated; a slot is the process of a row.

    Of regions that belong together the first that is no guard tells the type of the allocation.
    """
    sums = _sum_slots(columns, (*figures, _BLOCKS, "allocations", "largest"), slot, slots)
    allocations, first = measure_allocations(columns)
    rows, groups, places = _group(allocations, slot[first])
    counted = np.zeros((2, slots * len(TYPES)), np.uint64)
    counted[0, places] = groups.count
    counted[1, places] = groups.max(allocations.numbers("size").values[rows])
    sums.values[-2:] = counted.reshape(2, slots, len(TYPES)) * sums.present
    sums.known[-2:] = sums.present
    return sums


def _sum_slots(columns: RawColumns, figures: tuple[str, ...], slot: Rows, slots: int) -> SlotSums:
    """Sum up the columns that there are; what else is named stays unknown."""
    rows, groups, places = _group(columns, slot)
    shape = (len(figures), slots * len(TYPES))
    values, (known, partial) = np.zeros(shape, np.uint64), np.zeros((2, *shape), np.bool_)
    for number, figure in enumerate(figures):
        if figure in columns:
            sums = groups.sum(columns.numbers(figure).take(rows))
            values[number, places], known[number, places] = sums.numbers.values, sums.numbers.is_known
            partial[number, places] = sums.partial
    present = np.zeros(shape[1], np.bool_)
    present[places] = True
    whole = (len(figures), slots, len(TYPES))
    parts = values.reshape(whole), known.reshape(whole), partial.reshape(whole)
    return SlotSums(figures, *parts, present.reshape(slots, len(TYPES)))


def _group(columns: RawColumns, slot: Rows) -> tuple[Rows, Groups, Rows]:
    """Group what is no gate area by slot and type; return its rows, and the place of each group."""
    types = columns.text("type")
    codes = np.array([_CODES.get(name, -1) for name in types.values], np.int64)[types.codes]
    rows = np.flatnonzero((codes >= 0) & ~columns.text("subtype").equals(GATE))
    keys = slot[rows] * len(TYPES) + codes[rows]
    groups = group_by(keys)
    return rows, groups, keys[groups.first]
