"""One snapshot to its measures. Pure: no file is read here but the snapshot's own, and nothing is kept.

Of many snapshots the rows are gathered as they come and made into tables once, since small tables cost more
to make than what is in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.extent import ALL, Extent, find_extent
from mmpscope.analysis.fragmentation import measure_external
from mmpscope.analysis.intervals import measure_coverage
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.mapping_count import MappingCount, count_mappings
from mmpscope.analysis.measures.captures import NEEDED, SHOWN, count_threads, name_lacks, read_facts
from mmpscope.analysis.measures.limits import list_limits
from mmpscope.analysis.measures.piles import Pile, join_like, name_rows, rank
from mmpscope.analysis.measures.schema import CAPTURES, LIMITS, MEASURES, SUMMARIES
from mmpscope.analysis.measures.stacked import measure_stack
from mmpscope.analysis.measures.units import list_cohorts, list_names, read_units
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.summary import sum_rows
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.type_sums import TypeSums
from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.regions import Described
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.stack_tables import StackTables

__all__ = ["Gatherer", "Measures", "join_measures", "measure"]

_HOLES = ("free_size", "largest_free", "free_blocks", "external_fragmentation")


Columns = dict[str, list[object]]
"""Columns of one length, by name, without the id of the snapshot."""
_OF_UNITS = ("names", "cohorts")


@dataclass(frozen=True)
class Measures:
    """Tables of schema.MEASURES; each row begins with the id of its snapshot."""

    captures: pa.Table
    summaries: pa.Table
    names: pa.Table
    cohorts: pa.Table
    limits: pa.Table


def measure(snapshot: LoadedSnapshot, snapshot_id: str) -> Measures:
    """Return what one snapshot is worth; FormatError where its bytes are damaged."""
    gatherer = Gatherer()
    gatherer.add(snapshot, snapshot_id)
    return gatherer.build()


def join_measures(parts: Sequence[Measures]) -> Measures:
    """Put measures below each other, in order; of no parts, tables without rows."""
    if not parts:
        return Gatherer().build()
    joined = (join_like([getattr(part, field.name) for part in parts]) for field in fields(Measures))
    return Measures(*(table.combine_chunks() for table in joined))


class Gatherer:
    """Rows of the measures of one snapshot after another, until they are made into tables.

    ``wanted`` names the tables that are asked for; the others stay empty, and cost nothing.
    """

    def __init__(self, wanted: Collection[str] = tuple(MEASURES)) -> None:
        self._wanted = frozenset(wanted)
        self._ids: list[str] = []
        self._kept: set[int] = set()
        self._rows: dict[str, Columns] = {
            name: {field.name: [] for field in columns[1:]}
            for name, columns in MEASURES.items()
            if name not in _OF_UNITS
        }
        self._stacked: dict[str, list[tuple[pa.Table, Rows]]] = {name: [] for name in self._rows}
        self._numbers: dict[str, list[int]] = {name: [] for name in self._rows}
        self._units = {name: Pile() for name in _OF_UNITS}

    def add(self, snapshot: LoadedSnapshot, snapshot_id: str) -> None:
        """Measure one more; where that fails, nothing of it is kept. FormatError for damaged bytes."""
        for error in self.add_all([(snapshot, snapshot_id)]).values():
            raise error

    def add_all(
        self,
        snapshots: Sequence[tuple[LoadedSnapshot, str]],
        stacks: Sequence[tuple[StackTables, Rows]] = (),
    ) -> dict[int, FormatError]:
        """Measure snapshots with their ids; return what is wrong with those that fail, and are not kept.

        ``stacks`` are those of them that were classified together, and the place of each in ``snapshots``.
        """
        before, errors = len(self._ids), dict[int, FormatError]()
        self._ids += [snapshot_id for _, snapshot_id in snapshots]
        alone = self._add_stacks(stacks, before, len(snapshots))
        measured = self._measure_stacks(stacks, before)
        for place, (snapshot, _) in enumerate(snapshots):
            try:
                found = {} if place in measured else self._measure(snapshot)
                if place in alone:
                    self._add_units(snapshot, np.array([before + place]), None)
            except FormatError as error:
                errors[place] = error
                continue
            self._kept.add(before + place)
            for name, columns in found.items():
                self._append(name, columns, before + place)
        return errors

    def drop(self, number: int) -> None:
        """Keep nothing of one that was added, by its number from 0."""
        self._kept.discard(number)

    def _add_stacks(self, stacks: Iterable[tuple[StackTables, Rows]], before: int, count: int) -> set[int]:
        """Measure units stack by stack; return the places that have to be measured alone."""
        if not self._wanted.intersection(_OF_UNITS):
            return set()
        alone = set(range(count))
        for stack, places in stacks:
            try:
                self._add_units(stack, before + places, stack.slot)
            except FormatError:  # one of them is damaged
                continue
            alone.difference_update(places.tolist())
        return alone

    def _measure_stacks(self, stacks: Iterable[tuple[StackTables, Rows]], before: int) -> set[int]:
        """Measure stack by stack what can be; return the places of the snapshots that are measured."""
        measured = set[int]()
        for tables, places in stacks:
            try:
                found = measure_stack(tables.stack, self._wanted)
            except FormatError:  # one of them is damaged; each is asked alone
                continue
            if found is not None:
                measured.update(places.tolist())
                for name, (table, slot) in found.items():
                    self._stacked[name].append((table, before + places[slot]))
        return measured

    def _add_units(self, described: Described, numbers: Rows, slot: Rows | None) -> None:
        """Measure the units of one snapshot, or of a stack: ``slot`` tells whose each region is."""
        units = read_units(described)
        rows = units.side.rows
        of = np.zeros(len(rows), np.int64) if slot is None else slot[rows]
        for name, (table, own) in (("names", list_names(units, of)), ("cohorts", list_cohorts(units, of))):
            self._units[name].add(table, numbers[own])

    def _measure(self, snapshot: LoadedSnapshot) -> dict[str, Columns]:
        sums, holes, count = sum_rows(snapshot), _measure_holes(snapshot), count_mappings(snapshot)
        found = {"captures": _read_capture(snapshot, sums, holes, count)}
        if "summaries" in self._wanted:
            rows = [{"type": name, **_show_sums(sums[name])} for name in (TOTAL, *TYPES)]
            found["summaries"] = {f.name: [row[f.name] for row in rows] for f in SUMMARIES[1:]}
        if "limits" in self._wanted:
            limits = list(list_limits(snapshot, _measure_mapped(snapshot, holes), count))
            found["limits"] = {f.name: [getattr(row, f.name) for row in limits] for f in LIMITS[1:]}
        return {name: columns for name, columns in found.items() if name in self._wanted}

    def _append(self, table: str, columns: Columns, number: int) -> None:
        rows = self._rows[table]
        for name, values in columns.items():
            rows[name] += values
        self._numbers[table] += [number] * (len(next(iter(columns.values()))))

    def build(self, numbers: Sequence[int] | None = None) -> Measures:
        """Make the tables of all that was kept, or of some, by their numbers from 0 on."""
        wanted = range(len(self._ids)) if numbers is None else numbers
        kept = self.list_kept(wanted)
        ids = [snapshot_id for _, snapshot_id in kept]
        piles = dict(self._units)
        for name, rows in self._rows.items():
            piles[name] = Pile()
            made = build_table(MEASURES[name][1:], rows, len(self._numbers[name]))
            piles[name].add(made, np.array(self._numbers[name], np.int64))
            for table, each in self._stacked[name]:
                piles[name].add(table, each)
        ranks = rank([number for number, _ in kept], len(self._ids))
        return Measures(**{name: _finish(name, piles[name].take(ranks), ids) for name in MEASURES})

    def list_kept(self, numbers: Iterable[int]) -> list[tuple[int, str]]:
        """Return those of some numbers that were kept, each with its id."""
        return [(number, self._ids[number]) for number in numbers if number in self._kept]


def _finish(name: str, found: tuple[pa.Table, Rows] | None, ids: Sequence[str]) -> pa.Table:
    if found is None:
        return build_table(MEASURES[name], {}, 0)
    table = name_rows(*found, ids)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return build_table(MEASURES[name], columns, table.num_rows)


def _read_capture(
    snapshot: LoadedSnapshot,
    sums: Mapping[str, TypeSums],
    holes: Mapping[str, object],
    count: MappingCount,
) -> Columns:
    extent = find_extent(snapshot)
    values = {
        **read_facts(snapshot),
        **_judge(extent, sums),
        **_show_sums(sums[TOTAL]),
        **holes,
        "mappings": count.count,
        "mappings_limit": count.limit,
        "threads": count_threads(snapshot),
        "modules": _count_modules(snapshot) if extent.shown == ALL else None,
    }
    return {field.name: [values[field.name]] for field in CAPTURES[1:]}


def _measure_mapped(snapshot: LoadedSnapshot, holes: Mapping[str, object]) -> int | None:
    free = holes["free_size"]
    low, high, _ = snapshot.usable_range
    return high - low - free if isinstance(free, int) else None


def _judge(extent: Extent, sums: Mapping[str, TypeSums]) -> dict[str, object]:
    """Tell how much the source lists, and what is missing.

    A type of which the source tells nothing at all, as Windows of page tables, makes nothing incomplete.
    """
    told = [row for name, row in sums.items() if name != TOTAL and row.values.get("size") is not None]
    unknown = [name for name in NEEDED if sums[TOTAL].values.get(name) is None]
    partial = [
        name
        for name in NEEDED
        if name not in unknown and any(name in row.partial or row.values.get(name) is None for row in told)
    ]
    lacks = [extent.reason] if extent.reason else []
    if extent.shown == ALL:
        lacks += name_lacks(unknown, partial)
    return {
        "extent": SHOWN.get(extent.shown, "nothing"),
        "complete": not lacks,
        "lacks": "; ".join(lacks) or None,
    }


def _show_sums(sums: TypeSums) -> dict[str, object]:
    """Return the figures of a row of the summary, and which of them are partial."""
    named = [field.name for field in SUMMARIES[2:-1]]
    partial = ", ".join(name for name in named if name in sums.partial)
    return {name: sums.values.get(name) for name in named} | {"partial": partial or None}


def _measure_holes(snapshot: LoadedSnapshot) -> dict[str, object]:
    if find_extent(snapshot).shown != ALL:
        return dict.fromkeys(_HOLES)
    free = snapshot.holes.free
    sizes = free.size
    return {
        "free_size": measure_coverage(free),
        "largest_free": int(sizes.max(initial=0)),
        "free_blocks": len(sizes),
        "external_fragmentation": measure_external(sizes),
    }


def _count_modules(snapshot: LoadedSnapshot) -> int:
    """Count the rows of schema.MODULES without making them."""
    classes = snapshot.classified.classes
    return len(np.unique(classes.allocation[classes.parts]))
