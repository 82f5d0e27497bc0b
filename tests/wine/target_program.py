"""Runs on Windows: a process to be looked at, which says by its own means what there is to be seen.

Prints one line of JSON for each line that it reads: first what stays (`facts`), then its map as it is now
(`map`). It ends with its input. Nothing of the collector is used here.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
from ctypes import Structure, byref, c_char, c_size_t, c_uint32, c_void_p, c_wchar, sizeof
from typing import Any

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere

MIB = 1 << 20
RESERVE, COMMIT = 0x2000, 0x1000
READ_WRITE = 0x04
MODULES = 0x8 | 0x10
NAME = "a thread with a name"

kernel = ctypes.WinDLL("kernel32", use_last_error=True)
kernel.VirtualAlloc.restype = kernel.GetProcessHeap.restype = c_void_p
kernel.CreateToolhelp32Snapshot.restype = c_void_p
kernel.VirtualQuery.restype = c_size_t
kernel.VirtualQuery.argtypes = [c_void_p, c_void_p, c_size_t]


class Module(Structure):
    """MODULEENTRY32W."""

    _fields_ = [
        ("size", c_uint32),
        ("id", c_uint32),
        ("pid", c_uint32),
        ("uses", c_uint32),
        ("own_uses", c_uint32),
        ("base", c_void_p),
        ("length", c_uint32),
        ("handle", c_void_p),
        ("name", c_wchar * 256),
        ("path", c_wchar * 260),
    ]


def list_modules() -> list[tuple[int, int, str]]:
    """Give base, size and path of each module, by Toolhelp."""
    snapshot = c_void_p(kernel.CreateToolhelp32Snapshot(MODULES, kernel.GetCurrentProcessId()))
    row, found = Module(size=sizeof(Module)), []
    more = kernel.Module32FirstW(snapshot, byref(row))
    while more:
        found.append((row.base, row.length, row.path))
        more = kernel.Module32NextW(snapshot, byref(row))
    kernel.CloseHandle(snapshot)
    return found


def find_stack() -> tuple[int, int, int]:
    """Give the id of this thread, and the ends of its stack."""
    low, high = c_size_t(), c_size_t()
    kernel.GetCurrentThreadStackLimits(byref(low), byref(high))
    return kernel.GetCurrentThreadId(), low.value, high.value


def walk() -> list[tuple[int, ...]]:
    """Give all that is not free: base, allocation base, its protection, size, state, protection, type."""
    wide = sizeof(c_void_p) == 8
    offsets = (0, 8, 16, 24, 32, 36, 40) if wide else (0, 4, 8, 12, 16, 20, 24)
    widths = (8, 8, 4, 8, 4, 4, 4) if wide else (4,) * 7
    block, address, found = (c_char * (48 if wide else 28))(), 0, []
    while kernel.VirtualQuery(address, byref(block), sizeof(block)):
        row = tuple(
            int.from_bytes(block.raw[at : at + width], "little")
            for at, width in zip(offsets, widths, strict=True)
        )
        if row[4] != 0x10000:
            found.append(row)
        address = row[0] + row[3]
    return found


def sleep_in_thread(stacks: list[tuple[int, int, int]], has_started: threading.Event) -> None:
    """Give the thread a name, tell where its stack lies, and sleep until the program ends."""
    kernel.SetThreadDescription(c_void_p(-2), NAME)
    stacks.append(find_stack())
    has_started.set()
    threading.Event().wait()


def collect_facts() -> dict[str, Any]:
    """Make some memory and a thread, and tell about them."""
    stacks, has_started = [find_stack()], threading.Event()
    threading.Thread(target=sleep_in_thread, args=(stacks, has_started), daemon=True).start()
    has_started.wait()
    reserved = kernel.VirtualAlloc(None, c_size_t(8 * MIB), RESERVE, READ_WRITE)
    kernel.VirtualAlloc(c_void_p(reserved), c_size_t(MIB), COMMIT, READ_WRITE)
    ctypes.memset(reserved, 1, MIB // 2)
    return {
        "pid": kernel.GetCurrentProcessId(),
        "bits": 8 * sizeof(c_void_p),
        "heap": kernel.GetProcessHeap(),
        "stacks": stacks,
        "reserved": reserved,
        "modules": list_modules(),
    }


def main() -> None:
    """Answer one line after the other."""
    facts = collect_facts()
    for line in sys.stdin:
        print(json.dumps(facts if line.strip() == "facts" else walk()), flush=True)


if __name__ == "__main__":
    main()
