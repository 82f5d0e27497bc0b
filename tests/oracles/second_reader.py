"""Read a `.mmp` file of version 1 strictly, and print the regions of every snapshot in it.

Written from docs/format.md alone: it shares no code with the package.
"""

# ruff: noqa: D101, D103, N818  # kept as its author wrote it, who knew the description only

from __future__ import annotations

import struct
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped, unused-ignore]  # as in pyproject.toml

Map = dict[str, Any]

INTEGERS: tuple[str, ...] = ("uint", "int")
NAMES: tuple[str, ...] = ("uint", "int", "float", "bool", "text")
TYPES: Map = dict(zip(NAMES, (int, int, float, bool, bytes), strict=True))
ENCODINGS: Map = dict.fromkeys(("null", "const", "plain", "same", "dict"), NAMES)
ENCODINGS |= dict.fromkeys(("delta", "chain", "diff"), INTEGERS)


class Unavailable(Exception):
    """A column has a type or an encoding that this reader does not know, or refers to one that has."""


@dataclass
class Frame:
    offset: int
    kind: str
    info: Map
    payload: bytes
    crc: int
    end: int


@dataclass
class SnapshotData:
    capture: Map  # host, system, moment, capability, and tables decoded; empty where there is no capture
    process: Map
    moment: Map
    capability: list[list[Any]]
    tables: dict[str, dict[str, list[Any]]]


def need(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def unique_map(pairs: list[tuple[Any, Any]]) -> Map:
    result = dict(pairs)
    need(all(isinstance(key, str) for key in result) and len(result) == len(pairs), "keys of a map")
    return result


def plain_map(value: Any) -> Map:
    """The value, if it is a map, made of the types of section 1 only."""
    need(isinstance(value, dict), "no map where one is due")
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict | list):
            todo.extend(item.values() if isinstance(item, dict) else item)
        else:
            need(item is None or isinstance(item, bool | int | float | str | bytes), f"ext type {item!r}")
    return dict(value)


def unpack(data: bytes) -> Map:
    return plain_map(msgpack.unpackb(data, object_pairs_hook=unique_map))


def unpack_at(data: bytes, start: int) -> tuple[Map, int]:
    """The map that begins at `start`, and the offset behind it."""
    unpacker = msgpack.Unpacker(max_buffer_size=0, object_pairs_hook=unique_map)
    for position in range(start, len(data), 65536):
        unpacker.feed(data[position : position + 65536])
        with suppress(msgpack.OutOfData):
            return plain_map(unpacker.unpack()), start + unpacker.tell()
    raise ValueError("the file ends within a frame")


def read_frame(data: bytes, start: int, sync: bytes) -> Frame:
    """Section 1."""
    need(data[start] == 0x95 and 0xA1 <= data[start + 1] <= 0xBF, "no frame")
    mark = start + 2 + data[start + 1] - 0xA0
    need(data[mark : mark + 18] == b"\xc4\x10" + sync, "wrong sync")
    info, position = unpack_at(data, mark + 18)
    size = {b"\xc4": 1, b"\xc5": 2, b"\xc6": 4}.get(data[position : position + 1], 0)
    body = position + 1 + size
    end = body + int.from_bytes(data[position + 1 : body], "big")
    need(size and end + 5 <= len(data) and data[end] == 0xCE, "no payload and checksum")
    crc = int.from_bytes(data[end + 1 : end + 5], "big")
    need(crc == zlib.crc32(data[start:end]), "wrong checksum")
    return Frame(start, data[start + 2 : mark].decode(), info, data[body:end], crc, end + 5)


def stored(column: Map, n: int, signed: bool) -> list[int]:
    """The `n` numbers that stand in the planes of `data` (section 7)."""
    width, data = column.get("width", 0), column.get("data", b"")
    need(n == 0 or width in (1, 2, 4, 8), f"width {width!r}")
    need(isinstance(data, bytes) and len(data) == n * width, "size of data")
    return [int.from_bytes(data[i::n], "little", signed=signed) for i in range(n)]


def wrap(number: int, kind: str) -> int:
    """The number modulo 2^64: unsigned for uint, two's complement for int."""
    number %= 2**64
    return number - 2**64 if kind == "int" and number >= 2**63 else number


