"""Arrow tables in the form that the schema writes down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, Text
from mmpscope.analysis.schema import Field

__all__ = ["build_table", "repeat_text", "to_array"]

Column = pa.Array | Numbers | Text | Sequence[object]


def build_table(fields: Sequence[Field], columns: Mapping[str, Column], rows: int) -> pa.Table:
    """Put columns into the order and the types of the schema; one that is not given is all null.

    Columns that the schema does not know follow in the order in which they are given.
    """
    known = {field.name for field in fields}
    built = {field.name: _convert(columns.get(field.name), field.type, rows) for field in fields}
    built |= {name: to_array(column) for name, column in columns.items() if name not in known}
    return pa.table(built)


def to_array(column: Column) -> pa.Array:
    """Return a column as an Arrow array: text dictionary-encoded, numbers as uint64."""
    if isinstance(column, Numbers):
        return column.to_arrow()
    if isinstance(column, Text):
        nulls = column.is_null
        codes = pa.array(column.codes, mask=nulls if nulls.any() else None)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.values[:-1], pa.string()))
    return column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)


def repeat_text(text: str, rows: int) -> Text:
    """Return the same text for every row."""
    return Text(np.zeros(rows, np.int32), (text, None))


def _convert(column: Column | None, type_name: str, rows: int) -> pa.Array:
    wanted = pa.type_for_alias(type_name)
    if column is None:
        return pa.nulls(rows, wanted)
    array = to_array(column) if not isinstance(column, list | tuple) else pa.array(column, wanted)
    is_text = pa.types.is_dictionary(array.type) and type_name == "string"
    return array if is_text or array.type == wanted else array.cast(wanted)
