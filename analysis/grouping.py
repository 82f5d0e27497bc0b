"""Sums over groups of regions: exact, in 64 bits, and telling what they leave out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, Uints
from mmpscope.analysis.layout import Rows
from numpy.typing import NDArray

__all__ = ["Groups", "Sums", "group_by", "look_up"]

_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)

Codes = Uints | NDArray[np.int64] | NDArray[np.int32]


@dataclass(frozen=True)
class Sums:
    """One sum a group: of the known values, null where none is known; ``partial`` where some are not."""

    numbers: Numbers
    partial: Bools


@dataclass(frozen=True)
class Groups:
    """Rows by group: ``order`` sorts rows by group, group i begins at ``begins[i]``, and none is empty."""

    order: Rows
    begins: Rows
    codes: Rows

    @property
    def first(self) -> Rows:
        """The first row of each group."""
        return self.order[self.begins]

    @property
    def count(self) -> Rows:
        """Rows in each group."""
        return np.diff(np.append(self.begins, len(self.order)))

    def sum(self, numbers: Numbers) -> Sums:
        """Sum up a column by group; a sum of 2^64 or more is unknown."""
        totals, fits = self._add(numbers.values)
        if numbers.known is None:
            return Sums(Numbers(totals, None if fits.all() else fits), ~fits)
        known = self._reduce(np.add, numbers.known.astype(np.uint64))
        return Sums(Numbers(totals * fits, fits & (known > 0)), ~fits | (known < self.count))

    def _add(self, values: Uints) -> tuple[Uints, Bools]:
        """Add up in halves of 32 bits, since numpy wraps without a word; only hostile input needs it."""
        if int(values.max(initial=0)) * len(values) < 1 << 64:
            totals = self._reduce(np.add, values)
            return totals, np.ones(len(totals), np.bool_)
        low = self._reduce(np.add, values & _LOW)
        high = self._reduce(np.add, values >> _HALF) + (low >> _HALF)
        fits: Bools = high <= _LOW
        return (high << _HALF | (low & _LOW)) * fits, fits

    def max(self, values: Uints) -> Uints:
        """Return the largest value of each group."""
        return self._reduce(np.maximum, values)

    def any(self, mask: Bools) -> Bools:
        """Tell for each group whether the mask is true for any row of it."""
        return self._reduce(np.maximum, mask.astype(np.uint64)) > 0

    def join_bits(self, bits: Uints) -> Uints:
        """Return the bitwise or of each group."""
        return self._reduce(np.bitwise_or, bits)

    def _reduce(self, function: np.ufunc, values: Uints) -> Uints:
        if not len(self.begins):
            return np.zeros(0, values.dtype)
        reduced: Uints = function.reduceat(values[self.order], self.begins)
        return reduced


def group_by(keys: Uints | Rows) -> Groups:
    """Group rows by equal keys, in the order of the keys; rows keep their order within a group."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.ones(len(keys), np.bool_)
    starts[1:] = ordered[1:] != ordered[:-1]
    codes = np.empty(len(keys), np.int64)
    codes[order] = np.cumsum(starts) - 1
    return Groups(order, np.flatnonzero(starts), codes)


def look_up(values: Codes, keys: Codes) -> Rows:
    """Return the place of each value among keys, -1 where it is none of them."""
    if not len(keys):
        return np.full(len(values), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], values), len(keys) - 1)
    found: Rows = np.where(keys[order][at] == values, order[at], -1)
    return found
