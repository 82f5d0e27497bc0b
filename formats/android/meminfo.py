"""Snapshots from Android's `dumpsys meminfo`: sums by category, of one process, of several, or of all.

It prints no address, so these are totals and nothing else. Sizes are in KiB.
"""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

from mmpscope.formats.android.meminfo_system import SystemPart
from mmpscope.formats.android.meminfo_table import CategoryTable
from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.proc.facts import to_fact
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.text import read_text, walk_lines

__all__ = ["open_meminfo"]

_PROCESS = re.compile(rb"[ \t]*\*\* MEMINFO in pid (\d{1,10}) \[(.*)\] \*\*")
_SECTION = re.compile(rb"(Dalvik Details|App Summary|Objects|SQL|DATABASES|Asset Allocations)")
_SUMMARY_ROW = re.compile(rb" *([A-Z][A-Za-z ]{1,30}):( +)(\d{1,16})(?: +(\d{1,16}))?")
_OBJECT = re.compile(rb"([A-Z][A-Za-z ]{1,30}):[ \t]+(\d{1,16})(?!\S)")
_MAX_LINE = 4096
_KIB = 1024
_PSS_WIDTH = 16
"""Blanks before a figure of the first column of the app's summary, at most."""
_LACKS = ("threads", "modules", "heaps", "limits", "status", "cmdline")
_NO_REGIONS = {
    "start": Plain("uint", []),
    "size": Plain("uint", [], len_of="start"),
    "perms": Plain("text", [], "utf-8"),
}


class _Process:
    """What is printed of one process."""

    def __init__(self, pid: int, name: bytes, faults: FaultLog) -> None:
        self.pid = pid
        self.name = to_fact(name)
        self.table = CategoryTable(faults)
        self.summary: dict[bytes, tuple[int | None, int | None]] = {}
        self.objects: Facts = {}
        self._section = b""

    def read_line(self, line: bytes, number: int) -> None:
        """Read one line below the title of the process."""
        section = _SECTION.fullmatch(line.strip())
        if section is not None:
            self._section = section[1]
        elif self._section == b"App Summary":
            self._read_summary(line)
        elif self._section == b"Objects":
            self.objects |= {key.decode().strip(): int(value) for key, value in _OBJECT.findall(line)}
        elif self._section in (b"", b"Dalvik Details"):
            self.table.read_line(line, number)

    def _read_summary(self, line: bytes) -> None:
        """Read `Name:  Pss  Rss`; where one figure stands alone, its place tells which it is."""
        match = _SUMMARY_ROW.fullmatch(line.rstrip())
        if match is None or match[1].startswith(b"TOTAL"):
            return
        first, second = (None if value is None else int(value) * _KIB for value in match.group(3, 4))
        is_rss = second is None and len(match[2]) > _PSS_WIDTH
        self.summary[match[1]] = (None, first) if is_rss else (first, second)

    @property
    def is_told(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self.table.rows or self.summary)

    def build(self, capture: Capture) -> Snapshot:
        """Make the snapshot; its totals are the rows of the table, or without one the app's own summary."""
        process: Facts = {"source": {"format": "Android dumpsys meminfo"}, "pid": self.pid, "name": self.name}
        if self.objects:
            process["objects"] = self.objects
        tables = {"regions": encode_table(_NO_REGIONS, 0)}
        judged = [Capability("regions", "unavailable", None, "dumpsys meminfo prints no addresses")]
        if self.table.rows:
            tables |= self.table.encode()
            loss = self.table.tell_loss()
            if loss is not None:
                judged.append(Capability("totals", "partial", None, loss))
        else:
            tables["totals"] = self._tabulate_summary()
            why = "dumpsys meminfo -s prints the app's summary alone, whose rows leave out what is shared"
            judged.append(Capability("totals", "partial", None, why))
        if self.table.rows and self.summary:
            tables["app_summary"] = self._tabulate_summary()
        judged.append(Capability("totals.Size", "unavailable", None, "dumpsys meminfo tells no sizes"))
        judged += [Capability(item, "unavailable", None, "dumpsys meminfo has none") for item in _LACKS]
        return Snapshot(capture, process, {}, tables, judged)

    def _tabulate_summary(self) -> Table:
        rows = list(self.summary.values())
        columns = {
            "name": Plain("text", list(self.summary), "bytes"),
            "Pss": Plain("uint", [pss for pss, _ in rows]),
            "Rss": Plain("uint", [rss for _, rss in rows]),
        }
        return encode_table(columns, len(rows))


def open_meminfo(stream: BinaryIO, name: str) -> ListedSource:
    """Read a whole text as one snapshot a process, or one of the whole system where it lists that alone.

    LimitError where it is too large, NotASnapshotError where no figure is in it.
    """
    faults, system = FaultLog(), SystemPart()
    processes = [process for process in _read_processes(read_text(stream), system, faults) if process.is_told]
    if not processes and not system.is_told:
        now = "Give its whole output, as `adb shell dumpsys meminfo NAME` has it."
        raise NotASnapshotError("a dumpsys meminfo without a figure", now=now)
    capture = Capture(host={"os": "android"})
    system.describe(capture)
    for process in processes:
        loss = process.table.tell_loss() if process.table.rows else None
        if loss is not None and not process.table.lost:
            faults.add("the rows of the table do not add up to its TOTAL", lost="rows, or TOTAL is wrong")
    snapshots = [process.build(capture) for process in processes] or [
        system.build(capture, encode_table(_NO_REGIONS, 0))
    ]
    entries = [
        Entry(index, taken.process.get("pid"), None, taken.process.get("name"))
        for index, taken in enumerate(snapshots)
    ]
    reads = [partial(_take, taken) for taken in snapshots]
    return ListedSource(name, "Android dumpsys meminfo text", entries, reads, faults.list())


def _take(snapshot: Snapshot) -> Snapshot:
    return snapshot


def _read_processes(text: bytes, system: SystemPart, faults: FaultLog) -> list[_Process]:
    """Read all processes that are printed by themselves; what stands outside of them is of the system."""
    processes: list[_Process] = []
    is_inside = False
    for number, line in walk_lines(text):
        title = _PROCESS.match(line[:_MAX_LINE])
        if title is not None:
            processes.append(_Process(int(title[1]), title[2], faults))
            is_inside = True
        elif is_inside and not system.begins(line):
            if len(line) <= _MAX_LINE:
                processes[-1].read_line(line, number)
        else:
            is_inside = False
            system.read_line(line)
    return processes
