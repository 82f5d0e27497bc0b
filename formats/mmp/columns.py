"""Columns between plain values and their stored form (docs/format.md, "Columns").

`encode_table` picks the encodings (`encoding`); what follows here is the slow, plain reference that faster
decoders are tested against. Nothing here compresses, reads or writes files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate
from operator import add

from mmpscope.formats.errors import CorruptError, UnsupportedVersionError
from mmpscope.formats.mmp.encoding import Plain, encode_table
from mmpscope.formats.model import Column, Fact, Table

__all__ = ["Plain", "decode_column", "decode_table", "encode_table"]

_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_MAX_REFERENCES = 16
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}


_TYPES = {"uint": int, "int": int, "float": float, "bool": bool, "text": bytes}
_RANGES = {"uint": range(1 << 64), "int": range(-(1 << 63), 1 << 63)}


def decode_table(table: Table) -> dict[str, list[Fact]]:
    """Decode every column whose encoding is known; CorruptError where the bytes contradict each other."""
    decoded = {}
    for name in table.columns:
        try:
            decoded[name] = decode_column(table, name)
        except UnsupportedVersionError:
            continue
    return decoded


def decode_column(table: Table, name: str) -> list[Fact]:
    """Decode one column to one item a row, None for null, text as bytes.

    KeyError where the table has no such column, UnsupportedVersionError where its encoding (or that of a
    column that it refers to) is unknown, CorruptError where its bytes contradict each other.
    """
    return _decode(table, name, _MAX_REFERENCES)


def _decode(table: Table, name: str, depth: int) -> list[Fact]:
    column, rows = table.columns[name], table.rows
    if column.type not in _TYPES:
        raise UnsupportedVersionError(f"the type {column.type!r} is unknown to this version", field=name)
    if column.enc == "same":
        return _follow(table, name, depth, (column.type,))
    if column.enc == "dict":
        return _mask(column, name, _decode_dict(table, name))
    if column.enc in ("chain", "diff"):
        base = [value or 0 for value in _follow(table, name, depth, ("uint", "int"))]
        stored = _restore_order(table, name, _read_scaled(column, name, rows, signed=True))
        if column.enc == "diff":
            values = list(map(add, stored, base))
        else:
            values = list(accumulate(map(add, stored, [0, *base])))
        return _mask(column, name, _wrap(column.type, values))
    values = _decode_alone(column, name, rows)
    return _mask(column, name, _restore_order(table, name, values))


def _follow(table: Table, name: str, depth: int, types: Sequence[str]) -> list[Fact]:
    """Decode the column that a column refers to."""
    of = table.columns[name].of
    if of is None or of not in table.columns:
        raise CorruptError(f"it refers to a column {of!r} that is not there", field=name)
    if table.columns[of].type not in types:
        raise CorruptError(f"it refers to a column {of!r} of another type", field=name)
    if not depth:
        raise CorruptError("columns refer to each other in a circle or too deeply", field=name)
    return _decode(table, of, depth - 1)


def _restore_order(table: Table, name: str, stored: list[Fact]) -> list[Fact]:
    """Bring values that are stored in the order of another column's codes back into that of the table."""
    column = table.columns[name]
    if column.by is None:
        return stored
    if column.enc not in ("plain", "diff"):
        raise UnsupportedVersionError(f"an order with the encoding {column.enc!r} is unknown", field=name)
    codes = _read_codes(table, name, column.by)
    restored: list[Fact] = [None] * table.rows
    for row, value in zip(sorted(range(table.rows), key=codes.__getitem__), stored):
        restored[row] = value
    return restored


def _decode_dict(table: Table, name: str) -> list[Fact]:
    column = table.columns[name]
    if column.values is None or column.values.type != column.type or column.values.rows > table.rows:
        raise CorruptError("a dictionary without values, or with more than rows", field=name)
    values = _decode_nested(column.values, name, column.values.rows)
    codes = _read_codes(table, name, name if column.of is None else column.of)
    if codes and max(codes) >= len(values):
        raise CorruptError("a code is beyond its dictionary", field=name)
    return list(map(values.__getitem__, codes))


