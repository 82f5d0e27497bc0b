"""Columns between plain values and their stored form (docs/format.md, "Columns").

`encode_table` picks the encodings (`encoding`); what follows here is the slow, plain reference that faster
decoders are tested against. Nothing here compresses, reads or writes files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate
from operator import add

from mmpscope.formats.errors import CorruptError, FormatError, UnsupportedVersionError
from mmpscope.formats.mmp.encoding import Plain, encode_table
from mmpscope.formats.model import Column, Fact, Table

__all__ = [
    "ENCODINGS",
    "MAX_REFERENCES",
    "TYPES",
    "Plain",
    "bound_text",
    "decode_column",
    "decode_table",
    "encode_table",
    "measure_text",
]

TYPES: dict[str, type] = {"uint": int, "int": int, "float": float, "bool": bool, "text": bytes}
"""Each column type, and what its values are in Python."""
_INTEGERS = ("uint", "int")
ENCODINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("null", "const", "plain", "same", "dict"), tuple(TYPES)),
    **dict.fromkeys(("delta", "chain", "diff"), _INTEGERS),
}
"""Each encoding, and the types that it is for."""

_MASK = (1 << 64) - 1
_SIGN = 1 << 63
MAX_REFERENCES = 16
"""Columns that refer to each other, one after the other, at most."""
_INNER = ("null", "const", "plain", "delta")  # the encodings that need no other column
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
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
    return _decode(table, name, MAX_REFERENCES)


def _decode(table: Table, name: str, depth: int) -> list[Fact]:
    column, rows = table.columns[name], table.rows
    _check_known(column, name)
    if column.enc == "same":
        return _follow(table, name, depth, (column.type,))
    if column.enc == "dict":
        return _mask(column, name, _decode_dict(table, name))
    if column.enc in ("chain", "diff"):
        base = [value or 0 for value in _follow(table, name, depth, _INTEGERS)]
        stored = _read_scaled(column, name, rows, signed=True)
        if column.enc == "diff":
            values = list(map(add, _restore_order(table, name, stored), base))
        else:
            values = list(accumulate(map(add, stored, [0, *base])))
        return _mask(column, name, _wrap(column.type, values))
    decoded = _decode_alone(column, name, rows)
    if column.enc == "plain" and column.type != "text":
        decoded = _restore_order(table, name, decoded)
    return _mask(column, name, decoded)


def _check_known(column: Column, name: str) -> None:
    if column.type not in ENCODINGS.get(column.enc, ()):
        what = f"the encoding {column.enc!r} of {column.type!r} is unknown to this version"
        raise UnsupportedVersionError(what, field=name)


def _refer(table: Table, name: str, of: str | None) -> Column:
    """Return another column that a column needs."""
    column = None if of is None else table.columns.get(of)
    if column is None:
        raise CorruptError(f"it refers to a column {of!r} that is not there", field=name)
    _check_known(column, name)
    return column


def _follow(table: Table, name: str, depth: int, types: Sequence[str]) -> list[Fact]:
    """Decode the column that a column refers to."""
    of = table.columns[name].of
    if _refer(table, name, of).type not in types:
        raise CorruptError(f"it refers to a column {of!r} of another type", field=name)
    if not depth:
        raise CorruptError("columns refer to each other in a circle or too deeply", field=name)
    return _decode(table, str(of), depth - 1)


def _restore_order(table: Table, name: str, stored: list[Fact]) -> list[Fact]:
    """Bring values that are stored in the order of another column's codes back into that of the table."""
    column = table.columns[name]
    if column.by is None:
        return stored
    codes = _read_codes(table, name, column.by)
    restored: list[Fact] = [None] * table.rows
    for row, value in zip(sorted(range(table.rows), key=codes.__getitem__), stored):
        restored[row] = value
    return restored


def _decode_dict(table: Table, name: str) -> list[Fact]:
    column = table.columns[name]
    rows = 0 if column.values is None else column.values.rows
    if rows > table.rows:
        raise CorruptError("a dictionary has more values than the table has rows", field=name)
    values = _decode_nested(column.values, name, column.type, rows)
    codes = _read_codes(table, name, name if column.of is None else column.of)
    if codes and max(codes) >= len(values):
        raise CorruptError("a code is beyond its dictionary", field=name)
    return list(map(values.__getitem__, codes))


