"""The lists of Toolhelp: processes, threads, modules and heaps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from ctypes import byref, c_size_t, c_uint32, c_void_p, sizeof
from typing import Any

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import INVALID_HANDLE, Calls, to_bytes
from mmpscope.collector.windows.errors import ERROR_BAD_LENGTH, ERROR_NO_MORE_FILES
from mmpscope.collector.windows.rows import Block, Heap, Module, Process, Thread

__all__ = ["ToolhelpCalls"]

_SNAPHEAPLIST, _SNAPPROCESS, _SNAPTHREAD, _SNAPMODULE, _SNAPMODULE32 = 1, 2, 4, 8, 16
_TRIES, _PAUSE_S = 10, 0.002


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

    def walk_blocks(self, pid: int, heap: int) -> Iterator[Block]:
        """Give the blocks of a heap one by one; it may take for ever.

        The system looks for each block from the first one on, so that the time grows with the square of
        their number (F42); how many to take is for the caller to know.
        """
        block = sdk.HEAPENTRY32(dwSize=sizeof(sdk.HEAPENTRY32))
        more = self._kernel.Heap32First(byref(block), c_uint32(pid), c_size_t(heap))
        while more:
            yield Block(block.dwBlockSize, block.dwFlags)
            block.dwSize = sizeof(block)
            more = self._kernel.Heap32Next(byref(block))
        self._check_end("Heap32Next")

    def _list(self, flags: int, pid: int, first: str, following: str, row_type: Any) -> Iterator[Any]:
        snapshot = self._take(flags, pid)
        with self._closing("CreateToolhelp32Snapshot", snapshot) as handle:
            row = row_type(dwSize=sizeof(row_type))
            more = getattr(self._kernel, first)(c_void_p(handle), byref(row))
            while more:
                yield row
                row.dwSize = sizeof(row_type)
                more = getattr(self._kernel, following)(c_void_p(handle), byref(row))
            self._check_end(following)

    def _check_end(self, function: str) -> None:
        """Tell the end of a list from a refusal."""
        error = self._fail(function)
        if error.code not in (0, ERROR_NO_MORE_FILES):
            raise error

    def _take(self, flags: int, pid: int) -> Any:
        """Take a snapshot, again while a program is just being loaded: ERROR_BAD_LENGTH says so (F41)."""
        for tries_left in reversed(range(_TRIES)):
            snapshot = self._kernel.CreateToolhelp32Snapshot(c_uint32(flags), c_uint32(pid))
            if snapshot != INVALID_HANDLE or self._fail("").code != ERROR_BAD_LENGTH or not tries_left:
                break
            time.sleep(_PAUSE_S)
        return snapshot
