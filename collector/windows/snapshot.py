"""One snapshot of one Windows process, from all its sources: first the map and its pages, close together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from mmpscope.collector.base import Options
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.blocks import Peb, Stack, read_peb, read_stack
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.names import to_drive_path
from mmpscope.collector.windows.pages import PageSums, sum_pages
from mmpscope.collector.windows.pe import parse_image
from mmpscope.collector.windows.rows import Heap, Region
from mmpscope.collector.windows.tables import (
    ModuleRow,
    ThreadRow,
    tabulate_heaps,
    tabulate_modules,
    tabulate_regions,
    tabulate_sections,
    tabulate_threads,
)
from mmpscope.collector.windows.walk import MEM_COMMIT, Walk, walk_regions
from mmpscope.collector.windows.wow64 import TEB32_AT, find_peb32
from mmpscope.formats.model import Capture, Facts, Snapshot, Table

__all__ = ["Held", "SnapshotReader"]

_MEM_MAPPED, _MEM_IMAGE = 0x40000, 0x1000000
_NEVER_SEEN = "Windows does not give a program's registers unless its threads are suspended"


class Held(NamedTuple):
    """A process that is held open: its handle, bitness and usable range; ``can_read`` its memory."""

    pid: int
    handle: int
    bits: int
    is_wow64: bool
    can_read: bool


class SnapshotReader:
    """Reads snapshots of one process."""

    def __init__(self, win32: Win32, held: Held, options: Options) -> None:
        self._win32 = win32
        self._held = held
        self._options = options

    def read(self, usable: Facts, capture: Capture) -> Snapshot:
        """Read one snapshot; Win32Error where the map cannot be read, whatever else is missing is noted."""
        recorder = Recorder()
        moment: Facts = {"time_ns": time.time_ns(), "mono_ns": time.monotonic_ns()}
        walk = recorder.require("regions", partial(self._walk, usable))
        pages = self._read_pages(walk.regions, recorder)
        if not self._options.light:
            again = recorder.measure("regions", partial(self._walk, usable))
            moment["map_moved"] = again.regions != walk.regions
        if walk.stopped is not None:
            code = walk.stopped.code if isinstance(walk.stopped, Win32Error) else None
            recorder.miss("regions", "partial", code, f"the map ends at 0x{walk.end:x}: {walk.stopped}")
        process = self._read_process(recorder)
        tables = self._read_lists(recorder, process)
        paths = recorder.attempt("mapped names", partial(self._read_paths, walk.regions, recorder))
        tables["regions"] = recorder.measure(
            "encoding",
            partial(tabulate_regions, walk.regions, paths or [None] * len(walk.regions), pages),
        )
        process["range"] = usable
        moment["cost"] = recorder.cost
        moment["read_ns"] = time.monotonic_ns() - moment["mono_ns"]
        return Snapshot(capture, process, moment, tables, recorder.capability)

    def _walk(self, usable: Facts) -> Walk:
        query = partial(self._win32.query_region, self._held.handle)
        walk = walk_regions(query, 0, usable["end"])
        if not walk.regions and isinstance(walk.stopped, Win32Error):
            raise walk.stopped
        return walk

    def _read_pages(self, regions: Sequence[Region], recorder: Recorder) -> list[PageSums] | None:
        committed = sum(region.size for region in regions if region.state == MEM_COMMIT)
        if self._options.light:
            recorder.miss("working set", "skipped", None, "--light")
            return None
        if committed > self._options.max_resident and not self._options.full:
            reason = f"{committed >> 30} GiB are committed; --full asks for every page all the same"
            recorder.miss("working set", "skipped", None, reason)
            return None
        query = partial(self._win32.query_working_set, self._held.handle)
        return recorder.attempt("working set", partial(sum_pages, query, regions, self._win32.page_size))

    def _read_paths(self, regions: Sequence[Region], recorder: Recorder) -> list[bytes | None]:
        """Ask for the file once per allocation; a section of the page file has none (its call is refused)."""
        drives = self._win32.list_drives()
        known: dict[int, bytes | None] = {}
        for region in regions:
            if region.type in (_MEM_MAPPED, _MEM_IMAGE) and region.allocation_base not in known:
                try:
                    name = self._win32.get_mapped_name(self._held.handle, region.base)
                    known[region.allocation_base] = to_drive_path(name, drives)
                except Win32Error:
                    known[region.allocation_base] = None
        return [known.get(region.allocation_base) for region in regions]

    def _read_process(self, recorder: Recorder) -> Facts:
        win32, handle = self._win32, self._held.handle
        process: Facts = {"pid": self._held.pid, "bits": self._held.bits, "wow64": self._held.is_wow64}
        process.update(
            recorder.gather(
                {
                    "exe": lambda: win32.get_image_path(handle).decode("utf-8", "surrogateescape"),
                    "times": lambda: dict(zip(("start", "kernel", "user"), win32.get_times(handle))),
                    "memory_counters": partial(win32.get_counters, handle),
                }
            )
        )
        exe = process.get("exe")
        if isinstance(exe, str):
            process["name"] = exe.rpartition("\\")[2]
        if "times" in process:
            process["start_time"] = process["times"]["start"]
        process["page_size"] = win32.page_size
        return process

    def _read_lists(self, recorder: Recorder, process: Facts) -> dict[str, Table]:
        if self._options.light:
            for item in ("threads", "modules", "heaps"):
                recorder.miss(item, "skipped", None, "--light")
            return {}
        tables: dict[str, Table] = {}
        threads = recorder.attempt("threads", partial(self._read_threads, recorder))
        if threads is not None:
            tables["threads"] = tabulate_threads(threads)
        modules = recorder.attempt("modules", self._read_modules)
        if modules is not None:
            tables["modules"], tables["sections"] = tabulate_modules(modules), tabulate_sections(modules)
            unread = sum(module.image is None for module in modules)
            if unread:
                reason = f"the headers of {unread} of {len(modules)} modules could not be read"
                recorder.miss("modules", "partial", None, reason)
        heaps = self._read_heaps(recorder, process)
        if heaps:
            tables["heaps"] = tabulate_heaps(heaps)
        return tables

    def _read_memory(self, address: int, size: int) -> bytes:
        data = self._win32.read_memory(self._held.handle, address, size)
        if len(data) < size:
            raise ValueError(f"only {len(data)} of {size} bytes could be read at 0x{address:x}")
        return data

    def _read_threads(self, recorder: Recorder) -> list[ThreadRow]:
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
            recorder.miss("threads.stack", "partial", None, reason)
        recorder.miss("threads.sp", "unavailable", None, _NEVER_SEEN)
        return rows

    def _read_stacks(self, teb: int) -> tuple[Stack, Stack | None]:
        """Read the stack of a thread; under WOW64 that of the program, and the 64-bit one beside it."""
        if not self._held.is_wow64:
            return read_stack(self._read_memory, teb, self._held.bits), None
        own = read_stack(self._read_memory, teb + TEB32_AT, 32)
        return own, read_stack(self._read_memory, teb, 64)

    def _read_modules(self) -> list[ModuleRow]:
        rows = []
        for module in self._win32.list_modules(self._held.pid):
            try:
                image = parse_image(partial(self._read_image, module.base))
            except (OSError, ValueError):
                image = None
            rows.append(ModuleRow(module.path, module.base, module.size, image))
        return rows

    def _read_image(self, base: int, at: int, size: int) -> bytes:
        return self._read_memory(base + at, size)

    def _read_heaps(self, recorder: Recorder, process: Facts) -> list[Heap]:
        """Take the heaps of Toolhelp, else those in the environment block of the process."""
        listed = recorder.attempt("heaps", partial(self._win32.list_heaps, self._held.pid))
        peb = recorder.attempt("peb", self._read_peb)
        if peb is not None:
            process["image_base"] = peb.image_base
            if peb.command_line is not None:
                process["cmdline"] = [peb.command_line.decode("utf-8", "surrogateescape")]
        if listed:
            return listed
        heaps = [Heap(address, int(number == 0)) for number, address in enumerate(peb.heaps if peb else [])]
        if peb is not None and not peb.has_list:
            recorder.miss(
                "heaps", "partial", None, "the process keeps no list of heaps: only the default one"
            )
        return heaps

    def _read_peb(self) -> Peb:
        handle = self._held.handle
        if self._held.is_wow64:
            return read_peb(self._read_memory, find_peb32(self._win32, self._held.pid, handle), 32)
        return read_peb(self._read_memory, self._win32.find_peb(handle), self._held.bits)


def _place(stack: Stack | None) -> tuple[int | None, int | None]:
    return (None, None) if stack is None else (stack.start, stack.end - stack.start)