def _read_codes(table: Table, name: str, of: str) -> Sequence[int]:
    """Read the codes of a dictionary column that has its own; which rows are null there is of no matter."""
    column = _refer(table, name, of)
    if column.enc != "dict" or column.of is not None:
        raise CorruptError(f"it refers to a column {of!r} that has no codes", field=name)
    return _read_numbers(column, of, table.rows, signed=False)


def _decode_nested(column: Column | None, name: str, kind: str, rows: int) -> list[Fact]:
    """Decode a column inside a descriptor, which refers to no other one."""
    if column is None:
        raise CorruptError("the values of a dictionary or the ends of its texts are missing", field=name)
    _check_known(column, name)
    if column.type != kind:
        raise CorruptError(f"a column inside it is of the type {column.type!r} and not {kind!r}", field=name)
    if column.enc not in _INNER or column.by is not None:
        raise CorruptError("a column inside it refers to a third", field=name)
    return _mask(column, name, _decode_alone(column, name, rows))


def _decode_alone(column: Column, name: str, rows: int) -> list[Fact]:
    """Decode what needs no other column, nulls not yet set."""
    if column.enc == "null":
        return [None] * rows
    if column.enc == "const":
        return [_check_constant(column, name)] * rows
    if column.enc == "delta":
        return _wrap(column.type, list(accumulate(_read_scaled(column, name, rows, signed=True))))
    if column.type == "text":
        return _decode_text(column, name, rows)
    if column.type == "float":
        _check_size(column, name, rows, (8,))
        return list(struct.unpack(f"<{rows}d", column.data))
    if column.type == "bool":
        return list(map(bool, _read_numbers(column, name, rows, signed=False)))
    return _wrap(column.type, _read_scaled(column, name, rows, signed=column.type == "int"))


def _check_constant(column: Column, name: str) -> Fact:
    value, allowed = column.value, _RANGES.get(column.type)
    if type(value) is not TYPES[column.type] or (allowed is not None and value not in allowed):
        raise CorruptError(f"its constant is no {column.type}", field=name)
    return value


def _decode_text(column: Column, name: str, rows: int) -> list[Fact]:
    ends = _decode_nested(column.ends, name, "uint", rows)
    if None in ends or ends != sorted(ends) or (ends and ends[-1] > len(column.data)):
        raise CorruptError("text ends outside its data", field=name)
    return [column.data[start:end] for start, end in zip([0, *ends], ends)]


def _read_scaled(column: Column, name: str, rows: int, *, signed: bool) -> list[int]:
    return [number * column.scale for number in _read_numbers(column, name, rows, signed=signed)]


def _read_numbers(column: Column, name: str, rows: int, *, signed: bool) -> Sequence[int]:
    codes = _SIGNED if signed else _UNSIGNED
    _check_size(column, name, rows, tuple(codes))
    return struct.unpack(f"<{rows}{codes[column.width]}" if rows else "", column.data)


def _check_size(column: Column, name: str, rows: int, widths: tuple[int, ...]) -> None:
    """Where nothing is stored, the width may be absent too."""
    if len(column.data) != column.width * rows or (column.width not in widths and rows):
        raise CorruptError("the data does not fit the number of rows", field=name)


def _mask(column: Column, name: str, values: list[Fact]) -> list[Fact]:
    """Set the nulls of a validity bitmap, which has the least significant bit first."""
    if column.valid is None or column.enc == "null":
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


def bound_text(table: Table, name: str) -> int:
    """Return bytes that the texts of a column do not exceed, without a look at any of them."""
    column = table.columns[name]
    for _ in range(MAX_REFERENCES):
        if column.enc != "same" or column.of not in table.columns:
            break
        column = table.columns[column.of]
    if column.enc == "plain":
        return len(column.data)
    stored = column if column.values is None else column.values
    return table.rows * (len(column.value) if isinstance(column.value, bytes) else len(stored.data))


def measure_text(table: Table, name: str) -> int:
    """Return the bytes of the texts of a column, each as often as it stands there.

    0 for a column that cannot be decoded: whoever asks for it says so.
    """
    try:
        return sum(len(text) for text in decode_column(table, name) if text is not None)
    except FormatError:
        return 0
