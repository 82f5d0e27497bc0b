"""The threads, modules and heaps of a process, each from the best source that answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.blocks import Stack, read_heaps, read_stack
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.heap_blocks import BlockSums, Budget, sum_blocks
from mmpscope.collector.windows.held import Held, read_whole
from mmpscope.collector.windows.pe import HEAD_SIZE, Image, parse_image
from mmpscope.collector.windows.rows import Heap, Module, Region, Thread
from mmpscope.collector.windows.tables import ModuleRow, ThreadRow
from mmpscope.collector.windows.walk import MEM_IMAGE
from mmpscope.collector.windows.wow64 import TEB32_AT

__all__ = ["Images", "ProcessLists"]

_NEVER_SEEN = "Windows does not give a program's registers unless its threads are suspended"
_HEAP_DEFAULT = 1
"""HF32_DEFAULT (tlhelp32.h): the heap that the process was started with."""
_TOOLHELP_CUTS_AT = 259
"""szExePath holds 260 units with its NUL; what is longer is cut, and looks like a path all the same."""

Images = dict[tuple[int, bytes], Image]
"""What was parsed before, by place and first bytes: a series asks for pages of headers once."""


class ProcessLists:
    """Lists of one process at one moment; what a source refuses is noted with its reason."""

    def __init__(self, win32: Win32, held: Held, recorder: Recorder) -> None:
        self._win32 = win32
        self._held = held
        self._recorder = recorder
        self._read = partial(read_whole, win32, held.handle)

    def read_threads(self, threads: Sequence[Thread]) -> list[ThreadRow]:
        """Find the stacks of threads."""
        refused: list[str] = []
        rows = []
        for thread in threads:
            teb, name, stack, stack64 = None, None, None, None
            try:
                teb, name = self._win32.describe_thread(thread.tid, self._held.pid)
                stack, stack64 = self._read_stacks(teb)
            except (Win32Error, ValueError) as error:
                refused.append(str(error))
            rows.append(ThreadRow(thread.tid, name, thread.priority, teb, *_place(stack), *_place(stack64)))
        if refused:
            reason = f"the stacks of {len(refused)} of {len(rows)} threads are not known: {refused[0]}"
            self._recorder.miss("threads.stack", "partial", None, reason)
        self._recorder.miss("threads.sp", "skipped", None, _NEVER_SEEN)
        return rows

    def _read_stacks(self, teb: int) -> tuple[Stack, Stack | None]:
        """Read the stack of a thread; under WOW64 that of the program, and the 64-bit one beside it."""
        if not self._held.has_blocks_of_both:
            return read_stack(self._read, teb, self._held.bits), None
        own = read_stack(self._read, teb + TEB32_AT, 32)
        return own, read_stack(self._read, teb, 64)

    def read_modules(
        self, regions: Sequence[Region], paths: Mapping[int, bytes | None], images: Images
    ) -> list[ModuleRow]:
        """List the modules with their headers; those in the map, where Toolhelp refuses its list or has none.

        It refuses the modules of a process that is just starting, the 64-bit ones to a 32-bit Python (299),
        and under Wine those of any 32-bit process to a 64-bit one.
        """
        reason, code = None, None
        modules: list[Module] = []
        try:
            modules = self._win32.list_modules(self._held.pid)
        except Win32Error as error:
            reason, code = str(error), error.code
        if not modules:
            modules = _find_images(regions, paths)
            because = reason or "Toolhelp lists none yet"
            reason = f"from the map, without what has no path there: {because}"
            self._recorder.miss("modules", "partial", code, reason)
        rows = [self._read_module(module, paths, images) for module in modules]
        in_use = {id(row.image) for row in rows}
        for key in [key for key, image in images.items() if id(image) not in in_use]:
            del images[key]
        unread = [row.base for row in rows if row.image is None]
        if unread:
            reason = f"the headers of {len(unread)} of {len(rows)} modules could not be read"
            self._recorder.miss("modules.headers", "partial", None, f"{reason}, first at 0x{unread[0]:x}")
        return rows

    def _read_module(self, module: Module, paths: Mapping[int, bytes | None], images: Images) -> ModuleRow:
        image = None
        try:
            key = module.base, self._read(module.base, HEAD_SIZE)
            if key not in images:
                images[key] = parse_image(partial(self._read_image, module.base))
            image = images[key]
        except (OSError, ValueError):
            pass  # it was unloaded meanwhile, or its headers are gone: the row stands without
        path = module.path
        if len(path) >= _TOOLHELP_CUTS_AT:
            path = paths.get(module.base) or path
        return ModuleRow(path, module.base, module.size, image)

    def _read_image(self, base: int, at: int, size: int) -> bytes:
        return self._read(base + at, size)

    def list_heaps(self, peb: int | None, *, ask_toolhelp: bool) -> list[Heap]:
        """List the heaps: from the environment block, the default heap first, else or on request of Toolhelp.

        For Toolhelp's list the system has the process itself look at its heaps, by a thread that it starts in
        it; whoever only looks leaves that out (F43).
        """
        if ask_toolhelp:
            with suppress(Win32Error):  # the walk of the blocks, which needs this list too, tells why
                return self._recorder.require("heaps", partial(self._win32.list_heaps, self._held.pid))
        if peb is None:
            self._recorder.miss("heaps", "unavailable", None, "the environment block is not known")
            return []
        found = self._recorder.attempt("heaps", partial(read_heaps, self._read, peb, self._held.bits))
        if found is None:
            return []
        if not found.is_whole:
            reason = "only the default heap: the process keeps no list of heaps"
            self._recorder.miss("heaps", "partial", None, reason)
        return [Heap(address, 0 if at else _HEAP_DEFAULT) for at, address in enumerate(found.addresses)]

    def sum_heap_blocks(self, budget: Budget) -> list[BlockSums]:
        """Add up the blocks of the heaps that Toolhelp lists; Win32Error where it lists none."""
        pid = self._held.pid
        heaps = self._win32.list_heaps(pid)
        found = sum_blocks(partial(self._win32.walk_blocks, pid), heaps, budget)
        gaps = [*filter(None, [found.truncated]), *found.refused[:1]]
        if len(found.refused) > 1:
            gaps.append(f"and {len(found.refused) - 1} more heaps")
        if gaps:
            self._recorder.miss("heap_blocks", "partial", None, "; ".join(gaps))
        return found.rows


def _find_images(regions: Sequence[Region], paths: Mapping[int, bytes | None]) -> list[Module]:
    """Find the images in a map: allocations of type MEM_IMAGE that have a path."""
    ends: dict[int, int] = {}
    for region in regions:
        if region.type == MEM_IMAGE and paths.get(region.allocation_base):
            ends[region.allocation_base] = region.base + region.size
    return [Module(base, end - base, b"", paths[base] or b"") for base, end in ends.items()]


def _place(stack: Stack | None) -> tuple[int | None, int | None]:
    return (None, None) if stack is None else (stack.start, stack.end - stack.start)
