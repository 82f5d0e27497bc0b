"""The tables of !maddress of SOS, which marks the memory of the CLR in the list of !address.

Layout: MAddressCommand.cs of dotnet/diagnostics. What its head calls EndAddr-1 is in truth the first address
behind the region. Sizes of the list are rounded and in the user's language; addresses and bytes are exact.
"""

from __future__ import annotations

import re

from mmpscope.formats.windbg.listing import Row, Sum
from mmpscope.formats.windbg.words import STATES, TYPES, parse_hex, parse_protection

__all__ = [
    "find_table",
    "find_kind",
    "is_kind_head",
    "parse_kind_row",
    "parse_region",
    "parse_total",
    "split_cells",
]

_TABLES: dict[tuple[bytes, ...], str] = {
    (b"Memory Kind", b"StartAddr"): "list",
    (b"Region Type", b"Count"): "summary",
    (b"Memory Type", b"Count"): "summary",
    (b"Image", b"Regions"): "images",
    (b"Image", b"Count"): "images",
}
_KIND = re.compile(rb"[ \t]{0,9}([\w\[\]]{1,60}) Memory Regions:[ \t]*")
_KIND_HEAD = re.compile(rb"[ \t]{0,20}Base Address +Size \(bytes\) +Size +Mem State")
_TOTAL = b"[TOTAL]"
_NO_DIGIT = re.compile(rb"\D+")
_MOST_DIGITS = 19
"""Whatever has so many fits into 64 bits."""


def split_cells(line: bytes) -> list[bytes]:
    """Split a row with bars between its cells, and maybe around it."""
    return [cell.strip() for cell in line.strip().strip(b"|").split(b"|")]


def find_table(cells: list[bytes]) -> str | None:
    """Tell which table has this head: list, summary or images."""
    return _TABLES.get(tuple(cells[:2])) if len(cells) > 2 else None


def parse_region(cells: list[bytes]) -> Row | None:
    """Parse kind, start, end, rounded size, type, state, protection, image; None where it is no such row."""
    if len(cells) < 7:
        return None
    start, end = parse_hex(cells[1]), parse_hex(cells[2])
    if start is None or end is None or end <= start or cells[5] not in STATES:
        return None
    path = cells[7] if len(cells) > 7 else b""
    return Row(
        start, end - start, None, STATES[cells[5]], parse_protection(cells[6]), TYPES.get(cells[4]), cells[0],
        None, path or None,
    )  # fmt: skip


def looks_like_row(line: bytes) -> bool:
    """Whether a line has the form of a row, though it may be cut."""
    cells = split_cells(line)
    return len(cells) > 1 and bool(cells[0])


def parse_total(cells: list[bytes]) -> Sum | None:
    """Parse name, count, rounded size and bytes; the numbers have the separators of the user's language."""
    if len(cells) != 4:
        return None
    count, size = (_NO_DIGIT.sub(b"", cells[place]) for place in (1, 3))
    if not 0 < len(count) <= _MOST_DIGITS or not 0 < len(size) <= _MOST_DIGITS:
        return None
    name = b"Total" if cells[0] == _TOTAL else cells[0]
    return Sum(name or None, int(count), int(size))


def find_kind(line: bytes) -> bytes | None:
    """Tell the kind whose regions -list is about to print."""
    found = _KIND.fullmatch(line)
    return found[1] if found else None


def is_kind_head(line: bytes) -> bool:
    """Whether this is the head of a table of -list."""
    return _KIND_HEAD.match(line) is not None


def parse_kind_row(line: bytes, kind: bytes) -> Row | None:
    """Parse base, bytes, rounded size, state, type and protection of -list."""
    words = line.split()
    if len(words) < 6 or words[3] not in STATES or words[4] not in TYPES:
        return None
    start, size = parse_hex(words[0]), _NO_DIGIT.sub(b"", words[1])
    if start is None or not 0 < len(size) <= _MOST_DIGITS or not int(size):
        return None
    protect = parse_protection(b" ".join(words[5:]))
    return Row(start, int(size), None, STATES[words[3]], protect, TYPES[words[4]], kind)
