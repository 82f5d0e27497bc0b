"""Columns into an Arrow table of a given schema; it computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from mmpscope.analysis.schema import Field

__all__ = ["TEXT", "build_table", "find_arrow_type"]

TEXT = pa.dictionary(pa.int32(), pa.string())
"""How all text is kept: names repeat, and equal names can be compared as numbers."""


def find_arrow_type(field: Field) -> pa.DataType:
    """Return the Arrow type of a column."""
    return TEXT if field.type == "string" else pa.type_for_alias(field.type)


def build_table(fields: Sequence[Field], columns: Mapping[str, Any]) -> pa.Table:
    """Make a table with just these columns in this order, from lists, numpy arrays or Arrow arrays.

    KeyError where a column is missing; Arrow refuses an array whose values do not fit the field's type.
    """
    return pa.table({field.name: _convert(columns[field.name], field) for field in fields})


def _convert(values: Any, field: Field) -> pa.Array | pa.ChunkedArray:
    wanted = find_arrow_type(field)
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else None
    if array is None and field.type == "string":
        return pa.array(values, pa.string()).dictionary_encode()
    if array is None:
        return pa.array(values, wanted)
    if wanted == TEXT and not pa.types.is_dictionary(array.type):
        return array.cast(pa.string()).dictionary_encode()
    return array if array.type == wanted else array.cast(wanted)
