"""Answers of DuckDB as tables of ours: whole numbers that stay whole, names that are distinct, no NaN."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.datasets.schema import TABLES

__all__ = ["make_plain"]

_ADDRESSES = {field.name for fields in TABLES.values() for field in fields if field.unit == "address"}
_UINT64, _INT64 = (1 << 64) - 1, -(1 << 63)


def make_plain(table: pa.Table) -> pa.Table:
    """Turn each column into one that JSON, CSV and Parquet hold alike, and mark addresses as such.

    Of columns that have one name, the later ones get _2, _3 ...; a column is an address by name and type.
    """
    fields, columns = [], []
    names = _tell_apart(table.column_names)
    for name, column in zip(names, table.columns, strict=True):
        plain = _make_plain(column)
        metadata = None
        if name in _ADDRESSES and column.type == pa.uint64():
            metadata = {"unit": "address"}
        fields.append(pa.field(name, plain.type, metadata=metadata))
        columns.append(plain)
    return pa.table(columns, schema=pa.schema(fields))


def _tell_apart(names: Sequence[str]) -> list[str]:
    given: list[str] = []
    for name in names:
        shown, count = name, 1
        while shown in given:
            count += 1
            shown = f"{name}_{count}"
        given.append(shown)
    return given


def _make_plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_finite(column), column, pa.scalar(None, kind))
    if pa.types.is_decimal(kind):
        return _make_number(column)
    if _is_plain(kind):
        return column
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return column.cast(pa.string())
    texts = [None if value is None else _write(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _is_plain(kind: pa.DataType) -> bool:
    checks = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_binary)
    return any(check(kind) for check in checks)


def _make_number(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make whole numbers of HUGEINT, which is what a sum is: uint64, else int64, else text; else floats."""
    if column.type.scale:
        return column.cast(pa.float64())
    limits = pc.min_max(column).as_py()
    low, high = (limits[name] or Decimal(0) for name in ("min", "max"))
    if low >= 0 and high <= _UINT64:
        return column.cast(pa.uint64())
    if low >= _INT64 and high < 1 << 63:
        return column.cast(pa.int64())
    return column.cast(pa.string())


def _write(value: object) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    return str(value)
