"""The table of `dumpsys meminfo` for one process: figures by category, in the columns that its heading names.

Layout: ActivityThread.dumpMemInfoTable of AOSP; Android 4.4 and later, -d or -a with more columns. Figures
are in KiB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mmpscope.formats.faults import FaultLog, tell_count
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["CategoryTable"]

_WORD = re.compile(rb"\S+")
_TOP = re.compile(rb" *(?:Pss|Shared|Private)\b[ A-Za-z]*")
_BOTTOM = re.compile(rb" *(?:Total|Pss)(?: +(?:Total|Clean|Dirty|Size|Alloc|Free))+ *")
_ROW = re.compile(rb" *(\S.{0,40}?) +(-?\d{1,16}(?: +-?\d{1,16})*) *")
_NAMES = {
    (b"Pss", b"Total"): "Pss",
    (None, b"Pss"): "Pss",
    (b"Pss", b"Clean"): "Pss_Clean",
    (b"Shared", b"Dirty"): "Shared_Dirty",
    (b"Private", b"Dirty"): "Private_Dirty",
    (b"Shared", b"Clean"): "Shared_Clean",
    (b"Private", b"Clean"): "Private_Clean",
    (b"Swap", b"Dirty"): "Swap",
    (b"Swapped", b"Dirty"): "Swap",
    (b"SwapPss", b"Dirty"): "SwapPss",
    (b"Rss", b"Total"): "Rss",
    (b"Heap", b"Size"): "Heap_Size",
    (b"Heap", b"Alloc"): "Heap_Alloc",
    (b"Heap", b"Free"): "Heap_Free",
}
"""Both lines of the heading, and the names: the kernel's for what the kernel counts."""
_HEAP = 3
_TOTAL = b"TOTAL"
_KIB = 1024
_MAX_LINE = 1024


@dataclass
class CategoryTable:
    """Rows up to TOTAL, and those behind it, which split them further and are no sums of their own."""

    faults: FaultLog
    names: list[str] = field(default_factory=list)
    rows: list[tuple[bytes, dict[str, int]]] = field(default_factory=list)
    details: list[tuple[bytes, dict[str, int]]] = field(default_factory=list)
    lost: int = 0
    _top: bytes = b""

    @property
    def is_over(self) -> bool:
        """Whether the row TOTAL was read."""
        return bool(self.rows) and self.rows[-1][0] == _TOTAL

    def read_line(self, line: bytes, number: int) -> bool:
        """Read one line; False where it is none of the table."""
        if len(line) > _MAX_LINE:
            return False
        if not self.names:
            return self._read_heading(line)
        match = _ROW.fullmatch(line.rstrip())
        if match is None:
            return not line.strip(b" -")
        return self._add(match[1], [int(word) for word in match[2].split()], number)

    def _read_heading(self, line: bytes) -> bool:
        if _BOTTOM.fullmatch(line) and self._top:
            self.names = _pair(self._top, line)
            return True
        self._top = line if _TOP.fullmatch(line) else b""
        return bool(self._top)

    def _add(self, name: bytes, values: list[int], number: int) -> bool:
        """Add a row; most have no figures of a heap, which are the last three columns."""
        heap = sum(column.startswith("Heap") for column in self.names)
        if name.endswith(b":") or len(values) not in (len(self.names), len(self.names) - heap):
            if not self.is_over:
                self.lost += 1
                self.faults.add(
                    "a row of the table has another number of figures", line=number, lost="one row"
                )
            return False
        figures = {}
        for column, value in zip(self.names, values, strict=False):
            if value < 0:  # Unknown is what is left of the whole, which was read at another moment
                self.faults.add("a figure is below zero and left out", line=number)
            else:
                figures[column] = value * _KIB
        (self.details if self.is_over else self.rows).append((name, figures))
        return True

    def tell_loss(self) -> str | None:
        """Say why rows may be missing; None where they add up to TOTAL, which may count what is swapped."""
        if self.lost:
            return f"{tell_count(self.lost, 'row')} could not be read"
        if not self.is_over:
            return "the row TOTAL, which ends the table, is missing"
        total = self.rows[-1][1]
        for name in self.names:
            if name.startswith("Heap") or name not in total:
                continue
            told = sum(row.get(name, 0) for _, row in self.rows[:-1])
            swapped = sum(row.get("SwapPss", 0) for _, row in self.rows[:-1]) if name == "Pss" else 0
            if total[name] not in (told, told + swapped):
                return (
                    f"the rows add up to {told // _KIB:,} KiB of {name}, TOTAL says {total[name] // _KIB:,}"
                )
        return None

    def encode(self) -> dict[str, Table]:
        """Encode `totals`, TOTAL its last row, and `details`: name, and a column of bytes a figure."""
        tables = {"totals": self._tabulate(self.rows)}
        if self.details:
            tables["details"] = self._tabulate(self.details)
        return tables

    def _tabulate(self, rows: list[tuple[bytes, dict[str, int]]]) -> Table:
        columns = {"name": Plain("text", [name for name, _ in rows], "bytes")}
        columns |= {
            column: Plain("uint", [figures.get(column) for _, figures in rows]) for column in self.names
        }
        return encode_table(columns, len(rows))


def _pair(top: bytes, bottom: bytes) -> list[str]:
    """Name each column by both words of its heading: by their places, or one by one where blanks are lost."""
    above = {match.end(): match[0] for match in _WORD.finditer(top)}
    words = list(_WORD.finditer(bottom))
    if len(above) == len(words):
        pairs = list(zip(above.values(), (match[0] for match in words), strict=True))
    else:
        pairs = [(above.get(match.end(), b""), match[0]) for match in words]
    names = []
    for upper, lower in pairs:
        unknown = f"{upper.decode('ascii', 'replace')}_{lower.decode('ascii', 'replace')}"
        names.append(_NAMES.get((upper or None, lower), unknown))
    return [name if names.index(name) == at else f"{name}_{at}" for at, name in enumerate(names)]
