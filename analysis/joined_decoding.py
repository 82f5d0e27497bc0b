"""One column of several encoded tables, decoded for all of them at once.

It is a short cut for what nearly every file has: whole unsigned numbers, and dictionaries of UTF-8 text. It
answers None wherever a column is anything else, or contradicts itself: then each table is decoded alone
(decoding.py), which knows every encoding and names what is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from mmpscope.analysis.columns import Bools, Codes, Numbers, Text, Uints
from mmpscope.formats.model import Column, Table
from numpy.typing import NDArray

__all__ = ["JoinedDecoder"]

_Rows = NDArray[np.int64]
_WIDTHS = (1, 2, 4, 8)
_SMALL = (1, 2, 4)
_MOST_REFERENCES = 16
_END = 1 << 64
_NULL = -1
_Read = tuple[NDArray[np.integer], Sequence[str | None]]
"""Codes, and the text of each; null is None."""
_SHORT = 0xFFFF
"""The largest code of a column by which others are sorted: numpy sorts short numbers by radix."""


class JoinedDecoder:
    """The columns of tables below each other, each decoded once; every table has rows.

    ``edges`` are the rows at which tables begin, and the count of all.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.edges = np.cumsum([0, *(table.rows for table in tables)])
        self._done: dict[str, Numbers | None] = {}
        self._places: dict[str, list[_Rows] | None] = {}

    def decode_numbers(self, name: str, depth: int = _MOST_REFERENCES) -> Numbers | None:
        """Return unsigned numbers with 0 where they are unknown; None where a table must be asked alone.

        ``depth`` is how many columns may refer to each other.
        """
        if name not in self._done:
            self._done[name] = self._join_groups(name, depth) if depth else None
        return self._done[name]

    def _join_groups(self, name: str, depth: int) -> Numbers | None:
        """Decode together what is encoded alike; most columns are so in all tables."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for number, table in enumerate(self.tables):
            column = table.columns.get(name)
            if column is None or column.type != "uint":
                return None
            key = (column.enc, column.width, column.scale, column.of, column.by)
            alike.setdefault(key, []).append(number)
        if len(alike) == 1:
            return _Group(self, name, range(len(self.tables)), depth).decode()
        values, known = np.empty(self.edges[-1], np.uint64), np.ones(self.edges[-1], np.bool_)
        for numbers in alike.values():
            group = _Group(self, name, numbers, depth)
            if (found := group.decode()) is None:
                return None
            values[group.rows], known[group.rows] = found.values, found.is_known
        return Numbers(values, None if known.all() else known)

    def sort_by(self, name: str) -> list[_Rows] | None:
        """Return for each table where each row stands in the order of the codes of a column."""
        if name not in self._places:
            found = [places for table in self.tables if (places := _find_places(table, name)) is not None]
            self._places[name] = found if len(found) == len(self.tables) else None
        return self._places[name]

    def decode_text(self, name: str, read: Callable[[int], Text]) -> Text:
        """Return text, each distinct one with one code; ``read`` reads that of a table that is asked alone.

        Raises what ``read`` raises.
        """
        codes: list[Codes] = []
        places: dict[str, int] = {}
        for number, table in enumerate(self.tables):
            own_codes, values = _read_text(table, name) or _split(read(number))
            found = [_NULL if value is None else places.setdefault(value, len(places)) for value in values]
            codes.append(np.array(found, np.int32)[own_codes])
        joined = np.concatenate(codes)
        joined[joined == _NULL] = len(places)
        return Text(joined, (*places, None))


class _Group:
    """A column of those of the tables that have it in one encoding."""

    def __init__(self, whole: JoinedDecoder, name: str, numbers: Sequence[int], depth: int) -> None:
        self._whole = whole
        self._numbers = numbers
        self._depth = depth
        self._columns = [whole.tables[number].columns[name] for number in numbers]
        self._counts = [whole.tables[number].rows for number in numbers]
        self._edges = np.cumsum([0, *self._counts])
        self._first = self._columns[0]

    @cached_property
    def rows(self) -> _Rows:
        """The rows of these tables among those of all."""
        edges = self._whole.edges
        return np.concatenate([np.arange(edges[number], edges[number + 1]) for number in self._numbers])

    def decode(self) -> Numbers | None:
        """Decode the column of all; None where one of them must be asked alone."""
        enc, is_sorted = self._first.enc, self._first.by is not None
        if enc == "same":
            return self._follow()
        values = None
        if enc == "const":
            values = self._repeat()
        elif enc in ("plain", "diff"):
            values = self._read_sorted() if enc == "plain" else self._differ()
        elif enc in ("delta", "chain") and not is_sorted:
            values = self._add_up(self._read(signed=True) if enc == "delta" else self._chain())
        return None if values is None else self._mask(values)

    def _mask(self, values: Uints) -> Numbers | None:
        """Leave out what the bitmaps of the columns say is null."""
        if all(column.valid is None for column in self._columns):
            return Numbers(values)
        known: Bools = np.ones(len(values), np.bool_)
        for column, begin, count in zip(self._columns, self._edges[:-1].tolist(), self._counts, strict=True):
            if column.valid is not None:
                if len(column.valid) != (count + 7) // 8:
                    return None
                bits = np.unpackbits(np.frombuffer(column.valid, np.uint8), count=count, bitorder="little")
                known[begin : begin + count] = bits
        return Numbers(values * known, None if known.all() else known)

    def _repeat(self) -> Uints | None:
        found = [column.value for column in self._columns]
        if not all(type(value) is int and 0 <= value < _END for value in found):
            return None
        return np.repeat(np.array(found, np.uint64), self._counts)

    def _read(self, *, signed: bool) -> Uints | None:
        """Read what is stored, widened to 64 bits and multiplied, modulo 2^64."""
        width, scale = self._first.width, self._first.scale
        sizes = [len(column.data) for column in self._columns]
        if width not in _WIDTHS or sizes != [width * count for count in self._counts]:
            return None
        kind = f"<{'i' if signed else 'u'}{width}"
        stored = np.frombuffer(b"".join([column.data for column in self._columns]), kind)
        wide = stored.astype(np.int64 if signed else np.uint64).view(np.uint64)
        if scale != 1:
            wide *= np.uint64(scale)
        return wide

    def _add_up(self, steps: Uints | None) -> Uints | None:
        """Add up from the beginning of each table on, modulo 2^64."""
        if steps is None:
            return None
        sums = np.cumsum(steps, out=steps)
        before = np.append(np.uint64(0), sums)[self._edges[:-1]]
        sums -= np.repeat(before, self._counts)
        return sums

    def _chain(self) -> Uints | None:
        """Return steps from the row before, each begun where the other column has ended there."""
        steps, base = self._read(signed=True), self._follow()
        if steps is None or base is None:
            return None
        moved = np.empty_like(steps)
        moved[1:] = base.values[:-1]
        moved[self._edges[:-1]] = 0
        return steps + moved

    def _differ(self) -> Uints | None:
        steps, base = self._sort_back(self._read(signed=True)), self._follow()
        return None if steps is None or base is None else base.values + steps

    def _read_sorted(self) -> Uints | None:
        return self._sort_back(self._read(signed=False))

    def _sort_back(self, stored: Uints | None) -> Uints | None:
        """Bring values that are stored in the order of another column's codes into that of the table."""
        if stored is None or self._first.by is None:
            return stored
        places = self._whole.sort_by(self._first.by)
        if places is None:
            return None
        chosen = [places[number] for number in self._numbers]
        taken: Uints = stored[np.concatenate(chosen) + np.repeat(self._edges[:-1], self._counts)]
        return taken

    def _follow(self) -> Numbers | None:
        """Decode the column that this one refers to, in these tables."""
        if self._first.of is None:
            return None
        whole = self._whole.decode_numbers(self._first.of, self._depth - 1)
        is_all = len(self._numbers) == len(self._whole.tables)
        return whole if whole is None or is_all else whole.take(self.rows)


