"""The two forms of list in a minidump, with every count checked against the bytes at hand.

Old lists are a uint32 and fixed entries; new ones state the sizes of their header and entries first, so that
later versions can add fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import COPY_AGAIN, DumpFile

__all__ = [
    "Records",
    "find_records",
    "find_sized_records",
    "fit_records",
    "read_chunks",
    "read_header",
    "read_records",
]

_COUNT = struct.Struct("<I")
_PADDING = 4
_CHUNK_BYTES = 1 << 20
_MAX_STEP = 1 << 12
"""The largest known entry has 108 bytes."""


Chunk = Iterator[tuple[int, ...]]
"""The fields of many entries, one tuple an entry."""


class Records(NamedTuple):
    """Entries of ``step`` bytes each from ``offset`` on; ``is_whole`` is false where some were lost."""

    name: str
    offset: int
    step: int
    entries: int
    is_whole: bool = True


def find_records(dump: DumpFile, stream: Stream, step: int) -> Records:
    """Find the entries behind a uint32 count; CorruptError where they do not fit.

    Breakpad aligns the entries to 8 bytes, a plain list does not: 4 bytes too many are that padding.
    """
    (count,) = read_header(dump, stream, _COUNT)
    skipped = _COUNT.size
    if stream.size == skipped + _PADDING + count * step:
        skipped += _PADDING
    return fit_records(dump, stream, Records(stream.name, stream.offset + skipped, step, count))


def find_sized_records(dump: DumpFile, stream: Stream, header: str, step: int) -> Records:
    """Find the entries of a list that begins with SizeOfHeader, SizeOfEntry and NumberOfEntries.

    ``header`` is the layout of these three, ``step`` the size of an entry of the first version. CorruptError
    where they contradict each other or do not fit.
    """
    layout = struct.Struct(header)
    skipped, entry, count = read_header(dump, stream, layout)
    if skipped < layout.size or not step <= entry <= _MAX_STEP:
        what = f"{stream.name} has a header of {skipped:,} bytes and entries of {entry:,}"
        raise CorruptError(what, offset=stream.offset, now="Make another dump.")
    return fit_records(dump, stream, Records(stream.name, stream.offset + skipped, entry, count))


def read_header(dump: DumpFile, stream: Stream, layout: struct.Struct) -> tuple[int, ...]:
    """Read the fixed head of a stream; CorruptError or TruncatedError where it is too short for it."""
    if stream.size < layout.size:
        kind = TruncatedError if stream.is_cut else CorruptError
        raise kind(f"{stream.name} has only {stream.size:,} bytes", offset=stream.offset, now=COPY_AGAIN)
    return layout.unpack(dump.read(stream.offset, layout.size, stream.name))


def fit_records(dump: DumpFile, stream: Stream, records: Records) -> Records:
    """Check that the entries lie within their stream; if damage is to be survived, keep those that do.

    CorruptError where they do not, TruncatedError where that is because the file ends.
    """
    room = max(0, stream.offset + stream.size - records.offset) // records.step
    if records.entries <= room:
        return records
    what = f"{stream.name} tells of {records.entries:,} entries, and there is room for {room:,}"
    if not dump.partial:
        kind = TruncatedError if stream.is_cut else CorruptError
        raise kind(what, offset=stream.offset, now=COPY_AGAIN)
    dump.faults.add(what, offset=stream.offset)
    return records._replace(entries=room, is_whole=False)


def read_chunks(dump: DumpFile, records: Records, layout: struct.Struct) -> Iterator[Chunk]:
    """Read the entries, many at once; fields behind those of ``layout`` are skipped."""
    padded = struct.Struct(f"{layout.format}{records.step - layout.size}x")
    at_once = _CHUNK_BYTES // records.step
    for first in range(0, records.entries, at_once):
        size = min(at_once, records.entries - first) * records.step
        yield padded.iter_unpack(dump.read(records.offset + first * records.step, size, records.name))


def read_records(
    dump: DumpFile, records: Records, layout: struct.Struct, most: int
) -> Iterator[tuple[int, ...]]:
    """Read the entries one by one; LimitError where there are more than ``most``."""
    if records.entries > most:
        raise LimitError(f"{records.name} has {records.entries:,} entries", offset=records.offset)
    for chunk in read_chunks(dump, records, layout):
        yield from chunk
