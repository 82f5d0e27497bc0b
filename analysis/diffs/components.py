"""Counters compared on components: the connected groups of regions that overlap between the two sides.

A counter belongs to a whole region, not to its bytes. Within a component regions may have been split, merged,
grown or cut in any way; its sums on both sides are of the same memory, so their difference is exact, and all
differences add up to the difference of the totals.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Text, Uints
from mmpscope.analysis.diffs.moves import find_moves
from mmpscope.analysis.diffs.rows import (
    WORDS,
    Half,
    build_rows,
    choose_words,
    compare_halves,
    find_unknown,
    name_masks,
)
from mmpscope.analysis.diffs.schema import MOVED, SAME
from mmpscope.analysis.diffs.segments import FactSegments
from mmpscope.analysis.diffs.sides import Side
from mmpscope.analysis.exact_sums import Spans
from mmpscope.analysis.intervals import NO_ROW, Rows, find_components

__all__ = ["diff_components"]


def diff_components(a: Side, b: Side, segments: FactSegments, metrics: tuple[str, ...]) -> pa.Table:
    """Compare two sides component by component (columns of diffs.schema.DIFF_ROWS), by address.

    Components that are the same are left out, unless one side does not know one of `metrics` where the other
    does: their row then says what is unknown.
    """
    of_a, of_b, count = find_components(a.ranges, b.ranges)
    half_a, half_b = _find_half(a, of_a, count), _find_half(b, of_b, count)
    altered = _find_altered(segments, np.minimum(half_a.start, half_b.start))
    gone, new = find_moves((a, half_a), (b, half_b))
    moved = np.zeros(count, np.bool_)
    moved[gone] = True
    half_a, half_b, kept = _join_moves(half_a, half_b, gone, new)
    altered, moved = altered[kept], moved[kept]
    figures = compare_halves((a, half_a), (b, half_b))
    unknown = name_masks(find_unknown(figures, metrics))
    words = choose_words(half_a.exists, half_b.exists, figures, altered)
    words[moved] = WORDS.index(MOVED)
    rows = np.flatnonzero((words != WORDS.index(SAME)) | ~unknown.is_null)
    rows = rows[np.argsort(np.minimum(half_a.start, half_b.start)[rows], kind="stable")]
    told = {
        "word": Text(words[rows], WORDS),
        "match": Text(moved[rows].astype(np.int32), ("address", "backing", None)),
        "confidence": Text.repeat("high", len(rows)),
        "unknown": unknown.take(rows),
    }
    return build_rows((a, half_a.take(rows)), (b, half_b.take(rows)), figures.take(rows), told)


def _find_half(side: Side, of: Rows, count: int) -> Half:
    """Gather the regions of each component on one side; `of` rises, so they are neighbours."""
    numbers = np.arange(count)
    spans = Spans(np.searchsorted(of, numbers), np.searchsorted(of, numbers, side="right"))
    filled = np.flatnonzero(spans.count)
    start, end = np.full(count, 2**64 - 1, np.uint64), np.zeros(count, np.uint64)
    shown = np.full(count, NO_ROW, np.int64)
    if len(filled):
        begins = spans.begin[filled]
        start[filled] = side.starts[begins]
        end[filled] = np.maximum.reduceat(side.ends, begins)
        # By component and then by size, the first of each is its largest region, the lowest of equals.
        shown[filled] = np.lexsort([~side.numbers("size").values, of])[begins]
    return Half(spans, start, end, shown)


def _find_altered(segments: FactSegments, starts: Uints) -> Bools:
    """Return which components have a byte whose facts differ; `starts` are their lowest addresses, rising."""
    altered = np.zeros(len(starts), np.bool_)
    changed = segments.ranges.start[segments.differs]
    altered[np.searchsorted(starts, changed, side="right") - 1] = True
    return altered


def _join_moves(half_a: Half, half_b: Half, gone: Rows, new: Rows) -> tuple[Half, Half, Rows]:
    """Make one row of what is gone at one place and new at another; also return which rows are left."""
    count = len(half_a.shown)
    source = np.arange(count)
    source[gone] = new
    kept = np.setdiff1d(np.arange(count), new, assume_unique=True)
    return half_a.take(kept), half_b.take(source[kept]), kept
