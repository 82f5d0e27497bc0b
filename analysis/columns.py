"""Raw columns as numpy sees them: numbers with their mask of what is known, text as codes of distinct values.

So nullable arithmetic is written once, and a question about a name is asked once per distinct name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from mmpscope.formats.errors import CorruptError
from mmpscope.formats.model import Table
from numpy.typing import NDArray

__all__ = ["Bools", "Codes", "Numbers", "RawColumns", "Text", "Uints", "read_dictionary"]

Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]
Uints = NDArray[np.uint64]


_NOTHING = pa.table({})


@dataclass(frozen=True)
class Numbers:
    """uint64 values, and which of them are known (None: all); what is read has 0 where it is unknown."""

    values: Uints
    known: Bools | None = None

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(self.values + other.values, _both(self.known, other.known))

    def minus(self, other: Numbers) -> Numbers:
        """Subtract, not below 0."""
        values = self.values - np.minimum(self.values, other.values)
        return Numbers(values, _both(self.known, other.known))

    def at_most(self, other: Numbers) -> Numbers:
        """Take the smaller of the two."""
        return Numbers(np.minimum(self.values, other.values), _both(self.known, other.known))

    def exceeds(self, other: Numbers) -> Bools:
        """Tell where this is known to be larger than the other, which is known as well."""
        larger: Bools = self.values > other.values
        known = _both(self.known, other.known)
        return larger if known is None else larger & known

    def where(self, mask: Bools, other: Numbers) -> Numbers:
        """Keep this where ``mask`` is true, take the other elsewhere."""
        values = np.where(mask, self.values, other.values)
        if self.known is None and other.known is None:
            return Numbers(values)
        return Numbers(values, np.where(mask, self.is_known, other.is_known))

    def only(self, mask: Bools) -> Numbers:
        """Keep this where ``mask`` is true; it is unknown elsewhere."""
        known = mask if self.known is None else self.known & mask
        return Numbers(self.values * known, None if known.all() else known)

    def cleared(self) -> Numbers:
        """Return the same numbers with 0 where unknown: what was reckoned with them left something there."""
        return self if self.known is None else Numbers(self.values * self.known, self.known)

    def cut(self, rows: slice) -> Numbers:
        """Return the numbers of a stretch of rows."""
        known = None if self.known is None else self.known[rows]
        return Numbers(self.values[rows], None if known is None or known.all() else known)

    def take(self, rows: NDArray[np.int64]) -> Numbers:
        """Return the numbers of some rows."""
        return Numbers(self.values[rows], None if self.known is None else self.known[rows])

    @property
    def is_known(self) -> Bools:
        """Which values are known, as a mask."""
        return np.ones(len(self.values), np.bool_) if self.known is None else self.known

    def to_arrow(self) -> pa.Array:
        """Return a uint64 array with nulls where unknown."""
        return pa.array(self.values, mask=None if self.known is None else ~self.known)

    @classmethod
    def from_arrow(cls, array: pa.Array) -> Numbers:
        """Take a uint64 array."""
        if not array.null_count:
            return cls(array.to_numpy())
        known = array.is_valid().to_numpy(zero_copy_only=False)
        stored = np.frombuffer(array.buffers()[1], np.uint64, array.offset + len(array))[array.offset :]
        return cls(stored * known, known)  # several times as fast as Arrow fills nulls

    @classmethod
    def unknown(cls, rows: int) -> Numbers:
        """Return values that are all unknown."""
        return cls(np.zeros(rows, np.uint64), np.zeros(rows, np.bool_))

    @classmethod
    def zeros(cls, rows: int) -> Numbers:
        """Return values that are all known to be 0."""
        return cls(np.zeros(rows, np.uint64))


def _both(one: Bools | None, other: Bools | None) -> Bools | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


@dataclass(frozen=True)
class Text:
    """Text by code: ``values[codes[row]]``; null has the code ``len(values)``, whose value is None."""

    codes: Codes
    values: tuple[str | None, ...]

    def match(self, matches: Callable[[str], object]) -> Bools:
        """Ask once per distinct value; null never matches."""
        answers = [value is not None and bool(matches(value)) for value in self.values]
        return np.array(answers, np.bool_)[self.codes]

    def equals(self, *words: str) -> Bools:
        """Tell which rows have one of these texts."""
        codes = [self.values.index(word) for word in words if word in self.values]
        if not codes:
            return np.zeros(len(self.codes), np.bool_)
        found: Bools = self.codes == codes[0]
        for code in codes[1:]:
            found |= self.codes == code
        return found

    @property
    def is_null(self) -> Bools:
        """Which rows have no text."""
        nulls: Bools = self.codes == len(self.values) - 1
        return nulls

    def fill(self, other: Text) -> Text:
        """Take the other's text where this one is null."""
        if not self.is_null.any():
            return self
        texts = list(dict.fromkeys((*self.values[:-1], *other.values[:-1])))
        places = {text: place for place, text in enumerate((*texts, None))}
        own, others = (
            np.array([places[value] for value in text.values], np.int32)[text.codes] for text in (self, other)
        )
        return Text(np.where(self.is_null, others, own), (*texts, None))

    def only(self, mask: Bools) -> Text:
        """Keep this where ``mask`` is true; it is null elsewhere."""
        return Text(np.where(mask, self.codes, np.int32(len(self.values) - 1)), self.values)

    def take(self, rows: NDArray[np.int64]) -> Text:
        """Return the text of some rows."""
        return Text(self.codes[rows], self.values)

    def to_arrow(self) -> pa.Array:
        """Return a dictionary-encoded array."""
        nulls = self.is_null
        codes = pa.array(self.codes, mask=nulls if nulls.any() else None)
        return pa.DictionaryArray.from_arrays(codes, pa.array(self.values[:-1], pa.string()))

    @classmethod
    def repeat(cls, text: str, rows: int) -> Text:
        """Return the same text for every row."""
        return cls(np.zeros(rows, np.int32), (text, None))


