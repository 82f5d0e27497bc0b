"""What a dataset holds, from the footers of its parts: tables, rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from mmpscope.analysis.datasets.layout import Description, Part, list_parts, read_description
from mmpscope.analysis.datasets.schema import COLUMNS, MONTH, PARTITIONED, TABLES
from mmpscope.analysis.schema import Field
from mmpscope.analysis.tables import build_table
from mmpscope.formats.errors import CorruptError
from pyarrow import parquet

__all__ = ["Contents", "TableSize", "describe_dataset"]

_OF_THE_SOURCE = "column of the source under its own name, without raw_"


@dataclass(frozen=True)
class TableSize:
    """How much of one table there is; ``bytes`` are those of its files."""

    rows: int
    parts: int
    bytes: int


@dataclass(frozen=True)
class Contents:
    """A dataset: what it says of itself, its tables, and schema.COLUMNS of all of them."""

    root: Path
    description: Description
    tables: Mapping[str, TableSize]
    columns: pa.Table
    months: tuple[str | None, ...]


def describe_dataset(root: Path) -> Contents:
    """Look at each part of a dataset; raises as `read_description`, CorruptError where a part is damaged."""
    description = read_description(root)
    parts = list_parts(root, description.generation, *TABLES)
    tables: dict[str, TableSize] = {}
    columns: list[tuple[str, Field]] = []
    for name, own in parts.items():
        footers = [_read_footer(part) for part in own]
        rows = sum(footer.num_rows for footer in footers)
        tables[name] = TableSize(rows, len(own), sum(part.path.stat().st_size for part in own))
        columns += [(name, field) for field in _list_columns(name, footers)]
    months = dict.fromkeys(part.month for part in parts["captures"])
    return Contents(root, description, tables, _tabulate(columns), tuple(months))


def _read_footer(part: Part) -> parquet.FileMetaData:
    try:
        return parquet.read_metadata(part.path)
    except pa.ArrowException as error:
        raise CorruptError(f"it is no Parquet file ({error})", path=str(part.path)) from error


def _list_columns(name: str, footers: Iterable[parquet.FileMetaData]) -> list[Field]:
    """List the columns of the schema, then those of the source in the order in which they were met."""
    known = TABLES[name]
    names = {field.name for field in known}
    raw: dict[str, Field] = {}
    for footer in footers:
        for field in footer.schema.to_arrow_schema():
            if field.name not in names and field.name not in raw:
                raw[field.name] = Field(field.name, _name_type(field.type), "", _OF_THE_SOURCE)
    return [*known, *raw.values(), *([MONTH] if name in PARTITIONED else [])]


def _name_type(kind: pa.DataType) -> str:
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _tabulate(columns: Sequence[tuple[str, Field]]) -> pa.Table:
    values = {
        "table": [table for table, _ in columns],
        "column": [field.name for _, field in columns],
        "type": [field.type for _, field in columns],
        "unit": [field.unit or None for _, field in columns],
        "meaning": [field.meaning for _, field in columns],
    }
    return build_table(COLUMNS, values, len(columns))
