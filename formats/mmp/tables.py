"""Tables between columns and their stored form: compressed one by one, decompressed on demand.

What the bytes of a column mean is `columns`' business.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Optional

from mmpscope.formats.errors import CorruptError, FormatError, LimitError
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp.columns import ENCODINGS
from mmpscope.formats.mmp.packing import Bounds, pack, unpack
from mmpscope.formats.model import Column, Fact, Facts, Table

__all__ = ["COMPRESSION_LEVEL", "Origin", "StoredTables", "pack_tables"]

COMPRESSION_LEVEL = 6
_STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED)  # the second wins where numbers outweigh names

# The keys of a column descriptor (docs/format.md, "Columns"), each with its type; Column has the defaults.
_KEYS: dict[str, type] = {
    "type": str,
    "enc": str,
    "width": int,
    "scale": int,
    "data": bytes,
    "valid": bytes,
    "of": str,
    "by": str,
    "rows": int,
    "text": str,
}
_NESTED = ("values", "ends")
_MOST = {"width": 8, "scale": (1 << 64) - 1}  # and of rows in a nested column: those of the table
_DEFAULTS = Column("", "")
_MOST_SHRUNK = 64
"""To which part zlib may shrink a table that is not small: those of real processes become an eighth."""


Origin = tuple[Optional[str], int]
"""Path of a file and offset of a frame in it."""


class StoredTables(Mapping[str, Table]):
    """The tables of one payload, each decompressed and unpacked when it is asked for.

    ``stored`` holds what the file has, so that a rewrite keeps the bytes of what nobody changed, and of
    tables that this version does not know; ``origin`` (path and offset of the frame) is told when one is
    damaged.
    """

    def __init__(self, stored: Mapping[str, Facts], limits: Limits, origin: Origin) -> None:
        self.stored = stored
        self._limits = limits
        self._origin = origin
        self._read: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        """Read one table; FormatError where its bytes are damaged."""
        if name not in self._read:
            try:
                self._read[name] = _unpack_table(self.stored[name], self._limits)
            except FormatError as error:
                field = f"table {name}" if error.field is None else f"column {error.field} of table {name}"
                path, offset = self._origin
                raise type(error)(error.what, path=path, offset=offset, field=field) from error
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)


def pack_tables(tables: Mapping[str, Table]) -> dict[str, Facts]:
    """Return the stored form of tables; those that come from a file keep the bytes that they had there."""
    if isinstance(tables, StoredTables):
        return dict(tables.stored)
    return {name: _pack_table(table) for name, table in tables.items()}


def _pack_table(table: Table) -> Facts:
    raw = pack({name: _describe(column) for name, column in table.columns.items()})
    packed = min((_compress(raw, strategy) for strategy in _STRATEGIES), key=len)
    return {"rows": table.rows, "raw": len(raw), "zlib": packed}


def _compress(raw: bytes, strategy: int) -> bytes:
    stream = zlib.compressobj(COMPRESSION_LEVEL, strategy=strategy)
    return stream.compress(raw) + stream.flush()


def _describe(column: Column) -> Facts:
    described: Facts = {"type": column.type, "enc": column.enc}
    for key in _KEYS:
        value = getattr(column, key)
        if value != getattr(_DEFAULTS, key):
            described[key] = value
    if column.enc == "const":
        described["value"] = column.value
    for key in _NESTED:
        nested = getattr(column, key)
        if nested is not None:
            described[key] = _describe(nested)
    if column.width > 1 and column.enc in ENCODINGS:
        described["data"] = _split_planes(column.data, column.width)
    return {**described, **column.extra}


def _split_planes(data: bytes, width: int) -> bytes:
    """Put all lowest bytes first, then all second ones and so on: like stands by like, and zlib finds it."""
    return b"".join(data[plane::width] for plane in range(width))


def _join_planes(data: bytes, width: int) -> bytes:
    joined = bytearray(len(data))
    rows = len(data) // width
    for plane in range(width):
        joined[plane::width] = data[plane * rows : (plane + 1) * rows]
    return bytes(joined)


def _unpack_table(stored: Facts, limits: Limits) -> Table:
    rows, raw_size, packed = stored.get("rows"), stored.get("raw"), stored.get("zlib")
    if type(rows) is not int or type(raw_size) is not int or type(packed) is not bytes:
        raise CorruptError("a table lacks rows, raw or zlib")
    if not 0 <= rows <= limits.table_rows or not 0 <= raw_size <= limits.table_raw_bytes:
        raise LimitError(f"a table of {rows:,} rows in {raw_size:,} bytes is beyond the limit")
    if rows > max(limits.equal_rows, len(packed)):
        raise LimitError(f"a table of {rows} rows in {len(packed)} packed bytes is beyond the limit")
    if raw_size > max(limits.equal_bytes, _MOST_SHRUNK * len(packed)):
        raise LimitError(f"a table of {raw_size:,} bytes in {len(packed):,} packed ones is beyond the limit")
    bounds = Bounds(limits.payload_depth, limits.payload_values)
    columns = unpack(_decompress(packed, raw_size), bounds)
    if not isinstance(columns, dict):
        raise CorruptError("a table is no map of columns")
    if len(columns) > limits.columns or len(columns) * rows > limits.table_cells:
        raise LimitError(f"a table of {len(columns)} columns and {rows} rows is beyond the limit")
    return Table(rows, {name: _read_column(name, described, rows) for name, described in columns.items()})


def _decompress(packed: bytes, size: int) -> bytes:
    """Decompress to exactly ``size`` bytes, and never to more than one byte beyond them."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, size + 1)
    except zlib.error as error:
        raise CorruptError(f"a table cannot be decompressed ({error})") from error
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise CorruptError(f"a table does not decompress to the {size:,} bytes that it states")
    return raw


def _read_column(name: str, described: Fact, most: int) -> Column:
    """Read a descriptor of up to ``most`` rows; one of an unknown encoding keeps its keys in ``extra``."""
    if not isinstance(described, dict):
        raise CorruptError("a column descriptor is no map", field=name)
    kind, enc = described.get("type"), described.get("enc")
    if not isinstance(kind, str) or not isinstance(enc, str):
        raise CorruptError("a column descriptor lacks type or enc", field=name)
    if kind not in ENCODINGS.get(enc, ()):
        rest = {key: value for key, value in described.items() if key not in ("type", "enc")}
        return _make_column({"type": kind, "enc": enc, "extra": rest})
    extra: Facts = {}
    fields: Facts = {"extra": extra}
    for key, value in described.items():
        wanted = _KEYS.get(key)
        if wanted is None:
            if key in _NESTED:
                fields[key] = _read_column(name, value, most)
            elif key == "value":
                fields[key] = value
            else:
                extra[key] = value
        elif type(value) is not wanted or (type(value) is int and not 0 <= value <= _MOST.get(key, most)):
            raise CorruptError(f"{key} of a column descriptor is not as it should be", field=name)
        else:
            fields[key] = value
    if fields.get("width", 0) > 1:
        fields["data"] = _read_planes(name, fields.get("data", b""), fields["width"])
    return _make_column(fields)


def _read_planes(name: str, data: bytes, width: int) -> bytes:
    if len(data) % width:
        raise CorruptError("the data of a column is no multiple of its width", field=name)
    return _join_planes(data, width)


def _make_column(fields: Facts) -> Column:
    """Make a column of the fields that it has; the class has the others.

    Its own constructor sets all of them one by one, which was a tenth of the time of opening a small file.
    """
    column = object.__new__(Column)
    vars(column).update(fields)
    return column
