"""Snapshots from the text of macOS's vmmap: one a report, and a text may hold several.

Ranges are exact; sizes between brackets are rounded by vmmap to a few digits. With -summary there are totals
and no regions.
"""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.faults import FaultLog, tell_count
from mmpscope.formats.macos.head import Head
from mmpscope.formats.macos.regions import SIZES, RegionRows
from mmpscope.formats.macos.summary import Summary
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.text import read_text, walk_lines

__all__ = ["open_report"]

_START = re.compile(rb"^(?:Process: .*\[\d+\]|Virtual Memory Map of process \d+)", re.MULTILINE)
_INDENT = re.compile(rb"^([ \t]+)Virtual Memory Map of process", re.MULTILINE)
_HEADING = re.compile(rb"==== (?:(?:Non-writable |Writable )?(regions) for|(Summary) for|Legend).*")
_TOTALS = b"ReadOnly portion of Libraries:"
_ROW = re.compile(rb"\] [-rwx]{3}/[-rwx]{3} SM=")
_OTHERS = (
    (re.compile(rb"-bit +Footprint: "), "footprint", "its sums by category, and no regions"),
    (re.compile(rb"^All zones: \d+ nodes ", re.MULTILINE), "heap", "objects by class, and no regions"),
)
_ENDS = {
    "x86_64": (0x7FFF_FFE0_0000, "MACH_VM_MAX_ADDRESS (mach/i386/vm_param.h)"),
    "arm64": (0x7FFF_FE00_0000, "MACH_VM_MAX_ADDRESS (mach/arm/vm_param.h)"),
}
_PAGE_ZERO = 1 << 32
_TOTAL = b"TOTAL"
_MALLOC = b"MALLOC"  # formats to 2.3 add all its kinds up under this name
_MAX_LINE = 8192
_LACKS = ("threads", "heaps", "limits", "status", "smaps", "cmdline", "processes")


def open_report(stream: BinaryIO, name: str) -> ListedSource:
    """Read a whole text as one snapshot a report.

    LimitError where it is too large, NotASnapshotError where it is of another tool of macOS, or has neither
    regions nor a summary.
    """
    text = _take_off_indent(read_text(stream))
    faults = FaultLog()
    reports = [_Report(text, start, end, faults) for start, end in _find_reports(text)]
    reports = [report for report in reports if report.is_told]
    if not reports:
        raise _refuse(text)
    for report in reports:
        report.note_loss()
    snapshots = [report.build() for report in reports]
    versions = dict.fromkeys(report.head.version for report in reports if report.head.version)
    entries = [
        Entry(index, taken.process.get("pid"), taken.moment.get("time_ns"), taken.process.get("name"))
        for index, taken in enumerate(snapshots)
    ]
    reads = [partial(_same, taken) for taken in snapshots]
    title = " ".join(("macOS vmmap text", *versions))
    return ListedSource(name, title, entries, reads, faults.list())


def _same(snapshot: Snapshot) -> Snapshot:
    return snapshot


def _refuse(text: bytes) -> NotASnapshotError:
    for pattern, tool, what in _OTHERS:
        if pattern.search(text):
            return NotASnapshotError(
                f"the output of macOS's {tool}: {what}", now="Give the output of `vmmap` for the process."
            )
    return NotASnapshotError(
        "a report of vmmap without a region or a summary",
        now="Give its whole output, as `vmmap PID > x.txt`.",
    )


def _take_off_indent(text: bytes) -> bytes:
    """Take off blanks before every line, as they come with a quotation or a code block."""
    found = _INDENT.search(text)
    return text if found is None else re.sub(b"^" + found[1], b"", text, flags=re.MULTILINE)


def _find_reports(text: bytes) -> list[tuple[int, int]]:
    """Find where each report begins and ends; a heading and the title below it begin one together."""
    starts: list[int] = []
    is_headed = False
    for match in _START.finditer(text):
        is_title = match[0].startswith(b"Virtual")
        if not (is_title and is_headed):
            starts.append(match.start())
        is_headed = not is_title
    if not starts:
        return [(0, len(text))]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


