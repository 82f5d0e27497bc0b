"""Encoded columns into Arrow arrays: the fast twin of the plain decoder in mmpscope.formats.mmp.columns.

Numbers become uint64, int64, double or bool; text becomes dictionary<string>. A column that repeats another
is the same array, and equal constants are one array. Nothing here knows what a column means.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Text
from mmpscope.formats.errors import CorruptError, UnsupportedVersionError
from mmpscope.formats.mmp.columns import ENCODINGS
from mmpscope.formats.mmp.columns import TYPES as PYTHON_TYPES
from mmpscope.formats.model import Column, Fact, Table
from numpy.typing import NDArray

__all__ = ["TableDecoder", "decode_table"]

_MAX_REFERENCES = 64
_TYPES = {
    "uint": pa.uint64(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "text": pa.binary(),
}
_RANGES = {"uint": range(1 << 64), "int": range(-(1 << 63), 1 << 63)}

Uints = NDArray[np.uint64]


def decode_table(table: Table) -> pa.Table:
    """Decode every column whose encoding is known, in file order.

    Text that is no UTF-8 is shown with ``\\xNN`` for the odd bytes; a column NAME_bytes then follows, with
    the exact bytes of those values and null elsewhere. Raises CorruptError where bytes contradict each other.
    """
    decoder = TableDecoder(table)
    columns: dict[str, pa.Array] = {}
    for name in table.columns:
        try:
            columns[name] = decoder.decode(name)
        except UnsupportedVersionError:
            continue
        exact = decoder.exact_bytes.get(name)
        if exact is not None:
            columns[f"{name}_bytes"] = exact
    return pa.table(columns) if columns else pa.table({"none": pa.nulls(table.rows)}).select([])


class TableDecoder:
    """Decodes the columns of one table, each once.

    ``exact_bytes`` holds, by name, the bytes of decoded text columns that have values which are no UTF-8.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._done: dict[str, pa.Array] = {}
        self._constants: dict[tuple[str, Fact], pa.Array] = {}
        self._places: dict[str, NDArray[np.int64]] = {}
        self.exact_bytes: dict[str, pa.Array] = {}

    def decode(self, name: str) -> pa.Array:
        """Decode one column.

        KeyError where there is none, UnsupportedVersionError where its encoding (or that of a column that it
        refers to) is unknown, CorruptError where its bytes contradict each other.
        """
        return self._decode(name, _MAX_REFERENCES)

    def read_text(self, name: str) -> Text | None:
        """Decode text without a way through Arrow; None where it is no dictionary of distinct UTF-8 texts.

        Nearly all text is one. Raises as `decode`.
        """
        column = self._table.columns[name]
        _find_type(name, column)
        if column.enc != "dict" or column.type != "text" or column.valid is not None:
            return None
        codes, values = self._read_dictionary(name, column)
        try:
            texts = values.cast(pa.string()).to_pylist()
        except pa.ArrowInvalid:
            return None
        missing = texts.index(None) if None in texts else len(texts)
        if len(set(texts)) < len(texts):
            return None
        if missing < len(texts):  # a null among the values: its code becomes that of null
            texts.append(texts.pop(missing))
            order = np.arange(len(texts), dtype=np.int32)
            order[missing:] = np.roll(order[missing:], 1)
            return Text(order[codes], tuple(texts))
        return Text(codes, (*texts, None))

    def _decode(self, name: str, depth: int) -> pa.Array:
        if name not in self._done:
            column = self._table.columns[name]
            _find_type(name, column)
            if column.enc == "same":
                array = self._follow(name, column, depth)
                if self._table.columns[str(column.of)].type != column.type:
                    raise CorruptError(f"it refers to a column {column.of!r} of another type", field=name)
                if column.of in self.exact_bytes:
                    self.exact_bytes[name] = self.exact_bytes[column.of]
            elif column.type == "text":
                array = self._decode_text(name, column)
            else:
                array = self._decode_numbers(name, column, depth)
            self._done[name] = array
        return self._done[name]

    def _follow(self, name: str, column: Column, depth: int) -> pa.Array:
        if column.of not in self._table.columns:
            raise CorruptError(f"it refers to a column {column.of!r} that is not there", field=name)
        if not depth:
            raise CorruptError("columns refer to each other in a circle", field=name)
        return self._decode(column.of, depth - 1)

    def _decode_numbers(self, name: str, column: Column, depth: int) -> pa.Array:
        rows = self._table.rows
        if column.enc in ("chain", "diff"):
            values = self._add_reference(name, column, depth)
            return _finish(name, column, values, rows)
        if column.enc == "plain" and column.by is not None:
            stored = _read_plain(name, column, rows)
            return _finish(name, column, stored[self._find_places(name, column.by)], rows)
        if column.enc == "dict":
            codes, values = self._read_dictionary(name, column)
            taken = values.take(pa.array(codes))
            return taken if column.valid is None else _mask(name, column, taken, rows)
        if column.valid is not None or column.enc not in ("const", "null"):
            return _decode_alone(name, column, rows)
        key = (column.type, _read_constant(name, column) if column.enc == "const" else None)
        if key not in self._constants:
            self._constants[key] = _decode_alone(name, column, rows)
        return self._constants[key]

    def _add_reference(self, name: str, column: Column, depth: int) -> Uints:
        values = _read_scaled(name, column, self._table.rows, signed=True)
        other = self._follow(name, column, depth)
        if other.type not in (pa.uint64(), pa.int64()):
            raise CorruptError(f"it counts from a column {column.of!r} that holds no integers", field=name)
        filled = other.fill_null(0) if other.null_count else other
        base: Uints = filled.to_numpy(zero_copy_only=False).view(np.uint64)
        if column.enc == "diff":
            return base + (values if column.by is None else values[self._find_places(name, column.by)])
        values[1:] += base[:-1]
        return np.cumsum(values, out=values)

    def _find_places(self, name: str, by: str) -> NDArray[np.int64]:
        """Return where each row of the table stands in the order of the codes of ``by``."""
        if by not in self._places:
            order = np.argsort(self._read_codes(name, by), kind="stable")
            places = np.empty(len(order), np.int64)
            places[order] = np.arange(len(order))
            self._places[by] = places
        return self._places[by]

    def _read_dictionary(self, name: str, column: Column) -> tuple[NDArray[np.int32], pa.Array]:
        """Return codes and values; a dictionary without codes takes those of another column."""
        rows = self._table.rows
        size = 0 if column.values is None else column.values.rows
        if size > rows:  # a constant of a trillion rows takes no bytes in the file
            raise CorruptError("a dictionary with more values than the column has rows", field=name)
        values = _decode_nested(name, column.values, column.type, size)
        codes = self._read_codes(name, name if column.of is None else column.of)
        if rows and int(codes.max()) >= len(values):
            raise CorruptError("a code is beyond its dictionary", field=name)
        return codes.astype(np.int32), values

    def _read_codes(self, name: str, of: str) -> NDArray[np.integer]:
        """Read the codes of a dictionary column that has its own."""
        column = self._table.columns.get(of)
        if column is not None:
            _find_type(name, column)
        if column is None or column.enc != "dict" or column.of is not None:
            raise CorruptError(f"it refers to a column {of!r} that has no codes", field=name)
        return _read_stored(of, column, self._table.rows, signed=False)

    def _decode_text(self, name: str, column: Column) -> pa.Array:
        rows = self._table.rows
        if column.enc == "dict":
            codes, values = self._read_dictionary(name, column)
            codes = pa.Array.from_buffers(
                pa.int32(), rows, [_read_valid(name, column, rows), pa.py_buffer(codes)]
            )
        elif column.enc == "const":  # one value, however long: not to be written out row by row
            buffers = [_read_valid(name, column, rows), pa.py_buffer(np.zeros(rows, np.int32))]
            codes = pa.Array.from_buffers(pa.int32(), rows, buffers)
            values = pa.array([_read_constant(name, column)], pa.binary())
        else:
            encoded = _decode_alone(name, column, rows).dictionary_encode()
            codes, values = encoded.indices, encoded.dictionary
        shown, exact = _show(values)
        if exact is not None:
            self.exact_bytes[name] = _index(codes, exact)
        return _index(codes, shown)


