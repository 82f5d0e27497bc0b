"""ThreadListStream, and what ThreadInfoListStream and ThreadNamesStream add to it.

https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_thread
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mmpscope.formats.errors import FormatError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.lists import find_records, find_sized_records, read_records
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["Thread", "add_times", "add_names", "read_threads", "tabulate_threads"]

_THREAD = struct.Struct("<I 12x Q QII II")
"""Id, (suspend count and priorities), TEB; stack: start, size, offset; context: size, offset."""
_THREAD_EX_BYTES = _THREAD.size + 16  # the same and a backing store, on Itanium alone
_INFO = struct.Struct("<I 12x QQQQ Q 8x")
_INFO_HEADER = "<III"
_INFO_NAMES = ("CreateTime", "ExitTime", "KernelTime", "UserTime", "StartAddress")
_NAME = struct.Struct("<IQ")
_MAX_THREADS = 1 << 17


class _Registers(NamedTuple):
    """Where a CONTEXT (winnt.h, and minidump_format.h of Breakpad) has flags, stack and instruction pointer.

    ``mark`` are the bits of the flags that say for which processor it is.
    """

    flags: int
    mark: int
    sp: int
    ip: int
    width: int


_X86 = _Registers(0, 0x10000, 196, 184, 4)
_ARM64 = _Registers(0, 0x400000, 256, 264, 8)
_CONTEXTS = {
    0: _X86,
    10: _X86,
    5: _Registers(0, 0x40200000, 56, 64, 4),  # ARM: of Windows, or of Breakpad
    9: _Registers(48, 0x100000, 152, 248, 8),  # AMD64
    12: _ARM64,
    0x8003: _ARM64._replace(mark=0x80000000),  # the layout that Breakpad had before Windows knew ARM64
}


@dataclass
class Thread:
    """One thread; the stack is what of it is in the dump. Times are FILETIMEs and durations of 100 ns."""

    tid: int
    name: bytes | None
    sp: int | None
    ip: int | None
    stack_start: int | None
    stack_size: int | None
    teb: int | None
    CreateTime: int | None = None
    ExitTime: int | None = None
    KernelTime: int | None = None
    UserTime: int | None = None
    StartAddress: int | None = None


def read_threads(dump: DumpFile, stream: Stream, architecture: int | None, *, extended: bool) -> list[Thread]:
    """Read the threads in the order of the list; ``extended`` is the form ThreadExList.

    A damaged context is a fault, sp and ip are null then. CorruptError or LimitError where the list does not
    fit.
    """
    records = find_records(dump, stream, _THREAD_EX_BYTES if extended else _THREAD.size)
    registers = _CONTEXTS.get(-1 if architecture is None else architecture)
    threads = []
    for tid, teb, start, size, _, context_size, context in read_records(dump, records, _THREAD, _MAX_THREADS):
        sp, ip = _read_pointers(dump, registers, context, context_size)
        stack = dump.narrow(start) if size else None
        threads.append(Thread(tid, None, sp, ip, stack, size or None, dump.narrow(teb) or None))
    return threads


def _read_pointers(
    dump: DumpFile, registers: _Registers | None, offset: int, size: int
) -> tuple[int | None, int | None]:
    if registers is None or not size:
        return None, None
    try:
        flags = _read_number(dump, offset + registers.flags, 4)
        if size >= registers.ip + registers.width and flags & registers.mark:
            sp, ip = (
                _read_number(dump, offset + place, registers.width) for place in (registers.sp, registers.ip)
            )
            return sp, ip
        what = "the context of a thread is of another processor"
        dump.faults.add(what, offset=offset, lost="sp and ip")
    except FormatError as error:
        dump.faults.add(error.what, offset=error.offset, lost="sp and ip")
    return None, None


def _read_number(dump: DumpFile, offset: int, width: int) -> int:
    return int.from_bytes(dump.read(offset, width, "the context of a thread"), "little")


def add_times(dump: DumpFile, stream: Stream, threads: Sequence[Thread]) -> None:
    """Add what ThreadInfoList says: times of start and end, time spent, where the thread began."""
    records = find_sized_records(dump, stream, _INFO_HEADER, _INFO.size)
    by_id = {thread.tid: thread for thread in threads}
    for tid, *values in read_records(dump, records, _INFO, _MAX_THREADS):
        thread = by_id.get(tid)
        if thread is not None:
            for name, value in zip(_INFO_NAMES, values, strict=True):
                setattr(thread, name, value)


def add_names(dump: DumpFile, stream: Stream, threads: Sequence[Thread]) -> None:
    """Add the names that a program gave its threads (SetThreadDescription)."""
    records = find_records(dump, stream, _NAME.size)
    by_id = {thread.tid: thread for thread in threads}
    for tid, offset in read_records(dump, records, _NAME, _MAX_THREADS):
        thread = by_id.get(tid)
        if thread is None:
            continue
        try:
            thread.name = dump.read_name(offset, "the name of a thread") or None
        except FormatError as error:
            dump.faults.add(error.what, offset=error.offset, lost="that name")


def tabulate_threads(threads: Sequence[Thread]) -> Table:
    """Make a table of threads: tid, name, sp, ip, stack_start, stack_size (bytes), teb and their times."""
    columns = {}
    for name in Thread.__dataclass_fields__:
        values = [getattr(thread, name) for thread in threads]
        columns[name] = Plain("text", values, text="wtf-8") if name == "name" else Plain("uint", values)
    return encode_table(columns, len(threads))
