"""Heaps that have no name, told by how their allocator lays them out."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, Uints
from mmpscope.analysis.layout import Layout, Rows, align_up

__all__ = ["HEAP_MAX_32", "HEAP_MAX_64", "find_arenas", "find_go_heap"]

HEAP_MAX_64 = 64 << 20
HEAP_MAX_32 = 1 << 20
"""HEAP_MAX_SIZE of glibc: twice 4 MiB times sizeof(long), on 32 bits twice 512 KiB (malloc/arena.c)."""

_GO_START = np.uint64(0xC0 << 32)


def find_arenas(layout: Layout, heap_max: int) -> tuple[Bools, Uints]:
    """Find glibc arenas: accessible memory from a multiple of ``heap_max``, then none up to the next.

    Returns the regions and, for each, the first address of its arena. Of 600 plain mmaps 13 were seen
    aligned by chance, but none with a tail. An arena that has grown to its end has no tail, and is found
    only where the kernel has merged it with the next.
    """
    usable = layout.is_anonymous & layout.rights.writable
    tails = np.flatnonzero(
        layout.is_reservation
        & layout.touches_below
        & (layout.size < heap_max)
        & _is_multiple(layout.end, heap_max)
    )
    tails = tails[usable[tails - 1]]
    first = _find_run_starts(usable & layout.touches_below & ~_is_multiple(layout.start, heap_max))[tails - 1]
    fits = usable[first] & _is_multiple(layout.start[first], heap_max)
    fits &= align_up(layout.start[tails], heap_max) == layout.end[tails]
    return _paint(layout, first[fits], tails[fits])


def find_go_heap(layout: Layout) -> tuple[Bools, Uints]:
    """Find the heap of a Go program before 1.25: touching anonymous regions from 0xc000000000 on.

    c000000000-c000400000 rw-p, c000400000-c004000000 ---p: Go asks for its arenas there on every 64-bit
    system but AIX and iOS (runtime/malloc.go, mallocinit).
    """
    start = layout.start if layout.moved is None else layout.start - layout.moved
    first = np.flatnonzero(layout.is_anonymous & (start == _GO_START))
    runs = _find_run_starts(layout.is_anonymous & layout.touches_below)
    members = np.isin(runs, first) & layout.is_anonymous
    return members, np.where(members, layout.start[runs], np.uint64(0))


def _is_multiple(values: Uints, alignment: int) -> Bools:
    multiple: Bools = (values & np.uint64(alignment - 1)) == 0
    return multiple


def _find_run_starts(continues: Bools) -> Rows:
    """Return for each row the first row of its run: the nearest at or before it that continues no other."""
    rows = np.arange(len(continues))
    return np.maximum.accumulate(np.where(continues, 0, rows))


def _paint(layout: Layout, first: Rows, last: Rows) -> tuple[Bools, Uints]:
    """Mark the rows of disjoint runs, and give each the address of its run."""
    begun = np.zeros(layout.rows + 1, np.int64)
    np.add.at(begun, first, 1)
    np.add.at(begun, last + 1, -1)
    inside = np.cumsum(begun[:-1]) > 0
    starts = np.zeros(layout.rows, np.int64)
    starts[first] = first
    base = layout.start[np.maximum.accumulate(starts)] if layout.rows else layout.start
    return inside, np.where(inside, base, np.uint64(0))
