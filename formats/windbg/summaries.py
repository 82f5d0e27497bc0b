"""The tables of !address -summary: exact sizes in hex, and rounded ones that nobody should use."""

from __future__ import annotations

import re

from mmpscope.formats.windbg.listing import Sum, Totals
from mmpscope.formats.windbg.words import parse_hex

__all__ = ["find_section", "take_sum"]

_SECTION = re.compile(
    rb"-{2,20} ?(Usage|Type|State|Protect) Summary (?:\([a-z ]{1,20}\) )?-* ?RgnCount|"
    rb"[-\xe2\x80\x94\x93]{2,40} ?(Usage|Type|State) SUMMARY |"
    rb"-{2,20} ?(Largest Region) by Usage "
)
_ROUNDED = re.compile(rb" {0,20}[\d.,]{1,20} ?[kKMGTPE]?[bB]\)")
_FREE = b"RegionUsageFree"
_LARGEST_FREE = re.compile(rb" {0,20}Largest free region: Base [0-9a-f`]{1,17} .{1,3} Size ([0-9a-f`]{1,17})")
_COUNT = re.compile(rb"[0-9]{1,19}")
_OLD_TOTAL = re.compile(rb"\s{0,20}Tot: ([0-9a-f`]{1,17}) .{0,40}Busy: ([0-9a-f`]{1,17})\b")


def find_section(line: bytes) -> str | None:
    """Tell which table begins here: Usage, Type, State, Protect or Largest Region."""
    found = _SECTION.match(line)
    return None if found is None else next(name for name in found.groups() if name).decode()


def take_sum(totals: Totals, section: str, line: bytes) -> bool:
    """Take a row of the section; False where the line is none."""
    if section == "Largest Region":
        return _take_largest(totals, line)
    parsed = _parse_sum(line) or _parse_old_sum(line)
    if parsed is None:
        return _take_old_end(totals, line)
    rows = totals.sizes if section == "Usage" else totals.others.setdefault(section, [])
    rows.append(parsed)
    return True


def _take_old_end(totals: Totals, line: bytes) -> bool:
    """Take what old versions print below their tables: space, busy memory, largest hole."""
    found = _OLD_TOTAL.match(line)
    free = _LARGEST_FREE.match(line)
    if found is not None:
        totals.space = parse_hex(found[1])
        busy = parse_hex(found[2])
        if busy is not None:
            totals.sizes.append(Sum(b"Total", None, busy))
    elif free is not None:
        totals.largest[_FREE] = parse_hex(free[1]) or 0
    return found is not None or free is not None


def _parse_sum(line: bytes) -> Sum | None:
    """Parse `name  count  size ( rounded) ...`."""
    exact, parted, rounded = line.partition(b"(")
    words = exact.split()
    if not parted or len(words) < 2 or _ROUNDED.match(rounded) is None or not _COUNT.fullmatch(words[-2]):
        return None
    size = parse_hex(words[-1])
    return None if size is None else Sum(b" ".join(words[:-2]) or None, int(words[-2]), size)


def _take_largest(totals: Totals, line: bytes) -> bool:
    """Take `name  base  size ( rounded)`."""
    exact, parted, rounded = line.partition(b"(")
    words = exact.split()
    if not parted or len(words) < 2 or _ROUNDED.match(rounded) is None:
        return False
    size = parse_hex(words[-1])
    if size is not None:
        totals.largest[b" ".join(words[:-2]) or None] = size
    return size is not None


def _parse_old_sum(line: bytes) -> Sum | None:
    """Parse `size ( in KB) : percent ... : name` of the old form, which has no counts."""
    parts = line.split(b":", 2)
    if len(parts) != 3 or b"%" not in parts[1]:
        return None
    words, name = parts[0].split(None, 1), parts[2].strip()
    size = parse_hex(words[0]) if words else None
    return None if size is None or not name else Sum(name, None, size)
