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
from mmpscope.analysis.datasets.raw_names import name_columns, stack
from mmpscope.analysis.datasets.schema import DATASET_VERSION, FILES, PARTITIONED, TABLES, list_units
from mmpscope.analysis.export import describe_columns
from mmpscope.analysis.measures.measure import Gatherer
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.tables import build_table
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

_TAKEN = tuple(name for name in PARTITIONED if name not in MEASURES)
"""The tables that are taken from a snapshot as they are: attributes of it."""
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
        self._months: dict[str | None, _Month] = {}
        self._files: list[FileRow] = []
        self._contents: set[str] = set()

    def add_file(self, row: FileRow) -> None:
        """Say what became of a file; where that is an error, `build` drops what was added of its content."""
        self._files.append(row)
        if row.content is not None and row.error is None:
            self._contents.add(row.content)

    def add(self, snapshot: LoadedSnapshot, snapshot_id: str) -> None:
        """Take one snapshot; FormatError where its bytes are damaged, and then nothing of it is kept."""
        time_ns = snapshot.moment.get("time_ns")
        known = time_ns if type(time_ns) is int and -(1 << 63) <= time_ns < 1 << 63 else None
        self._months.setdefault(find_month(known), _Month()).add(snapshot, snapshot_id, known)

    def build(self) -> Batch:
        """Make the parts of all that was added."""
        parts: dict[tuple[str, str | None], bytes] = {}
        moments: dict[str, bytes] = {}
        for month, gathered in self._months.items():
            tables = gathered.build()
            parts |= {
                (name, month): render_part(name, table) for name, table in tables.items() if table.num_rows
            }
            moments |= find_moments(tables["captures"])
        dropped = {id_ for id_ in moments if id_.partition(":")[0] not in self._contents}
        return drop_snapshots(Batch(self._files, parts, moments), dropped)


class _Month:
    """What was gathered of one month."""

    def __init__(self) -> None:
        self._measures = Gatherer()
        self._ids: list[str] = []
        self._times: list[int | None] = []
        self._tables: dict[str, list[pa.Table]] = {name: [] for name in _TAKEN}

    def add(self, snapshot: LoadedSnapshot, snapshot_id: str, time_ns: int | None) -> None:
        found = {name: getattr(snapshot, name) for name in _TAKEN}
        regions = found["regions"]
        found["regions"] = regions.rename_columns(name_columns(regions)).drop_columns("snapshot")
        self._measures.add(snapshot, snapshot_id)
        self._ids.append(snapshot_id)
        self._times.append(time_ns)
        for name, table in found.items():
            self._tables[name].append(table.replace_schema_metadata(None))

    def build(self) -> dict[str, pa.Table]:
        measures = self._measures.build()
        return {name: getattr(measures, name) for name in MEASURES} | {
            name: self._stack(name) for name in _TAKEN
        }

    def _stack(self, name: str) -> pa.Table:
        """Put the tables below each other by time, so that a question about a week reads no other."""
        order = sorted(range(len(self._ids)), key=lambda place: (self._times[place] or 0, place))
        tables = [self._tables[name][place] for place in order]
        repeats = np.repeat(np.array(order, np.int32), [table.num_rows for table in tables])
        stacked = stack(tables)
        if "time_ns" in (field.name for field in PARTITIONED[name]):
            times = pa.array(self._times, pa.int64()).take(pa.array(repeats))
            stacked = stacked.add_column(0, "time_ns", times)
        ids = pa.DictionaryArray.from_arrays(repeats, pa.array(self._ids, pa.string()))
        return stacked.add_column(0, "snapshot_id", ids)


def find_month(time_ns: int | None) -> str | None:
    """Return the key of the partition of a moment, as in 2026-11 (UTC); None where it is not known."""
    if time_ns is None:
        return None
    return f"{_EPOCH + timedelta(seconds=time_ns // _NS):%Y-%m}"


def render_part(name: str, table: pa.Table) -> bytes:
    """Write one Parquet file; units and meanings of the columns, and versions, are in its metadata."""
    metadata = {
        "mmpscope.dataset": str(DATASET_VERSION),
        "mmpscope.table": name,
        "mmpscope.units": json.dumps(list_units(name)),
    }
    stream = io.BytesIO()
    described = describe_columns(table, TABLES[name]).replace_schema_metadata(metadata)
    parquet.write_table(described, stream, compression="zstd", row_group_size=_ROW_GROUP)
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
