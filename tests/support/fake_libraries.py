"""Stands in for the libraries of Windows below `Calls`: what fills in structures, and counts open handles.

Answers are made up after Microsoft's documentation unless a test says RECORDED.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.calls import INVALID_HANDLE

__all__ = ["FakeKernel", "make_win32"]

_TEXTS = {24: "The program issued a command but the command length is incorrect.", 299: "Only part was done."}


class FakeKernel:
    """kernel32, of which a test sets what functions answer; ``error`` is what GetLastError gives.

    ``end`` is the error behind the last row: ERROR_NO_MORE_FILES.
    """

    def __init__(self) -> None:
        self.error = 0
        self.end = 18
        self.handles: set[int] = set()
        self.refusals: list[int] = []
        self.rows: list[dict[str, object]] = []
        self.sizes: list[int] = []
        self.asked: list[str] = []
        self._next = 0

    def CreateToolhelp32Snapshot(self, flags: Any, pid: Any) -> int:  # noqa: N802  # names of Windows, as below
        """Give a handle, or fail as long as there are ``refusals``."""
        self.asked.append("CreateToolhelp32Snapshot")
        if self.refusals:
            self.error = self.refusals.pop(0)
            assert INVALID_HANDLE is not None
            return INVALID_HANDLE
        self._next = 0
        return self.open()

    def open(self) -> int:
        """Open a handle."""
        handle = 0x40 + 4 * len(self.asked)
        self.handles.add(handle)
        return handle

    def CloseHandle(self, handle: Any) -> int:  # noqa: N802  # as in Win32
        """Close a handle that is open."""
        self.handles.remove(handle.value)
        return 1

    def fill(self, place: Any) -> int:
        """Fill in the next row, and note what size the caller says it has; ``end`` follows the last one."""
        row = place._obj
        self.sizes.append(row.dwSize)
        if self._next == len(self.rows):
            self.error = self.end
            return 0
        for name, value in self.rows[self._next].items():
            if isinstance(value, str):
                units = value.encode("utf-16-le", "surrogatepass") + b"\0\0"
                field = getattr(type(row), name)
                ctypes.memmove(ctypes.addressof(row) + field.offset, units, min(len(units), field.size))
            else:
                setattr(row, name, value)
        self._next += 1
        return 1

    def Process32FirstW(self, handle: Any, place: Any) -> int:  # noqa: N802  # as in Win32
        """Give the first row."""
        assert handle.value in self.handles
        return self.fill(place)

    Process32NextW = Module32FirstW = Module32NextW = Thread32First = Thread32Next = Process32FirstW
    Heap32ListFirst = Heap32ListNext = Process32FirstW

    def Heap32First(self, place: Any, pid: Any, heap: Any) -> int:  # noqa: N802  # as in Win32
        """Give the first block."""
        self._next = 0
        return self.fill(place)

    def Heap32Next(self, place: Any) -> int:  # noqa: N802  # as in Win32
        """Give the next block."""
        return self.fill(place)


def make_win32(monkeypatch: pytest.MonkeyPatch, kernel: object, nt: object = None) -> Win32:
    """Make a Win32 over fake libraries; GetLastError is the kernel's ``error``."""
    errors: Callable[[], int] = lambda: getattr(kernel, "error", 0)  # noqa: E731  # three functions of one line
    monkeypatch.setattr(ctypes, "get_last_error", errors, raising=False)
    monkeypatch.setattr(ctypes, "FormatError", lambda code: _TEXTS.get(code, f"error {code}"), raising=False)
    win32 = Win32.__new__(Win32)
    win32._kernel, win32._nt = kernel, nt
    return win32
