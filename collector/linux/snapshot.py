"""One snapshot of one process, from all its sources: first the map and its counters, close together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from mmpscope.collector.base import Options
from mmpscope.collector.linux.background import Background
from mmpscope.collector.linux.cost import Budget
from mmpscope.collector.linux.facts import find_range, read_facts
from mmpscope.collector.linux.freeze import Freeze
from mmpscope.collector.linux.mapped_file import open_mapped
from mmpscope.collector.linux.modules import read_modules
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.regions import MapTexts, drop_doubles, read_again, read_map_texts, read_rollup
from mmpscope.collector.linux.threads import read_threads
from mmpscope.collector.recorder import Recorder
from mmpscope.formats.faults import tell_count
from mmpscope.formats.model import Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.facts import parse_counters, parse_status, to_fact
from mmpscope.formats.proc.modules import tabulate
from mmpscope.formats.proc.smaps import Regions, parse_smaps
from mmpscope.formats.proc.stat_line import Stat, describe_stat

__all__ = ["SnapshotReader"]


class SnapshotReader:
    """Reads snapshots of the process whose proc directory is ``directory``."""

    def __init__(self, directory: ProcDir, options: Options, mountinfo: Callable[[], bytes]) -> None:
        self._directory = directory
        self._options = options
        self._mountinfo = mountinfo
        self._page_size: int = os.sysconf("SC_PAGE_SIZE")

    def read(self, stat: Stat, capture: Capture) -> Snapshot:
        """Read one snapshot; OSError where status or maps cannot be read, whatever else is missing is noted.

        A process that is ending has an empty map: the snapshot has no regions then. One that is to be held
        runs on again before anything is parsed.
        """
        recorder, budget = Recorder(), Budget(self._options.budget_s)
        moment: Facts = {"time_ns": time.time_ns(), "mono_ns": time.monotonic_ns()}
        with ExitStack() as held:
            freeze = self._hold(stat.pid, held, recorder)
            status = recorder.require("status", partial(self._directory.read, "status"))
            texts = read_map_texts(self._directory, status, self._options, budget, recorder)
            # smaps_rollup makes the kernel walk all page tables again: one call, while we parse what we have.
            with Background(partial(read_rollup, self._directory, texts, budget)) as background:
                if texts.why_light is None:
                    again = partial(read_again, self._directory, texts)
                    moment["map_moved"] = recorder.require("maps", again)
                process = self._read_process(stat, status, recorder)
                tables = self._read_threads(texts, budget, recorder)
                if freeze is not None:
                    background.wait()
                    held.close()
                    moment["held_ns"] = _judge_hold(freeze, self._options, recorder)
                regions = recorder.measure("parsing", partial(_parse_regions, texts, recorder))
                process.update(self._find_range(process, regions, capture, recorder))
                tables.update(self._read_modules(texts, regions, budget, recorder))
                tables["regions"] = recorder.measure("encoding", regions.encode)
        totals, rollup = background.result()
        recorder.absorb(totals)
        if rollup is not None:
            process["smaps_rollup"] = parse_counters(rollup)
        moment["cost"] = recorder.cost
        moment["read_ns"] = time.monotonic_ns() - moment["mono_ns"]
        return Snapshot(capture, process, moment, tables, recorder.capability)

    def _hold(self, pid: int, held: ExitStack, recorder: Recorder) -> Freeze | None:
        """Hold the process as long as ``held`` lasts, if that was asked for and the system lets us."""
        if not self._options.freeze:
            return None
        freeze = Freeze(self._directory, pid, self._options.freeze_limit_s)
        return recorder.attempt("freeze", partial(held.enter_context, freeze))

    def _read_process(self, stat: Stat, status: bytes, recorder: Recorder) -> Facts:
        known = parse_status(status)
        process: Facts = {
            "pid": stat.pid,
            "name": to_fact(stat.comm),
            "status": known,
            "stat": describe_stat(stat),
            "page_size": self._page_size,
        }
        for name, key in (("uid", "Uid"), ("gid", "Gid")):
            if known.get(key):
                process[name] = known[key][0]  # the real one of four
        process.update(read_facts(self._directory, self._mountinfo, recorder))
        return process

    def _find_range(self, process: Facts, regions: Regions, capture: Capture, recorder: Recorder) -> Facts:
        minimum = capture.system.get("mmap_min_addr")
        facts = recorder.gather(
            {"range": partial(find_range, process, regions.columns, capture.host, minimum)}
        )
        return {**facts, "source_text": regions.form} if regions.form else facts

    def _read_threads(self, texts: MapTexts, budget: Budget, recorder: Recorder) -> dict[str, Table]:
        skipped = texts.why_light or budget.refuse(texts.cost.threads_s)
        if skipped is not None:
            recorder.miss("threads", "skipped", None, skipped)
            return {}
        threads = recorder.attempt("threads", partial(read_threads, self._directory, recorder))
        return {} if threads is None else {"threads": threads}

    def _read_modules(
        self, texts: MapTexts, regions: Regions, budget: Budget, recorder: Recorder
    ) -> dict[str, Table]:
        skipped = texts.why_light or budget.refuse(0.0)
        if skipped is not None:
            recorder.miss("modules", "skipped", None, skipped)
            return {}
        open_file = partial(open_mapped, self._directory)
        read = partial(read_modules, regions.columns, open_file, self._page_size)
        modules = recorder.require("modules", read)
        unread = [module for module in modules if module.image is None]
        if unread:
            text = f"{len(unread)} of {len(modules)} files could not be read, the first: {unread[0].reason}"
            recorder.miss("modules", "partial", None, text)
        return tabulate(modules)


def _judge_hold(freeze: Freeze, options: Options, recorder: Recorder) -> int:
    """Tell for how many ns the process was held, and note where that was not until all had been read."""
    if freeze.has_expired:
        text = f"it was let go after {options.freeze_limit_s:g} s, before all was read: it may have changed"
        recorder.miss("freeze", "partial", None, text)
    return freeze.held_ns


def _parse_regions(texts: MapTexts, recorder: Recorder) -> Regions:
    """Parse the map; lines that do not parse are kept as text, and counted here."""
    item = "smaps" if texts.smaps else "maps"
    regions, doubles = drop_doubles(parse_smaps(texts.take_best()))
    if regions.faults:
        first = regions.faults[0]
        count = tell_count(regions.odd, "block")
        text = f"{count} kept as text, the first at line {first.line}: {first.what}"
        recorder.miss(item, "partial", None, text)
    if doubles:
        count = tell_count(doubles, "mapping")
        text = f"the kernel listed {count} twice, which grew meanwhile: the later of both counts"
        recorder.miss("regions", "partial", None, text)
    if regions.missing is not None:
        recorder.miss("regions", "partial", None, regions.missing)
    return regions
