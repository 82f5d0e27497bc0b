"""MemoryListStream and Memory64ListStream: which memory the dump has a copy of; its bytes are never read.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_memory64_list
"""

from __future__ import annotations

import struct
from array import array

from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.lists import Records, find_records, fit_records, read_chunks, read_header
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["Captured", "read_memory64_list", "read_memory_list"]

_RANGE = struct.Struct("<QII")
_RANGE64 = struct.Struct("<QQ")
_HEADER64 = struct.Struct("<QQ")


class Captured:
    """The ranges of memory whose bytes are in the dump."""

    def __init__(self) -> None:
        self._starts = array("Q")
        self._sizes = array("Q")

    def add(self, start: int, size: int) -> None:
        """Add one range."""
        self._starts.append(start)
        self._sizes.append(size)

    def encode(self) -> Table:
        """Make a table of start and size in bytes."""
        columns = {"start": Plain("uint", self._starts), "size": Plain("uint", self._sizes, len_of="start")}
        return encode_table(columns, len(self._starts))


def read_memory_list(dump: DumpFile, stream: Stream, captured: Captured) -> None:
    """Add the ranges of a small dump; CorruptError where the list does not fit."""
    records = find_records(dump, stream, _RANGE.size)
    end = 0
    for chunk in read_chunks(dump, records, _RANGE):
        for start, size, offset in chunk:
            captured.add(dump.narrow(start), size)
            end = max(end, offset + size)
    _note_cut(dump, stream, end)


def read_memory64_list(dump: DumpFile, stream: Stream, captured: Captured) -> None:
    """Add the ranges of a full dump, whose bytes lie at its end; CorruptError where the list does not fit."""
    count, end = read_header(dump, stream, _HEADER64)
    offset = stream.offset + _HEADER64.size
    records = fit_records(dump, stream, Records(stream.name, offset, _RANGE64.size, count))
    for chunk in read_chunks(dump, records, _RANGE64):
        for start, size in chunk:
            captured.add(dump.narrow(start), size)
            end += size
    _note_cut(dump, stream, end)


def _note_cut(dump: DumpFile, stream: Stream, end: int) -> None:
    """Note where memory itself is cut off: what we answer does not need it, who debugs does."""
    if end > dump.size:
        what = f"the file ends before the memory that {stream.name} tells of"
        dump.faults.add(what, offset=dump.size, lost=f"{end - dump.size:,} bytes of memory contents")
