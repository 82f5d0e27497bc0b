"""The map of a process by VirtualQueryEx, and the guards without which that loop can run for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Region

__all__ = ["MEM_COMMIT", "MEM_FREE", "MEM_IMAGE", "MEM_MAPPED", "Walk", "walk_regions"]

MEM_COMMIT, MEM_FREE = 0x1000, 0x10000
MEM_MAPPED, MEM_IMAGE = 0x40000, 0x1000000
_TOP = 1 << 64


@dataclass
class Walk:
    """The regions that are not free, in address order; ``stopped`` says why it ended before ``end``."""

    regions: list[Region] = field(default_factory=list)
    end: int = 0
    stopped: Win32Error | str | None = None


def walk_regions(query: Callable[[int], Region], start: int, end: int) -> Walk:
    """Ask for one region after the other from ``start`` up to ``end``.

    An answer that does not lead on ends the walk: size 0, a base above what was asked for, or an end that
    wraps: a 32-bit process was told base 0xffff0000 and size 0x10000, whose sum is 0 in 32 bits (F38). A
    refused call ends it as well: what is wrong with one address is not cured by trying the next page (F37).
    Of a region that begins below what was asked for, as its neighbours became part of it meanwhile, only the
    rest counts.
    """
    walk = Walk(end=start)
    while walk.end < end:
        try:
            found = query(walk.end)
        except Win32Error as error:
            walk.stopped = error
            break
        following = found.base + found.size
        if found.size <= 0 or found.base > walk.end or following <= walk.end or following > _TOP:
            walk.stopped = f"the answer for 0x{walk.end:x} is base 0x{found.base:x}, size 0x{found.size:x}"
            break
        if found.base < walk.end:
            found = found._replace(base=walk.end, size=following - walk.end)
        if found.state != MEM_FREE:
            walk.regions.append(found)
        walk.end = following
    return walk
