"""Runs on Windows: does one thing to its own memory after the other, and takes a snapshot after each.

    python windows_steps.py mmp-collect.pyz FILE.mmp MAPPED.bin [STEP ...]

MAPPED.bin has 16 MiB. Where steps are named, only they get a snapshot. Prints a line of JSON a snapshot: the
name of the step, and the address and size that it was about. It collects itself, as Wine tells working sets
of no other process.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import threading
from collections.abc import Iterator
from ctypes import c_size_t, c_uint32, c_void_p

sys.path.insert(0, sys.argv[1])

from mmpscope.collector.base import Options
from mmpscope.collector.windows.collector import WindowsCollector
from mmpscope.formats.mmp.writer import SnapshotWriter

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere

MIB = 1 << 20
RESERVE, COMMIT, DECOMMIT, RELEASE = 0x2000, 0x1000, 0x4000, 0x8000
READ_WRITE = 0x04
FILE_MAP_WRITE, FILE_MAP_READ = 2, 4
PAGE = 4096

kernel = ctypes.WinDLL("kernel32", use_last_error=True)
for name in (
    "VirtualAlloc",
    "GetProcessHeap",
    "HeapAlloc",
    "CreateFileMappingW",
    "MapViewOfFile",
    "CreateFileW",
):
    getattr(kernel, name).restype = c_void_p
kernel.LoadLibraryW.restype = c_void_p


def check(result: int | None) -> int:
    """Return what a call returned; OSError where it failed."""
    if not result or result == c_void_p(-1).value:
        raise ctypes.WinError(ctypes.get_last_error())
    return result


def touch(address: int, size: int) -> None:
    """Write to every page."""
    for at in range(address, address + size, PAGE):
        ctypes.memset(at, 1, 1)


def read(address: int, size: int) -> None:
    """Read from every page."""
    for at in range(address, address + size, PAGE):
        ctypes.string_at(at, 1)


def use_virtual_alloc() -> Iterator[tuple[str, int, int]]:
    """Reserve, commit, touch, decommit, release."""
    address = check(kernel.VirtualAlloc(None, c_size_t(64 * MIB), RESERVE, READ_WRITE))
    yield "reserve", address, 64 * MIB
    check(kernel.VirtualAlloc(c_void_p(address), c_size_t(32 * MIB), COMMIT, READ_WRITE))
    yield "commit", address, 32 * MIB
    touch(address, 16 * MIB)
    yield "touch", address, 16 * MIB
    check(kernel.VirtualFree(c_void_p(address), c_size_t(32 * MIB), DECOMMIT))
    yield "decommit", address, 32 * MIB
    check(kernel.VirtualFree(c_void_p(address), c_size_t(0), RELEASE))
    yield "release", address, 64 * MIB


def use_heap() -> Iterator[tuple[str, int, int]]:
    """Allocate a large block of the default heap, and free it."""
    heap = check(kernel.GetProcessHeap())
    block = check(kernel.HeapAlloc(c_void_p(heap), 0, c_size_t(24 * MIB)))
    yield "heap alloc", block, 24 * MIB
    kernel.HeapFree(c_void_p(heap), 0, c_void_p(block))
    yield "heap free", block, 24 * MIB


def use_section(kind: str, file: int) -> Iterator[tuple[str, int, int]]:
    """Map a section twice, touch it through both views, and unmap it."""
    size = 16 * MIB
    name = f"mmpscope-{kind}"
    section = check(kernel.CreateFileMappingW(c_void_p(file), None, READ_WRITE, 0, c_uint32(size), name))
    yield f"{kind} create", 0, size
    views = []
    for number in ("first", "second"):
        view = check(kernel.MapViewOfFile(c_void_p(section), FILE_MAP_WRITE, 0, 0, c_size_t(size)))
        views.append(view)
        yield f"{kind} {number} view", view, size
        (touch if number == "first" else read)(view, 8 * MIB)
        yield f"{kind} {number} touch", view, 8 * MIB
    for number, view in zip(("first", "second"), views, strict=True):
        check(kernel.UnmapViewOfFile(c_void_p(view)))
        yield f"{kind} {number} unmap", view, size
    check(kernel.CloseHandle(c_void_p(section)))
    yield f"{kind} close", 0, size


def use_file(path: str) -> Iterator[tuple[str, int, int]]:
    """Do the same with a file."""
    handle = check(kernel.CreateFileW(path, c_uint32(0xC0000000), 3, None, 3, 0, None))
    yield from use_section("file", handle)
    kernel.CloseHandle(c_void_p(handle))


def use_thread() -> Iterator[tuple[str, int, int]]:
    """Start a thread, and let it end."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    yield "thread start", thread.native_id or 0, 0
    ended.set()
    thread.join()
    yield "thread end", thread.native_id or 0, 0


def use_library() -> Iterator[tuple[str, int, int]]:
    """Load a library that nothing here has loaded yet, and let it go."""
    library = check(kernel.LoadLibraryW("cabinet.dll"))
    yield "load library", library, 0
    check(kernel.FreeLibrary(c_void_p(library)))
    yield "free library", library, 0


def list_steps(path: str) -> Iterator[tuple[str, int, int]]:
    """Do everything in turn; a step is done when its name comes out."""
    for round_ in range(3):  # what the collector itself needs has settled by then
        yield f"start {round_}", 0, 0
    yield from use_virtual_alloc()
    yield from use_heap()
    yield from use_section("section", -1)
    yield from use_file(path)
    yield from use_thread()
    yield from use_library()


def main() -> None:
    """Take a snapshot after each step."""
    collector = WindowsCollector(Options(processes=False))
    own = collector.own_pid()
    target = collector.open_target(own or 0)
    with SnapshotWriter.create(sys.argv[2], force=True) as writer:
        for step, address, size in list_steps(sys.argv[3]):
            if sys.argv[4:] and step not in sys.argv[4:]:
                continue
            gc.collect()
            capture = collector.take_capture()
            writer.write_capture(capture)
            writer.write_snapshot(target.take_snapshot(capture))
            print(json.dumps({"step": step, "address": address, "size": size}), flush=True)
    target.close()


if __name__ == "__main__":
    main()