class _Report:
    """One report, read line by line."""

    def __init__(self, text: bytes, start: int, end: int, faults: FaultLog) -> None:
        self.head = Head()
        self.regions = RegionRows(faults)
        self.summary = Summary(faults)
        self.has_list = False
        section = "head"
        for number, line in walk_lines(text, start, end):
            heading = _find_heading(line)
            if heading is None and section == "head" and _ROW.search(line[:_MAX_LINE]):
                section = "regions"  # an excerpt without the headings
            self.has_list = self.has_list or "regions" in (heading, section)
            section = heading or section
            if heading is None:
                self._take(section, line, number)

    def _take(self, section: str, line: bytes, number: int) -> None:
        if section == "regions":
            self.regions.read_line(line, number)
        elif section == "summary":
            self.summary.read_line(line, number)
        elif section == "head" and len(line) < _MAX_LINE:
            self.head.read_line(line)

    @property
    def is_told(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self.regions.start or self.summary.types)

    def build(self) -> Snapshot:
        """Make the snapshot."""
        host, process = self.head.describe_host(), self.head.describe_process()
        if "bits" not in process and self.regions.start:
            process["bits"] = 64 if max(self.regions.start) >= _PAGE_ZERO else 32  # format 2.0 does not say
        process["source"] = {"format": "macOS vmmap text", "version": self.head.version}
        if self.regions.page_table is not None:
            process["page_table"] = self.regions.page_table
        if self.regions.start:
            process["range"] = self._find_range(host.get("machine"), process["bits"])
        moment = self.head.tell_time()
        return Snapshot(
            Capture(host=host),
            process,
            {} if moment is None else {"time_ns": moment},
            {"regions": self.regions.encode(), **self.summary.encode()},
            self._judge(),
        )

    def _find_range(self, machine: object, bits: int) -> Facts:
        """Assume where the space begins and ends: a 64-bit program cannot have what __PAGEZERO covers."""
        end, source = _ENDS.get(str(machine), _ENDS["x86_64"]) if bits == 64 else (1 << 32, "32 bits")
        highest = max(map(sum, zip(self.regions.start, self.regions.size, strict=True)))
        start = min(_PAGE_ZERO if bits == 64 else 0, *self.regions.start)
        return {"start": start, "end": max(end, highest), "source": f"assumed: __PAGEZERO; {source}"}

    def _judge(self) -> list[Capability]:
        judged = []
        loss = self._tell_loss()
        if not self.has_list:
            why = "the report was made with -summary: totals and no regions"
            judged.append(Capability("regions", "unavailable", None, why))
        elif loss is not None:
            judged.append(Capability("regions", "partial", None, loss))
        if self.regions.start:
            for name in SIZES:
                if not any(size is not None for size in self.regions.sizes[name]):
                    why = "this report has no such column"
                    judged.append(Capability(f"regions.{name}", "unavailable", None, why))
            why = "vmmap rounds what stands between brackets; size is exact, from the addresses"
            judged.append(Capability("regions.VSIZE", "partial", None, why))
        if self.regions.start:
            why = "from the list of regions, without builds"
            judged.append(Capability("modules", "partial", None, why))
        else:
            judged.append(Capability("modules", "unavailable", None, "vmmap does not tell it"))
        judged += [Capability(item, "unavailable", None, "vmmap does not tell it") for item in _LACKS]
        return judged

    def note_loss(self) -> None:
        """Note as a fault that regions are missing, unless the line where they are was noted before."""
        loss = self._tell_loss()
        if loss is not None and not self.regions.is_cut and not self.regions.lost:
            self.regions.faults.add(loss, lost="regions" if self.has_list else "totals")

    def _tell_loss(self) -> str | None:
        """Say why regions may be missing; None where they add up to what the summary says."""
        if self.regions.is_cut:
            return "the text says that lines are left out"
        if self.regions.lost:
            return f"{tell_count(self.regions.lost, 'line')} could not be read as a region"
        if not self.summary.types:
            return "the summary, which ends every report, is missing"
        if _TOTAL not in self.summary.types:
            return "the summary ends before its TOTAL"
        sums = self.regions.add_up()
        sums[_TOTAL] = sum(sums.values())
        for kind, told in self.summary.types.items():
            if kind in sums and not kind.startswith(_MALLOC) and sums[kind] < told.value - told.error:
                name = kind.decode("utf-8", "replace")
                return f"{name}: the regions add up to {sums[kind]:,} bytes, the summary says {told.value:,}"
        return None


def _find_heading(line: bytes) -> str | None:
    """Tell the section that a line begins; -summary (seen: macOS 14) prints no heading before its totals."""
    if line.startswith(_TOTALS):
        return "summary"
    found = _HEADING.fullmatch(line.strip()) if line.lstrip()[:5] == b"==== " else None
    if found is None:
        return None
    return "regions" if found[1] else "summary" if found[2] else "legend"
