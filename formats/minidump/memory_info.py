"""MemoryInfoListStream: what VirtualQueryEx said of every range of the address space.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_memory_info
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from itertools import compress
from operator import add, ne
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.lists import Records, find_sized_records, read_chunks
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["MEM_FREE", "MemoryInfo", "read_memory_info"]

MEM_FREE = 0x10000
"""State of a range that is neither reserved nor committed (memoryapi.h); its other fields mean nothing."""
_HEADER = "<IIQ"
_ENTRY = struct.Struct("<QQI4xQIII4x")
_NAMES = ("start", "AllocationBase", "AllocationProtect", "size", "State", "Protect", "Type")


class MemoryInfo(NamedTuple):
    """The regions by column, free ranges left out, and what the list says of the whole space.

    ``start`` and ``end`` are those of the list, ``free`` counts its free ranges. ``doubt`` tells why regions
    may be missing; None: the list is whole.
    """

    columns: dict[str, array[int]]
    start: int
    end: int
    free: int
    doubt: str | None

    @property
    def rows(self) -> int:
        """How many regions there are."""
        return len(self.columns["start"])

    def encode(self) -> Table:
        """Encode the regions for a snapshot: sizes in bytes, all else as Windows numbers it."""
        plain = {
            name: Plain("uint", values, len_of="start" if name == "size" else None)
            for name, values in self.columns.items()
        }
        return encode_table(plain, self.rows)


def read_memory_info(dump: DumpFile, stream: Stream, *, has_free: bool) -> MemoryInfo:
    """Read the list; a range that is empty or goes past 2^64 is left out, gaps and overlaps are faults.

    ``has_free`` tells whether its writer lists free ranges as well: those on Linux do not, and every hole is
    a gap. CorruptError, TruncatedError and LimitError where it cannot be read.
    """
    records = find_sized_records(dump, stream, _HEADER, _ENTRY.size)
    if records.entries * len(_NAMES) > DEFAULT_LIMITS.table_cells:
        raise LimitError(f"{stream.name} has {records.entries:,} entries", offset=stream.offset)
    columns = _read_columns(dump, records)
    if not columns["start"]:
        raise CorruptError(f"{stream.name} is empty", offset=stream.offset, now="Take another dump.")
    if dump.bits == 32:
        _narrow(dump, records, columns)
    doubts = [] if records.is_whole else [f"{stream.name} is cut"]
    rows = _find_possible(dump, records, columns, 1 << (dump.bits or 64))
    if len(rows) < records.entries:
        columns = {name: array("Q", map(values.__getitem__, rows)) for name, values in columns.items()}
    broken = _note_breaks(dump, records, columns, rows, has_free=has_free)
    if broken or len(rows) < records.entries:
        doubts.append(f"the entries of {stream.name} do not follow each other")
    start, size = columns["start"], columns["size"]
    is_used = [state != MEM_FREE for state in columns["State"]]
    used = {name: array("Q", compress(values, is_used)) for name, values in columns.items()}
    end = max(map(add, start, size), default=0)
    doubt = "; ".join(doubts) or None
    return MemoryInfo(used, min(start, default=0), end, len(start) - len(used["start"]), doubt)


def _read_columns(dump: DumpFile, records: Records) -> dict[str, array[int]]:
    columns = {name: array("Q") for name in _NAMES}
    for chunk in read_chunks(dump, records, _ENTRY):
        for name, values in zip(_NAMES, zip(*chunk, strict=True), strict=True):
            columns[name].extend(values)
    return columns


def _narrow(dump: DumpFile, records: Records, columns: dict[str, array[int]]) -> None:
    for name in ("start", "AllocationBase"):
        narrowed = array("Q", map(dump.narrow, columns[name]))
        if narrowed != columns[name]:
            row = next(compress(range(records.entries), map(ne, narrowed, columns[name])))
            what = f"{name} of 32 bits is sign-extended; the low half is used"
            dump.faults.add(what, offset=records.offset + row * records.step)
            columns[name] = narrowed


def _find_possible(
    dump: DumpFile, records: Records, columns: dict[str, array[int]], top: int
) -> Sequence[int]:
    """List the rows whose range has bytes, and does not go on beyond ``top``, where addresses begin anew."""
    start, size = columns["start"], columns["size"]
    bad = [row for row, (a, n) in enumerate(zip(start, size, strict=True)) if not n or a < top < a + n]
    for row in bad:
        what = "a range goes past the end of the address space" if size[row] else "a range of no bytes"
        dump.faults.add(what, offset=records.offset + row * records.step, lost="that range")
    if not bad:
        return range(records.entries)
    return sorted(set(range(records.entries)).difference(bad))


def _note_breaks(
    dump: DumpFile, records: Records, columns: dict[str, array[int]], rows: Sequence[int], *, has_free: bool
) -> int:
    """Note where a range does not begin at the end of the one before it, and count those places."""
    start = columns["start"]
    ends = list(map(add, start, columns["size"]))
    counted = 0
    if has_free and start and start[0]:
        dump.faults.add("the list does not begin at address 0", offset=records.offset)
        counted = 1
    for row in compress(range(1, len(start)), map(ne, ends, start[1:])):
        is_gap = start[row] > ends[row - 1]
        if is_gap and not has_free:
            continue
        what = "there is a gap between two ranges" if is_gap else "a range begins before the end of another"
        dump.faults.add(what, offset=records.offset + rows[row] * records.step)
        counted += 1
    return counted
