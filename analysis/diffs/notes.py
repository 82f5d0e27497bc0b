"""What growth consists of, where it is no new memory in use.

Pages that were given back or can be taken back at will, or that only came back from swap.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mmpscope.analysis.columns import Bools, Text
from mmpscope.analysis.exact_sums import Deltas

__all__ = ["CLEAN", "HUGETLB", "describe_growth", "subtract_deltas"]

CLEAN = "clean"
"""Name of a figure that is no column of the answer: clean resident pages of files."""
HUGETLB = "hugetlb"
"""Another: pages of a hugetlbfs, which come out of a pool that the system set aside (hugetlbpage.rst)."""

_GIVEN_BACK = "LazyFree (MADV_FREE: given back, still resident until the system wants it)"
_SWAPPED_IN = "pages swapped in"
_CACHED = "clean file pages"
_HUGE = "transparent huge pages (filled up by the system)"
_RESERVED = "hugetlb pages (of the pool that the system sets aside)"
_TOGETHER = "LazyFree, pages swapped in and clean file pages together"
_SWAPPED_OUT = "net loss is only pages swapped out"


def describe_growth(deltas: Mapping[str, Deltas]) -> Text:
    """Say of each row whether its change of total_ws is only LazyFree, huge pages, swap or clean file pages.

    A part explains growth if it grew by as much or more. Null where memory is new, or nothing is known of it.
    """
    grown, swapped = deltas["total_ws"].values, deltas["swap"].values
    freed, huge, cached, pool = (deltas[name].values for name in ("lazyfree", "thp", CLEAN, HUGETLB))
    # What is newly allocated may come in huge pages at once: that is growth of the program's own.
    is_no_more = (deltas["size"].values <= 0) & (deltas["committed"].values <= 0)
    rest = grown
    for part in (freed, -swapped, cached):
        rest = rest - np.clip(part, 0, np.maximum(rest, 0))
    answers = (
        (freed >= grown, _GIVEN_BACK),
        (-swapped >= grown, _SWAPPED_IN),
        (cached >= grown, _CACHED),
        (pool >= grown, _RESERVED),
        ((huge >= grown) & is_no_more, _HUGE),
        (rest == 0, _TOGETHER),
    )
    texts = (*(f"net growth is only {words}" for _, words in answers), _SWAPPED_OUT, None)
    codes = np.full(len(grown), len(answers) + 1, np.int32)
    codes[(grown < 0) & (swapped >= -grown)] = len(answers)
    for code, (explains, _) in reversed(list(enumerate(answers))):
        codes[(grown > 0) & explains] = code
    return Text(codes, texts)


def subtract_deltas(one: Deltas, other: Deltas) -> Deltas:
    """Return one - other; unknown where either is, or where the result leaves 64 bits."""
    values = one.values - other.values
    leaves: Bools = ((one.values ^ other.values) & (one.values ^ values)) < 0
    known = one.known & other.known & ~leaves
    return Deltas(values * known, known)
