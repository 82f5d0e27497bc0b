"""Columns of several tables below each other, as numpy sees them, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns, Text, read_dictionary
from mmpscope.analysis.joined_decoding import JoinedDecoder
from mmpscope.analysis.tables import TEXT

__all__ = ["Joined"]

_NOTHING = pa.table({})
_TEXTS = ("text", str(TEXT))
_UNSIGNED = ("uint", str(pa.uint64()))


class Joined(RawColumns):
    """Columns of several tables below each other; ``made`` take the place of some of them.

    A column is decoded of all tables at once, where they are as nearly all are.
    """

    def __init__(self, parts: Sequence[RawColumns], made: Mapping[str, Numbers] | None = None) -> None:
        super().__init__(_NOTHING)
        self.rows = sum(part.rows for part in parts)
        self._parts = parts
        self._names = parts[0].names
        self._numbers = dict(made or {})
        self._arrays: dict[str, pa.Array] = {}

    @cached_property
    def table(self) -> pa.Table:
        """All columns in Arrow, as they are stored."""
        columns = {name: self._show(name, kind) for name, kind in self._parts[0].kinds}
        return pa.table(columns) if columns else pa.table({"none": pa.nulls(self.rows)}).select([])

    def _show(self, name: str, kind: str) -> pa.Array:
        if kind in _TEXTS:
            return self.text(name).to_arrow()
        return self.numbers(name).to_arrow() if kind in _UNSIGNED else self._get(name)

    @property
    def has_odd_text(self) -> bool:
        """Whether one of them has text whose exact bytes stand in a column of their own."""
        return any(part.has_odd_text for part in self._parts)

    @cached_property
    def _decoder(self) -> JoinedDecoder | None:
        """What decodes all tables at once; None where one is no encoded table, or has no row."""
        tables = [part.encoded for part in self._parts if part.encoded is not None and part.rows]
        return JoinedDecoder(tables) if len(tables) == len(self._parts) else None

    def _cut(self) -> list[slice]:
        ends = np.cumsum([part.rows for part in self._parts]).tolist()
        return [slice(end - part.rows, end) for part, end in zip(self._parts, ends, strict=True)]

    def _get(self, name: str) -> pa.Array:
        if name not in self._arrays:
            self._arrays[name] = pa.concat_arrays([part.array(name) for part in self._parts])
        return self._arrays[name]

    def _read_numbers(self, name: str) -> Numbers:
        read = [part.find_numbers(name) for part in self._parts]
        if None not in read:
            return _join_numbers([numbers for numbers in read if numbers is not None])
        joined = None if self._decoder is None else self._decoder.decode_numbers(name)
        return super()._read_numbers(name) if joined is None else joined

    def hand_out(self, name: str) -> None:
        """Give each table its rows of a column of numbers, so that it decodes none of its own."""
        joined = self.numbers(name)
        for part, rows in zip(self._parts, self._cut(), strict=True):
            part.adopt(name, joined.cut(rows))

    def _read_text(self, name: str) -> Text:
        """Read each distinct text once; each part then has its rows of that."""
        read = [part.find_text(name) for part in self._parts]
        first = read[0]
        if first is not None and all(text is not None and text.values is first.values for text in read):
            return Text(np.concatenate([text.codes for text in read if text is not None]), first.values)
        if self._decoder is not None:
            joined = self._decoder.decode_text(name, lambda number: self._parts[number].text(name))
        else:
            arrays = [part.array(name) for part in self._parts]
            if not all(pa.types.is_dictionary(array.type) for array in arrays):
                arrays = [part.text(name).to_arrow() for part in self._parts]  # CorruptError where it is none
            joined = read_dictionary(pa.chunked_array(arrays).unify_dictionaries().combine_chunks())
        for part, rows in zip(self._parts, self._cut(), strict=True):
            part.adopt(name, Text(joined.codes[rows], joined.values))
        return joined


def _join_numbers(numbers: Sequence[Numbers]) -> Numbers:
    values = np.concatenate([each.values for each in numbers])
    if all(each.known is None for each in numbers):
        return Numbers(values)
    return Numbers(values, np.concatenate([each.is_known for each in numbers]))