def _read_codes(table: Table, name: str) -> NDArray[np.integer] | None:
    """Read the codes of a dictionary that has its own."""
    column = table.columns.get(name)
    if column is None or column.enc != "dict" or column.of is not None or column.type != "text":
        return None
    if column.width not in _WIDTHS or len(column.data) != column.width * table.rows:
        return None
    return np.frombuffer(column.data, f"<u{column.width}")


def _find_places(table: Table, name: str) -> _Rows | None:
    codes = _read_codes(table, name)
    if codes is None or int(codes.max()) > _SHORT:
        return None
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def _split(text: Text) -> _Read:
    return text.codes, text.values


def _read_text(table: Table, name: str) -> _Read | None:
    """Read a dictionary of UTF-8 texts, or what has none; None for anything else."""
    column = table.columns[name]
    if column.type != "text" or column.valid is not None:
        return None
    if column.enc == "null":
        return np.zeros(table.rows, np.int32), (None,)
    if column.enc != "dict" or column.values is None or column.values.rows > table.rows:
        return None
    codes, values = _read_codes(table, name if column.of is None else column.of), _read_values(column.values)
    if codes is None or values is None or int(codes.max()) >= len(values):
        return None
    return codes, values


def _read_values(column: Column) -> list[str | None] | None:
    """Read plain texts, each with its end; None where there is more to it."""
    if column.type != "text" or column.enc != "plain" or column.by is not None or column.ends is None:
        return None
    edges = _read_edges(column.ends, column.rows)
    if edges is None or edges[-1] > len(column.data):
        return None
    try:
        values = _cut(column.data, edges)
    except UnicodeDecodeError:
        return None
    if column.valid is None:
        return values
    if len(column.valid) != (column.rows + 7) // 8:
        return None
    bits = int.from_bytes(column.valid, "little")
    return [value if bits >> place & 1 else None for place, value in enumerate(values)]


def _read_edges(ends: Column, rows: int) -> list[int] | None:
    """Return 0 and where each text ends."""
    if ends.type != "uint" or ends.enc not in ("plain", "delta") or ends.valid is not None:
        return None
    if ends.by is not None or ends.width not in _SMALL or ends.scale > _SHORT:
        return None
    if not rows or len(ends.data) != ends.width * rows:
        return None
    stored = np.frombuffer(ends.data, f"<{'i' if ends.enc == 'delta' else 'u'}{ends.width}")
    places = stored.astype(np.int64) * ends.scale
    edges = [0, *(np.cumsum(places) if ends.enc == "delta" else places).tolist()]
    return edges if edges == sorted(edges) else None


def _cut(data: bytes, edges: list[int]) -> list[str | None]:
    pairs = pairwise(edges)
    if data.isascii():
        text = data.decode("ascii")
        return [text[start:end] for start, end in pairs]
    return [data[start:end].decode("utf-8") for start, end in pairs]
