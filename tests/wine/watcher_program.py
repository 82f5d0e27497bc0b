"""Runs on Windows: lists again and again what runs, and tells what has come up until its input ends.

Prints a line when it has begun to look, and at the end a line of JSON: pid, parent and name of each new
process.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
from ctypes import Structure, byref, c_size_t, c_uint32, c_void_p, c_wchar, sizeof

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere

PROCESSES = 0x2

kernel = ctypes.WinDLL("kernel32")
kernel.CreateToolhelp32Snapshot.restype = c_void_p


class Process(Structure):
    """PROCESSENTRY32W."""

    _fields_ = [
        ("size", c_uint32),
        ("uses", c_uint32),
        ("pid", c_uint32),
        ("heap", c_size_t),
        ("module", c_uint32),
        ("threads", c_uint32),
        ("parent", c_uint32),
        ("priority", c_uint32),
        ("flags", c_uint32),
        ("name", c_wchar * 260),
    ]


def list_processes() -> dict[int, tuple[int, str]]:
    """Give parent and name of what runs now, by pid; one that is just starting has no name yet."""
    snapshot = c_void_p(kernel.CreateToolhelp32Snapshot(PROCESSES, 0))
    row, found = Process(size=sizeof(Process)), {}
    more = kernel.Process32FirstW(snapshot, byref(row))
    while more:
        found[row.pid] = (row.parent, row.name)
        more = kernel.Process32NextW(snapshot, byref(row))
    kernel.CloseHandle(snapshot)
    return found


def wait_for_end(has_ended: threading.Event) -> None:
    """Wait until our input is closed."""
    sys.stdin.read()
    has_ended.set()


def main() -> None:
    """Look a hundred times a second and more."""
    has_ended = threading.Event()
    threading.Thread(target=wait_for_end, args=(has_ended,)).start()
    first = list_processes()
    print("looking", flush=True)
    seen = {}
    while not has_ended.wait(0.005):
        seen.update(list_processes())
    print(json.dumps([(pid, *row) for pid, row in seen.items() if pid not in first]))


if __name__ == "__main__":
    main()
