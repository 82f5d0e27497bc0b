"""Frames: the outermost layer of a `.mmp` file (docs/format.md, "Frames"), as bytes only.

One frame is `[kind, sync, info, payload, crc32]`. This module packs one, reads one at a known offset, and
finds the next one after damage; in which order they may come is `scan`'s business, what a payload holds
`payloads`'.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple
from zlib import crc32

from mmpscope.formats.errors import CorruptError, FormatError, LimitError, TruncatedError
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp.packing import Bounds, measure, pack, unpack
from mmpscope.formats.model import Facts

__all__ = [
    "END_BYTES",
    "MAGIC",
    "FileBytes",
    "Frame",
    "check_frame",
    "find_mark",
    "is_frame",
    "name_frame",
    "pack_end",
    "pack_frame",
    "read_end",
    "read_head",
    "read_payload",
]

MAGIC = b"\x95\xa3mmp\xc4\x10"
"""The first seven bytes of a file: array(5), the kind `mmp`, bin(16)."""
END_BYTES = 39
"""Size of an `end` frame, always."""

_SYNC_BYTES = 16
_MARK = b"\xc4\x10"
_KIND_BYTES = 31  # the longest string whose length fits msgpack's one-byte head
_HEAD_BYTES = 1 + 1 + _KIND_BYTES + len(_MARK) + _SYNC_BYTES
_CRC_BYTES = 5
_PAYLOAD_LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_CHUNK = 1 << 20
_FIRST_READ = 4096


class FileBytes:
    """A seekable file read at offsets; its size is the one that it had when it was opened."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        stream.seek(0, os.SEEK_END)
        self.size = stream.tell()

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes, or fewer at the end of the file; FormatError where the system refuses."""
        if not 0 <= offset < self.size:
            return b""
        try:
            self.stream.seek(offset)
            return self.stream.read(min(size, self.size - offset))
        except OSError as error:
            raise FormatError(f"it cannot be read ({error.strerror})", offset=offset) from error

    def chunks(self, offset: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a stretch piece by piece; TruncatedError where the file has become shorter."""
        while offset < end:
            chunk = self.read(offset, min(_CHUNK, end - offset))
            if not chunk:
                raise TruncatedError("the file became shorter while it was read", offset=offset)
            yield chunk
            offset += len(chunk)


class Frame(NamedTuple):
    """One frame as its head announces it; ``end`` is the offset of the byte after it."""

    kind: str
    sync: bytes
    offset: int
    info: Facts
    payload_at: int
    payload_size: int
    end: int


def is_frame(head: bytes) -> bool:
    """Tell whether ``head`` looks like the beginning of a frame, of whatever kind and file."""
    mark_at = 2 + (head[1] & 0x1F)
    return head[0] == 0x95 and head[1] & 0xE0 == 0xA0 and head[mark_at : mark_at + len(_MARK)] == _MARK


def pack_frame(kind: str, sync: bytes, info: Facts, payload: bytes) -> tuple[bytes, int]:
    """Return the bytes of one frame and the checksum that they end in."""
    body = b"".join((b"\x95", pack(kind), _MARK, sync, pack(info), _pack_length(payload), payload))
    crc = crc32(body)
    return body + b"\xce" + crc.to_bytes(4, "big"), crc


def _pack_length(payload: bytes) -> bytes:
    size = len(payload)
    if size < 1 << 8:
        return struct.pack(">BB", 0xC4, size)
    if size < 1 << 16:
        return struct.pack(">BH", 0xC5, size)
    return struct.pack(">BI", 0xC6, size)


def pack_end(sync: bytes, index_at: int) -> tuple[bytes, int]:
    """Return the bytes of the `end` frame that points at the index, and its checksum."""
    return pack_frame("end", sync, {}, index_at.to_bytes(8, "little"))


def read_end(data: FileBytes, frame: Frame) -> int:
    """Return the offset of the index that an `end` frame names; CorruptError where it is no such frame."""
    if frame.end - frame.offset != END_BYTES or frame.payload_size != 8 or frame.info:
        raise CorruptError("an end frame is not of its fixed form", offset=frame.offset)
    return int.from_bytes(read_payload(data, frame), "little")


def read_head(data: FileBytes, offset: int, limits: Limits) -> Frame:
    """Read a frame's head, without its payload.

    TruncatedError where the frame ends beyond the file, CorruptError where no frame begins here, LimitError
    where it is larger than ``limits`` allow.
    """
    most = _HEAD_BYTES + limits.info_bytes + 5
    window = data.read(offset, min(_FIRST_READ, most))
    try:
        return _parse_head(data, offset, window, limits)
    except TruncatedError:
        if len(window) < _FIRST_READ:
            raise
    window = data.read(offset, most)
    try:
        return _parse_head(data, offset, window, limits)
    except TruncatedError as error:
        if len(window) < most:
            raise
        raise LimitError("the info of a frame is larger than the limit", offset=offset) from error