def _read_codes(table: Table, name: str, of: str) -> Sequence[int]:
    """Read the codes of a dictionary column that has its own."""
    column = table.columns.get(of)
    if column is None or column.enc != "dict" or column.of is not None:
        raise CorruptError(f"it refers to a column {of!r} that has no codes", field=name)
    return _read_numbers(column, of, table.rows, signed=False)


def _decode_nested(column: Column, name: str, rows: int) -> list[Fact]:
    """Decode a column inside a descriptor, which refers to no other one."""
    if column.enc in ("same", "dict", "chain", "diff") or column.by is not None:
        raise CorruptError("a column inside another one refers to a third", field=name)
    return _mask(column, name, _decode_alone(column, name, rows))


def _decode_alone(column: Column, name: str, rows: int) -> list[Fact]:
    """Decode what needs no other column, nulls not yet set."""
    if column.enc == "null":
        return [None] * rows
    if column.enc == "const":
        return [_check_constant(column, name)] * rows
    if column.enc == "delta" and column.type in _RANGES:
        return _wrap(column.type, list(accumulate(_read_scaled(column, name, rows, signed=True))))
    if column.enc != "plain":
        what = f"the encoding {column.enc!r} of {column.type} is unknown to this version"
        raise UnsupportedVersionError(what, field=name)
    if column.type == "text":
        return _decode_text(column, name, rows)
    if column.type == "float":
        _check_size(column, name, 8 * rows if column.width == 8 else -1)
        return list(struct.unpack(f"<{rows}d", column.data))
    if column.type == "bool":
        return list(map(bool, _read_numbers(column, name, rows, signed=False)))
    return _wrap(column.type, _read_scaled(column, name, rows, signed=column.type == "int"))


def _check_constant(column: Column, name: str) -> Fact:
    value, allowed = column.value, _RANGES.get(column.type)
    if type(value) is not _TYPES[column.type] or (allowed is not None and value not in allowed):
        raise CorruptError(f"its constant is no {column.type}", field=name)
    return value


def _decode_text(column: Column, name: str, rows: int) -> list[Fact]:
    if column.ends is None or column.ends.type != "uint":
        raise CorruptError("text without end offsets", field=name)
    ends = [end or 0 for end in _decode_nested(column.ends, name, rows)]
    if ends != sorted(ends) or (ends and ends[-1] > len(column.data)):
        raise CorruptError("text ends outside its data", field=name)
    return [column.data[start:end] for start, end in zip([0, *ends], ends)]


def _read_scaled(column: Column, name: str, rows: int, *, signed: bool) -> list[int]:
    return [number * column.scale for number in _read_numbers(column, name, rows, signed=signed)]


def _read_numbers(column: Column, name: str, rows: int, *, signed: bool) -> Sequence[int]:
    codes = _SIGNED if signed else _UNSIGNED
    _check_size(column, name, column.width * rows if column.width in codes else -1)
    return struct.unpack(f"<{rows}{codes[column.width]}", column.data)


def _check_size(column: Column, name: str, size: int) -> None:
    if len(column.data) != size:
        raise CorruptError("the data does not fit the number of rows", field=name)


def _mask(column: Column, name: str, values: list[Fact]) -> list[Fact]:
    """Set the nulls of a validity bitmap, which has the least significant bit first."""
    if column.valid is None:
        return values
    if len(column.valid) != (len(values) + 7) // 8:
        raise CorruptError("the validity bitmap does not fit the number of rows", field=name)
    bits = f"{int.from_bytes(column.valid, 'little'):0{len(values)}b}"[::-1]
    return [value if bit == "1" else None for value, bit in zip(values, bits)]


def _wrap(kind: str, values: Sequence[int]) -> list[Fact]:
    """Take integers modulo 2^64."""
    if kind == "int":
        return [((value + _SIGN) & _MASK) - _SIGN for value in values]
    return [value & _MASK for value in values]
