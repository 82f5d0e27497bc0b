"""Sums over groups of regions: exact, in 64 bits, and telling what they leave out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Uints
from mmpscope.analysis.layout import Rows

__all__ = ["Groups", "Sums", "group_by"]


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
        """Sum up a column by group."""
        totals = self._reduce(np.add, numbers.values)
        if numbers.known is None:
            return Sums(Numbers(totals), np.zeros(len(totals), np.bool_))
        known = self._reduce(np.add, numbers.known.astype(np.uint64))
        return Sums(Numbers(totals, known > 0), known < self.count)

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


def sum_columns(groups: Groups, columns: RawColumns, names: tuple[str, ...]) -> dict[str, Sums]:
    """Sum up several columns."""
    return {name: groups.sum(columns.numbers(name)) for name in names}