def mask(column: Map, values: list[Any]) -> list[Any]:
    """The values, with null in the rows whose bit in the bitmap is 0."""
    valid = column.get("valid", b"\xff" * ((len(values) + 7) // 8))
    need(isinstance(valid, bytes) and len(valid) == (len(values) + 7) // 8, "size of valid")
    return [value if valid[i // 8] >> i % 8 & 1 else None for i, value in enumerate(values)]


def known(column: Any) -> Map:
    """The descriptor, if its type and its encoding are known and go together."""
    kind, enc = column["type"], column["enc"]
    need(isinstance(kind, str) and isinstance(enc, str), "type or enc that is no string")
    if kind not in TYPES or enc not in ENCODINGS:
        raise Unavailable
    need(kind in ENCODINGS[enc], f"{enc} of {kind}")
    return dict(column)


class Table:
    """The columns of one table, decoded as they are asked for."""

    def __init__(self, columns: Map, rows: int) -> None:
        self.columns, self.rows = columns, rows

    def descriptor(self, name: Any) -> Map:
        return known(self.columns[name])

    def column(self, name: Any, above: tuple[Any, ...] = ()) -> list[Any]:
        """The values of a column, to which the columns `above` refer."""
        need(name not in above and len(above) <= 16, f"references in a circle or too deep at {name!r}")
        column, above = self.descriptor(name), (*above, name)
        enc, kind, other = column["enc"], column["type"], column.get("of")
        if enc == "same":
            need(self.descriptor(other)["type"] == kind, f"{other!r} is of another type")
            return self.column(other, above)
        if enc == "dict":
            rows = column["values"].get("rows", 0)
            need(type(rows) is int and 0 <= rows <= self.rows, f"{rows!r} values")
            values = self.inner(column["values"], rows, kind)
            return mask(column, [values[code] for code in self.codes(name if "data" in column else other)])
        if enc not in ("chain", "diff"):
            return self.simple(column, self.rows, kind)
        need(self.descriptor(other)["type"] in INTEGERS, f"{other!r} is not of integers")
        others = [value or 0 for value in self.column(other, above)]
        if enc == "chain":
            return mask(column, self.sums(column, self.rows, others))
        numbers = self.numbers(column, self.rows, True)
        return mask(column, [wrap(a + b, kind) for a, b in zip(others, numbers, strict=True)])

    def inner(self, given: Any, n: int, kind: str) -> list[Any]:
        """The values of a dictionary, or the ends of texts."""
        column = known(given)
        fits = column["type"] == kind and column["enc"] in ("null", "const", "plain", "delta")
        need(fits and "by" not in column, f"{column['enc']} of {column['type']} in values or ends")
        return self.simple(column, n, kind)

    def simple(self, column: Map, n: int, kind: str) -> list[Any]:
        """The `n` values of a column that is null, const, plain or delta."""
        if column["enc"] == "null":
            return [None] * n
        if column["enc"] == "const":
            value = column.get("value")
            need(value is None or type(value) is TYPES[kind], f"constant {value!r} of {kind}")
            need(value is None or kind not in INTEGERS or wrap(value, kind) == value, f"constant {value!r}")
            return mask(column, [value] * n)
        if column["enc"] == "delta":
            return mask(column, self.sums(column, n, [0] * n))
        if kind == "text":
            ends, data = [0, *self.inner(column["ends"], n, "uint")], column.get("data", b"")
            need(None not in ends and ends == sorted(ends) and ends[-1] <= len(data), "ends of texts")
            return mask(column, [data[a:b] for a, b in pairwise(ends)])
        numbers = self.numbers(column, n, kind == "int")
        if kind == "bool":
            return mask(column, [number != 0 for number in numbers])
        if kind == "float":
            need(n == 0 or column["width"] == 8, "float of other than 8 bytes")
            return mask(column, [struct.unpack("<d", struct.pack("<Q", number))[0] for number in numbers])
        return mask(column, [wrap(number, kind) for number in numbers])

    def sums(self, column: Map, n: int, others: list[int]) -> list[int]:
        """delta and chain: value[i-1] + O[i-1] + stored[i] * scale."""
        result, value = [], 0
        for number, other in zip(self.numbers(column, n, True), [0, *others], strict=False):
            value = wrap(value + other + number, column["type"])
            result.append(value)
        return result

    def numbers(self, column: Map, n: int, signed: bool) -> list[int]:
        """stored[i] * scale, in the order of the table."""
        scale = column.get("scale", 1) if column["type"] in INTEGERS else 1
        need(type(scale) is int and 1 <= scale < 2**64, f"scale {scale!r}")
        numbers = [number * scale for number in stored(column, n, signed)]
        if "by" not in column or column["enc"] not in ("plain", "diff"):
            return numbers
        order = sorted(range(n), key=self.codes(column["by"]).__getitem__)
        return [number for _, number in sorted(zip(order, numbers, strict=True))]

    def codes(self, name: Any) -> list[int]:
        column = self.descriptor(name)
        need(column["enc"] == "dict" and "data" in column, f"{name!r} has no codes of its own")
        return stored(column, self.rows, False)


def read_table(table: Map) -> dict[str, list[Any]]:
    stream, rows = zlib.decompressobj(), table["rows"]
    raw = stream.decompress(table["zlib"])
    need(stream.eof and not stream.unused_data and len(raw) == table["raw"], "zlib stream or its size")
    need(type(rows) is int and rows >= 0, f"rows {rows!r}")
    content, result = Table(unpack(raw), rows), {}
    for name in content.columns:
        with suppress(Unavailable):
            result[name] = content.column(name)
    return result


def read_payload(frame: Frame) -> Map:
    payload: Map = {"process": {}, "host": {}, "system": {}, "moment": {}, "capability": [], "tables": {}}
    payload |= unpack(frame.payload)
    payload["tables"] = {name: read_table(table) for name, table in payload["tables"].items()}
    for key, part in (("pid", "process"), ("name", "process"), ("time_ns", "moment"), ("mono_ns", "moment")):
        need(key not in frame.info or frame.info[key] == payload[part].get(key), f"{key} of info or payload")
    return payload


def check_index(index: Map, frames: list[Frame]) -> None:
    """Compare an index with the frames before it."""
    captures = {frame.info["seq"]: frame.offset for frame in frames if frame.kind == "capture"}
    truth: dict[str, list[Any]] = {"mmp": [], "note": [], "snapshot": []}
    for frame in frames:
        seq, pid, time_ns, capture, name = map(frame.info.get, ("seq", "pid", "time_ns", "capture", "name"))
        row = [frame.offset, seq, pid, time_ns, captures.get(capture), name]
        truth.get(frame.kind, []).append(row if frame.kind == "snapshot" else frame.offset)
    need(index["headers"] == truth["mmp"] and index["notes"] == truth["note"], "index of headers or notes")
    need([row[:6] for row in index["snapshots"]] == truth["snapshot"], "index of snapshots")


def read_file(data: bytes, closed: bool = True) -> list[SnapshotData]:
    """Every snapshot of the file; ValueError for what is wrong (if `closed`: a missing end frame, too)."""
    frames: list[Frame] = []
    captures: dict[int, Map] = {}
    result: list[SnapshotData] = []
    position = number = 0
    while position < len(data) or not frames:
        try:
            frame = read_frame(data, position, data[7:23])
            info, before = frame.info, frames[-1] if frames else None
            need(before or frame.kind == "mmp", "the first frame is no header")
            if frame.kind == "end":
                place = struct.pack("<Q", before.offset) if before and before.kind == "index" else None
                need(frame.payload == place and frame.end - position == 39, "form or place of an end")
            else:
                need(info["seq"] == number, f"seq {info['seq']} where {number} is due")
                need(info.get("prev") == (before.crc if before else None), "prev is not the checksum before")
                number += 1
            if frame.kind == "mmp":
                need(info["version"][0] == 1, f"version {info['version']}, but this reads [1, 0]")
                need(not info.get("required"), f"required features {info.get('required')}")
            elif frame.kind == "capture":
                captures[info["seq"]] = read_payload(frame)
            elif frame.kind == "snapshot":
                capture = {} if info.get("capture") is None else captures[info["capture"]]
                parts = map(read_payload(frame).get, ("process", "moment", "capability", "tables"))
                result.append(SnapshotData(capture, *parts))  # type: ignore[arg-type]  # map loses their kinds
            elif frame.kind == "index":
                check_index(unpack(frame.payload), frames)
        except (ValueError, LookupError, TypeError, AttributeError, zlib.error) as error:
            raise ValueError(f"offset {position:#x}: {error!r}") from error
        frames.append(frame)
        position = frame.end
    need(not closed or frames[-1].kind == "end", f"offset {position:#x}: no end frame")
    return result


def main() -> None:
    for snapshot in read_file(Path(sys.argv[1]).read_bytes()):
        regions = snapshot.tables.get("regions", {})
        four = (regions.get(name, []) for name in ("start", "size", "perms", "path"))
        for start, size, perms, path in zip(*four, strict=True):
            text = (path or b"").decode("utf-8", "backslashreplace")
            print(f"{start:x}-{start + size:x} {perms.decode()} {text}")


if __name__ == "__main__":
    main()
