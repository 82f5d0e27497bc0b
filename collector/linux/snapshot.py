"""One snapshot of one process, put together from its sources.

The map and its counters come first, close together.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Callable

from mmpscope.collector.base import Options
from mmpscope.collector.linux.facts import describe_stat, find_range, read_facts
from mmpscope.collector.linux.mapped_file import open_mapped
from mmpscope.collector.linux.modules import read_modules, tabulate
from mmpscope.collector.linux.procfs import ProcDir, Recorder
from mmpscope.collector.linux.regions import MapTexts, read_map_texts
from mmpscope.collector.linux.stat_line import Stat
from mmpscope.collector.linux.threads import read_threads
from mmpscope.formats.model import Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.facts import parse_counters, parse_status, to_fact
from mmpscope.formats.proc.smaps import parse_smaps

__all__ = ["SnapshotReader"]


class SnapshotReader:
    """Reads snapshots of the process whose proc directory is ``directory``."""

    def __init__(self, directory: ProcDir, options: Options, mountinfo: Callable[[], bytes]) -> None:
        self._directory = directory
        self._options = options
        self._mountinfo = mountinfo

    def read(self, stat: Stat, capture: Capture) -> Snapshot:
        """Read one snapshot; OSError where status or maps cannot be read, whatever else is missing is noted.

        A process that is ending has an empty map, and the snapshot no regions: the caller looks whether it
        lives.
        """
        recorder = Recorder()
        moment: Facts = {"time_ns": time.time_ns(), "mono_ns": time.monotonic_ns()}
        status = recorder.require("status", partial(self._directory.read, "status"))
        texts = read_map_texts(self._directory, status, self._options, recorder)
        process = self._read_process(stat, status, texts, recorder)
        minimum = capture.system.get("mmap_min_addr")
        read_range = partial(find_range, process, texts.maps, capture.host, minimum)
        process.update(recorder.gather({"range": read_range}))
        tables = self._read_tables(texts, recorder)
        if texts.moved is not None:
            moment["map_moved"] = texts.moved
        moment["cost"] = recorder.cost
        moment["read_ns"] = time.monotonic_ns() - moment["mono_ns"]
        return Snapshot(capture, process, moment, tables, recorder.capability)

    def _read_process(self, stat: Stat, status: bytes, texts: MapTexts, recorder: Recorder) -> Facts:
        known = parse_status(status)
        process: Facts = {
            "pid": stat.pid,
            "name": to_fact(stat.comm),
            "status": known,
            "stat": describe_stat(stat),
            "page_size": os.sysconf("SC_PAGE_SIZE"),
        }
        for name, key in (("uid", "Uid"), ("gid", "Gid")):
            if known.get(key):
                process[name] = known[key][
                    0
                ]  # the real one; effective, saved and file system's follow in status
        if texts.rollup is not None:
            process["smaps_rollup"] = parse_counters(texts.rollup)
        process.update(read_facts(self._directory, self._mountinfo, recorder))
        return process

    def _read_tables(self, texts: MapTexts, recorder: Recorder) -> dict[str, Table]:
        tables = {"regions": recorder.require("parsing", partial(_parse_regions, texts, recorder))}
        if texts.why_light is not None:
            for item in ("threads", "modules"):
                recorder.miss(item, "skipped", None, texts.why_light)
            return tables
        threads = recorder.attempt("threads", partial(read_threads, self._directory, recorder))
        if threads is not None:
            tables["threads"] = threads
        open_file = partial(open_mapped, self._directory)
        modules = recorder.require(
            "modules", partial(read_modules, texts.maps, open_file, os.sysconf("SC_PAGE_SIZE"))
        )
        unread = [module for module in modules if module.image is None]
        if unread:
            text = f"{len(unread)} of {len(modules)} files could not be read, the first: {unread[0].reason}"
            recorder.miss("modules", "partial", None, text)
        tables.update(tabulate(modules))
        return tables


def _parse_regions(texts: MapTexts, recorder: Recorder) -> Table:
    """Parse the map; what does not parse is in the table as text, and counted here."""
    regions = parse_smaps(texts.smaps or texts.maps)
    if regions.faults:
        first = regions.faults[0]
        text = f"{len(regions.faults)} blocks are kept as text, the first at line {first.line}: {first.what}"
        recorder.miss("regions", "partial", None, text)
    return regions.encode()
