"""One snapshot of one Windows process, from all its sources: first the map and its pages, close together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from mmpscope.collector.base import Options
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows import tables as tabulate
from mmpscope.collector.windows.allocations import read_allocations
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.blocks import read_command_line, read_image_base
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.facts import find_runtimes, read_facts
from mmpscope.collector.windows.heap_blocks import Budget
from mmpscope.collector.windows.held import Held, read_whole
from mmpscope.collector.windows.lists import Images, ProcessLists
from mmpscope.collector.windows.names import to_drive_path
from mmpscope.collector.windows.pages import PageSums, sum_pages
from mmpscope.collector.windows.rows import Region
from mmpscope.collector.windows.running import Running
from mmpscope.collector.windows.walk import MEM_COMMIT, MEM_IMAGE, MEM_MAPPED, Walk, walk_regions
from mmpscope.collector.windows.wow64 import find_peb32
from mmpscope.formats.model import Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.facts import to_fact

__all__ = ["SnapshotReader"]

Paths = dict[int, "bytes | None"]


class SnapshotReader:
    """Reads snapshots of one process."""

    def __init__(self, win32: Win32, held: Held, running: Running, options: Options) -> None:
        self._win32 = win32
        self._held = held
        self._running = running
        self._options = options
        self._images: Images = {}

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
        paths = recorder.require("mapped names", partial(self._read_paths, walk.regions, recorder))
        process = {**read_facts(self._win32, self._held, recorder), "range": usable}
        tables = self._read_lists(walk.regions, paths, process, recorder)
        names = [paths.get(region.allocation_base) for region in walk.regions]
        encode = partial(tabulate.tabulate_regions, walk.regions, names, pages)
        tables["regions"] = recorder.measure("encoding", encode)
        moment["cost"] = recorder.cost
        moment["read_ns"] = time.monotonic_ns() - moment["mono_ns"]
        return Snapshot(capture, process, moment, tables, recorder.capability)

    def _walk(self, usable: Facts) -> Walk:
        walk = walk_regions(self._win32.make_region_query(self._held.handle), usable["start"], usable["end"])
        if not walk.regions and isinstance(walk.stopped, Win32Error):
            raise walk.stopped
        return walk

    def _read_pages(self, regions: Sequence[Region], recorder: Recorder) -> list[PageSums] | None:
        reason = self._find_why_no_pages(regions)
        if reason is not None:
            recorder.miss("working set", "skipped", None, reason)
            return None
        query = partial(self._win32.query_working_set, self._held.handle)
        return recorder.attempt("working set", partial(sum_pages, query, regions, self._win32.page_size))

    def _find_why_no_pages(self, regions: Sequence[Region]) -> str | None:
        if self._options.light:
            return "--light"
        if self._options.full:
            return None
        committed = sum(region.size for region in regions if region.state == MEM_COMMIT)
        if committed > self._options.max_resident:
            return f"{committed >> 30} GiB are committed; --full asks for every page all the same"
        if len(regions) > self._options.max_regions:
            return f"there are {len(regions)} regions; --full asks for every page all the same"
        return None

    def _read_paths(self, regions: Sequence[Region], recorder: Recorder) -> Paths:
        """Ask once per allocation for its file; a section of the page file has none: the call is refused.

        An image always has one, so a refusal there is noted.
        """
        drives = self._win32.list_drives()
        known: Paths = {}
        for region in regions:
            if region.type in (MEM_MAPPED, MEM_IMAGE) and region.allocation_base not in known:
                try:
                    name = self._win32.get_mapped_name(self._held.handle, region.base)
                    known[region.allocation_base] = to_drive_path(name, drives)
                except Win32Error as error:
                    known[region.allocation_base] = None
                    if region.type == MEM_IMAGE:
                        reason = f"of an image at 0x{region.allocation_base:x}: {error}"
                        recorder.miss("mapped names", "partial", error.code, reason)
        return known

    def _read_lists(
        self, regions: Sequence[Region], paths: Paths, process: Facts, recorder: Recorder
    ) -> dict[str, Table]:
        if self._options.light:
            for item in ("allocations", "threads", "modules", "heaps"):
                recorder.miss(item, "skipped", None, "--light")
            self._add_command_line(process, None, recorder)
            return {}
        lists, tables = ProcessLists(self._win32, self._held, recorder), {}
        query = partial(self._win32.query_allocation, self._held.handle)
        allocations = recorder.attempt("allocations", partial(read_allocations, query, regions))
        if allocations:
            tables["allocations"] = tabulate.tabulate_allocations(allocations)
        own = recorder.attempt("threads", partial(self._running.list_threads, self._held.pid))
        if own is not None:
            threads = recorder.measure("threads", partial(lists.read_threads, own))
            tables["threads"] = tabulate.tabulate_threads(threads)
        modules = recorder.require("modules", partial(lists.read_modules, regions, paths, self._images))
        tables["modules"] = tabulate.tabulate_modules(modules)
        tables["sections"] = tabulate.tabulate_sections(modules)
        process["runtimes"] = find_runtimes(modules)
        peb = recorder.attempt("peb", self._find_peb)
        process.update(self._read_image_base(peb, recorder))
        self._add_command_line(process, peb, recorder)
        tables.update(self._read_heaps(lists, peb, recorder))
        return tables

    def _find_peb(self) -> int:
        """Find the environment block of the process, under WOW64 the 32-bit one."""
        if self._held.has_blocks_of_both:
            return find_peb32(self._win32, self._held, self._running.list_threads(self._held.pid))
        return self._win32.find_peb(self._held.handle)

    def _read_image_base(self, peb: int | None, recorder: Recorder) -> Facts:
        if peb is None:
            return {}
        read = partial(read_whole, self._win32, self._held.handle)
        return recorder.gather({"image_base": partial(read_image_base, read, peb, self._held.bits)})

    def _add_command_line(self, process: Facts, peb: int | None, recorder: Recorder) -> None:
        """Ask the system for the command line; before Windows 8.1 only the environment block has it."""
        line = recorder.attempt("cmdline", partial(self._win32.get_command_line, self._held.handle))
        if line is None and peb is not None:
            read = partial(read_whole, self._win32, self._held.handle)
            line = recorder.attempt("cmdline", partial(read_command_line, read, peb, self._held.bits))
            if line is not None:
                recorder.miss("cmdline", "ok", None, "from the environment block of the process")
        if line:
            process["cmdline"] = [to_fact(line)]

    def _read_heaps(self, lists: ProcessLists, peb: int | None, recorder: Recorder) -> dict[str, Table]:
        options, tables = self._options, {}
        heaps = lists.list_heaps(peb, ask_toolhelp=options.heap_blocks)
        if heaps:
            tables["heaps"] = tabulate.tabulate_heaps(heaps)
        if options.heap_blocks:
            budget = Budget(options.heap_max_blocks, options.heap_max_s)
            sums = recorder.attempt("heap_blocks", partial(lists.sum_heap_blocks, budget))
            if sums is not None:
                tables["heap_blocks"] = tabulate.tabulate_heap_blocks(sums)
        return tables
