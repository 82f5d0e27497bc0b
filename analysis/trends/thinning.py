"""Series made fit for statistics that cost the square of their length: times in hours, one value a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Line", "Times", "Values", "prepare_line", "take_medians", "thin_line"]

Floats = NDArray[np.float64]
Times = Sequence[float] | Floats
Values = Sequence[int] | NDArray[np.int64] | NDArray[np.uint64]

LONGEST = 200
"""Points that are fitted at most; `python -m benchmarks.trend_accuracy --cost` shows time against length."""
_PAGE = 4096


@dataclass(frozen=True)
class Line:
    """Hours since the first point, strictly increasing, and values relative to the first one."""

    hours: Floats
    values: Floats
    first: int
    """The value that the others are relative to: exact, however large."""
    grain: float
    """The least difference that two values can have: a page, where all are whole pages."""

    def cut(self, start: int, end: int | None = None) -> Line:
        """Return the points from `start` up to `end`; the hours keep their origin."""
        return Line(self.hours[start:end], self.values[start:end], self.first, self.grain)

    @property
    def span(self) -> float:
        """Hours from the first point to the last."""
        return float(self.hours[-1] - self.hours[0])

    @property
    def level(self) -> float:
        """Median of the values themselves."""
        return float(np.median(self.values)) + self.first


def prepare_line(times_s: Times, values: Values, unit: str) -> Line:
    """Check, take the median of values of one moment, and subtract the first; at least one point is needed.

    Raises ValueError for lengths that differ, and for times that decrease or are no numbers.
    """
    moments = np.asarray(times_s, dtype=np.float64)
    exact = np.asarray(values)
    if len(moments) != len(exact):
        raise ValueError(f"{len(moments)} times for {len(exact)} values")
    if not np.isfinite(moments).all() or (np.diff(moments) < 0).any():
        raise ValueError("times must be numbers that do not decrease")
    first = int(exact[0])
    relative = np.array([int(v) - first for v in exact.tolist()], dtype=np.float64)
    distinct, starts = np.unique(moments, return_index=True)
    if len(distinct) < len(moments):
        relative = np.array([np.median(part) for part in np.split(relative, starts[1:])])
    hours = (distinct - distinct[0]) / 3600
    return Line(hours, relative, first, _find_grain(exact, unit))


def thin_line(line: Line) -> Line:
    """Take medians of equal numbers of neighbours, so that at most `LONGEST` points are left."""
    if len(line.hours) <= LONGEST:
        return line
    return Line(*take_medians(line.hours, line.values, LONGEST), line.first, line.grain)


def take_medians(hours: Floats, values: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the mean hour and the median value of up to `most` groups of neighbours, equal in number."""
    edges = np.linspace(0, len(hours), min(most, len(hours)) + 1).astype(int)
    starts, sizes = edges[:-1], np.diff(edges)
    ordered = values[np.lexsort((values, np.repeat(starts, sizes)))]
    medians = (ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2
    return np.add.reduceat(hours, starts) / sizes, medians


def _find_grain(exact: NDArray[np.int64] | NDArray[np.uint64], unit: str) -> float:
    """Find the power of two that all values are multiples of, at most a page; 1 for what is not bytes."""
    if unit != "bytes":
        return 1.0
    bits = int(np.bitwise_or.reduce(exact))
    return float(min(bits & -bits, _PAGE)) if bits else float(_PAGE)
