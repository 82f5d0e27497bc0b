"""One snapshot to its measures. Pure: no file is read here but the snapshot's own, and nothing is kept.

Of many snapshots the rows are gathered as they come and made into tables once, since small tables cost more
to make than what is in them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.extent import ALL, SOME, TOTALS, Extent, find_extent
from mmpscope.analysis.facts import as_number, get_map, get_number, show_fact
from mmpscope.analysis.fragmentation import measure_external
from mmpscope.analysis.identity import identify
from mmpscope.analysis.intervals import measure_coverage
from mmpscope.analysis.mapping_count import MappingCount, count_mappings
from mmpscope.analysis.measures.limits import list_limits
from mmpscope.analysis.measures.schema import CAPTURES, LIMITS, MEASURES, SUMMARIES
from mmpscope.analysis.measures.units import Columns, list_cohorts, list_names, read_units
from mmpscope.analysis.measures.versions import find_version
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.summary import sum_rows
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.type_sums import TypeSums
from mmpscope.formats.model import Fact

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Gatherer", "Measures", "join_measures", "measure"]

_SHOWN = {ALL: "all regions", SOME: "some regions", TOTALS: "totals"}
_NEEDED = ("size", "committed", "private", "total_ws")
"""The figures without which a snapshot is not complete."""
_HOLES = ("free_size", "largest_free", "free_blocks", "external_fragmentation")


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
    return Measures(
        *(
            pa.concat_tables([getattr(part, field.name) for part in parts]).unify_dictionaries()
            for field in fields(Measures)
        )
    )


class Gatherer:
    """Rows of the measures of one snapshot after another, until they are made into tables.

    ``wanted`` names the tables that are asked for; the others stay empty, and cost nothing.
    """

    def __init__(self, wanted: Collection[str] = tuple(MEASURES)) -> None:
        self._wanted = frozenset(wanted)
        self._rows: dict[str, Columns] = {
            name: {field.name: [] for field in columns} for name, columns in MEASURES.items()
        }

    def add(self, snapshot: LoadedSnapshot, snapshot_id: str) -> None:
        """Measure one more; where that fails, nothing of it is kept. FormatError for damaged bytes."""
        sums, holes, count = sum_rows(snapshot), _measure_holes(snapshot), count_mappings(snapshot)
        found = {"captures": _read_capture(snapshot, sums, holes, count)}
        if "summaries" in self._wanted:
            rows = [{"type": name, **_show_sums(sums[name])} for name in (TOTAL, *TYPES)]
            found["summaries"] = {f.name: [row[f.name] for row in rows] for f in SUMMARIES[1:]}
        if "limits" in self._wanted:
            limits = list(list_limits(snapshot, _measure_mapped(snapshot, holes), count))
            found["limits"] = {f.name: [getattr(row, f.name) for row in limits] for f in LIMITS[1:]}
        if self._wanted & {"names", "cohorts"}:
            units = read_units(snapshot)
            found |= {"names": list_names(units), "cohorts": list_cohorts(units)}
        for name in self._wanted & found.keys():
            self._append(name, found[name], snapshot_id)

    def _append(self, table: str, columns: Columns, snapshot_id: str) -> None:
        rows = self._rows[table]
        for name, values in columns.items():
            rows[name] += values
        rows["snapshot_id"] += [snapshot_id] * (len(next(iter(columns.values()))))

    def build(self) -> Measures:
        """Make the tables of all that was added."""
        return Measures(
            *(
                build_table(MEASURES[name], rows, len(rows["snapshot_id"]))
                for name, rows in self._rows.items()
            )
        )


def _read_capture(
    snapshot: LoadedSnapshot,
    sums: Mapping[str, TypeSums],
    holes: Mapping[str, object],
    count: MappingCount,
) -> Columns:
    extent = find_extent(snapshot)
    values = {
        **_read_facts(snapshot),
        **_judge(extent, sums),
        **_show_sums(sums[TOTAL]),
        **holes,
        "mappings": count.count,
        "mappings_limit": count.limit,
        "threads": _count_threads(snapshot),
        "modules": _count_modules(snapshot) if extent.shown == ALL else None,
    }
    return {field.name: [values[field.name]] for field in CAPTURES[1:]}


def _measure_mapped(snapshot: LoadedSnapshot, holes: Mapping[str, object]) -> int | None:
    free = holes["free_size"]
    low, high, _ = snapshot.usable_range
    return high - low - free if isinstance(free, int) else None


def _read_facts(snapshot: LoadedSnapshot) -> dict[str, object]:
    host, process, moment = snapshot.capture.host, snapshot.process, snapshot.moment
    identity = identify(snapshot)
    return {
        "input": snapshot.label,
        "host_id": identity.host,
        "hostname": show_fact(host.get("hostname")),
        "os": show_fact(host.get("os")),
        "kernel": show_fact(host.get("kernel")),
        "boot_id": identity.boot,
        "pid_namespace": as_number(identity.pid_namespace),
        "pid": as_number(identity.pid),
        "start_time": as_number(identity.start_time),
        "name": show_fact(process.get("name")),
        "exe": show_fact(process.get("exe")),
        "version": find_version(snapshot),
        "time_ns": _as_time(moment.get("time_ns")),
        "mono_ns": _as_time(moment.get("mono_ns")),
        "page_size": snapshot.page_size,
        "map_moved": moved if isinstance(moved := moment.get("map_moved"), bool) else None,
    }


def _as_time(fact: Fact) -> int | None:
    return fact if type(fact) is int and -(1 << 63) <= fact < 1 << 63 else None


def _judge(extent: Extent, sums: Mapping[str, TypeSums]) -> dict[str, object]:
    """Tell how much the source lists, and what is missing.

    A type of which the source tells nothing at all, as Windows of page tables, makes nothing incomplete.
    """
    told = [row for name, row in sums.items() if name != TOTAL and row.values.get("size") is not None]
    unknown = [name for name in _NEEDED if sums[TOTAL].values.get(name) is None]
    partial = [
        name
        for name in _NEEDED
        if name not in unknown and any(name in row.partial or row.values.get(name) is None for row in told)
    ]
    lacks = [extent.reason] if extent.reason else []
    if extent.shown == ALL:
        lacks += [f"{', '.join(unknown)} not known"] if unknown else []
        lacks += [f"{', '.join(partial)} known in part"] if partial else []
    return {
        "extent": _SHOWN.get(extent.shown, "nothing"),
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


def _count_threads(snapshot: LoadedSnapshot) -> int | None:
    """Count the threads that are listed; where none are, take the count of Linux."""
    threads = snapshot.raw.tables.get("threads")
    listed = threads.rows if threads is not None else 0
    return listed or get_number(get_map(snapshot.process, "status"), "Threads")


def _count_modules(snapshot: LoadedSnapshot) -> int:
    """Count the rows of schema.MODULES without making them."""
    classes = snapshot.classified.classes
    return len(np.unique(classes.allocation[classes.parts]))
