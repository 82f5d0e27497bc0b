"""Snapshots from Android's showmap: smaps added up by name, or with -a one row a mapping.

Layout: showmap.cpp of AOSP (system/memory/libmeminfo/tools), whose generations differ in their columns; the
heading tells which there are. Sizes are in KiB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from mmpscope.formats.errors import CorruptError, NotASnapshotError
from mmpscope.formats.faults import FaultLog, tell_count
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.text import read_text, walk_lines

__all__ = ["open_showmap"]

_HEADING = re.compile(rb"(?:addr +addr +)?size +RSS +PSS +clean +dirty +clean +dirty\b.*")
_ABOVE = re.compile(rb"(?:start +end +)?virtual +shared +shared +private +private\b.*")
_DIVIDER = re.compile(rb"-{4}[- ]*")
_PID = re.compile(rb"\bshowmap(?: +-\w+)* +(\d{1,10})\b")
_KERNEL_NAMES = {
    b"size": ("Size",),
    b"RSS": ("Rss",),
    b"PSS": ("Pss",),
    b"clean": ("Shared_Clean", "Private_Clean"),
    b"dirty": ("Shared_Dirty", "Private_Dirty"),
    b"swap": ("Swap",),
    b"swapPSS": ("SwapPss",),
    b"HugePages": ("AnonHugePages",),
    b"PmdMapped": ("ShmemPmdMapped", "FilePmdMapped"),
    b"Hugetlb": ("Shared_Hugetlb", "Private_Hugetlb"),
    b"Locked": ("Locked",),
}
"""Words of the heading, and the kernel's names for what stands below them, from left to right."""
_TOTAL = b"TOTAL"
_BSS = b" [bss]"
_UNNAMED = b"[anon]"
_MAX_LINE = 8192
_MAX_WORDS = 64
_KIB = 1024
_SPACE = 1 << 64
_LACKS = ("process", "threads", "modules", "heaps", "limits", "status", "processes")


@dataclass
class _Layout:
    """What the heading of a capture says: its figures in order, and what else stands in a row."""

    figures: list[str]
    has_addresses: bool
    has_count: bool
    has_flags: bool
    row: re.Pattern[bytes]
    total: re.Pattern[bytes]


def _read_heading(line: bytes) -> _Layout:
    """Read the second line of the heading, which has a word for each column."""
    words = line.split()
    if len(words) > _MAX_WORDS:
        raise CorruptError(f"a heading of {len(words)} columns is none of showmap")
    has_addresses, has_count, has_flags = (word in words for word in (b"addr", b"#", b"flags"))
    counted: dict[bytes, int] = {}
    figures = []
    for word in words:
        if word not in (b"addr", b"#", b"flags", b"object"):
            names, index = _KERNEL_NAMES.get(word, ()), counted.get(word, 0)
            unknown = word.decode("ascii", "replace") + (f"_{index}" if index else "")
            figures.append(names[index] if index < len(names) else unknown)
            counted[word] = index + 1
    numbers = rb" +".join([rb"(\d{1,16})"] * len(figures))
    count = rb" +(\d{1,9})" if has_count else rb""
    address = rb"([0-9a-f]{1,16}) +([0-9a-f]{1,16}) +" if has_addresses else rb"()()"
    flags = rb" +([r-][w-][x-])" if has_flags else rb"()"
    row = rb" *" + address + numbers + (count or rb"()") + flags + rb" +(\S.*)"
    total = rb" *" + numbers + (count or rb"()") + rb" +TOTAL"
    return _Layout(figures, has_addresses, has_count, has_flags, re.compile(row), re.compile(total))


