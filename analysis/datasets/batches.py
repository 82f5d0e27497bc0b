"""Snapshots of many files into the Parquet parts of one batch. Pure: nothing is written anywhere.

A small table costs more to make than what is in it; so rows are gathered, and tables made once a batch.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.datasets.raw_names import name_columns
from mmpscope.analysis.datasets.schema import DATASET_VERSION, FILES, RAW_PREFIX, TABLES, list_units
from mmpscope.analysis.export import describe_columns
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.measures.measure import Gatherer
from mmpscope.analysis.measures.piles import Pile, name_rows, rank
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.schema import CAPABILITY
from mmpscope.analysis.stack_tables import StackTables, stack_together
from mmpscope.analysis.tables import build_table, stack
from mmpscope.formats.errors import FormatError
from mmpscope.formats.model import Capability
from pyarrow import parquet

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "MOMENT_FACTS",
    "Batch",
    "FileRow",
    "Gathering",
    "drop_snapshots",
    "find_moments",
    "find_month",
    "render_part",
]

_TAKEN = ("regions", "threads", "modules")
"""The tables that are taken from a snapshot as they are: attributes of it."""
_TIME = "time_ns"
_NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NEEDED_FACTS = ("boot_id", "pid", "start_time", "mono_ns")
MOMENT_FACTS = (*_NEEDED_FACTS, "pid_namespace")
"""The columns of captures by which one moment of one process is told; Windows has no namespaces of pids."""
_ROW_GROUP = 1 << 17


@dataclass(frozen=True)
class FileRow:
    """One row of schema.FILES."""

    content: str | None
    input: str
    bytes: int | None = None
    mtime_ns: int | None = None
    snapshots: int = 0
    rules: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Batch:
    """What some files are worth: ``parts`` are Parquet files by table and month.

    ``moments`` has each snapshot by its id, and what tells it from every other (`find_moments`).
    """

    files: Sequence[FileRow]
    parts: Mapping[tuple[str, str | None], bytes]
    moments: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """16 hex digits that follow from what the files are, and not from when they were read."""
        told = sorted(
            [row.content or "", row.input if row.content is None else "", row.error or ""]
            for row in self.files
        )
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def render_files(self) -> bytes:
        """Write the part of the table ``files``."""
        columns = {each.name: [getattr(row, each.name) for row in self.files] for each in FILES}
        return render_part("files", build_table(FILES, columns, len(self.files)))


class Gathering:
    """The rows of one batch, as snapshots are added to it."""

    def __init__(self) -> None:
        self._measures = Gatherer()
        self._times: list[int | None] = []
        self._piles = {name: Pile(stack) for name in _TAKEN}
        self._capability: list[Capability] = []
        self._capable: list[int] = []
        self._files: list[FileRow] = []
        self._contents: set[str] = set()

    def add_file(self, row: FileRow) -> None:
        """Say what became of a file; where that is an error, `build` drops what was added of its content."""
        self._files.append(row)
        if row.content is not None and row.error is None:
            self._contents.add(row.content)

    def add_all(self, snapshots: Sequence[tuple[LoadedSnapshot, str]]) -> dict[int, FormatError]:
        """Take snapshots with their ids, together what is alike; return what is wrong with those that fail.

        Of one whose bytes are damaged nothing is kept.
        """
        before = len(self._times)
        self._times += [_read_time(snapshot) for snapshot, _ in snapshots]
        stacks = stack_together([snapshot for snapshot, _ in snapshots])
        alone = set(range(len(snapshots))) - self._take_stacks(stacks, before)
        errors = self._measures.add_all(snapshots, stacks)
        for place, (snapshot, _) in enumerate(snapshots):
            try:
                if place not in errors:
                    self._take(snapshot, before + place, _TAKEN if place in alone else ())
            except FormatError as error:
                errors[place] = error
                self._measures.drop(before + place)
        return errors

    def _take_stacks(self, stacks: Sequence[tuple[StackTables, Rows]], before: int) -> set[int]:
        """Take the tables of stacks; return the places of the snapshots that they are of."""
        taken = set[int]()
        for tables, places in stacks:
            try:
                found = tables.list_all()
            except FormatError:  # one of them is damaged; each is asked alone
                continue
            if tables.has_odd_text:  # some have columns that others do not have
                continue
            for name, (table, slot) in found.items():
                self._pile(name, table, before + places[slot])
            taken.update(places.tolist())
        return taken

    def _take(self, snapshot: LoadedSnapshot, number: int, names: Collection[str]) -> None:
        rows, found = snapshot.stated_capability, {name: getattr(snapshot, name) for name in names}
        for name, table in found.items():
            self._pile(name, table, np.full(table.num_rows, number))
        self._capability += rows
        self._capable += [number] * len(rows)

    def _pile(self, name: str, table: pa.Table, numbers: Rows) -> None:
        if name == "regions":
            table = table.rename_columns(name_columns(table)).drop_columns("snapshot")
        self._piles[name].add(table.replace_schema_metadata(None), numbers)

    def build(self) -> Batch:
        """Make the parts of all that was added."""
        parts: dict[tuple[str, str | None], bytes] = {}
        moments: dict[str, bytes] = {}
        piles = {**self._piles, "capability": self._list_capability()}
        months: dict[str | None, list[int]] = {}
        for number, time_ns in enumerate(self._times):
            months.setdefault(find_month(time_ns), []).append(number)
        for month, numbers in months.items():
            measures = self._measures.build(numbers)
            tables = {name: getattr(measures, name) for name in MEASURES}
            tables |= self._take_month(piles, numbers)
            parts |= {
                (name, month): render_part(name, table) for name, table in tables.items() if table.num_rows
            }
            moments |= find_moments(measures.captures)
        dropped = {id_ for id_ in moments if id_.partition(":")[0] not in self._contents}
        return drop_snapshots(Batch(self._files, parts, moments), dropped)

    def _list_capability(self) -> Pile:
        columns = {each.name: [getattr(row, each.name) for row in self._capability] for each in CAPABILITY}
        pile = Pile()
        pile.add(build_table(CAPABILITY, columns, len(self._capable)), np.array(self._capable, np.int64))
        return pile

    def _take_month(self, piles: Mapping[str, Pile], numbers: Sequence[int]) -> dict[str, pa.Table]:
        """Return the tables of some snapshots by time, so that a question about a week reads no other."""
        kept = self._measures.list_kept(numbers)
        kept.sort(key=lambda each: (self._times[each[0]] or 0, each[0]))
        ranks = rank([number for number, _ in kept], len(self._times))
        times = pa.array([self._times[number] for number, _ in kept], pa.int64())
        found = {}
        for name, pile in piles.items():
            if (taken := pile.take(ranks)) is not None:
                table, places = taken
                if name in _TAKEN:
                    table = table.add_column(0, _TIME, times.take(pa.array(places)))
                found[name] = name_rows(table, places, [snapshot_id for _, snapshot_id in kept])
        return found


def _read_time(snapshot: LoadedSnapshot) -> int | None:
    time_ns = snapshot.moment.get("time_ns")
    return time_ns if type(time_ns) is int and -(1 << 63) <= time_ns < 1 << 63 else None


def find_month(time_ns: int | None) -> str | None:
    """Return the key of the partition of a moment, as in 2026-11 (UTC); None where it is not known."""
    if time_ns is None:
        return None
    return f"{_EPOCH + timedelta(seconds=time_ns // _NS):%Y-%m}"


def render_part(name: str, table: pa.Table) -> bytes:
    """Write one Parquet file; units and meanings of the columns, and versions, are in its metadata.

    Statistics, by which a question passes over what it does not need, are of our own columns alone: they
    take a fifth of the time, and nobody looks for a part by a raw column.
    """
    metadata = {
        "mmpscope.dataset": str(DATASET_VERSION),
        "mmpscope.table": name,
        "mmpscope.units": json.dumps(list_units(name)),
    }
    stream = io.BytesIO()
    described = describe_columns(table, TABLES[name]).replace_schema_metadata(metadata)
    asked = [column for column in table.column_names if not column.startswith(RAW_PREFIX)]
    parquet.write_table(
        described, stream, compression="zstd", row_group_size=_ROW_GROUP, write_statistics=asked
    )
    return stream.getvalue()


def drop_snapshots(batch: Batch, ids: Collection[str]) -> Batch:
    """Leave some snapshots out of the parts of a batch; what is said of files stays."""
    if not ids:
        return batch
    parts: dict[tuple[str, str | None], bytes] = {}
    dropped = pa.array(sorted(ids), pa.string())
    for (name, month), data in batch.parts.items():
        table = parquet.read_table(io.BytesIO(data))
        kept = table.filter(pc.invert(pc.is_in(table["snapshot_id"].cast(pa.string()), dropped)))
        if kept.num_rows:
            parts[name, month] = render_part(name, kept)
    moments = {id_: moment for id_, moment in batch.moments.items() if id_ not in ids}
    return Batch(batch.files, parts, moments)


def find_moments(captures: pa.Table) -> dict[str, bytes]:
    """Return, by the id of each snapshot, what tells its moment of its process from every other.

    A series that has grown, and a copy in another format, have new bytes, but most of their snapshots are not
    new. Where a fact is not known, a snapshot stands for itself.
    """
    found: dict[str, bytes] = {}
    for row in captures.select(["snapshot_id", *MOMENT_FACTS]).to_pylist():
        id_, *facts = row.values()
        told = json.dumps(id_ if None in facts[: len(_NEEDED_FACTS)] else facts)
        found[id_] = hashlib.sha256(told.encode()).digest()[:16]
    return found
