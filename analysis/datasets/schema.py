"""The tables of a dataset: what is kept of each snapshot and of each file; nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.measures.schema import CAPTURES, MEASURES
from mmpscope.analysis.schema import CAPABILITY, MODULES, REGIONS, THREADS, Field

__all__ = [
    "COLUMNS",
    "DATASET_VERSION",
    "ERRORS",
    "FILES",
    "MONTH",
    "PARTITIONED",
    "RAW_PREFIX",
    "TABLES",
    "list_units",
]

DATASET_VERSION = 1
"""Raised when a table or a column goes away or changes its meaning (docs/dataset.md)."""

RAW_PREFIX = "raw_"
"""Before the name of each column of the source: SQL tells no case apart, and Size is not our size."""

_SNAPSHOT = CAPTURES[0]
_TIME = Field("time_ns", "int64", "ns", "when the snapshot was taken, since 1970; null where nobody knows")

MONTH = Field("month", "string", "", "month of time_ns in UTC, as in 2026-11: the partition, a folder")

FILES = (
    Field("content", "string", "", "sha256 of the file in hex; null where it could not be read"),
    Field("input", "string", "", "the file as it was found"),
    Field("bytes", "uint64", "bytes", "size of the file"),
    Field(
        "mtime_ns",
        "int64",
        "ns",
        "last change of the file, since 1970; null where it was too recent to rely on",
    ),
    Field("snapshots", "uint64", "", "snapshots that came from it"),
    Field("rules", "string", "", "version of the classification rules, a plus for rules of the user's own"),
    Field("error", "string", "", "why nothing came from it; else null"),
)
"""One row a file that a build has read, readable or not."""

PARTITIONED: dict[str, tuple[Field, ...]] = {
    **MEASURES,
    "regions": (_SNAPSHOT, _TIME, *(field for field in REGIONS if field.name != "snapshot")),
    "threads": (_SNAPSHOT, _TIME, *THREADS),
    "modules": (_SNAPSHOT, _TIME, *MODULES),
    "capability": (_SNAPSHOT, *CAPABILITY),
}
"""The tables that are partitioned by month."""

TABLES: dict[str, tuple[Field, ...]] = {**PARTITIONED, "files": FILES}

ERRORS = tuple(field for field in FILES if field.name in ("input", "error"))
"""A view beside the tables: files that have an error, and that no later build could read."""

COLUMNS = (
    Field("table", "string", "", "table of the dataset"),
    Field("column", "string", "", "column of it"),
    Field("type", "string", "", "type in Parquet: uint64, int64, uint32, float64, bool, string, binary"),
    Field("unit", "string", "", "bytes, address, ns, ticks; null for none"),
    Field("meaning", "string", "", "what it tells"),
)
"""What `mmp dataset info` lists."""


def list_units(name: str) -> dict[str, str]:
    """Return the unit of each column of a table that has one."""
    return {field.name: field.unit for field in TABLES[name] if field.unit}
