"""Runs on Windows: makes many regions of its own, and measures our walk against a bare loop over them.

Arguments: the collector (a .pyz), the file to write, how many allocations, how many runs. Prints JSON:
regions, seconds of both, pages and calls of the working-set query. `windows_walk` starts it.
"""

from __future__ import annotations

import ctypes
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from ctypes import byref, c_size_t, c_void_p, sizeof
from functools import partial

sys.path.insert(0, sys.argv[1])

from mmpscope.collector.base import Options
from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.collector import WindowsCollector
from mmpscope.collector.windows.walk import walk_regions
from mmpscope.formats.mmp.writer import SnapshotWriter

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere

RESERVE, COMMIT = 0x2000, 0x1000
PROTECTIONS = (0x02, 0x04, 0x04, 0x04, 0x20, 0x40)
PAGE = 4096

kernel = ctypes.WinDLL("kernel32", use_last_error=True)
kernel.VirtualAlloc.restype = kernel.GetCurrentProcess.restype = c_void_p
kernel.VirtualQueryEx.restype = c_size_t
kernel.VirtualQueryEx.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t]


def make_regions(count: int) -> None:
    """Reserve 4 to 64 pages at a time, commit some in the middle, write to a few of those."""
    chance = random.Random(4)  # the same memory each time
    for _ in range(count):
        pages = chance.randint(4, 64)
        base = kernel.VirtualAlloc(None, c_size_t(pages * PAGE), RESERVE, 0x04)
        start, length = chance.randint(1, pages // 2), chance.randint(1, pages // 2)
        protection = chance.choice(PROTECTIONS)
        place = c_void_p(base + start * PAGE)
        if kernel.VirtualAlloc(place, c_size_t(length * PAGE), COMMIT, protection) and protection == 0x04:
            for page in range(chance.randint(0, min(length, 16))):
                ctypes.memset(base + (start + page) * PAGE, 1, 1)


def walk_bare(end: int) -> int:
    """Do what any loop has to, and count the regions that are not free."""
    found, process = sdk.MEMORY_BASIC_INFORMATION(), kernel.GetCurrentProcess()
    query, answer, size = kernel.VirtualQueryEx, byref(found), sizeof(found)
    address = count = 0
    while address < end and query(process, address, answer, size):
        count += found.State != 0x10000
        address = found.BaseAddress + found.RegionSize
    return count


def take_time(walk: Callable[[], object]) -> float:
    """Time one walk."""
    start = time.perf_counter()
    walk()
    return time.perf_counter() - start


class CountingWin32(Win32):
    """Counts the calls of the working-set query, and the pages that it asks for."""

    calls = pages = 0

    def query_working_set(self, process, addresses):  # type: ignore[no-untyped-def]  # as in Win32
        """Count, and do."""
        self.calls += 1
        self.pages += len(addresses)
        return super().query_working_set(process, addresses)


def main() -> None:
    """Walk in turn, then write one snapshot."""
    make_regions(int(sys.argv[3]))
    win32 = CountingWin32()
    end, handle = win32.system_end, win32.open_process(win32.own_pid(), 0)
    ours = partial(walk_regions, win32.make_region_query(handle), 0, end)
    bare = partial(walk_bare, end)
    times = [(take_time(ours), take_time(bare)) for _ in range(int(sys.argv[4]) + 1)][1:]
    collector = WindowsCollector(Options(full=True), win32)
    capture, target = collector.take_capture(), collector.open_target(win32.own_pid())
    win32.calls = win32.pages = 0
    with SnapshotWriter.create(sys.argv[2], force=True) as writer:
        writer.write_capture(capture)
        writer.write_snapshot(target.take_snapshot(capture))
    answer = {
        "regions": walk_bare(end),
        "walk_s": statistics.median(own for own, _ in times),
        "bare_s": statistics.median(other for _, other in times),
        "pages": win32.pages,
        "calls": win32.calls,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