def _index(codes: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Join codes and values, each distinct value once: pandas refuses a category that is there twice."""
    distinct = values.dictionary_encode()
    if len(distinct.dictionary) < len(values):
        codes, values = distinct.indices.take(codes), distinct.dictionary
    return pa.DictionaryArray.from_arrays(codes, values)


def _show(values: pa.BinaryArray) -> tuple[pa.StringArray, pa.BinaryArray | None]:
    """Return text for every value, and the bytes of those that are no UTF-8 (None if there are none)."""
    try:
        return values.cast(pa.string()), None
    except pa.ArrowInvalid:
        shown: list[str | None] = []
        exact: list[bytes | None] = []
        for value in values.to_pylist():  # distinct values only
            text = None if value is None else _show_one(value)
            shown.append(text)
            exact.append(None if text is None or text.encode() == value else value)
        return pa.array(shown, pa.string()), pa.array(exact, pa.binary())


def _show_one(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _decode_nested(name: str, column: Column | None, kind: str, rows: int) -> pa.Array:
    """Decode a column inside a descriptor, which refers to no other one."""
    if column is None:
        raise CorruptError("the values of a dictionary or the ends of its texts are missing", field=name)
    _find_type(name, column)
    if column.type != kind or column.enc not in ("null", "const", "plain", "delta") or column.by is not None:
        raise CorruptError("a column inside it is of another type or refers to a third", field=name)
    return _decode_alone(name, column, rows)


def _decode_alone(name: str, column: Column, rows: int) -> pa.Array:
    """Decode a column that refers to no other one; text stays bytes."""
    if column.enc == "null":
        return pa.nulls(rows, _find_type(name, column))
    if column.enc == "const":
        return _repeat(name, column, rows)
    if column.enc == "delta":
        values = _read_scaled(name, column, rows, signed=True)
        return _finish(name, column, np.cumsum(values, out=values), rows)
    if column.type == "text":
        return _read_text(name, column, rows)
    return _finish(name, column, _read_plain(name, column, rows), rows)


def _finish(name: str, column: Column, values: NDArray[np.generic], rows: int) -> pa.Array:
    """Make an array of decoded values and the column's validity bitmap, which Arrow has in the same form."""
    if column.type == "bool":
        array = pa.array(values != 0)
        return array if column.valid is None else _mask(name, column, array, rows)
    return pa.Array.from_buffers(
        _TYPES[column.type], rows, [_read_valid(name, column, rows), pa.py_buffer(values)]
    )


def _mask(name: str, column: Column, array: pa.Array, rows: int) -> pa.Array:
    valid = pa.Array.from_buffers(pa.bool_(), rows, [None, _read_valid(name, column, rows)])
    return pc.if_else(valid, array, pa.scalar(None, array.type))


def _read_valid(name: str, column: Column, rows: int) -> pa.Buffer | None:
    if column.valid is None:
        return None
    if len(column.valid) != (rows + 7) // 8:
        raise CorruptError("the validity bitmap does not fit the number of rows", field=name)
    return pa.py_buffer(column.valid)


def _repeat(name: str, column: Column, rows: int) -> pa.Array:
    array = pa.repeat(pa.scalar(_read_constant(name, column), _TYPES[column.type]), rows)
    return array if column.valid is None else _mask(name, column, array, rows)


def _read_constant(name: str, column: Column) -> Fact:
    value, allowed = column.value, _RANGES.get(column.type)
    if type(value) is not PYTHON_TYPES[column.type] or (allowed is not None and value not in allowed):
        raise CorruptError(f"its constant is no {column.type}", field=name)
    return value


def _find_type(name: str, column: Column) -> pa.DataType:
    if column.type not in ENCODINGS.get(column.enc, ()):
        what = f"the encoding {column.enc!r} of {column.type!r} is unknown to this version"
        raise UnsupportedVersionError(what, field=name)
    return _TYPES[column.type]


def _read_text(name: str, column: Column, rows: int) -> pa.BinaryArray:
    decoded = _decode_nested(name, column.ends, "uint", rows)
    if decoded.null_count:
        raise CorruptError("text that ends nowhere", field=name)
    ends = decoded.to_numpy(zero_copy_only=False)
    offsets = np.zeros(rows + 1, np.int64)
    offsets[1:] = ends
    if (rows and int(ends.max()) > len(column.data)) or (np.diff(offsets) < 0).any():
        raise CorruptError("text ends outside its data", field=name)
    buffers = [
        _read_valid(name, column, rows),
        pa.py_buffer(offsets.astype(np.int32)),
        pa.py_buffer(column.data),
    ]
    return pa.Array.from_buffers(pa.binary(), rows, buffers)


def _read_plain(name: str, column: Column, rows: int) -> NDArray[np.generic]:
    """Read numbers as they stand; only integers have a scale."""
    if column.type == "float":
        _check_size(name, column, rows, (8,))
        return np.frombuffer(column.data, "<f8")
    if column.type == "bool":
        return _read_stored(name, column, rows, signed=False)
    return _read_scaled(name, column, rows, signed=column.type == "int")


def _read_stored(name: str, column: Column, rows: int, *, signed: bool) -> NDArray[np.integer]:
    _check_size(name, column, rows, (1, 2, 4, 8))
    return np.frombuffer(column.data, f"<{'i' if signed else 'u'}{column.width if rows else 1}")


def _check_size(name: str, column: Column, rows: int, widths: tuple[int, ...]) -> None:
    """Where nothing is stored, the width may be absent too."""
    if len(column.data) != column.width * rows or (column.width not in widths and rows):
        raise CorruptError("the data does not fit the number of rows", field=name)


def _read_scaled(name: str, column: Column, rows: int, *, signed: bool) -> Uints:
    """Widen to 64 bits and multiply, modulo 2^64; a negative number is its two's complement."""
    stored = _read_stored(name, column, rows, signed=signed)
    wide = stored.astype(np.int64 if signed else np.uint64).view(np.uint64)
    if column.scale != 1:
        wide *= np.uint64(column.scale)
    return wide
