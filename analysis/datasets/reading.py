"""A dataset as the commands that take many snapshots see it: the measures of each, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
from mmpscope.analysis.datasets.layout import Part, is_dataset, list_parts, read_description
from mmpscope.analysis.datasets.schema import TABLES
from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.schema import Field
from mmpscope.analysis.tables import build_table, find_arrow_type, keep_exact_in_pandas
from mmpscope.formats.errors import CorruptError, InputError
from pyarrow import parquet

__all__ = ["is_dataset", "read_measures", "read_table"]


def read_measures(path: str | Path, wanted: Sequence[str] = tuple(MEASURES)) -> Iterator[Measures]:
    """Yield the measures of all snapshots of a dataset, those of one part at a time; ``wanted`` names tables.

    The others stay empty. Raises as `read_description`, and CorruptError where a part is damaged.
    """
    root = Path(path)
    generation = read_description(root).generation
    found = list_parts(root, generation, *wanted, "captures")
    parts = {name: _by_place(own) for name, own in found.items()}
    for place in sorted(parts["captures"], key=str):
        yield Measures(
            **{
                field.name: _read(parts.get(field.name, {}).get(place), MEASURES[field.name])
                for field in fields(Measures)
            }
        )


def read_table(path: str | Path, name: str) -> Iterator[pa.Table]:
    """Yield the columns of the schema of a table of TABLES, part by part; raises as `read_measures`."""
    root = Path(path)
    for part in list_parts(root, read_description(root).generation, name)[name]:
        yield _read(part, TABLES[name])


def _by_place(parts: Sequence[Part]) -> dict[tuple[str | None, str], Part]:
    return {(part.month, part.batch): part for part in parts}


def _read(part: Part | None, columns: Sequence[Field]) -> pa.Table:
    if part is None:
        return build_table(columns, {}, 0)
    names = [field.name for field in columns]
    try:
        table = parquet.ParquetFile(part.path, memory_map=True).read(names)
        schema = pa.schema([(field.name, find_arrow_type(field)) for field in columns])
        return keep_exact_in_pandas(table.select(names).cast(schema))
    except OSError as error:
        raise InputError(
            f"{part.path} cannot be read: {error.strerror or error}. Build the dataset anew"
        ) from error
    except (pa.ArrowException, KeyError) as error:
        raise CorruptError(f"it is no part of a dataset ({error})", path=str(part.path)) from error
