"""Which snapshots are far from the others of their executable and version, and by what; robust, and in bytes.

Distances are in median absolute deviations (MAD), which half of a group may spoil before they mean nothing.
docs/metrics.md, "Compare", has the sources.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, Uints
from mmpscope.analysis.comparisons.metrics import Metric
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.reporters.amounts import show_count, show_size

__all__ = ["LEAST_GROUP", "USUAL_SENSITIVITY", "Odd", "Sensitivity", "find_odd", "take_nearest"]

LEAST_GROUP = 8
"""Snapshots without which a group cannot tell what is usual."""

_MOST_SIGNIFICANT = 99.95
"""From here on, rounded to three significant digits, none stands behind the point."""

_TO_DEVIATION = 1.4826
"""What makes of the MAD a standard deviation, where values are normal (Rousseeuw and Croux 1993)."""
_MEAN_TO_DEVIATION = 1.2533
"""The same for the mean absolute deviation: sqrt(pi / 2)."""


@dataclass(frozen=True)
class Sensitivity:
    """What is odd: ``mads`` deviations from the median or more, and an effect that is worth a look.

    The effect is a part of the median, and a least number of bytes, or of things. An iota beside values that
    are all but equal is no outlier, however many deviations it has.
    """

    mads: float = 5.0
    part: float = 0.05
    least_bytes: int = 1 << 20
    least_count: int = 8


USUAL_SENSITIVITY = Sensitivity()
"""Of 10,000 snapshots and 17 figures of normal noise, chance marks none (p of 5 deviations: 6e-7)."""


class Odd(NamedTuple):
    """One figure of one row that is odd; ``mads`` is None where more than half have the median itself."""

    row: int
    metric: Metric
    value: int
    median: int
    deviation: float
    mads: float | None
    peers: int

    @property
    def excess(self) -> int:
        """How much it is above the median."""
        return self.value - self.median

    def describe(self, kin: str | None = None) -> str:
        """Write it as a reason; ``kin`` says what the others have in common, if that is to be said."""
        show = show_size if self.metric.unit else show_count
        side = "above" if self.excess > 0 else "below"
        far = show(abs(self.excess)) if self.mads is None else f"{_show_mads(abs(self.mads))} MADs"
        others = "" if kin is None else f" {self.peers:,} others of {kin}"
        rest = "over half of them have" if self.mads is None else "their median is"
        return f"{_name(self.metric)} {far} {side}{others} ({show(self.value)}; {rest} {show(self.median)})"


def _show_mads(mads: float) -> str:
    """Write a distance with three significant digits, in full: 5.23, 45.1, 6,750."""
    if mads >= _MOST_SIGNIFICANT:
        digits = math.floor(math.log10(mads)) - 2
        return f"{round(mads, -digits):,.0f}"
    return f"{mads:.3g}"


def _name(metric: Metric) -> str:
    """Name a figure in prose: Heap for what is private of it."""
    return metric.type.lower() if metric.type is not None else metric.name.replace("_", " ")


def find_odd(metric: Metric, numbers: Numbers, groups: list[Rows], sensitivity: Sensitivity) -> Iterator[Odd]:
    """Yield what is odd of a figure, group by group; each group is the rows that may be compared.

    A group of which fewer than LEAST_GROUP know the figure yields nothing.
    """
    known = numbers.is_known
    for group in groups:
        rows = group[known[group]]
        if len(rows) >= LEAST_GROUP:
            yield from _judge(metric, rows, numbers.values[rows], sensitivity)


def _judge(metric: Metric, rows: Rows, values: Uints, sensitivity: Sensitivity) -> Iterator[Odd]:
    median = take_nearest(np.sort(values), 0.5)
    distances = np.maximum(values, median) - np.minimum(values, median)
    spread = float(take_nearest(np.sort(distances), 0.5)) * _TO_DEVIATION
    scale = spread or float(distances.astype(np.float64).mean()) * _MEAN_TO_DEVIATION
    if not scale:
        return
    far = (distances >= scale * sensitivity.mads) & _is_worth(metric, distances, int(median), sensitivity)
    for place in np.flatnonzero(far).tolist():
        value, mads = int(values[place]), None
        if spread:
            mads = (value - int(median)) / spread
        yield Odd(int(rows[place]), metric, value, int(median), spread, mads, len(rows) - 1)


def _is_worth(metric: Metric, distances: Uints, median: int, sensitivity: Sensitivity) -> Bools:
    least = sensitivity.least_bytes if metric.unit else sensitivity.least_count
    worth: Bools = distances >= np.uint64(max(least, int(median * sensitivity.part)))
    return worth


def take_nearest(ordered: Uints, part: float) -> np.uint64:
    """Return the value of sorted values at or below which at least ``part`` of them lie (nearest rank)."""
    rank = int(np.ceil(part * len(ordered) - 1e-9))
    found: np.uint64 = ordered[max(rank, 1) - 1]
    return found
