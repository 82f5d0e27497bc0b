"""The geometry of a map: who touches whom, what has a file behind it, what was loaded together."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text, Uints
from mmpscope.analysis.rights import Rights
from numpy.typing import NDArray

__all__ = ["Layout", "Names", "Rows", "align_down", "align_up", "find_rows", "first_of", "spread"]

Rows = NDArray[np.int64]

_FAR = np.uint64(1 << 32)


class Names(NamedTuple):
    """What is behind each region: a path or a name, and whether that is a name that is no file's."""

    path: Text
    is_pseudo: Bools


class Layout:
    """Regions in address order, ``start`` to ``end``, with the masks that rules ask for.

    ``is_pseudo`` are regions without a file: what stands in brackets there is a name by the kernel.
    ``moved`` tells of a stack of processes (stacking.py) how far each region was moved.
    """

    moved: Uints | None = None

    def __init__(self, raw: RawColumns, start: Uints, end: Uints, rights: Rights, names: Names) -> None:
        self.raw = raw
        self.rows = len(start)
        self.start = start
        self.end = end
        self.rights = rights
        self.path, self.is_pseudo = names

    @cached_property
    def size(self) -> Uints:
        """Bytes of each region."""
        return self.end - self.start

    @cached_property
    def touches_below(self) -> Bools:
        """Regions that begin where the region before them ends."""
        touches = np.zeros(self.rows, np.bool_)
        touches[1:] = self.start[1:] == self.end[:-1]
        return touches

    @cached_property
    def touches_above(self) -> Bools:
        """Regions that end where the region after them begins."""
        touches = np.zeros(self.rows, np.bool_)
        touches[:-1] = self.touches_below[1:]
        return touches

    @cached_property
    def is_anonymous(self) -> Bools:
        """Private memory without file and without name."""
        return self.is_pseudo & self.path.is_null & self.rights.private

    @cached_property
    def is_reservation(self) -> Bools:
        """Anonymous memory that has no access right."""
        return self.is_anonymous & ~self.rights.accessible

    @cached_property
    def file(self) -> Rows:
        """Number of the file behind each region, by device, inode and path; -1 where there is none.

        What a process knows of a file, another one may not: in a stack each has numbers of its own.
        """
        numbers = np.full(self.rows, -1, np.int64)
        rows = np.flatnonzero(~self.is_pseudo)
        combined = self.path.codes[rows].astype(np.int64)
        facts = [self.raw.numbers(name).values for name in ("inode", "dev_major", "dev_minor")]
        for fact in (*facts, *([] if self.moved is None else [self.moved])):
            values, codes = np.unique(fact[rows], return_inverse=True)
            combined = np.unique(combined * len(values) + codes, return_inverse=True)[1]
        numbers[rows] = combined
        return numbers

    @cached_property
    def load(self) -> Rows:
        """Number of the load that each private file region is a part of, by the look of it; -1 elsewhere.

        The offsets of one load rise with its addresses. Not always: a library with small segments was seen as
        b6f06000 offset 0, b6f07000 offset 1000, b6f16000 offset 0, so a lower offset begins another load only
        after a gap. Equal offset and rights as those of the file's first region do so as well.
        """
        loads = np.full(self.rows, -1, np.int64)
        rows = np.flatnonzero((self.file >= 0) & self.rights.private)
        rows = rows[np.argsort(self.file[rows], kind="stable")]
        if len(rows):
            loads[rows] = np.cumsum(self._begins_load(rows)) - 1
        return loads

    def _begins_load(self, rows: Rows) -> Bools:
        offset, perms = self.raw.numbers("offset").values[rows], self.raw.text("perms").codes[rows]
        new_file = np.ones(len(rows), np.bool_)
        new_file[1:] = self.file[rows[1:]] != self.file[rows[:-1]]
        first = np.maximum.accumulate(np.where(new_file, np.arange(len(rows)), 0))
        as_first = (offset == offset[first]) & (perms == perms[first])
        begins = new_file.copy()
        gap = self.start[rows[1:]] - self.end[rows[:-1]]
        again = (offset[1:] < offset[:-1]) | as_first[1:] | (gap > _FAR)
        begins[1:] |= (gap > 0) & again
        return begins

    @cached_property
    def continues(self) -> Bools:
        """Regions that go on, in memory and in the file, where the region before them ends."""
        offset, goes_on = self.raw.numbers("offset").values, np.zeros(self.rows, np.bool_)
        goes_on[1:] = (
            self.touches_below[1:]
            & (self.file[1:] >= 0)
            & (self.file[1:] == self.file[:-1])
            & (offset[1:] - offset[:-1] == self.size[:-1])
        )
        return goes_on


def find_rows(layout: Layout, pointers: Numbers) -> Rows:
    """Return for each address the row of the region that it lies in; -1 where in none. 0 is no address."""
    rows = np.searchsorted(layout.start, pointers.values, side="right") - 1
    if not layout.rows:
        return np.full(len(rows), -1, np.int64)
    inside = (rows >= 0) & (pointers.values < layout.end[rows]) & pointers.is_known & (pointers.values != 0)
    return np.where(inside, rows, -1)


def spread(layout: Layout, base: Uints, continues: Bools) -> Uints:
    """Give each region that continues the one before it the base of that one."""
    first = np.maximum.accumulate(np.where(continues, 0, np.arange(layout.rows)))
    return base[first]


def first_of(groups: Rows, start: Uints) -> Uints:
    """Return the lowest start of each row's group; rows are in address order."""
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    lowest: Uints = start[first[codes]]
    return lowest


def align_down(values: Uints, alignment: int) -> Uints:
    """Round down to a multiple of a power of two."""
    return values & np.uint64(~(alignment - 1) & ((1 << 64) - 1))


def align_up(values: Uints, alignment: int) -> Uints:
    """Round up to a multiple of a power of two, modulo 2^64."""
    return align_down(values + np.uint64(alignment - 1), alignment)
