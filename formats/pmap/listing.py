"""One listing of pmap while it is read: its rows by column, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mmpscope.formats.errors import LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import Plain
from mmpscope.formats.pmap.columns import Columns, Row
from mmpscope.formats.pmap.totals import find_differences
from mmpscope.formats.proc.segments import tell_encoding

__all__ = ["Listing"]

_OWN_NAMES = {b"[ anon ]": None, b"[ stack ]": b"[stack]"}
"""What pmap calls regions without a file, unless -X shows the kernel's names."""
_VSYSCALL = 0xFFFF_FFFF_FF60_0000
"""VSYSCALL_ADDR of x86-64 (asm/vsyscall.h): a page of the kernel, which pmap without -X calls `[ anon ]`."""


@dataclass
class Listing:
    """One process; ``columns`` are known from the head of its listing, or guessed from the first row.

    ``is_done`` tells that the line of totals was read, ``is_bare`` that no head was printed (`-q`, and always
    without options), ``missing`` why there may be more regions than rows. ``carried`` are the totals printed
    before, from which -X and -XX count on.
    """

    pid: int | None = None
    command: bytes | None = None
    columns: Columns | None = None
    is_bare: bool = False
    is_done: bool = False
    missing: str | None = None
    carried: Mapping[str, int] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    perms: list[bytes] = field(default_factory=list)
    paths: list[bytes | None] = field(default_factory=list)
    offsets: list[int | None] = field(default_factory=list)
    devices: list[tuple[int, int] | None] = field(default_factory=list)
    inodes: list[int | None] = field(default_factory=list)
    flags: list[bytes | None] = field(default_factory=list)
    figures: dict[str, list[int | None]] = field(default_factory=dict)

    @property
    def option(self) -> str:
        """The option that printed it, "" for none."""
        return "" if self.columns is None else self.columns.option

    @property
    def is_detailed(self) -> bool:
        """Whether names are the kernel's."""
        return self.option in ("-X", "-XX")

    def set_columns(self, columns: Columns, *, is_bare: bool = False) -> None:
        """Take the columns for all rows that follow."""
        self.columns, self.is_bare = columns, is_bare
        self.figures = {name: [] for name in columns.figures}

    def add(self, row: Row) -> None:
        """Add a row; LimitError where there are more than a table may hold."""
        self.starts.append(row.start)
        self.sizes.append(row.size)
        self.perms.append(row.mode[:3] + (b"s" if row.mode[3:4] == b"s" else b"p"))
        self.paths.append(self._name(row))
        self.offsets.append(row.offset)
        self.devices.append(row.device)
        self.inodes.append(row.inode)
        self.flags.append(row.flags)
        for values, value in zip(self.figures.values(), row.figures, strict=True):
            values.append(value)
        if len(self.starts) * (8 + len(self.figures)) > DEFAULT_LIMITS.table_cells:
            raise LimitError("there are more regions than a table may hold")

    def _name(self, row: Row) -> bytes | None:
        if self.is_detailed:
            return row.mapping or None
        path = _OWN_NAMES.get(row.mapping, row.mapping or None)
        return b"[vsyscall]" if path is None and row.start == _VSYSCALL else path

    def check(self, totals: Mapping[str, int]) -> list[str]:
        """Take the line of totals, and list the figures whose total is not the sum of the rows."""
        self.is_done = True
        self.totals = totals
        return find_differences(totals, self.figures, self.perms, self.carried)

    def make_columns(self) -> dict[str, Plain]:
        """Make the columns of a regions table, in bytes: those of smaps, as far as they were printed."""
        columns = {
            "start": Plain("uint", self.starts),
            "size": Plain("uint", self.sizes, len_of="start"),
            "perms": Plain("text", self.perms, "utf-8"),
        }
        words = () if self.columns is None else self.columns.words
        if "Offset" in words:
            columns["offset"] = Plain("uint", self.offsets)
        if "Device" in words:
            majors, minors = zip(*(device or (None, None) for device in self.devices), strict=True)
            columns.update(dev_major=Plain("uint", majors), dev_minor=Plain("uint", minors))
        if "Inode" in words:
            columns["inode"] = Plain("uint", self.inodes)
        columns["path"] = Plain("text", self.paths, tell_encoding(self.paths))
        for name, values in self.figures.items():
            if name != "Kbytes":  # the size
                columns[name] = Plain("uint", values)
        if self.option == "-XX":
            columns["VmFlags"] = Plain("text", self.flags, "utf-8")
        return columns
