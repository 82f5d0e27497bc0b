"""The layout in which a kernel prints a region, for regions that were not read from its text.

What the map line must have and the source did not know is printed as 0; counters that are not known have no
line, and neither have columns that no mainline kernel prints.
"""

from __future__ import annotations

from collections.abc import Mapping

from mmpscope.formats.model import Fact
from mmpscope.formats.proc.counters import KERNEL_KINDS
from mmpscope.formats.proc.header import HeaderForm

__all__ = ["fill_in", "make_layout"]

_KEY_WIDTH, _NUMBER_WIDTH = 16, 8
_NUMBERS = ("offset", "dev_major", "dev_minor", "inode")


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