def _parse_head(data: FileBytes, offset: int, window: bytes, limits: Limits) -> Frame:
    kind, sync, info_at = _parse_kind(window, offset)
    try:
        bounds = Bounds(limits.info_depth, limits.info_values)
        info_end = measure(window, info_at, bounds)
        info = unpack(window[info_at:info_end], bounds)
    except TruncatedError as error:
        raise TruncatedError(f"the file ends inside an unfinished {kind} frame", offset=offset) from error
    except (CorruptError, LimitError) as error:
        raise type(error)(error.what, offset=offset, field=f"info of {name_frame(kind)}") from error
    if not isinstance(info, dict):
        raise CorruptError(f"the info of {name_frame(kind)} is no map", offset=offset)
    width = _PAYLOAD_LENGTHS.get(window[info_end]) if info_end < len(window) else 0
    if width is None:
        raise CorruptError(f"{name_frame(kind)} has no payload", offset=offset)
    payload_at = info_end + 1 + width
    if not width or payload_at > len(window):
        raise TruncatedError(f"the file ends inside an unfinished {kind} frame", offset=offset)
    size = int.from_bytes(window[info_end + 1 : payload_at], "big")
    frame = Frame(
        kind, sync, offset, info, offset + payload_at, size, offset + payload_at + size + _CRC_BYTES
    )
    if frame.end > data.size:
        raise TruncatedError(f"the file ends inside an unfinished {kind} frame", offset=offset)
    if size > limits.payload_bytes or info_end - info_at > limits.info_bytes:
        raise LimitError(f"{name_frame(kind)} is larger than the limit", offset=offset)
    return frame


def _parse_kind(window: bytes, offset: int) -> tuple[str, bytes, int]:
    """Return kind, sync and the position of the info."""
    size = window[1] & 0x1F if len(window) > 1 else 0
    mark_at = 2 + size
    info_at = mark_at + len(_MARK) + _SYNC_BYTES
    expected = (b"\x95", bytes([0xA0 | size]), _MARK)
    found = (window[:1], window[1:2], window[mark_at : mark_at + len(_MARK)])
    if any(part != wanted[: len(part)] for part, wanted in zip(found, expected)) or (
        len(window) > 1 and not size
    ):
        raise CorruptError("no frame begins where one should", offset=offset)
    if len(window) <= info_at:
        raise TruncatedError("the file ends inside an unfinished frame", offset=offset)
    try:
        kind = window[2:mark_at].decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptError("the kind of a frame is no text", offset=offset) from error
    return kind, window[mark_at + len(_MARK) : info_at], info_at


def check_frame(data: FileBytes, frame: Frame) -> int:
    """Return the stored checksum; CorruptError where the frame's bytes do not agree with it."""
    crc = 0
    for chunk in data.chunks(frame.offset, frame.end - _CRC_BYTES):
        crc = crc32(chunk, crc)
    _compare(frame, crc, data.read(frame.end - _CRC_BYTES, _CRC_BYTES))
    return crc


def read_payload(data: FileBytes, frame: Frame) -> bytes:
    """Return a frame's payload; CorruptError where its bytes do not agree with its checksum."""
    head = data.read(frame.offset, frame.payload_at - frame.offset)
    payload = data.read(frame.payload_at, frame.payload_size)
    crc = crc32(payload, crc32(head))
    _compare(frame, crc, data.read(frame.end - _CRC_BYTES, _CRC_BYTES))
    return payload


def _compare(frame: Frame, crc: int, stored: bytes) -> None:
    if stored != b"\xce" + crc.to_bytes(4, "big"):
        raise CorruptError(f"{name_frame(frame.kind)} does not agree with its checksum", offset=frame.offset)


def name_frame(kind: str) -> str:
    """Name a frame of a kind in a sentence: "an end frame", "an mmp frame"."""
    has_vowel = kind == "mmp" or kind[:1] in "aeiou"
    return f"{'an' if has_vowel else 'a'} {kind} frame"


def find_mark(data: FileBytes, start: int, sync: bytes | None) -> Iterator[int]:
    """Yield each offset from ``start`` on where a frame of this file (of any, without ``sync``) may begin.

    Only what stands before the mark is looked at: the caller reads the frame and checks it.
    """
    mark = _MARK + (sync or b"")
    reach = 2 + _KIND_BYTES  # a frame begins at most so far before its mark
    for base in range(start, data.size, _CHUNK):
        window = data.read(base, _CHUNK + reach + len(mark))
        at = window.find(mark)
        while at >= 0:
            for size in range(1, _KIND_BYTES + 1):
                begin = at - size - 2
                if 0 <= begin < _CHUNK and window[begin : begin + 2] == bytes([0x95, 0xA0 | size]):
                    yield base + begin
            at = window.find(mark, at + 1)
