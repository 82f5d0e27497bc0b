"""Thread stacks that have no name: by stack pointer, and by the shape that a stack has."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.layout import Layout, Rows, find_rows

__all__ = ["GUARD_MAX", "find_by_pointer", "find_by_shape", "find_guarded", "find_guards"]

GUARD_MAX = np.uint64(1 << 20)
"""Bytes of the largest no-access area that is taken for a guard; a larger one is a reservation."""

_SMALLEST, _LARGEST = 1 << 16, 1 << 30


def find_by_pointer(layout: Layout, threads: RawColumns) -> Rows:
    """Return for each thread the row of the region that its stack lies in; -1 where that is unknown.

    It is told by the stack pointer (0: the thread ran, or its registers may not be read), else by where the
    source says that the stack begins, as a dump does of the part that it holds.
    """
    rows = find_rows(layout, threads.numbers("sp"))
    if "stack_start" not in threads:
        return rows
    return np.where(rows >= 0, rows, find_rows(layout, threads.numbers("stack_start")))


def find_guards(layout: Layout) -> Bools:
    """Find anonymous no-access areas that are small enough for a guard."""
    return layout.is_reservation & (layout.size <= GUARD_MAX)


def find_guarded(layout: Layout) -> Bools:
    """Find anonymous writable regions that have a guard directly below, or guards inside.

    Guards of MADV_GUARD_INSTALL (glibc 2.42 makes those for stacks) show only as the flag gu.
    """
    below = np.zeros(layout.rows, np.bool_)
    below[1:] = find_guards(layout)[:-1] & layout.touches_below[1:]
    return layout.is_anonymous & layout.rights.writable & (below | layout.rights.guarded)


def find_by_shape(layout: Layout, limit: int | Uints | None, page: int) -> Bools:
    """Find guarded regions of a size that stacks have: the limit for stacks, or a power of two from 64 KiB.

    The guard may be counted in the size or not: glibc carves it out, others add it. ``limit`` is one for all,
    or one for each region.
    """
    guarded = find_guarded(layout)
    guard = np.zeros(layout.rows, np.uint64)
    guard[1:] = np.where(guarded[1:] & ~layout.rights.guarded[1:], layout.size[:-1], np.uint64(page))
    return guarded & (_is_stack_size(layout.size, limit) | _is_stack_size(layout.size + guard, limit))


def _is_stack_size(size: Uints, limit: int | Uints | None) -> Bools:
    is_power = (size & (size - np.uint64(1))) == 0
    usual: Bools = is_power & (size >= _SMALLEST) & (size <= _LARGEST)
    return usual if limit is None else usual | (size == np.asarray(limit, np.uint64))
