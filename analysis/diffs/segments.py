"""The facts of every byte on both sides, as stretches within which nothing changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools
from mmpscope.analysis.diffs.sides import Side, number_facts
from mmpscope.analysis.intervals import NO_ROW, Ranges, Rows, split_segments
from numpy.typing import NDArray

__all__ = ["NOTHING", "FactSegments", "split_facts"]

NOTHING = -1
"""The number of the facts of a byte that no region has."""


@dataclass(frozen=True)
class FactSegments:
    """Stretches that a region of one side or both has, by address.

    `row_a` is the region of side a, NO_ROW for none, and `facts_a` the number of its facts, NOTHING for none;
    b likewise. Equal numbers mean equal facts.
    """

    ranges: Ranges
    row_a: Rows
    row_b: Rows
    facts_a: NDArray[np.int64]
    facts_b: NDArray[np.int64]

    @property
    def differs(self) -> Bools:
        """Where the facts before and after are not the same."""
        changed: Bools = self.facts_a != self.facts_b
        return changed

    def take(self, rows: Bools) -> FactSegments:
        """Return some segments."""
        return FactSegments(
            self.ranges[rows], self.row_a[rows], self.row_b[rows], self.facts_a[rows], self.facts_b[rows]
        )


def split_facts(a: Side, b: Side) -> FactSegments:
    """Cut two sides at all edges of both, and number the facts of each piece."""
    segments = split_segments(a.settled.ranges, b.settled.ranges)
    facts_a, facts_b = number_facts(a, b)
    row_a, row_b = _look_up(a.settled.rows, segments.row_a), _look_up(b.settled.rows, segments.row_b)
    return FactSegments(segments.ranges, row_a, row_b, _look_up(facts_a, row_a), _look_up(facts_b, row_b))


def _look_up(values: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """Return the value of each row, -1 for none: NO_ROW and NOTHING are both that."""
    return np.append(values, NO_ROW)[rows]
