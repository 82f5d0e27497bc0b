"""The tables below `==== Summary for process`: sums by region type, and the zones of malloc."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.macos.sizes import SIZE, Rounded, parse_size
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["Summary"]

_TYPES, _ZONES = b"REGION TYPE", b"MALLOC ZONE"
_LINE = re.compile(rb"={5,}[ =\[\]]*")
_ROW = re.compile(
    rb"(\S(?:.{0,90}?\S)??)(?: {2,}| +\[ *)(" + SIZE + rb"(?: +" + SIZE + rb"%?)*) *\]?(?: {2,}\D.*)?"
)
_HEADINGS = ("VIRTUAL", "RESIDENT", "DIRTY", "SWAPPED", "VOLATILE", "NONVOL", "EMPTY")
_ZONE_HEADINGS = {
    b"VIRTUAL": "VIRTUAL",
    b"RESIDENT": "RESIDENT",
    b"DIRTY": "DIRTY",
    b"SWAPPED": "SWAPPED",
    b"ALLOCATION": "ALLOCATION_COUNT",
    b"BYTES": "BYTES_ALLOCATED",
    b"DIRTY+SWAP": "FRAG_SIZE",
    b"REGION": "REGION_COUNT",
}
_MAX_LINE = 1024


@dataclass
class Summary:
    """Rows of `totals` and `malloc_zones`; ``types`` holds VIRTUAL of each type, as it is printed."""

    faults: FaultLog
    types: dict[bytes, Rounded] = field(default_factory=dict)
    _names: dict[bytes, list[str]] = field(default_factory=dict)
    _rows: dict[bytes, list[dict[str, int]]] = field(default_factory=dict)
    _labels: dict[bytes, list[bytes]] = field(default_factory=dict)
    _above: bytes = b""
    _table: bytes | None = None

    def read_line(self, line: bytes, number: int) -> None:
        """Read one line below the heading of the summary."""
        line = line.strip()
        if line.startswith((_TYPES, _ZONES)):
            self._begin(line)
        elif not line:
            self._table = None
        elif self._table is not None and not _LINE.fullmatch(line):
            self._add(self._table, line, number)
        self._above = line

    def _begin(self, line: bytes) -> None:
        """Begin a table; headings stand on this line (formats to 2.3), or on the one above it."""
        self._table = table = line[: len(_TYPES)]
        words = line[len(table) :].strip(b"[] ").split()
        above = self._above.split() if words and words[0] == b"SIZE" else words
        if table == _ZONES:
            names = [_ZONE_HEADINGS[word] for word in above if word in _ZONE_HEADINGS]
        else:
            names = [name for name in _HEADINGS if name.encode() in above]
            names += ["count"] if b"COUNT" in words else []
        self._names[table], self._rows[table], self._labels[table] = names, [], []

    def _add(self, table: bytes, line: bytes, number: int) -> None:
        match = _ROW.fullmatch(line) if len(line) <= _MAX_LINE else None
        words = [] if match is None else match[2].split()
        sizes = [parse_size(word) for word in words if not word.endswith(b"%")]
        names = self._names[table]
        if match is None or None in sizes or not 0 < len(sizes) <= len(names):
            self.faults.add("a line of the summary cannot be read", line=number, lost="one total")
            return
        row = {name: size.value for name, size in zip(names, sizes, strict=False) if size is not None}
        shares = [word for word in words if word.endswith(b"%")]
        if shares:
            row["PERCENT"] = int(shares[0].rstrip(b"%").split(b".")[0])
        self._rows[table].append(row)
        self._labels[table].append(match[1])
        if table == _TYPES and sizes[0] is not None:
            self.types.setdefault(match[1], sizes[0])

    def encode(self) -> dict[str, Table]:
        """Encode the tables that are there: `totals` by region type, TOTAL rows among them, `malloc_zones`.

        Both have name, and a column of bytes a heading; counts under `count`, ALLOCATION_COUNT, REGION_COUNT,
        and PERCENT: what of a zone is fragmented (% FRAG) or, in formats to 2.3, in use (% FULL).
        """
        tables = {}
        for table, name in ((_TYPES, "totals"), (_ZONES, "malloc_zones")):
            rows = self._rows.get(table, [])
            if rows:
                names = [*self._names[table], *(["PERCENT"] if table == _ZONES else [])]
                columns = {"name": Plain("text", self._labels[table], "bytes")}
                columns |= {key: Plain("uint", [row.get(key) for row in rows]) for key in names}
                tables[name] = encode_table(columns, len(rows))
        return tables