@dataclass
class _Capture:
    """One run of showmap; ``total`` are the figures of its last line, in KiB."""

    layout: _Layout
    pid: int | None
    faults: FaultLog
    objects: list[bytes] = field(default_factory=list)
    figures: list[list[int]] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    flags: list[bytes] = field(default_factory=list)
    total: list[int] | None = None
    total_count: int | None = None
    lost: int = 0

    def __post_init__(self) -> None:
        self.figures = [[] for _ in self.layout.figures]

    def read_line(self, line: bytes, number: int) -> None:
        """Read one line below the heading."""
        line = line.rstrip()
        total = self.layout.total.fullmatch(line) if line.endswith(_TOTAL) else None
        if total is not None:
            *numbers, count = total.groups()
            self.total = [int(value) for value in numbers]
            self.total_count = int(count) if count else None
            return
        row = self.layout.row.fullmatch(line) if len(line) <= _MAX_LINE else None
        if row is None:
            self._lose("a line is no row of this table", number)
            return
        start, end, *numbers, count, flags, name = row.groups()
        if self.layout.has_addresses and not self._add_range(int(start, 16), int(end, 16), number):
            return
        self.objects.append(name)
        self.flags.append(flags)
        self.counts.append(int(count) if count else None)
        for column, value in zip(self.figures, numbers, strict=True):
            column.append(int(value) * _KIB)

    def _add_range(self, start: int, end: int, number: int) -> bool:
        if start >= end:
            self._lose("a range ends before it starts", number)
            return False
        self.ranges.append((start, end - start))
        return True

    def _lose(self, what: str, number: int) -> None:
        self.lost += 1
        self.faults.add(what, line=number, lost="one row")

    def build(self) -> Snapshot:
        """Make the snapshot: regions where there are addresses, else totals by name."""
        process: Facts = {"source": {"format": "Android showmap", "version": self._name_options()}}
        if self.pid is not None:
            process["pid"] = self.pid
        if self.layout.has_addresses:
            tables = {"regions": self._tabulate_regions()}
        else:
            tables = {"regions": encode_table(_NO_REGIONS, 0), "totals": self._tabulate_totals()}
        return Snapshot(Capture(host={"os": "android"}), process, {}, tables, self._judge())

    def _name_options(self) -> str | None:
        """Name the options that show in the output; showmap tells no version of its own."""
        used = {"-a": self.layout.has_addresses, "-v": self.layout.has_flags}
        return " ".join(option for option, is_used in used.items() if is_used) or None

    def _tabulate_regions(self) -> Table:
        """start, size, perms (null without -v, which alone prints them), path, object, the kernel's counters.

        showmap calls memory without a name `[anon]`, and memory behind a library after it, with ` [bss]`:
        such a name is kept in object, and is no path.
        """
        flags = self.flags if self.layout.has_flags else None
        columns = {
            "start": Plain("uint", [start for start, _ in self.ranges]),
            "size": Plain("uint", [size for _, size in self.ranges], len_of="start"),
            "perms": Plain("text", [None] * len(self.ranges) if flags is None else [f + b"?" for f in flags]),
            "path": Plain(
                "text",
                [None if name == _UNNAMED or name.endswith(_BSS) else name for name in self.objects],
                "bytes",
            ),
            "object": Plain("text", self.objects, "bytes"),
        }
        columns |= _make_plain(self.layout.figures, self.figures)
        return encode_table(columns, len(self.ranges))

    def _tabulate_totals(self) -> Table:
        """name, count (mappings of that name), the kernel's counters; TOTAL is the last row."""
        names, counts, figures = [*self.objects], [*self._list_counts()], self.figures
        if self.total is not None:
            names.append(_TOTAL)
            counts.append(self.total_count if self._has_true_counts() else None)
            figures = [[*column, value * _KIB] for column, value in zip(figures, self.total, strict=True)]
        columns = {"name": Plain("text", names, "bytes"), "count": Plain("uint", counts)}
        columns |= _make_plain(self.layout.figures, figures)
        return encode_table(columns, len(names))

    def _list_counts(self) -> list[int | None]:
        """Tell how many mappings have each name: as printed, else one a row (-v), else unknown."""
        if not self.layout.has_count:
            return [1] * len(self.objects)
        return self.counts if self._has_true_counts() else [None] * len(self.objects)

    def _has_true_counts(self) -> bool:
        """Whether the column # counts; since it knows huge pages, showmap prints 1 for any number."""
        return "AnonHugePages" not in self.layout.figures or any(count != 1 for count in self.counts)

    def _judge(self) -> list[Capability]:
        loss = self._tell_loss()
        if self.layout.has_addresses:
            judged = [] if loss is None else [Capability("regions", "partial", None, loss)]
            why = "showmap does not say whether a mapping is private or shared"
            if not self.layout.has_flags:
                why = "showmap prints access rights with -v alone"
            judged.append(Capability("regions.perms", "partial", None, why))
        else:
            judged = [
                Capability("regions", "unavailable", None, "showmap without -a adds mappings up by name")
            ]
            if loss is not None:
                judged.append(Capability("totals", "partial", None, loss))
            if self.layout.has_count and not self._has_true_counts():
                why = "this generation of showmap prints 1 for any number of mappings"
                judged.append(Capability("totals.count", "unavailable", None, why))
        return judged + [Capability(item, "unavailable", None, "showmap does not tell it") for item in _LACKS]

    def check(self, faults: FaultLog) -> None:
        """Note where rows do not add up to TOTAL: damage, or showmap -t, which leaves rows out."""
        loss = self._tell_loss()
        if self.objects and loss is not None and not self.lost:
            faults.add(loss, lost="rows, unless showmap -t left them out" if self.total else None)

    def _tell_loss(self) -> str | None:
        """Say why rows may be missing; None where they add up to the last line."""
        if self.lost:
            return f"{tell_count(self.lost, 'row')} could not be read"
        if self.total is None:
            return "the line TOTAL, which ends the output, is missing"
        for name, values, total in zip(self.layout.figures, self.figures, self.total, strict=True):
            if sum(values) != total * _KIB:
                return f"the rows add up to {sum(values) // _KIB:,} KiB of {name}, TOTAL says {total:,}"
        return None