class RawColumns:
    """Columns of a table by name; a column that is not there is all unknown.

    ``encoded`` is the table as it is stored, of columns that are decoded when they are asked for.
    """

    encoded: Table | None = None

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.rows = len(table)
        self._names = frozenset(table.column_names)  # Arrow makes a list whenever it is asked
        self._numbers: dict[str, Numbers] = {}
        self._texts: dict[str, Text] = {}

    @classmethod
    def gather(cls, columns: Mapping[str, Numbers | Text], rows: int) -> RawColumns:
        """Take columns that are not in Arrow; there is no table of them."""
        made = cls(_NOTHING)
        made.rows = rows
        made._names = frozenset(columns)
        made._numbers = {name: column for name, column in columns.items() if isinstance(column, Numbers)}
        made._texts = {name: column for name, column in columns.items() if isinstance(column, Text)}
        return made

    @property
    def table(self) -> pa.Table:
        """The table that the columns are of."""
        return self._table

    @property
    def names(self) -> frozenset[str]:
        """The columns that there are."""
        return self._names

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """The columns in the order of the table, each with its type, for comparison."""
        return tuple((field.name, str(field.type)) for field in self.table.schema)

    @property
    def has_odd_text(self) -> bool:
        """Whether a column that was decoded has text whose exact bytes stand in a column of their own."""
        return False

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def array(self, name: str) -> pa.Array:
        """Return a column in Arrow; KeyError where there is none, CorruptError where it is damaged."""
        return self._get(name)

    def numbers(self, name: str) -> Numbers:
        """Return a column of unsigned numbers; CorruptError where it holds something else."""
        if name not in self._numbers:
            known = self._read_numbers(name) if name in self else Numbers.unknown(self.rows)
            self._numbers[name] = known
        return self._numbers[name]

    def text(self, name: str) -> Text:
        """Return a column of text; CorruptError where it holds something else."""
        if name not in self._texts:
            known = self._read_text(name) if name in self else Text(np.zeros(self.rows, np.int32), (None,))
            self._texts[name] = known
        return self._texts[name]

    def _get(self, name: str) -> pa.Array:
        return _join(self._table.column(name))

    def _read_numbers(self, name: str) -> Numbers:
        array = self._get(name)
        if array.type == pa.uint32():
            array = array.cast(pa.uint64())
        if array.type != pa.uint64():
            raise CorruptError(f"it holds {array.type} in place of unsigned numbers", field=name)
        return Numbers.from_arrow(array)

    def _read_text(self, name: str) -> Text:
        array = self._get(name)
        if pa.types.is_string(array.type):
            array = array.dictionary_encode()
        if not pa.types.is_dictionary(array.type):
            raise CorruptError(f"it holds {array.type} in place of text", field=name)
        return read_dictionary(array)

    def find_numbers(self, name: str) -> Numbers | None:
        """Return a column of numbers if it was read already."""
        return self._numbers.get(name)

    def find_text(self, name: str) -> Text | None:
        """Return a column of text if it was read already."""
        return self._texts.get(name)

    def adopt(self, name: str, column: Numbers | Text) -> None:
        """Take a column that was read already, unless there is one."""
        if isinstance(column, Text):
            self._texts.setdefault(name, column)
        else:
            self._numbers.setdefault(name, column)


def read_dictionary(array: pa.DictionaryArray) -> Text:
    """Take dictionary-encoded text whose values are distinct and not null."""
    values = array.dictionary.to_pylist()
    codes = array.indices.fill_null(len(values)) if array.indices.null_count else array.indices
    return Text(codes.to_numpy(zero_copy_only=False), (*values, None))


def _join(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
