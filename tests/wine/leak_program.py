"""Runs on Windows: takes snapshots, and prints as JSON how many handles were open before and after.

Arguments: the collector, a pid, a file to write, how many. Every other snapshot is of this process itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes import byref, c_size_t, c_uint32, create_string_buffer, sizeof

sys.path.insert(0, sys.argv[1])

from mmpscope.collector.base import Options
from mmpscope.collector.windows.collector import WindowsCollector
from mmpscope.formats.mmp.writer import SnapshotWriter

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere

SETTLING = 4
EXTENDED_HANDLES = 64
LENGTH_MISMATCH = 0xC0000004


def count_handles() -> int:
    """Count our handles in the list of all of the system's: GetProcessHandleCount says 0 under Wine."""
    query, size, word = ctypes.WinDLL("ntdll").NtQuerySystemInformation, 1 << 20, sizeof(c_size_t)
    status, needed = LENGTH_MISMATCH, c_uint32()
    while status == LENGTH_MISMATCH:
        block = create_string_buffer(size)
        status = query(EXTENDED_HANDLES, block, c_uint32(size), byref(needed)) & 0xFFFF_FFFF
        size *= 2
    assert status == 0, hex(status)
    words = memoryview(block).cast("B").cast("N")
    step = {8: 5, 4: 7}[word]  # words a row: object, pid, handle, then 16 bytes of flags
    return sum(words[3 + step * row] == os.getpid() for row in range(words[0]))


def take_snapshots(count: int) -> None:
    """Take some with all that belongs to it: the system's facts, opening, closing, writing."""
    collector = WindowsCollector(Options())
    pids = (int(sys.argv[2]), os.getpid())
    for number in range(count):
        capture = collector.take_capture()
        target = collector.open_target(pids[number % 2])
        with SnapshotWriter.create(sys.argv[3], force=True) as writer:
            writer.write_capture(capture)
            writer.write_snapshot(target.take_snapshot(capture))
        target.close()


settled = count_handles()
event = ctypes.windll.kernel32.CreateEventW(None, 0, 0, None)
assert count_handles() == settled + 1  # else the figures below would say nothing
take_snapshots(SETTLING)
before = count_handles()
take_snapshots(int(sys.argv[4]))
print(json.dumps({"before": before, "after": count_handles()}))
