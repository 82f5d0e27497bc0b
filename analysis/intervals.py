"""Our range map: gaps, overlaps, coverage, segments and components of half-open address ranges.

Pure functions on numpy arrays, no Python loop over ranges; they know nothing of regions, types or systems.

Rules that all of them keep:

- A range is [start, end), both uint64. So its end is at most 2^64 - 1: a range up to 2^64 cannot be written,
  and the last byte of a 64-bit space belongs to no range. No system gives that byte to a process. `find_ends`
  makes ends of starts and sizes, stops there and says where it had to.
- Touching ranges ([1, 2) and [2, 3)) are two ranges, with neither an overlap nor a hole between them (F13).
- *Settled* means: sorted by start, none empty, none overlapping. Whatever comes from outside goes through
  `settle` first, which says what it had to change; all other functions take settled ranges and return settled
  ranges, unless they say otherwise. No difference is ever taken of which the result could be below zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NO_ROW",
    "Gaps",
    "Ranges",
    "Segments",
    "Settled",
    "clip",
    "find_common",
    "find_components",
    "find_ends",
    "find_gaps",
    "find_overlaps",
    "measure_coverage",
    "merge_like",
    "merge_touching",
    "settle",
    "split_segments",
]

Addresses = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

NO_ROW = -1
"""In an array of row numbers: none."""
_LAST = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Ranges:
    """Half-open ranges, one an index; `start` and `end` are of one length."""

    start: Addresses
    end: Addresses

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, rows: Mask | Rows) -> Ranges:
        return Ranges(self.start[rows], self.end[rows])

    @property
    def size(self) -> Addresses:
        """Bytes of each; of settled ranges this is never 0."""
        return self.end - self.start


@dataclass(frozen=True)
class Settled:
    """What `settle` makes of ranges from outside.

    `ranges[i]` is what is left of row `rows[i]`. `empty` and `overlapping` are masks over the original rows:
    those that end where they start or before, and those of which another range has some or all bytes already.
    """

    ranges: Ranges
    rows: Rows
    empty: Mask
    overlapping: Mask

    @property
    def is_clean(self) -> bool:
        """Whether nothing had to be cut or dropped."""
        return not (self.empty.any() or self.overlapping.any())


@dataclass(frozen=True)
class Gaps:
    """What no range covers; `before` and `after` are the rows of the neighbours, NO_ROW for none."""

    ranges: Ranges
    before: Rows
    after: Rows


@dataclass(frozen=True)
class Segments:
    """Stretches within which nothing changes on either of two sides.

    `row_a` and `row_b` tell which range of each side covers the stretch; NO_ROW on at most one of them.
    """

    ranges: Ranges
    row_a: Rows
    row_b: Rows


def find_ends(starts: Addresses, sizes: Addresses) -> tuple[Addresses, Mask]:
    """Return start + size, at most 2^64 - 1, and a mask of the ranges that had to be cut for it."""
    cut = sizes > _LAST - starts
    return starts + np.minimum(sizes, _LAST - starts), cut


def settle(starts: Addresses, ends: Addresses) -> Settled:
    """Sort ranges, drop the empty ones, and cut each so that the one that starts first keeps what it has.

    Of two that start alike the earlier row is first. Arrays that are settled already are not copied.
    """
    empty = ends <= starts
    if not empty.any() and bool((starts[1:] >= ends[:-1]).all()):
        rows: Rows = np.arange(len(starts), dtype=np.int64)
        return Settled(Ranges(starts, ends), rows, empty, np.zeros(len(starts), np.bool_))
    order = np.argsort(starts, kind="stable")
    order = order[~empty[order]]
    start, end = starts[order], ends[order]
    taken = _find_reach_below(end)
    overlapping = np.zeros(len(starts), np.bool_)
    overlapping[order] = taken > start
    start = np.maximum(start, taken)
    left = end > start
    return Settled(Ranges(start[left], end[left]), order[left], empty, overlapping)


def find_overlaps(starts: Addresses, ends: Addresses) -> Ranges:
    """Return the bytes that more than one range covers, as few ranges as possible; any input is allowed."""
    order = np.argsort(starts, kind="stable")
    order = order[(ends > starts)[order]]
    start, end = starts[order], ends[order]
    # A byte is covered twice just where it is below the farthest end of all that start before.
    shared_end = np.minimum(end, _find_reach_below(end))
    shared = shared_end > start
    return merge_touching(Ranges(start[shared], shared_end[shared]))


def _find_reach_below(ends: Addresses) -> Addresses:
    """Return for each range the farthest end of those before it; 0 for the first."""
    reach = np.zeros(len(ends), np.uint64)
    np.maximum.accumulate(ends[:-1], out=reach[1:])
    return reach


def merge_touching(ranges: Ranges) -> Ranges:
    """Return the same bytes in as few ranges as possible; sorted by start is enough, overlaps are allowed."""
    if not len(ranges):
        return ranges
    reach = np.maximum.accumulate(ranges.end)
    begins = np.concatenate([[True], ranges.start[1:] > reach[:-1]])
    lasts = np.append(np.flatnonzero(begins)[1:] - 1, len(ranges) - 1)
    return Ranges(ranges.start[begins], reach[lasts])


def merge_like(ranges: Ranges, kinds: NDArray[np.integer]) -> tuple[Ranges, Rows]:
    """Join neighbours that touch and are of one kind; also return the first row of each run.

    What is left is the least number of ranges that tells the same of every byte.
    """
    if not len(ranges):
        return ranges, np.zeros(0, np.int64)
    begins = np.concatenate([[True], (ranges.start[1:] != ranges.end[:-1]) | (kinds[1:] != kinds[:-1])])
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:] - 1, len(ranges) - 1)
    return Ranges(ranges.start[firsts], ranges.end[lasts]), firsts


def measure_coverage(ranges: Ranges) -> int:
    """Return how many bytes are covered, exactly."""
    return int(ranges.size.sum(dtype=np.uint64))


def clip(ranges: Ranges, low: int, high: int) -> tuple[Ranges, Rows]:
    """Cut ranges to [low, high); also return the rows of those of which something is left."""
    start = np.maximum(ranges.start, np.uint64(low))
    end = np.minimum(ranges.end, np.uint64(high))
    rows = np.flatnonzero(end > start)
    return Ranges(start[rows], end[rows]), rows


def find_gaps(ranges: Ranges, low: int, high: int) -> Gaps:
    """Return what [low, high) has besides the ranges: coverage within it and gaps add up to high - low.

    Neighbours are the nearest ranges below and above, also if they lie outside [low, high).
    """
    edges = np.array([low, max(low, high)], np.uint64)
    below = np.concatenate([edges[:1], np.clip(ranges.end, *edges)])
    above = np.concatenate([np.clip(ranges.start, *edges), edges[1:]])
    at = np.flatnonzero(above > below)
    after = np.where(at == len(ranges), NO_ROW, at)
    return Gaps(Ranges(below[at], above[at]), at - 1, after)


def split_segments(a: Ranges, b: Ranges) -> Segments:
    """Cut two sides at all edges of both: the fewest stretches that lie within one range of each side.

    Each byte that a or b covers is in one segment, and no other byte.
    """
    edges = np.unique(np.concatenate([a.start, a.end, b.start, b.end]))
    ranges = Ranges(edges[:-1], edges[1:])
    row_a, row_b = _find_rows(a, ranges.start), _find_rows(b, ranges.start)
    covered = (row_a != NO_ROW) | (row_b != NO_ROW)
    return Segments(ranges[covered], row_a[covered], row_b[covered])


def _find_rows(ranges: Ranges, addresses: Addresses) -> Rows:
    """Return the row of the range that holds each address, NO_ROW where none does."""
    rows = np.searchsorted(ranges.start, addresses, side="right") - 1
    held = rows >= 0
    held[held] = addresses[held] < ranges.end[rows[held]]
    return np.where(held, rows, NO_ROW)


def find_common(a: Ranges, b: Ranges) -> tuple[Rows, Rows]:
    """Return the rows of the ranges that both sides have, start and end alike, as pairs in address order."""
    if not len(b):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(b.start, a.start), len(b) - 1)
    rows_a = np.flatnonzero((b.start[at] == a.start) & (b.end[at] == a.end))
    return rows_a, at[rows_a]


def find_components(a: Ranges, b: Ranges) -> tuple[Rows, Rows, int]:
    """Number the connected groups of ranges that overlap between two sides, from 0 in address order.

    Returns the group of each range of a, of each of b, and how many groups there are. Ranges of different
    groups share no byte; touching alone connects nothing. Within each side the numbers rise.
    """
    start = np.concatenate([a.start, b.start])
    if not len(start):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(np.concatenate([a.end, b.end])[order])
    groups = np.empty(len(start), np.int64)
    groups[order] = np.concatenate([[0], np.cumsum(start[order][1:] >= reach[:-1])])
    return groups[: len(a)], groups[len(a) :], int(groups[order[-1]]) + 1
