"""The layout in which a kernel prints a region, for regions that were not read from its text.

What the map line must have and the source did not know is printed as 0; counters that are not known have no
line, and neither have columns that no mainline kernel prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Capability, Fact, Table
from mmpscope.formats.proc.counters import KERNEL_KINDS
from mmpscope.formats.proc.header import HeaderForm

__all__ = ["fill_in", "list_lacking", "make_layout"]

_KEY_WIDTH, _NUMBER_WIDTH = 16, 8
_WANTED = {
    "perms": "access rights",
    "offset": "offsets",
    "dev_major": "devices",
    "inode": "inodes",
    "Rss": "Rss",
}
_NUMBERS = ("offset", "dev_major", "dev_minor", "inode")


def list_lacking(table: Table, capability: Sequence[Capability]) -> list[str]:
    """List what a text of smaps has and a regions table cannot give; nothing for one that has its layouts.

    Of a listing of pmap, names are what was cut.
    """
    if "layout" in table.columns:
        return []
    columns = decode_table(table)
    known = {name for name, values in columns.items() if all(value is not None for value in values)}
    lacking = [shown for name, shown in _WANTED.items() if name not in known]
    perms = columns.get("perms", ())
    if any(isinstance(letters, bytes) and letters.endswith(b"?") for letters in perms):
        lacking.append("private or shared")
    is_cut = any(row.item == "regions.path" and row.state != "ok" for row in capability)
    return [*lacking, "whole names"] if is_cut else lacking


def fill_in(region: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts of a region with all that a map line needs."""
    perms = region.get("perms")
    letters = perms if isinstance(perms, bytes) and len(perms) == 4 else b"---p"
    numbers = {name: region.get(name) or 0 for name in _NUMBERS}
    return {**region, **numbers, "perms": letters.replace(b"?", b"p")}


def make_layout(region: Mapping[str, Fact]) -> bytes:
    """Make the layout of a region: its map line, and a line for each counter of Linux, in the order given."""
    lines = [HeaderForm().layout]
    for key, value in region.items():
        kind, name = KERNEL_KINDS.get(key), key.encode()
        if kind is None or value is None:
            continue
        if kind == "text":
            lines.append(b"%s: {%s}" % (name, name))
            continue
        unit, end = (b"/1024", b" kB") if kind == "kB" else (b"", b"")
        # A key of 15 letters fills its field: the blank behind it is taken from the number.
        width = _NUMBER_WIDTH - (len(name) + 1 == _KEY_WIDTH)
        begin = (name + b":").ljust(_KEY_WIDTH + (width < _NUMBER_WIDTH))
        lines.append(b"%s{%s%s:%dd}%s" % (begin, name, unit, width, end))
    return b"\n".join(lines) + b"\n"