def _make_plain(names: Sequence[str], columns: Sequence[list[int]]) -> dict[str, Plain]:
    return {name: Plain("uint", values) for name, values in zip(names, columns, strict=True)}


_NO_REGIONS = {
    "start": Plain("uint", []),
    "size": Plain("uint", [], len_of="start"),
    "perms": Plain("text", [], "utf-8"),
}


def open_showmap(stream: BinaryIO, name: str) -> ListedSource:
    """Read a whole text as one snapshot a run of showmap; a bugreport has one for each process.

    LimitError where it is too large, NotASnapshotError where there is a heading and no row.
    """
    faults = FaultLog()
    captures = [capture for capture in _read_captures(read_text(stream), faults) if capture.objects]
    if not captures:
        now = "Give its whole output, as `adb shell showmap PID` has it."
        raise NotASnapshotError("a showmap without a row", now=now)
    entries = [Entry(index, capture.pid) for index, capture in enumerate(captures)]
    reads = [capture.build for capture in captures]
    return ListedSource(name, "Android showmap text", entries, reads, faults.list())


def _read_captures(text: bytes, faults: FaultLog) -> list[_Capture]:
    """Read every run; its heading is repeated above TOTAL, so a new run is told by what stands between."""
    captures: list[_Capture] = []
    pid, is_apart = None, True
    for number, line in walk_lines(text):
        content = line.strip() if len(line) <= _MAX_LINE else line
        asked = _PID.search(content) if b"showmap " in content[:_MAX_LINE] else None
        if asked is not None:
            pid, is_apart = int(asked[1]), True
        elif not content:
            is_apart = True
        elif _HEADING.fullmatch(content[:_MAX_LINE]):
            if is_apart or captures[-1].total is not None:
                captures.append(_Capture(_read_heading(content), pid, faults))
                pid = None
            is_apart = False
        elif captures and captures[-1].total is None and not _is_decoration(content):
            captures[-1].read_line(content, number)
            is_apart = False
    for capture in captures:
        capture.check(faults)
    return captures


def _is_decoration(content: bytes) -> bool:
    return bool(_DIVIDER.fullmatch(content[:_MAX_LINE]) or _ABOVE.fullmatch(content[:_MAX_LINE]))
