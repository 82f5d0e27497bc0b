"""Columns between plain values and their stored form (docs/format.md, "Columns").

`encode_table` picks the encodings; `decode_column` is the slow, plain reference that faster decoders are
tested against. Nothing here compresses, reads or writes files.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, UnsupportedVersionError
from mmpscope.formats.model import Column, Fact, Table

__all__ = ["Plain", "decode_column", "decode_table", "encode_table"]

_MASK = (1 << 64) - 1
_MAX_REFERENCES = 64
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}


class Plain(NamedTuple):
    """One column as a producer has it.

    ``type`` is uint, int, float, bool or text; ``values`` holds one item a row, None for null, text as bytes;
    a null-free uint column may be an ``array("Q")``. ``text`` names the encoding of text: utf-8, bytes (none
    promised) or wtf-8. ``len_of`` is set on a size column and names the start column that it is the length
    of: the start column is then stored as the gaps between ranges.
    """

    type: str
    values: Sequence[Fact]
    text: str | None = None
    len_of: str | None = None


def encode_table(columns: Mapping[str, Plain], rows: int) -> Table:
    """Encode columns of ``rows`` values each, in the given order; ValueError where one has more or fewer."""
    lengths = {plain.len_of: name for name, plain in columns.items() if plain.len_of is not None}
    encoded: dict[str, Column] = {}
    for name, plain in columns.items():
        if len(plain.values) != rows:
            raise ValueError(f"column {name!r} has {len(plain.values)} values for {rows} rows")
        size = lengths.get(name)
        chained = None if size is None else _chain(plain, size, columns[size])
        encoded[name] = chained or _encode(plain)
    return Table(rows, encoded)


def _encode(plain: Plain) -> Column:
    values = plain.values
    present = [value for value in values if value is not None]
    if not present:
        return Column(plain.type, "null", text=plain.text)
    if plain.type == "text":
        return _encode_text(plain, present)
    valid = None if len(present) == len(values) else _pack_bits([value is not None for value in values])
    if plain.type == "float":
        data = struct.pack(f"<{len(values)}d", *[0.0 if value is None else value for value in values])
        return Column("float", "plain", width=8, data=data, valid=valid)
    numbers = values if valid is None else [0 if value is None else value for value in values]
    return _pack_numbers(plain.type, [int(value) for value in numbers], valid)


def _encode_text(plain: Plain, present: Sequence[bytes]) -> Column:
    codes = {value: code for code, value in enumerate(dict.fromkeys(present))}
    ends = list(accumulate(map(len, codes)))
    values = Column(
        "text",
        "plain",
        rows=len(codes),
        data=b"".join(codes),
        ends=_pack_numbers("uint", ends, None, rows=len(ends)),
    )
    valid = None
    if len(present) != len(plain.values):
        valid = _pack_bits([value is not None for value in plain.values])
    width, data = _pack([codes.get(value, 0) for value in plain.values], signed=False)
    return Column("text", "dict", width=width, data=data, valid=valid, values=values, text=plain.text)


def _pack_numbers(kind: str, values: Sequence[int], valid: bytes | None, rows: int = 0) -> Column:
    if len(set(values)) == 1:
        value: Fact = bool(values[0]) if kind == "bool" else values[0]
        return Column(kind, "const", value=value, valid=valid, rows=rows)
    scale = 1 if kind == "bool" else math.gcd(*set(values)) or 1
    width, data = _pack([value // scale for value in values], signed=kind == "int")
    return Column(kind, "plain", width=width, scale=scale, data=data, valid=valid, rows=rows)


def _chain(start: Plain, size_name: str, size: Plain) -> Column | None:
    starts, sizes = start.values, size.values
    if not starts or None in starts or None in sizes:
        return None
    gaps = list(map(sub, starts, [0, *map(sum, zip(starts, sizes))]))
    gaps = [_signed(gap & _MASK) for gap in gaps]
    scale = math.gcd(*set(gaps)) or 1
    width, data = _pack([gap // scale for gap in gaps], signed=True)
    return Column("uint", "chain", width=width, scale=scale, data=data, of=size_name)


def _pack(numbers: Sequence[int], *, signed: bool) -> tuple[int, bytes]:
    low, high = min(numbers, default=0), max(numbers, default=0)
    for width in (1, 2, 4):
        bits = 8 * width - (1 if signed else 0)
        if high < 1 << bits and low >= (-(1 << bits) if signed else 0):
            break
    else:
        width = 8
    codes = _SIGNED if signed else _UNSIGNED
    return width, struct.pack(f"<{len(numbers)}{codes[width]}", *numbers)


def _pack_bits(bits: Sequence[bool]) -> bytes:
    number = int("".join("1" if bit else "0" for bit in reversed(bits)) or "0", 2)
    return number.to_bytes((len(bits) + 7) // 8, "little")


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
    return _decode(table, table.columns[name], name, table.rows, _MAX_REFERENCES)


def _decode(table: Table, column: Column, name: str, rows: int, depth: int) -> list[Fact]:
    if column.enc == "null":
        return [None] * rows
    if column.enc == "same":
        return _decode_reference(table, column, name, depth)
    values = _decode_values(table, column, name, rows, depth)
    if column.valid is None:
        return values
    if len(column.valid) != (rows + 7) // 8:
        raise CorruptError("the validity bitmap does not fit the number of rows", field=name)
    bits = int.from_bytes(column.valid, "little")
    return [value if bits >> row & 1 else None for row, value in enumerate(values)]


def _decode_values(table: Table, column: Column, name: str, rows: int, depth: int) -> list[Fact]:
    if column.enc == "const":
        return [column.value] * rows
    if column.enc == "dict":
        return _decode_dict(table, column, name, rows, depth)
    if column.enc == "plain":
        return _decode_plain(table, column, name, rows, depth)
    if column.enc not in ("delta", "chain", "diff"):
        raise UnsupportedVersionError(f"the encoding {column.enc!r} is unknown to this version", field=name)
    stored = [number * column.scale for number in _numbers(column, name, rows, signed=True)]
    if column.enc == "delta":
        values = list(accumulate(stored))
    else:
        base = [value or 0 for value in _decode_reference(table, column, name, depth)]
        if column.enc == "diff":
            values = [number + other for number, other in zip(stored, base)]
        else:
            steps = map(sum, zip(stored, [0, *base]))
            values = list(accumulate(steps))
    return _wrap(column.type, values)


def _decode_reference(table: Table, column: Column, name: str, depth: int) -> list[Fact]:
    other = table.columns.get(column.of or "")
    if other is None:
        raise CorruptError(f"it refers to a column {column.of!r} that is not there", field=name)
    if not depth:
        raise CorruptError("columns refer to each other in a circle", field=name)
    return _decode(table, other, column.of or "", table.rows, depth - 1)


def _decode_dict(table: Table, column: Column, name: str, rows: int, depth: int) -> list[Fact]:
    if column.values is None:
        raise CorruptError("a dictionary without values", field=name)
    values = _decode(table, column.values, name, column.values.rows, depth)
    codes = _numbers(column, name, rows, signed=False)
    if codes and max(codes) >= len(values):
        raise CorruptError("a code is beyond its dictionary", field=name)
    return [values[code] for code in codes]


def _decode_plain(table: Table, column: Column, name: str, rows: int, depth: int) -> list[Fact]:
    if column.type == "text":
        if column.ends is None:
            raise CorruptError("text without end offsets", field=name)
        ends = [end or 0 for end in _decode(table, column.ends, name, rows, depth)]
        return [column.data[start:end] for start, end in zip([0, *ends], ends)]
    if column.type == "float":
        if column.width != 8 or len(column.data) != 8 * rows:
            raise CorruptError("the data does not fit the number of rows", field=name)
        return list(struct.unpack(f"<{rows}d", column.data))
    if column.type == "bool":
        return [number != 0 for number in _numbers(column, name, rows, signed=False)]
    numbers = _numbers(column, name, rows, signed=column.type == "int")
    return _wrap(column.type, [number * column.scale for number in numbers])


def _numbers(column: Column, name: str, rows: int, *, signed: bool) -> Sequence[int]:
    codes = _SIGNED if signed else _UNSIGNED
    if column.width not in codes or len(column.data) != column.width * rows:
        raise CorruptError("the data does not fit the number of rows", field=name)
    return struct.unpack(f"<{rows}{codes[column.width]}", column.data)


def _wrap(kind: str, values: Sequence[int]) -> list[Fact]:
    wrapped = [value & _MASK for value in values]
    return [_signed(value) for value in wrapped] if kind == "int" else list(wrapped)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
