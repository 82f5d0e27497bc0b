"""Which ranges appeared, vanished or changed their facts: the fewest that tell it.

Splits and merges of like neighbours are no change. The kernel splits a mapping for an mprotect in its middle;
the answer is the one page that changed.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Text
from mmpscope.analysis.diffs.rows import Half, build_rows, compare_halves
from mmpscope.analysis.diffs.schema import CHANGED, GONE, NEW
from mmpscope.analysis.diffs.segments import NOTHING, FactSegments
from mmpscope.analysis.diffs.sides import Side
from mmpscope.analysis.exact_sums import Spans
from mmpscope.analysis.intervals import NO_ROW, Ranges, Rows, merge_like

__all__ = ["diff_ranges"]

_WORDS = (NEW, GONE, CHANGED, None)


def diff_ranges(a: Side, b: Side, segments: FactSegments) -> pa.Table:
    """List the ranges whose facts differ (columns of diffs.schema.DIFF_ROWS), by address.

    Counters are shown where a range is made of whole regions on a side, and are unknown elsewhere; the size
    is always exact.
    """
    changed = segments.take(segments.differs)
    kinds = changed.facts_a * (changed.facts_b.max(initial=0) + 2) + changed.facts_b
    ranges, firsts = merge_like(changed.ranges, kinds)
    lasts = np.append(firsts[1:], len(kinds))[: len(firsts)] - 1
    half_a = _find_half(a, ranges, changed.row_a[firsts], changed.row_a[lasts])
    half_b = _find_half(b, ranges, changed.row_b[firsts], changed.row_b[lasts])
    words = np.full(len(firsts), _WORDS.index(CHANGED), np.int32)
    words[changed.facts_a[firsts] == NOTHING] = _WORDS.index(NEW)
    words[changed.facts_b[firsts] == NOTHING] = _WORDS.index(GONE)
    told = {
        "word": Text(words, _WORDS),
        "match": Text.repeat("address", len(words)),
        "confidence": Text.repeat("high", len(words)),
    }
    return build_rows((a, half_a), (b, half_b), compare_halves((a, half_a), (b, half_b)), told)


def _find_half(side: Side, ranges: Ranges, first: Rows, last: Rows) -> Half:
    """Return the regions of one side that a range runs through, from the first to the last."""
    exists = first != NO_ROW
    begins = np.append(side.starts, np.uint64(0))[first] == ranges.start
    ends = np.append(side.ends, np.uint64(0))[last] == ranges.end
    # Where regions overlap each other, as only hostile input has them, nothing can be said to be whole.
    whole = ~exists | (begins & ends & side.settled.is_clean)
    spans = Spans(np.where(exists, first, 0), np.where(exists, last + 1, 0))
    return Half(spans, ranges.start, ranges.end, first, whole, ranges.size * exists)
