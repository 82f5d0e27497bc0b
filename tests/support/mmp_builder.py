"""Builds `.mmp` bytes from docs/format.md alone: own msgpack, own frames, own columns.

Shares nothing with the codec under test: a mistake that is in both its halves would look like agreement.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "SYNC",
    "MmpBuilder",
    "bitmap",
    "column",
    "frame",
    "numbers",
    "pack",
    "split_frames",
    "table",
    "texts",
]

SYNC = bytes(range(0xA0, 0xB0))


def pack(value: Any) -> bytes:
    """Pack a value as msgpack, shortest forms."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return _pack_int(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        return _pack_sized(value.encode(), (0xA0, 32), {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}, value.encode())
    if isinstance(value, bytes):
        return _pack_sized(value, None, {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}, value)
    if isinstance(value, Mapping):
        body = b"".join(pack(key) + pack(item) for key, item in value.items())
        return _pack_sized(value, (0x80, 16), {0xDE: ">H", 0xDF: ">I"}, body)
    return _pack_sized(value, (0x90, 16), {0xDC: ">H", 0xDD: ">I"}, b"".join(map(pack, value)))


def _pack_int(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack(">b", value)
    forms = (
        {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
        if value >= 0
        else {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    )
    for first, form in forms.items():
        try:
            return bytes([first]) + struct.pack(form, value)
        except struct.error:
            continue
    raise ValueError(value)


def _pack_sized(value: Any, short: tuple[int, int] | None, forms: dict[int, str], body: bytes) -> bytes:
    if short is not None and len(value) < short[1]:
        return bytes([short[0] + len(value)]) + body
    for first, form in forms.items():
        if len(value) < 1 << 8 * struct.calcsize(form):
            return bytes([first]) + struct.pack(form, len(value)) + body
    raise ValueError(len(value))


def frame(kind: str, info: Mapping[str, Any], payload: bytes, sync: bytes = SYNC) -> bytes:
    """Return one frame with its checksum."""
    body = b"\x95" + pack(kind) + b"\xc4\x10" + sync + pack(info) + pack(payload)
    return body + b"\xce" + struct.pack(">I", zlib.crc32(body))


class MmpBuilder:
    """A file that grows frame by frame, numbered and linked as docs/format.md has it."""

    def __init__(self, sync: bytes = SYNC) -> None:
        self.sync = sync
        self.frames: list[bytes] = []
        self._seq = 0
        self._size = 0
        self._listed: dict[str, list[Any]] = {"headers": [], "notes": [], "snapshots": []}
        self._captures: dict[int, int] = {}

    @property
    def listed(self) -> list[list[Any]]:
        """What an index says of each snapshot."""
        return [list(row) for row in self._listed["snapshots"]]

    @property
    def data(self) -> bytes:
        """The file so far."""
        return b"".join(self.frames)

    def add(self, kind: str, payload: bytes = b"", **info: Any) -> int:
        """Add a numbered frame and return its number."""
        seq, offset = self._seq, self._size
        link = {"prev": int.from_bytes(self.frames[-1][-4:], "big")} if self.frames else {}
        info = {"seq": seq, **link, **info}
        self._append(frame(kind, info, payload, self.sync))
        self._seq += 1
        if kind in ("mmp", "note"):
            self._listed["headers" if kind == "mmp" else "notes"].append(offset)
        elif kind == "capture":
            self._captures[seq] = offset
        elif kind == "snapshot":
            at = self._captures.get(info.get("capture", -1))
            row = [offset, seq, info.get("pid"), info.get("time_ns"), at, info.get("name")]
            self._listed["snapshots"].append(row)
        return seq

    def add_header(self, info: Mapping[str, Any] | None = None) -> int:
        """Add a header of version 1.0, or what ``info`` has in its place."""
        usual = {"version": [1, 0], "producer": "by hand", "required": [], "optional": []}
        return self.add("mmp", **{**usual, **(info or {})})

    def add_capture(self, content: Mapping[str, Any], **info: Any) -> int:
        """Add a capture."""
        return self.add(
            "capture",
            pack({"host": {}, "system": {}, "moment": {}, "capability": [], "tables": {}, **content}),
            **info,
        )

    def add_snapshot(self, content: Mapping[str, Any], **info: Any) -> int:
        """Add a snapshot."""
        return self.add(
            "snapshot", pack({"process": {}, "moment": {}, "capability": [], "tables": {}, **content}), **info
        )

    def close(self, snapshots: Sequence[Any] | None = None) -> None:
        """Add index and end; ``snapshots`` are what the index lists in place of those there are."""
        at = self._size
        told = {} if snapshots is None else {"snapshots": snapshots}
        self.add("index", pack({**self._listed, **told}))
        self._append(frame("end", {}, struct.pack("<Q", at), self.sync))

    def _append(self, data: bytes) -> None:
        self.frames.append(data)
        self._size += len(data)


def split_frames(data: bytes, sync: bytes = SYNC) -> list[bytes]:
    """Cut an undamaged file into its frames: each begins a few bytes before its mark."""
    starts = []
    at = data.find(b"\xc4\x10" + sync)
    while at >= 0:
        start = data.rfind(b"\x95", 0, at)
        while data[start + 1] != 0xA0 | (at - start - 2):
            start = data.rfind(b"\x95", 0, start)
        starts.append(start)
        at = data.find(b"\xc4\x10" + sync, at + 1)
    return [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]


def table(columns: Mapping[str, Any], rows: int, **more: Any) -> dict[str, Any]:
    """Return a stored table of column descriptors."""
    raw = pack(columns)
    return {"rows": rows, "raw": len(raw), "zlib": zlib.compress(raw), **more}


def column(kind: str, enc: str, **keys: Any) -> dict[str, Any]:
    """Return a column descriptor."""
    return {"type": kind, "enc": enc, **keys}


def numbers(values: Sequence[int], width: int) -> bytes:
    """Return the data of stored numbers: one plane a byte, the lowest first."""
    rows = [(value % (1 << 8 * width)).to_bytes(width, "little") for value in values]
    return b"".join(bytes(row[plane] for row in rows) for plane in range(width))


def bitmap(bits: Sequence[bool]) -> bytes:
    """Return a validity bitmap."""
    packed = bytearray((len(bits) + 7) // 8)
    for row, bit in enumerate(bits):
        packed[row // 8] |= bit << row % 8
    return bytes(packed)


def texts(values: Sequence[bytes | None], **more: Any) -> dict[str, Any]:
    """Return the descriptor of plain texts as they stand in a dictionary."""
    lengths = [len(value or b"") for value in values]
    ends = column("uint", "delta", width=2, data=numbers(lengths, 2))
    if None in values:
        more["valid"] = bitmap([value is not None for value in values])
    return column(
        "text", "plain", rows=len(values), data=b"".join(value or b"" for value in values), ends=ends, **more
    )
