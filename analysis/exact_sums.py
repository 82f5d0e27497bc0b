"""Sums and differences of unsigned 64-bit numbers that say so when they leave 64 bits.

numpy alone would wrap without a word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers
from mmpscope.analysis.intervals import Rows
from numpy.typing import NDArray

__all__ = ["Deltas", "Spans", "subtract", "sum_deltas", "sum_spans"]

_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
_LARGEST_DELTA = np.uint64(2**63 - 1)


@dataclass(frozen=True)
class Spans:
    """One stretch of rows a group, from `begin` up to, not including, `end`; it may be empty."""

    begin: Rows
    end: Rows

    @property
    def count(self) -> Rows:
        """Rows in each group."""
        return self.end - self.begin

    def take(self, groups: Rows | Bools) -> Spans:
        """Return some groups."""
        return Spans(self.begin[groups], self.end[groups])


@dataclass(frozen=True)
class Deltas:
    """Signed differences; not `known`, and 0, where a side is unknown or the difference leaves 64 bits."""

    values: NDArray[np.int64]
    known: Bools

    def take(self, rows: Rows | Bools) -> Deltas:
        """Return some rows."""
        return Deltas(self.values[rows], self.known[rows])


def sum_spans(numbers: Numbers, spans: Spans) -> Numbers:
    """Add up each group; unknown where a part is unknown or the sum is 2^64 or more. Nothing adds up to 0."""
    low = _sum_between(numbers.values & _LOW, spans)
    high = _sum_between(numbers.values >> _HALF, spans) + (low >> _HALF)
    known: Bools = high <= _LOW
    if numbers.known is not None:
        known &= _sum_between((~numbers.known).astype(np.uint64), spans) == 0
    values = ((high & _LOW) << _HALF | (low & _LOW)) * known
    return Numbers(values, None if known.all() else known)


def _sum_between(values: NDArray[np.uint64], spans: Spans) -> NDArray[np.uint64]:
    """Add up halves of 32 bits: exact for up to 2^32 rows."""
    running = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=running[1:])
    sums: NDArray[np.uint64] = running[spans.end] - running[spans.begin]
    return sums


def subtract(after: Numbers, before: Numbers) -> Deltas:
    """Return after - before."""
    size = np.maximum(after.values, before.values) - np.minimum(after.values, before.values)
    known = after.is_known & before.is_known & (size <= _LARGEST_DELTA)
    return Deltas((after.values - before.values).view(np.int64) * known, known)


def sum_deltas(deltas: Deltas) -> int:
    """Add up all that is known, as an exact integer of any size."""
    low = int((deltas.values & np.int64(_LOW)).sum(dtype=np.int64))
    return (int((deltas.values >> np.int64(_HALF)).sum(dtype=np.int64)) << 32) + low
