"""The threads, modules and heaps of a process, each from the best source that answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.blocks import Peb, Stack, read_peb, read_stack
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.pe import parse_image
from mmpscope.collector.windows.rows import Heap, Module, Region
from mmpscope.collector.windows.tables import ModuleRow, ThreadRow
from mmpscope.collector.windows.walk import MEM_IMAGE
from mmpscope.collector.windows.wow64 import TEB32_AT, find_peb32

__all__ = ["Held", "ProcessLists"]

_NEVER_SEEN = "Windows does not give a program's registers unless its threads are suspended"
_HEAP_DEFAULT = 1
"""HF32_DEFAULT (tlhelp32.h): the heap that the process was started with."""


class Held(NamedTuple):
    """A process that is held open: its handle, bitness, and whether it runs under WOW64."""

    pid: int
    handle: int
    bits: int
    is_wow64: bool


class ProcessLists:
    """Lists of one process at one moment; what a source refuses is noted with its reason."""

    def __init__(self, win32: Win32, held: Held, recorder: Recorder) -> None:
        self._win32 = win32
        self._held = held
        self._recorder = recorder

    def read_memory(self, address: int, size: int) -> bytes:
        """Read all of a range; ValueError where only a part of it is there."""
        data = self._win32.read_memory(self._held.handle, address, size)
        if len(data) < size:
            raise ValueError(f"only {len(data)} of {size} bytes could be read at 0x{address:x}")
        return data

    def read_threads(self) -> list[ThreadRow]:
        """List the threads with their stacks."""
        own = [thread for thread in self._win32.list_threads() if thread.pid == self._held.pid]
        refused: list[str] = []
        rows = []
        for thread in own:
            teb, stack, stack64 = None, None, None
            try:
                teb = self._win32.find_teb(thread.tid)
                stack, stack64 = self._read_stacks(teb)
            except (Win32Error, ValueError) as error:
                refused.append(str(error))
            name = self._win32.get_thread_name(thread.tid)
            rows.append(ThreadRow(thread.tid, name, thread.priority, teb, *_place(stack), *_place(stack64)))
        if refused:
            reason = f"the stacks of {len(refused)} of {len(own)} threads are not known: {refused[0]}"
            self._recorder.miss("threads.stack", "partial", None, reason)
        self._recorder.miss("threads.sp", "unavailable", None, _NEVER_SEEN)
        return rows

    def _read_stacks(self, teb: int) -> tuple[Stack, Stack | None]:
        """Read the stack of a thread; under WOW64 that of the program, and the 64-bit one beside it."""
        if not self._held.is_wow64:
            return read_stack(self.read_memory, teb, self._held.bits), None
        own = read_stack(self.read_memory, teb + TEB32_AT, 32)
        return own, read_stack(self.read_memory, teb, 64)

    def read_modules(self, regions: Sequence[Region], paths: Mapping[int, bytes | None]) -> list[ModuleRow]:
        """List the modules with their headers; those in the map, where Toolhelp refuses its list.

        It refuses the 32-bit modules of a process that is just starting, and under Wine those of any 32-bit
        process to a 64-bit one.
        """
        try:
            modules = self._win32.list_modules(self._held.pid)
        except Win32Error as error:
            modules = _find_images(regions, paths)
            reason = f"from the map, without what has no path there: {error}"
            self._recorder.miss("modules", "partial", error.code, reason)
        rows = [self._read_module(module) for module in modules]
        unread = [row.base for row in rows if row.image is None]
        if unread:
            reason = f"the headers of {len(unread)} of {len(rows)} modules could not be read"
            self._recorder.miss("modules.headers", "partial", None, f"{reason}, first at 0x{unread[0]:x}")
        return rows

    def _read_module(self, module: Module) -> ModuleRow:
        try:
            image = parse_image(partial(self._read_image, module.base))
        except (OSError, ValueError):
            image = None
        return ModuleRow(module.path, module.base, module.size, image)

    def _read_image(self, base: int, at: int, size: int) -> bytes:
        return self.read_memory(base + at, size)

    def read_peb(self) -> Peb:
        """Read the environment block of the process, under WOW64 the 32-bit one."""
        pid, handle = self._held.pid, self._held.handle
        if self._held.is_wow64:
            return read_peb(self.read_memory, find_peb32(self._win32, pid, handle), 32)
        return read_peb(self.read_memory, self._win32.find_peb(handle), self._held.bits)

    def list_heaps(self, peb: Peb | None) -> list[Heap]:
        """Take the heaps of Toolhelp, else those in the environment block, the default heap first."""
        listed = self._recorder.attempt("heaps", partial(self._win32.list_heaps, self._held.pid))
        if listed or peb is None:
            return listed or []
        heaps = [Heap(address, 0 if at else _HEAP_DEFAULT) for at, address in enumerate(peb.heaps)]
        if peb.has_list:
            self._recorder.miss("heaps", "ok", None, "from the environment block of the process")
        else:
            reason = "only the default heap: the process keeps no list of heaps"
            self._recorder.miss("heaps", "partial", None, reason)
        return heaps


def _find_images(regions: Sequence[Region], paths: Mapping[int, bytes | None]) -> list[Module]:
    """Find the images in a map: allocations of type MEM_IMAGE that have a path."""
    ends: dict[int, int] = {}
    for region in regions:
        if region.type == MEM_IMAGE and paths.get(region.allocation_base):
            ends[region.allocation_base] = region.base + region.size
    return [Module(base, end - base, b"", paths[base] or b"") for base, end in ends.items()]


def _place(stack: Stack | None) -> tuple[int | None, int | None]:
    return (None, None) if stack is None else (stack.start, stack.end - stack.start)
