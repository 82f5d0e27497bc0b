"""Tables that are made once for several snapshots, and cut into what each would have made alone.

What a table costs for each call, whatever its size, is paid once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.columns import Text
from mmpscope.analysis.stack_tables import SharedStack, Stacked, StackTables, move_rows, stack_together
from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["share_together"]

_MOST_RIGHTS = 60
"""Different rights of a stack of which each allocation still has a bit of its own (allocations.py)."""


def share_together(
    snapshots: Sequence[LoadedSnapshot],
) -> tuple[list[SharedStack], Callable[[], None]]:
    """Classify together what is alike, and let snapshots have their tables out of common ones.

    Return the stacks as `stack_together` does, and what ends that: tables that were not asked for until then
    are made by each snapshot alone.
    """
    shared, stacks = list[_Common](), stack_together(snapshots)
    for tables, places in stacks:
        common = _Common(tables)
        shared.append(common)
        for number, place in enumerate(places.tolist()):
            snapshot = snapshots[place]
            snapshot.share_tables(partial(common.cut, number, snapshot.label))

    def let_go() -> None:
        for common in shared:
            common.let_go()
        stacks.clear()

    return stacks, let_go


class _Common:
    """The tables of a stack at the addresses of the processes, each made when it is first asked for."""

    def __init__(self, tables: StackTables) -> None:
        self._tables: StackTables | None = tables

    def let_go(self) -> None:
        """Forget the snapshots: they refer to this, and this to them."""
        self._tables = None
        self.__dict__.pop("_all", None)

    def cut(self, number: int, label: str, name: str) -> pa.Table | None:
        """Return a table of one snapshot, None where it has to be made by itself."""
        if self._tables is None or name not in self._all:
            return None
        table, slot = self._all[name]
        begin, end = np.searchsorted(slot, [number, number + 1]).tolist()
        cut = table.slice(begin, end - begin)
        if name == "allocations":
            first = pa.array(cut["first"].to_numpy() - np.uint32(self._edges[number]))
            cut = cut.set_column(cut.column_names.index("first"), "first", first)
        if "snapshot" in cut.column_names:
            labels = Text.repeat(label, end - begin).to_arrow()
            cut = cut.set_column(cut.column_names.index("snapshot"), "snapshot", labels)
        return cut

    @cached_property
    def _edges(self) -> list[int]:
        assert self._tables is not None
        counts = np.bincount(self._tables.slot)
        return [0, *np.cumsum(counts).tolist()]

    @cached_property
    def _all(self) -> dict[str, Stacked]:
        """All tables; none where a column is damaged, or some snapshot has columns that others have not."""
        tables = self._tables
        assert tables is not None
        with suppress(FormatError):
            found = dict(tables.list_all())
            if tables.has_odd_text:
                return {}
            if len(tables.regions["protection"].combine_chunks().dictionary) < _MOST_RIGHTS:
                found["allocations"] = _list_allocations(tables)
            return found
        return {}


def _list_allocations(tables: StackTables) -> Stacked:
    allocations = list_allocations(tables)
    slot = tables.slot[allocations["first"].to_numpy()]
    return move_rows(allocations, slot, ("address",))
