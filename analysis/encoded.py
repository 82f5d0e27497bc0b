"""Columns of a table as it is stored, each decoded when it is asked for: few questions need them all."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa
from mmpscope.analysis.columns import RawColumns, Text
from mmpscope.analysis.decoding import TableDecoder, decode_table
from mmpscope.formats.mmp.columns import ENCODINGS
from mmpscope.formats.model import Column, Table

__all__ = ["EncodedColumns"]

_NOTHING = pa.table({})


class EncodedColumns(RawColumns):
    """The columns of an encoded table whose encoding is known; damage shows when a column is decoded."""

    def __init__(self, table: Table) -> None:
        super().__init__(_NOTHING)
        self.rows = table.rows
        self.encoded = self._encoded = table
        self._decoder = TableDecoder(table)
        columns = table.columns
        if all(map(_is_known, columns.values())):  # nearly always: then those are known that they refer to
            self._names = frozenset(columns)
        else:
            self._names = frozenset(filter(self._is_known, columns))

    @cached_property
    def table(self) -> pa.Table:
        """All of them in Arrow, as `decode_table` gives them."""
        return decode_table(self._encoded)

    @cached_property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """The columns in the order of the file, each with its type as it is stored: nothing is decoded."""
        columns = self._encoded.columns.items()
        return tuple((name, column.type) for name, column in columns if name in self._names)

    @property
    def has_odd_text(self) -> bool:
        """Whether a column that was decoded has text that is no UTF-8."""
        return bool(self._decoder.exact_bytes)

    def _get(self, name: str) -> pa.Array:
        return self._decoder.decode(name)

    def _read_text(self, name: str) -> Text:
        text = self._decoder.read_text(name)
        return super()._read_text(name) if text is None else text

    def _is_known(self, name: str) -> bool:
        """Tell if this version knows the encodings of a column and of those that it refers to."""
        columns, waiting, seen = self._encoded.columns, [name], {name}
        while waiting:
            column = columns.get(waiting.pop())
            if column is None:  # damage, which decoding names
                continue
            if not _is_known(column):
                return False
            for other in (column.of, column.by):
                if other is not None and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return True


def _is_known(column: Column) -> bool:
    if column.type not in ENCODINGS.get(column.enc, ()):
        return False
    if column.values is None and column.ends is None:
        return True
    return all(_is_known(inner) for inner in (column.values, column.ends) if inner is not None)
