"""One snapshot of one Windows process, from all its sources: first the map and its pages, close together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Callable

from mmpscope.collector.base import Options
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.lists import Held, ProcessLists
from mmpscope.collector.windows.names import to_drive_path
from mmpscope.collector.windows.pages import PageSums, sum_pages
from mmpscope.collector.windows.rows import Region
from mmpscope.collector.windows.tables import (
    tabulate_heaps,
    tabulate_modules,
    tabulate_regions,
    tabulate_sections,
    tabulate_threads,
)
from mmpscope.collector.windows.walk import MEM_COMMIT, MEM_IMAGE, MEM_MAPPED, Walk, walk_regions
from mmpscope.formats.model import Capture, Fact, Facts, Snapshot, Table

__all__ = ["SnapshotReader"]


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
        paths = recorder.require("mapped names", partial(self._read_paths, walk.regions))
        process = {**self._read_process(recorder), "range": usable}
        tables = self._read_lists(walk.regions, paths, process, recorder)
        names = [paths.get(region.allocation_base) for region in walk.regions]
        encode = partial(tabulate_regions, walk.regions, names, pages)
        tables["regions"] = recorder.measure("encoding", encode)
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
        reason = None
        if self._options.light:
            reason = "--light"
        elif not self._options.full and committed > self._options.max_resident:
            reason = f"{committed >> 30} GiB are committed; --full asks for every page all the same"
        elif not self._options.full and len(regions) > self._options.max_regions:
            reason = f"there are {len(regions)} regions; --full asks for every page all the same"
        if reason is not None:
            recorder.miss("working set", "skipped", None, reason)
            return None
        query = partial(self._win32.query_working_set, self._held.handle)
        return recorder.attempt("working set", partial(sum_pages, query, regions, self._win32.page_size))

    def _read_paths(self, regions: Sequence[Region]) -> dict[int, bytes | None]:
        """Ask once per allocation for its file; a section of the page file has none: the call is refused."""
        drives = self._win32.list_drives()
        known: dict[int, bytes | None] = {}
        for region in regions:
            if region.type in (MEM_MAPPED, MEM_IMAGE) and region.allocation_base not in known:
                try:
                    name = self._win32.get_mapped_name(self._held.handle, region.base)
                    known[region.allocation_base] = to_drive_path(name, drives)
                except Win32Error:
                    known[region.allocation_base] = None
        return known

    def _read_process(self, recorder: Recorder) -> Facts:
        win32, handle = self._win32, self._held.handle
        process: Facts = {
            "pid": self._held.pid,
            "bits": self._held.bits,
            "wow64": self._held.is_wow64,
            "page_size": win32.page_size,
        }
        readers: dict[str, Callable[[], Fact]] = {
            "exe": lambda: win32.get_image_path(handle).decode("utf-8", "surrogateescape"),
            "times": lambda: dict(zip(("start", "kernel", "user"), win32.get_times(handle))),
            "memory_counters": partial(win32.get_counters, handle),
        }
        process.update(recorder.gather(readers))
        if "exe" in process:
            process["name"] = process["exe"].rpartition("\\")[2]
        if "times" in process:
            process["start_time"] = process["times"]["start"]
        return process

    def _read_lists(
        self, regions: Sequence[Region], paths: dict[int, bytes | None], process: Facts, recorder: Recorder
    ) -> dict[str, Table]:
        if self._options.light:
            for item in ("threads", "modules", "heaps"):
                recorder.miss(item, "skipped", None, "--light")
            return {}
        lists, tables = ProcessLists(self._win32, self._held, recorder), {}
        threads = recorder.attempt("threads", lists.read_threads)
        if threads is not None:
            tables["threads"] = tabulate_threads(threads)
        modules = recorder.attempt("modules", partial(lists.read_modules, regions, paths))
        if modules is not None:
            tables["modules"], tables["sections"] = tabulate_modules(modules), tabulate_sections(modules)
        peb = recorder.attempt("peb", lists.read_peb)
        if peb is not None:
            process["image_base"] = peb.image_base
            if peb.command_line is not None:
                process["cmdline"] = [peb.command_line.decode("utf-8", "surrogateescape")]
        heaps = lists.list_heaps(peb)
        if heaps:
            tables["heaps"] = tabulate_heaps(heaps)
        return tables
