"""The header of a minidump and its directory of streams.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_header
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from mmpscope.formats.errors import LimitError, NotASnapshotError, TruncatedError
from mmpscope.formats.minidump.dump_file import COPY_AGAIN, DumpFile
from mmpscope.formats.minidump.streams import StreamType, name_stream

__all__ = ["Directory", "Stream", "read_directory"]

_HEADER = struct.Struct("<4sIIIIIQ")  # signature, version, streams, directory, checksum, time, flags
_ENTRY = struct.Struct("<III")  # type, size, offset
_MAX_STREAMS = 4096
"""Real dumps have some 20, and as many unused entries."""


class Stream(NamedTuple):
    """One stream: where it lies, how much of it is there, and how large it says that it is."""

    number: int
    offset: int
    size: int
    stated: int

    @property
    def name(self) -> str:
        """Its documented name."""
        return name_stream(self.number)

    @property
    def is_cut(self) -> bool:
        """Whether the file ends inside it."""
        return self.size < self.stated


class Directory(NamedTuple):
    """``time`` in seconds since 1970 as the header has it, ``flags`` a MINIDUMP_TYPE, streams by number."""

    time: int
    flags: int
    streams: dict[int, Stream]


def read_directory(dump: DumpFile) -> Directory:
    """Read header and directory; unused and empty entries are left out, of two of a kind the first is used.

    TruncatedError where a stream lies beyond the end of the file, unless that is to be survived;
    NotASnapshotError where there is no stream at all, LimitError where there are too many to be true.
    """
    _, _, count, offset, _, time, flags = _HEADER.unpack(dump.read(0, _HEADER.size, "the header"))
    if count > _MAX_STREAMS:
        raise LimitError(f"a directory of {count:,} streams, which no dump has", offset=8)
    size = _clip(dump, offset, count * _ENTRY.size, "the directory of streams")
    table = dump.read(offset, size // _ENTRY.size * _ENTRY.size, "the directory of streams")
    streams: dict[int, Stream] = {}
    for stream in _list_streams(dump, table):
        if stream.number in streams:
            dump.faults.add(f"there are two {stream.name} streams: the first is used", offset=stream.offset)
        streams.setdefault(stream.number, stream)
    if not streams:
        raise NotASnapshotError("a minidump without a stream", now="Make another one.")
    _note_overlaps(dump, [(0, _HEADER.size), (offset, size)], streams)
    return Directory(time, flags, streams)


def _list_streams(dump: DumpFile, table: bytes) -> Iterator[Stream]:
    for number, size, offset in _ENTRY.iter_unpack(table):
        if number != StreamType.UNUSED and size:
            there = _clip(dump, offset, size, f"the stream {name_stream(number)}")
            if there:
                yield Stream(number, offset, there, size)


def _clip(dump: DumpFile, offset: int, size: int, what: str) -> int:
    """Tell how many of these bytes are in the file; TruncatedError where some are not, unless survived."""
    there = max(0, min(size, dump.size - offset))
    if there < size:
        told = f"{what} of {size:,} bytes goes beyond the end of the file, which has {dump.size:,}"
        if not dump.partial:
            raise TruncatedError(told, offset=offset, now=COPY_AGAIN)
        dump.faults.add(told, offset=offset, lost=f"{size - there:,} bytes")
    return there


def _note_overlaps(dump: DumpFile, taken: list[tuple[int, int]], streams: dict[int, Stream]) -> None:
    """Note streams that share bytes: one of them is not what it says."""
    placed = [(offset, size, "the header") for offset, size in taken]
    placed += [(stream.offset, stream.size, stream.name) for stream in streams.values()]
    for (start, size, name), (following, _, other) in pairwise(sorted(placed)):
        if start + size > following:
            dump.faults.add(f"{name} and {other} overlap", offset=following)
