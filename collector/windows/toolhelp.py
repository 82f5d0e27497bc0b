"""The lists of Toolhelp: processes, threads, modules and heaps."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_uint32, c_void_p, sizeof
from typing import Any

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import INVALID_HANDLE, Calls, to_bytes
from mmpscope.collector.windows.errors import ERROR_BAD_LENGTH, ERROR_NO_MORE_FILES
from mmpscope.collector.windows.rows import Heap, Module, Process, Thread

__all__ = ["ToolhelpCalls"]

_SNAPHEAPLIST, _SNAPPROCESS, _SNAPTHREAD, _SNAPMODULE, _SNAPMODULE32 = 1, 2, 4, 8, 16
_TRIES = 10


class ToolhelpCalls(Calls):
    """CreateToolhelp32Snapshot and the walks through what it gives (tlhelp32.h)."""

    def list_processes(self) -> list[Process]:
        """List the processes of the system."""
        return [
            Process(row.th32ProcessID, row.th32ParentProcessID, row.cntThreads, to_bytes(row.szExeFile))
            for row in self._list(_SNAPPROCESS, 0, "Process32FirstW", "Process32NextW", sdk.PROCESSENTRY32W)
        ]

    def list_threads(self) -> list[Thread]:
        """List the threads of the system: Toolhelp does not list those of one process."""
        return [
            Thread(row.th32ThreadID, row.th32OwnerProcessID, row.tpBasePri)
            for row in self._list(_SNAPTHREAD, 0, "Thread32First", "Thread32Next", sdk.THREADENTRY32)
        ]

    def list_modules(self, pid: int) -> list[Module]:
        """List the modules of a process, its 32-bit ones too."""
        flags = _SNAPMODULE | _SNAPMODULE32
        return [
            Module(row.modBaseAddr or 0, row.modBaseSize, to_bytes(row.szModule), to_bytes(row.szExePath))
            for row in self._list(flags, pid, "Module32FirstW", "Module32NextW", sdk.MODULEENTRY32W)
        ]

    def list_heaps(self, pid: int) -> list[Heap]:
        """List the heaps of a process, not their blocks."""
        rows = self._list(_SNAPHEAPLIST, pid, "Heap32ListFirst", "Heap32ListNext", sdk.HEAPLIST32)
        return [Heap(row.th32HeapID, row.dwFlags) for row in rows]

    def _list(self, flags: int, pid: int, first: str, following: str, row_type: Any) -> Iterator[Any]:
        snapshot = self._take(flags, pid)
        with self._closing("CreateToolhelp32Snapshot", snapshot) as handle:
            row = row_type(dwSize=sizeof(row_type))
            more = getattr(self._kernel, first)(c_void_p(handle), byref(row))
            while more:
                yield row
                row.dwSize = sizeof(row_type)
                more = getattr(self._kernel, following)(c_void_p(handle), byref(row))
            error = self._fail(following)
            if error.code not in (0, ERROR_NO_MORE_FILES):
                raise error

    def _take(self, flags: int, pid: int) -> Any:
        """Take a snapshot, again while a program is just being loaded: ERROR_BAD_LENGTH says so (F41)."""
        for _ in range(_TRIES):
            snapshot = self._kernel.CreateToolhelp32Snapshot(c_uint32(flags), c_uint32(pid))
            if snapshot != INVALID_HANDLE or self._fail("").code != ERROR_BAD_LENGTH:
                break
        return snapshot
