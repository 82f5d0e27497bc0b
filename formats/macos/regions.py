"""The rows of `==== ... regions for process`, one a region, of every report format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from re import Match

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.macos.sizes import parse_size
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = ["SIZES", "RegionRows"]

SIZES = ("VSIZE", "RSDNT", "DIRTY", "SWAP")
"""The columns between brackets; older formats have the first, with -resident the first two."""
_TEXTS = ("RegionType", "PRT", "MAX", "SHRMOD", "PURGE", "path")
_ROW = re.compile(
    rb"[ \t]*(\S[^\[\n]{0,99}?) +([0-9a-f]{1,16}|[a-z]+)-([0-9a-f]{1,16}|[a-z]+) +\[ *([^\]]{0,80}?) *\] "
    rb"([-rwx]{3})/([-rwx]{3}) SM=(\S{1,3})(?: +PURGE=(\S))?(.*)",
    re.DOTALL,
)
_PURGE = re.compile(rb" +([VNE]) {2,}(?=\S)")
_HEX = re.compile(rb"[0-9a-f]+")
_CUT = re.compile(rb"[ \t]*(?:\.{2,}|\xe2\x80\xa6|[\[(<](?:\.{3}|snip|cut).*)[ \t]*")
_MAX_LINE = 8192
_SPACE = 1 << 64
_PAGE_TABLE = b"page table in kernel"
_SUBMAP = b"Submap"


@dataclass
class RegionRows:
    """Columns of the regions, filled line by line.

    ``lost`` counts lines that are no region; ``is_cut`` tells that whoever published the text left some out.
    ``page_table`` is what the kernel holds for it, ``unmapped`` (type, VSIZE) what has no address.
    """

    faults: FaultLog
    start: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    texts: dict[str, list[bytes | None]] = field(default_factory=lambda: {name: [] for name in _TEXTS})
    sizes: dict[str, list[int | None]] = field(default_factory=lambda: {name: [] for name in SIZES})
    lost: int = 0
    is_cut: bool = False
    page_table: int | None = None
    unmapped: list[tuple[bytes, int | None]] = field(default_factory=list)

    def read_line(self, line: bytes, number: int) -> None:
        """Read one line below the heading of the regions."""
        line = line.rstrip()
        if not line or line.lstrip().startswith(b"REGION TYPE"):
            return
        match = _ROW.fullmatch(line) if len(line) <= _MAX_LINE else None
        if match is not None:
            self._add(match, number)
        elif _CUT.fullmatch(line[:_MAX_LINE]):
            self.is_cut = True
            self.faults.add("lines are left out here, as `...` says", line=number, lost="regions")
        elif line.startswith(b"/") and self.start and self.texts["path"][-1] is None:
            self.texts["path"][-1] = line  # mail programs wrap long lines before the path
        else:
            self.lost += 1
            self.faults.add("a line is no region", line=number, lost="one region")

    def _add(self, match: Match[bytes], number: int) -> None:
        values = dict(zip(SIZES, (parse_size(word) for word in match[4].split()), strict=False))
        vsize = values.get("VSIZE")
        if not (_HEX.fullmatch(match[2]) and _HEX.fullmatch(match[3])):
            # `page table in kernel  kernel-kernel  [...]`: charged to it, not in its space (macOS 26)
            self._keep_unmapped(match[1], None if vsize is None else vsize.value)
            return
        start, end = int(match[2], 16), int(match[3], 16)
        if start >= end:
            self.lost += 1
            self.faults.add("a range ends before it starts", line=number, lost="one region")
            return
        if match[1] == _SUBMAP:
            return  # with -submap: a range that holds the regions printed below it
        if vsize is None or abs(vsize.value - (end - start)) > vsize.error:
            self.faults.add(
                "VSIZE is not the size of the range, which counts; the other sizes are left out", line=number
            )
            values = {"VSIZE": vsize}
        self.start.append(start)
        self.size.append(end - start)
        for name in SIZES:
            value = values.get(name)
            self.sizes[name].append(None if value is None else value.value)
        self._add_texts(match)

    def _add_texts(self, match: Match[bytes]) -> None:
        purge, rest = match[8], match[9]
        short = _PURGE.match(rest)
        if purge is None and short is not None:
            purge, rest = short[1], rest[short.end() :]
        cells = (match[1], match[5], match[6], match[7], purge, rest.strip() or None)
        for name, cell in zip(_TEXTS, cells, strict=True):
            self.texts[name].append(cell)

    def _keep_unmapped(self, kind: bytes, size: int | None) -> None:
        if kind == _PAGE_TABLE:
            self.page_table = size
        else:
            self.unmapped.append((kind, size))

    def add_up(self) -> dict[bytes, int]:
        """Add up the sizes by type."""
        sums: dict[bytes, int] = {}
        for kind, size in zip(self.texts["RegionType"], self.size, strict=True):
            if kind is not None:
                sums[kind] = sums.get(kind, 0) + size
        for kind, vsize in self.unmapped:
            sums[kind] = sums.get(kind, 0) + (vsize or 0)
        return sums

    def encode(self) -> Table:
        """Encode them as the table `regions`."""
        columns = {"start": Plain("uint", self.start), "size": Plain("uint", self.size, len_of="start")}
        columns |= {name: Plain("text", cells, "bytes") for name, cells in self.texts.items()}
        columns |= {name: Plain("uint", numbers) for name, numbers in self.sizes.items()}
        return encode_table(columns, len(self.start))
