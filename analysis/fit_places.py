"""Where in the holes of an address space a request has room, and which place the system would choose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.facts import get_map, show_fact
from mmpscope.analysis.freespace import Window, find_snapshot_holes
from mmpscope.analysis.intervals import NO_ROW, Ranges
from mmpscope.analysis.space import find_bits, is_like_linux, is_windows

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Places", "choose_place", "find_places"]

_GUARD_PAGES = 256
"""Linux keeps this many pages free below a mapping that grows down (mm/mmap.c, stack_guard_gap)."""
_COMPAT_LAYOUT = 0x0200000
"""personality(2), ADDR_COMPAT_LAYOUT: mappings go upwards, as before Linux 2.6.9."""


_ALIGNED, _ALIGNED_MULTIPLES = (6, 7), (6, 13)
"""Versions of Linux from which on large requests are aligned to huge pages, and only multiples of one."""
_ENTRY_BYTES = 8
"""Of a page table: one page of entries covers one huge page."""
_RELEASE = re.compile(r"(\d{1,4})\.(\d{1,4})")


@dataclass(frozen=True)
class Places:
    """Free holes in address order, without the guard gap of the stack.

    `start`: the first aligned address in each; `room`: bytes from there to its end. `below_stack` marks the
    hole directly below a stack and all above, where Linux puts a mapping only if it has no place elsewhere.
    """

    holes: Ranges
    start: Uints
    room: Uints
    below_stack: Bools
    align: int

    @property
    def largest_room(self) -> int:
        """The largest request that has a place."""
        return int(self.room.max(initial=0))

    def find_tightest(self, size: int) -> tuple[int, int] | None:
        """Return address and size of the smallest hole that has room, the lowest of equals, if any."""
        rows = self.find_fitting(size)
        if not len(rows):
            return None
        row = rows[np.argmin(self.holes.size[rows])]
        return int(self.holes.start[row]), int(self.holes.size[row])

    def find_fitting(self, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rows of the holes that have room."""
        return np.flatnonzero(self.room >= np.uint64(size))

    def find_highest(self, row: int, size: int, align: int = 0) -> int:
        """Return the highest aligned address in one hole that has room."""
        align = align or self.align
        return (int(self.holes.end[row]) - size) // align * align


def find_places(snapshot: LoadedSnapshot, align: int, window: Window | None = None) -> Places:
    """Find the room in each free hole for something aligned to `align`."""
    holes = find_snapshot_holes(snapshot, window)
    free = ~holes.unusable
    ranges, after = holes.ranges[free], holes.after[free]
    under_stack = (after != NO_ROW) & np.append(_find_growing_down(snapshot), False)[after]
    guard = np.minimum(ranges.size, np.uint64(_GUARD_PAGES * snapshot.page_size)) * under_stack
    lowest = np.minimum(np.maximum(ranges.start, _find_lowest(snapshot)), ranges.end)
    ranges = Ranges(lowest, ranges.end - guard)
    past = ranges.start % np.uint64(align)
    skip = np.minimum(ranges.size, np.where(past == 0, past, np.uint64(align) - past))
    return Places(
        ranges, ranges.start + skip, ranges.size - skip, np.logical_or.accumulate(under_stack), align
    )


def _find_lowest(snapshot: LoadedSnapshot) -> np.uint64:
    """Return the lowest address that is given out: Windows has none below 64 KiB, so that null pointers fail.

    VMMap counts these as free all the same (lpMinimumApplicationAddress, GetSystemInfo), and so do we.
    """
    return np.uint64(snapshot.granularity if is_windows(snapshot.capture) else 0)


def _find_growing_down(snapshot: LoadedSnapshot) -> Bools:
    """Return which regions grow down: by the flag gd; in maps, which have no flags, the stack by its name."""
    columns = RawColumns(snapshot.regions)
    by_flag: Bools = columns.text("VmFlags").match(lambda flags: "gd" in flags.split())
    by_name: Bools = columns.text("path").equals("[stack]")
    return by_flag | by_name


def _find_huge_page(snapshot: LoadedSnapshot, size: int) -> int:
    """Return to what Linux aligns anonymous memory of this size, so that huge pages fit; 0: to pages.

    mm/huge_memory.c, thp_get_unmapped_area_vmflags: since 6.7 it looks for a place that is larger by one huge
    page, for 64-bit processes, and since 6.13 for multiples of a huge page alone (mm/mmap.c,
    __get_unmapped_area). As mmap of 200 MiB, which went to 7fc543800000 and not to 7fc543982000, the highest
    place of a page.
    """
    host, meminfo = snapshot.capture.host, get_map(snapshot.capture.system, "meminfo")
    found = _RELEASE.match(show_fact(host.get("kernel")) or "")
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    huge = snapshot.page_size // _ENTRY_BYTES * snapshot.page_size
    is_built_in = "AnonHugePages" in meminfo
    if version < _ALIGNED or not is_built_in or find_bits(snapshot.process, snapshot.usable_range[1]) == 32:
        return 0
    return huge if size >= huge and (version < _ALIGNED_MULTIPLES or size % huge == 0) else 0


def choose_place(snapshot: LoadedSnapshot, places: Places, size: int) -> tuple[int | None, str]:
    """Tell the address that the system would most likely choose, and by which rule."""
    rows = places.find_fitting(size)
    if not len(rows):
        return None, "no hole has room"
    if is_windows(snapshot.capture):
        return int(places.start[rows[0]]), "the lowest hole with room (VirtualAlloc without MEM_TOP_DOWN)"
    if not is_like_linux(snapshot.capture):
        return None, "not told: by which rule this system chooses is not known"
    personality = snapshot.process.get("personality")
    if isinstance(personality, int) and personality & _COMPAT_LAYOUT:
        return None, "not told: this process maps upwards from an address that is not known"
    usual = rows[~places.below_stack[rows]]
    huge = _find_huge_page(snapshot, size)
    padded = usual[places.room[usual] >= np.uint64(size + huge)] if huge > places.align else usual[:0]
    if len(padded):
        rule = (
            f"the highest hole with room for huge pages, aligned to {huge >> 20:,} MiB (Linux 6.7 and later)"
        )
        return places.find_highest(int(padded[-1]), size, huge), rule
    if len(usual):
        rule = "the highest hole with room below the stack's own (Linux maps downwards)"
        return places.find_highest(int(usual[-1]), size), rule
    rule = "the lowest hole with room at the stack or above it (where Linux looks last)"
    return int(places.start[rows[0]]), rule
