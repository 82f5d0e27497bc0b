"""The system-wide part of `dumpsys meminfo`: each process's PSS and RSS, sums by category, and RAM.

Layout: ActivityManagerService.dumpApplicationMemoryUsage of AOSP. Sizes are in KiB, with `K` and thousands
separators since Android 7, with ` kB` before.
"""

from __future__ import annotations

import re

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table

__all__ = ["SystemPart"]

_HEADING = re.compile(rb"Total (PSS|RSS) by (process|category|OOM adjustment)\b.*")
_ROW = re.compile(
    rb"([\d,.]{1,24}) ?(?:K|kB): (\S.{0,200}?)(?: \(pid (\d{1,10})\b[^)]*\))?(?: +\(.* in swap\))?"
)
_FACT = re.compile(rb"([A-Z][A-Za-z ]{1,20}): +([\d,]{1,24}) ?(?:K|kB)\b.*")
_CLOCK = re.compile(rb"Uptime: (\d{1,18}) +Realtime: (\d{1,18})")
_KIB = 1024
_MAX_LINE = 1024


class SystemPart:
    """What is said of all processes together, filled line by line."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        self.processes: dict[int, dict[str, int | bytes]] = {}
        self.categories: dict[bytes, dict[str, int]] = {}
        self._section = (b"", b"")

    def begins(self, line: bytes) -> bool:
        """Whether the system-wide part begins with a line, and what is said of one process is over."""
        return _HEADING.fullmatch(line.strip()) is not None if len(line) <= _MAX_LINE else False

    def read_line(self, line: bytes) -> None:
        """Read one line outside of what is said of one process."""
        line = line.strip()
        heading = _HEADING.fullmatch(line) if len(line) <= _MAX_LINE else None
        if heading is not None:
            self._section = (heading[1], heading[2])
        elif not line or len(line) > _MAX_LINE:
            self._section = (b"", b"")
        elif self._section[0]:
            self._read_row(line)
        else:
            self._read_fact(line)

    def _read_row(self, line: bytes) -> None:
        row = _ROW.fullmatch(line)
        what, by = self._section
        if row is None:
            return
        size = int(re.sub(rb"[,.]", b"", row[1])) * _KIB
        if by == b"process" and row[3] is not None:
            self.processes.setdefault(int(row[3]), {"name": row[2]})[what.decode().lower()] = size
        elif by == b"category":
            self.categories.setdefault(row[2], {})[what.decode().capitalize()] = size

    def _read_fact(self, line: bytes) -> None:
        clock, fact = _CLOCK.fullmatch(line), _FACT.fullmatch(line)
        if clock is not None:
            self.facts["uptime_ms"], self.facts["realtime_ms"] = int(clock[1]), int(clock[2])
        elif fact is not None:
            self.facts[fact[1].decode()] = int(fact[2].replace(b",", b"")) * _KIB

    @property
    def is_told(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self.processes or self.categories)

    def describe(self, capture: Capture) -> None:
        """Put what is said of the system into a capture: facts in bytes (uptime in ms), and its processes."""
        capture.system |= self.facts
        if self.processes:
            capture.tables = {**capture.tables, "processes": self._tabulate_processes()}

    def _tabulate_processes(self) -> Table:
        """pid, name, rss, pss (bytes); resident pages that are shared count in the rss of each process."""
        rows = list(self.processes.values())
        columns = {
            "pid": Plain("uint", list(self.processes)),
            "name": Plain("text", [row["name"] for row in rows], "bytes"),
            "rss": Plain("uint", [row.get("rss") for row in rows]),
            "pss": Plain("uint", [row.get("pss") for row in rows]),
        }
        return encode_table(columns, len(rows))

    def build(self, capture: Capture, no_regions: Table) -> Snapshot:
        """Make a snapshot of all processes together, where none is printed by itself."""
        rows = list(self.categories.values())
        names = [name for name in ("Pss", "Rss") if any(name in row for row in rows)]
        columns = {"name": Plain("text", list(self.categories), "bytes")}
        columns |= {name: Plain("uint", [row.get(name) for row in rows]) for name in names}
        judged = [
            Capability("regions", "unavailable", None, "dumpsys meminfo prints no addresses"),
            Capability("process", "not applicable", None, "the figures are those of all processes together"),
        ]
        tables = {"regions": no_regions, "totals": encode_table(columns, len(rows))}
        process: Facts = {"source": {"format": "Android dumpsys meminfo"}, "name": "all processes"}
        return Snapshot(capture, process, {}, tables, judged)
