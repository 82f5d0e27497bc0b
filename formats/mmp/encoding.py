"""Pick an encoding for each column of a table, in few passes over the values and no Python step per value.

A counter of a memory map is rarely news: it repeats its neighbour (Size the mapping's size, Referenced mostly
Rss), and which of them it follows depends on what is mapped. So equal columns become references, similar ones
differences, and numbers are stored in the order of the most varied text column (for a memory map its path),
where like stands by like and zlib finds it. What each encoding means is in docs/format.md, "Columns".
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import add, eq, itemgetter, le, sub
from typing import NamedTuple, TypedDict

from mmpscope.formats.errors import LimitError
from mmpscope.formats.model import Column, Fact, Table

__all__ = ["Plain", "encode_table"]

_MASK = (1 << 64) - 1
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_INT64 = (-(1 << 63), (1 << 63) - 1)
_RANGES = {"uint": (0, _MASK), "int": _INT64, "bool": (0, 1)}
_DIGITS = bytes([48, 49]) + bytes(254)  # 0 and 1 as text
_SAMPLE = 512  # rows looked at to guess which column another one follows
_MIN_GROUPED_ROWS = 128  # below, an order of its own costs more than it saves
_MAX_DEPTH = 8  # references from column to column


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


class _Integers(NamedTuple):
    """An integer or bool column with a number in every row, 0 where ``valid`` says null."""

    kind: str
    values: Sequence[int]
    valid: bytes | None
    ordered: bool


class _Text(NamedTuple):
    """A text column as codes into its distinct values, of which null may be one."""

    codes: Sequence[int]
    distinct: Sequence[bytes | None]
    encoding: str | None


class _Order(NamedTuple):
    """The rows in the order of the codes of one dictionary column, equal codes in the order of the table."""

    by: str
    take: Callable[[Sequence[int]], tuple[int, ...]]


def encode_table(columns: Mapping[str, Plain], rows: int) -> Table:
    """Encode columns of ``rows`` values each, in the given order; ValueError where one has more or fewer.

    LimitError where a number is beyond what the column's type holds, as hostile input has them.
    """
    done: dict[str, Column] = {}
    integers: dict[str, _Integers] = {}
    texts: dict[str, _Text] = {}
    for name, plain in columns.items():
        if len(plain.values) != rows:
            raise ValueError(f"column {name!r} has {len(plain.values)} values for {rows} rows")
        encoded = _encode_alone(name, plain)
        if isinstance(encoded, Column):
            done[name] = encoded
        elif isinstance(encoded, _Text):
            texts[name] = encoded
        else:
            integers[name] = encoded
    done.update(_encode_texts(texts))
    done.update(_encode_ranges(columns, integers))
    done.update(_IntegerEncoder(_find_order(texts, rows)).encode(integers))
    return Table(rows, {name: done[name] for name in columns})


def _encode_alone(name: str, plain: Plain) -> Column | _Integers | _Text:
    """Encode what is all null, all the same or floats; the rest is brought into a form to go on with."""
    values = plain.values
    is_constant = len(values) > 0 and values.count(values[0]) == len(values)  # often, and quickly told
    distinct = dict.fromkeys(values[:1] if is_constant else values)
    present = [value for value in distinct if value is not None]
    if not present:
        return Column(plain.type, "null", text=plain.text)
    low, high = _RANGES.get(plain.type, (None, None))
    if low is not None and high is not None and not low <= min(present) <= max(present) <= high:
        raise LimitError(f"a number does not fit into 64 bits ({plain.type})", field=f"column {name}")
    if plain.type == "text" and len(present) > 1:
        codes = dict(zip(distinct, range(len(distinct))))
        return _Text(list(map(codes.__getitem__, values)), list(distinct), plain.text)
    valid = _pack_bits([value is not None for value in values]) if None in distinct else None
    if plain.type == "float":
        data = struct.pack(f"<{len(values)}d", *[0.0 if value is None else value for value in values])
        return Column("float", "plain", width=8, data=data, valid=valid)
    if len(present) == 1:
        return Column(plain.type, "const", value=present[0], valid=valid, text=plain.text)
    numbers = list(values) if valid is None else [0 if value is None else value for value in values]
    # Sizes stay in the order of the table: they gain nothing, and a reader of start and size needs no order.
    return _Integers(plain.type, numbers, valid, ordered=plain.len_of is None)


def _encode_texts(texts: Mapping[str, _Text]) -> dict[str, Column]:
    """Encode dictionary columns; one that another one decides takes its codes from there.

    What a mapping may do, for example, is in its flags once more.
    """
    done: dict[str, Column] = {}
    for name, text in sorted(texts.items(), key=lambda item: -len(item[1].distinct)):
        for other, known in texts.items():
            decided = _find_decided(known, text) if other in done and done[other].of is None else None
            if decided is not None:
                values = _encode_dictionary([text.distinct[code] for code in decided])
                done[name] = Column("text", "dict", of=other, values=values, text=text.encoding)
                break
        else:
            values = _encode_dictionary(text.distinct)
            packed = _pack(text.codes, signed=False)
            done[name] = Column("text", "dict", values=values, text=text.encoding, **packed)
    return done


def _find_decided(leader: _Text, text: _Text) -> list[int] | None:
    """Return the code of ``text`` for each code of ``leader``; None where a code goes with several."""
    if len(leader.distinct) * 2 > len(leader.codes):
        return None
    pairs = set(zip(leader.codes, text.codes))
    return [code for _, code in sorted(pairs)] if len(pairs) == len(leader.distinct) else None


def _encode_dictionary(values: Sequence[bytes | None]) -> Column:
    present = [value or b"" for value in values]
    ends = list(accumulate(map(len, present)))
    valid = _pack_bits([value is not None for value in values]) if None in values else None
    lengths = Column("uint", "delta", **_pack(list(map(sub, ends, [0, *ends])), signed=True))
    return Column("text", "plain", data=b"".join(present), valid=valid, ends=lengths, rows=len(present))


def _encode_ranges(columns: Mapping[str, Plain], integers: dict[str, _Integers]) -> dict[str, Column]:
    """Take start and size columns out of ``integers`` and encode them."""
    done: dict[str, Column] = {}
    for size, plain in columns.items():
        start = plain.len_of
        if start not in integers or integers[start].valid is not None or None in plain.values:
            continue
        starts = integers.pop(start).values
        gaps = list(map(sub, starts, [0, *map(add, starts, plain.values)]))
        done[start] = Column("uint", "chain", of=size, **_pack(gaps, signed=True))
    return done


def _find_order(texts: Mapping[str, _Text], rows: int) -> _Order | None:
    """Choose the text column with the most distinct values that come twice or more often on average."""
    sizes = {name: len(text.distinct) for name, text in texts.items() if 2 * len(text.distinct) <= rows}
    if not sizes or rows < _MIN_GROUPED_ROWS:
        return None
    name = max(sizes, key=sizes.__getitem__)
    return _Order(name, itemgetter(*sorted(range(rows), key=texts[name].codes.__getitem__)))


class _IntegerEncoder:
    """Encodes integer columns one after the other, each with an eye on those before it."""

    def __init__(self, order: _Order | None) -> None:
        self._order = order
        self._before: dict[str, _Integers] = {}
        self._samples: dict[str, Sequence[int]] = {}
        self._depths: dict[str, int] = {}

    def encode(self, columns: Mapping[str, _Integers]) -> dict[str, Column]:
        """Encode all columns."""
        return {name: self._encode(name, column) for name, column in columns.items()}

    def _encode(self, name: str, column: _Integers) -> Column:
        kind, values, valid, _ = column
        for other, known in self._before.items():
            if known.values == values and known.kind == kind and known.valid == valid:
                return Column(kind, "same", of=other)
        sample = values[:: max(1, len(values) // _SAMPLE)]
        base = self._find_base(kind, sample)
        self._before[name] = column
        self._samples[name] = sample
        self._depths[name] = 0 if base is None else self._depths[base] + 1
        if base is not None:
            return self._store(column, list(map(sub, values, self._before[base].values)), base)
        if kind != "bool" and all(map(le, values, values[1:])):
            differences = list(map(sub, values, [0, *values]))
            return Column(kind, "delta", valid=valid, **_pack(differences, signed=True))
        return self._store(column, values, None)

    def _find_base(self, kind: str, sample: Sequence[int]) -> str | None:
        """Return the earlier column that this one most often equals.

        It does so in more than half of the rows, and more often than it has its own most frequent value.
        """
        most, found = max(len(sample) // 2, Counter(sample).most_common(1)[0][1]), None
        for name, other in self._samples.items():
            if self._before[name].kind == kind != "bool" and self._depths[name] < _MAX_DEPTH:
                count = sum(map(eq, sample, other))
                if count > most:
                    most, found = count, name
        return found

    def _store(self, column: _Integers, numbers: Sequence[int], base: str | None) -> Column:
        by = None
        if self._order is not None and column.ordered:
            by, numbers = self._order.by, self._order.take(numbers)
        packed = _pack(numbers, signed=base is not None or column.kind == "int")
        enc = "plain" if base is None else "diff"
        return Column(column.kind, enc, valid=column.valid, of=base, by=by, **packed)


class _Packed(TypedDict):
    width: int
    scale: int
    data: bytes


def _pack(numbers: Sequence[int], *, signed: bool) -> _Packed:
    """Pack numbers, signed ones modulo 2^64, divided by what divides them all, in the narrowest width."""
    distinct = set(numbers)
    if signed and not _INT64[0] <= min(distinct) <= max(distinct) <= _INT64[1]:
        numbers = [(number - _INT64[0] & _MASK) + _INT64[0] for number in numbers]
        distinct = set(numbers)
    scale = math.gcd(*distinct) or 1
    if scale > 1:
        quotients = {number: number // scale for number in distinct}
        numbers = list(map(quotients.__getitem__, numbers))
    width = _find_width(min(distinct) // scale, max(distinct) // scale, signed=signed)
    codes = _SIGNED if signed else _UNSIGNED
    return {"width": width, "scale": scale, "data": struct.pack(f"<{len(numbers)}{codes[width]}", *numbers)}


def _find_width(low: int, high: int, *, signed: bool) -> int:
    for width in (1, 2, 4):
        bits = 8 * width - 1 if signed else 8 * width
        if {low >> bits, high >> bits} <= {0, -1}:
            return width
    return 8


def _pack_bits(bits: Sequence[bool]) -> bytes:
    """Pack a validity bitmap, least significant bit first."""
    digits = bytes(bits).translate(_DIGITS)[::-1]
    return int(digits, 2).to_bytes((len(bits) + 7) // 8, "little")
