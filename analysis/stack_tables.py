"""The tables of snapshots that were classified as one: each is made once for all of them, and equal to the
tables of each below each other.

While they are made, addresses are those of the stack, so that what belongs together is found as in one
process; what comes out has the addresses of the processes. Classification itself is in stacking.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.joined import Joined
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.modules import list_modules
from mmpscope.analysis.regions import Regions
from mmpscope.analysis.stacking import Stack, classify_together, find_slots, move_back
from mmpscope.analysis.threads import list_threads

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["SharedStack", "StackTables", "Stacked", "move_rows", "stack_together"]


class Stacked(NamedTuple):
    """Rows of several snapshots, and the number in the stack of the snapshot of each row."""

    table: pa.Table
    slot: Rows


def stack_together(snapshots: Sequence[LoadedSnapshot]) -> list[SharedStack]:
    """Classify together what is alike; return the stacks, and the place of each of their snapshots."""
    places = {id(snapshot): place for place, snapshot in enumerate(snapshots)}
    return [
        (StackTables(stack), np.array([places[id(part.snapshot)] for part in stack.parts]))
        for stack in classify_together(snapshots)
    ]


class StackTables:
    """A stack as one snapshot is (regions.Described), at the addresses of the stack; and `list_all`.

    FormatError where a column of one of them is damaged.
    """

    stated_allocations: pa.Table | None = None

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._decoded: dict[str, Joined] = {}

    @property
    def classified(self) -> Regions:
        """The regions with what was found on the way to them."""
        return self.stack.classified

    @property
    def regions(self) -> pa.Table:
        """schema.REGIONS, then the raw columns."""
        return self.stack.classified.table

    @cached_property
    def threads(self) -> pa.Table:
        """schema.THREADS."""
        return list_threads(self)

    @cached_property
    def modules(self) -> pa.Table:
        """schema.MODULES."""
        return list_modules(self)

    def decode_raw(self, name: str) -> RawColumns:
        """Return one raw table of all, with what stands in the files."""
        if name not in self._decoded:
            self._decoded[name] = Joined([part.snapshot.decode_raw(name) for part in self.stack.parts])
        return self._decoded[name]

    def find_shared(self, name: str) -> None:
        """Return None whatever the name: tables are made here."""
        del name

    @property
    def slot(self) -> Rows:
        """The number in the stack of the snapshot of each region."""
        return self.stack.slot

    @property
    def has_odd_text(self) -> bool:
        """Whether some text is no UTF-8; each snapshot then has columns that others have not."""
        raw = (self.stack.classified.layout.raw, *self._decoded.values())
        return any(columns.has_odd_text for columns in raw)

    def list_all(self) -> Mapping[str, Stacked]:
        """Return regions, threads and modules at the addresses of the processes; the label is empty."""
        modules = find_slots(RawColumns(self.modules).numbers("address").values)
        counts = [part.snapshot.decode_raw("threads").rows for part in self.stack.parts]
        return {
            "regions": move_rows(self.regions, self.slot, ("address", "allocation")),
            "threads": move_rows(self.threads, np.repeat(np.arange(len(counts)), counts), ("stack",)),
            "modules": move_rows(self.modules, modules, ("address",)),
        }


def move_rows(table: pa.Table, slot: Rows, names: tuple[str, ...]) -> Stacked:
    """Return a table with addresses of the processes in some columns, and in ``end``, if it has that."""
    columns = RawColumns(table)
    for name in (*names, "end"):
        if name in columns:
            moved = move_back(columns.numbers(name), slot, ends=name == "end")
            table = table.set_column(table.column_names.index(name), name, moved.to_arrow())
    return Stacked(table, slot)


SharedStack = tuple[StackTables, Rows]
"""A stack, and the place of each of its snapshots among those that were to be stacked."""
