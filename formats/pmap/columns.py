"""The columns of a listing of pmap: which there are, how a row of them is taken apart, what they are called.

A listing tells its columns in a head; without one (`-q`) those of the plain, `-x` and `-d` listings still
show in the form of a row. `-XX` has a text of several words before the name, VmFlags, right-aligned below its
head: only the place where it ends tells it from a file that is called `dd` or `sh`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from re import Pattern

from mmpscope.formats.proc.counters import REGION_COLUMNS

__all__ = [
    "BARE_DETAILED",
    "BARE_ROW",
    "HEAD",
    "PLAIN",
    "Columns",
    "Row",
    "guess_columns",
    "read_head",
    "to_bytes",
]

_HEX = rb"[0-9a-fA-F]{1,16}"
_MODE = rb"[r-][w-][x-][sp-][R-]?"
_NUMBER = rb"(?:\d{1,20}|-)"
_CELLS = {
    "Address": _HEX,
    "Mode": _MODE,
    "Perm": _MODE,
    "Offset": _HEX,
    "Device": rb"[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}",
    "Inode": rb"\d{1,20}",
}
_KERNEL_NAMES = {"RSS": "Rss", "PSS": "Pss", "Anon": "Anonymous"}
_COUNTS = frozenset(("THPeligible", "ProtectionKey"))
"""Figures of smaps that have no unit."""
_FLAGS = re.compile(rb"(?:[a-z0-9?]{2}(?: |$))*")
_WORD = re.compile(r"VmFlags(?=Mapping)|\S+")  # procps 3 prints VmFlagsMapping
_NAME = re.compile(r"[A-Za-z]\w{0,63}")
_MOST = 128
_SIMPLE = ("Address", "Kbytes")
_DETAILED = ("Address", "Perm", "Offset", "Device", "Inode", "Size")
HEAD = rb"[ \t]*Address[ \t]+(?:Kbytes[ \t]|Perm[ \t]+Offset[ \t]+Device[ \t]+Inode[ \t])"
_ROW_START = rb"[0-9a-fA-F]{8,16}[ \t]+\d{1,16}"
_BARE = {
    ("Kbytes", "Mode"): rb"K[ \t]+" + _MODE,
    ("Kbytes", "RSS", "Dirty", "Mode"): rb"[ \t]+\d{1,16}[ \t]+\d{1,16}[ \t]+" + _MODE,
    ("Kbytes", "Mode", "Offset", "Device"): rb"[ \t]+"
    + rb"[ \t]+".join((_MODE, rb"[0-9a-fA-F]{8,16}", rb"[0-9a-fA-F]{2,8}:[0-9a-fA-F]{2,8}")),
}
BARE_ROW = _ROW_START + rb"(?:" + rb"|".join(_BARE.values()) + rb")(?:[ \t]|$)"
"""A row that tells its columns by its form: of the plain, -x and -d listings."""
BARE_DETAILED = rb"[ \t]*" + rb"[ \t]+".join(
    (_HEX, rb"[r-][w-][x-][sp]", rb"[0-9a-fA-F]{8,16}", _CELLS["Device"], rb"\d+ ")
)
"""How a row of -X and -XX begins, which without a head does not tell its figures."""


@dataclass(frozen=True)
class Row:
    """One region as printed; ``figures`` in bytes, but for counts, the size first; None for `-`."""

    start: int
    size: int
    mode: bytes
    offset: int | None
    device: tuple[int, int] | None
    inode: int | None
    figures: Sequence[int | None]
    flags: bytes | None
    mapping: bytes


@dataclass(frozen=True)
class Columns:
    """The columns of a listing: ``words`` as in its head, ``figures`` under the names of the kernel.

    ``flags_at`` is how far VmFlags ends behind the column before it; None where there are none.
    """

    words: tuple[str, ...]
    figures: tuple[str, ...]
    flags_at: int | None
    pattern: Pattern[bytes]

    @property
    def option(self) -> str:
        """The option of pmap that prints these columns: "", "-x", "-d", "-X" or "-XX"."""
        if "Perm" in self.words:
            return "-X" if self.flags_at is None else "-XX"
        return "-d" if "Device" in self.words else "-x" if len(self.figures) > 1 else ""

    def read(self, line: bytes) -> Row | None:
        """Take a row apart; None where it is none, or is no range of 64 bits."""
        match = self.pattern.match(line)
        if match is None:
            return None
        cells = dict(zip(self.words, match.groups(), strict=True))
        rest, flags = line[match.end() :], None
        if self.flags_at is not None:
            flags, rest = rest[: self.flags_at].strip(b" "), rest[self.flags_at :]
            if not _FLAGS.fullmatch(flags):
                return None
        return _make_row(cells, flags, rest.lstrip(b" \t"))


def _make_row(cells: Mapping[str, bytes], flags: bytes | None, mapping: bytes) -> Row | None:
    figures = [_read_figure(word, cell) for word, cell in cells.items() if word not in _CELLS]
    start, size = int(cells["Address"], 16), figures[0]
    inode = int(cells["Inode"]) if "Inode" in cells else None
    numbers = [figure for figure in (*figures, inode) if figure is not None]
    if not size or start + size > 1 << 64 or max(numbers) >= 1 << 64:
        return None
    major, _, minor = cells.get("Device", b"").partition(b":")
    return Row(
        start,
        size,
        cells["Mode" if "Mode" in cells else "Perm"],
        int(cells["Offset"], 16) if "Offset" in cells else None,
        (int(major, 16), int(minor, 16)) if major else None,
        inode,
        figures,
        flags,
        mapping,
    )


def _read_figure(word: str, cell: bytes) -> int | None:
    return None if cell == b"-" else to_bytes(word, int(cell))


def to_bytes(figure: str, number: int) -> int:
    """Return a figure, or a sum of them, in bytes where it has a unit: all are in KiB."""
    return number * (1 if figure in _COUNTS else 1024)


def read_head(line: bytes) -> Columns | None:
    """Read the line that names the columns; None where it is none, or not all of it."""
    text = line.decode("ascii", "replace")
    words = [(match[0], match.end()) for match in _WORD.finditer(text)]
    names = [word for word, _ in words]
    is_known = tuple(names[:2]) == _SIMPLE or tuple(names[:6]) == _DETAILED
    if not is_known or names.pop() != "Mapping" or len(names) > _MOST or len(set(names)) != len(names):
        return None
    flags_at = None
    if names[-1] == "VmFlags":
        names.pop()
        flags_at = words[-2][1] - words[-3][1]
    if not all(map(_NAME.fullmatch, names)) or not {"Mode", "Perm"} & set(names):
        return None
    columns = _make_columns(names, flags_at)
    is_clear = len(set(columns.figures)) == len(columns.figures)  # Kbytes and Size are one figure
    return columns if is_clear and not set(names) & set(REGION_COLUMNS) else None


def guess_columns(line: bytes) -> Columns | None:
    """Tell the columns from a row without a head; None where its form is not that of one listing alone."""
    for words, rest in _BARE.items():
        if re.match(_ROW_START + rest + rb"(?:[ \t]|$)", line):
            return _make_columns(("Address", *words), None)
    return None


def _make_columns(words: Sequence[str], flags_at: int | None) -> Columns:
    figures = [_KERNEL_NAMES.get(word, word) for word in words if word not in _CELLS]
    cells = [rb"(" + _CELLS.get(word, _NUMBER) + (rb")K?" if word == "Kbytes" else rb")") for word in words]
    pattern = re.compile(rb"[ \t]*" + rb"[ \t]+".join(cells) + rb"(?=[ \t]|$)")
    return Columns(tuple(words), tuple(figures), flags_at, pattern)


PLAIN = _make_columns(("Address", "Kbytes", "Mode"), None)
"""The columns of pmap without options, which prints no head."""
