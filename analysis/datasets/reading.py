"""A dataset as the commands that take many snapshots see it: the measures of each, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from mmpscope.analysis.datasets.layout import Part, list_parts, read_description
from mmpscope.analysis.datasets.schema import RAW_PREFIX, TABLES
from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.tables import build_table, find_arrow_type, keep_exact_in_pandas
from mmpscope.formats.errors import CorruptError, InputError
from pyarrow import parquet

__all__ = ["read_errors", "read_measures", "read_parts", "read_table"]


def read_measures(path: str | Path, wanted: Sequence[str] = tuple(MEASURES)) -> Iterator[Measures]:
    """Yield the measures of all snapshots of a dataset, those of one part at a time; ``wanted`` names tables.

    The others stay empty. Raises as `read_description`, and CorruptError where a part is damaged.
    """
    for tables in read_parts(path, wanted):
        empty = {name: build_table(columns, {}, 0) for name, columns in MEASURES.items()}
        yield Measures(**(empty | {name: tables[name] for name in wanted}))


def read_parts(path: str | Path, wanted: Sequence[str]) -> Iterator[dict[str, pa.Table]]:
    """Yield tables of the same snapshots, those of one part at a time.

    Regions have the columns of the source, too. Raises as `read_measures`.
    """
    root = Path(path)
    found = list_parts(root, read_description(root).generation, *wanted, "captures")
    parts = {name: {(part.month, part.batch): part for part in own} for name, own in found.items()}
    for place in sorted(parts["captures"], key=str):
        yield {name: _read(parts[name].get(place), name) for name in wanted}


def read_table(path: str | Path, name: str) -> Iterator[pa.Table]:
    """Yield the columns of the schema of a table of TABLES, part by part; raises as `read_measures`."""
    root = Path(path)
    for part in list_parts(root, read_description(root).generation, name)[name]:
        yield _read(part, name).select([field.name for field in TABLES[name]])


def read_errors(path: str | Path) -> list[tuple[str, str]]:
    """Return input and reason of each file that no build could read, the view `errors` of `dataset sql`."""
    rows = [row for part in read_table(path, "files") for row in part.select(["input", "error"]).to_pylist()]
    whole = {row["input"] for row in rows if row["error"] is None}
    failed = {row["input"]: row["error"] for row in rows if row["input"] not in whole}
    return sorted(failed.items())


def _read(part: Part | None, name: str) -> pa.Table:
    """Read a part: the columns of the schema, and those of the source after them."""
    columns = TABLES[name]
    if part is None:
        return build_table(columns, {}, 0)
    known = {field.name: find_arrow_type(field) for field in columns}
    try:
        table = parquet.ParquetFile(part.path, memory_map=True).read()
        more = [field.name for field in table.schema if field.name.startswith(RAW_PREFIX)]
        table = table.select([*known, *more])
        schema = pa.schema([(field.name, known.get(field.name, field.type)) for field in table.schema])
        return keep_exact_in_pandas(table.cast(schema))
    except OSError as error:
        raise InputError(
            f"{part.path} cannot be read: {error.strerror or error}. Build the dataset anew"
        ) from error
    except (pa.ArrowException, KeyError) as error:
        raise CorruptError(f"it is no part of a dataset ({error})", path=str(part.path)) from error
