"""Regions of two sides that have one key, wherever they lie, as one row of the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.columns import Bools, Text, Uints
from mmpscope.analysis.diffs.evidence import join_texts
from mmpscope.analysis.diffs.rows import Figures, Half, compare_halves
from mmpscope.analysis.diffs.sides import Side, number_values
from mmpscope.analysis.exact_sums import Spans
from mmpscope.analysis.intervals import NO_ROW, Rows
from numpy.typing import NDArray

__all__ = ["Keyed", "combine_codes", "compare_keyed", "join_sides", "number_keys"]

_SMALL = 1 << 16
_ROOM = 1 << 62


@dataclass(frozen=True)
class Keyed:
    """One side by key: its regions, in the order of their keys, and what each key has of them.

    A key has addresses only where its regions fill one range.
    """

    side: Side
    order: Rows
    half: Half
    blocks: Uints


def join_sides(a: Text, b: Text) -> NDArray[np.int64]:
    """Number the texts of both sides, one side behind the other."""
    codes: NDArray[np.int64] = np.concatenate(join_texts(a, b)).astype(np.int64)
    return codes


def combine_codes(*codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the combinations of codes; renumbers only where the product would leave 64 bits."""
    numbers: NDArray[np.int64] = np.zeros(len(codes[0]), np.int64)
    room = 1
    for each in codes:
        span = int(each.max(initial=0)) + 1
        if room * span >= _ROOM:
            numbers = number_values(numbers)
            room = int(numbers.max(initial=0)) + 1
        numbers = numbers * span + each
        room *= span
    return number_values(numbers)


def number_keys(keys: NDArray[np.int64]) -> int:
    """Return how many keys there are; they are numbered from 0."""
    return int(keys.max(initial=-1)) + 1


def compare_keyed(
    a: tuple[Side, NDArray[np.int64], Bools], b: tuple[Side, NDArray[np.int64], Bools], count: int
) -> tuple[Keyed, Keyed, Figures]:
    """Add up what each key has on both sides; a side has regions, their keys, and where blocks begin."""
    one, two = (_gather(*side, count) for side in (a, b))
    return one, two, compare_halves((one.side, one.half), (two.side, two.half))


def _gather(side: Side, keys: NDArray[np.int64], begins: Bools, count: int) -> Keyed:
    # numpy sorts 16 bits by radix, several times as fast as 64.
    order = np.argsort(keys.astype(np.uint16) if count <= _SMALL else keys, kind="stable")
    ordered, side = keys[order], side.take(order)
    numbers = np.arange(count)
    spans = Spans(np.searchsorted(ordered, numbers), np.searchsorted(ordered, numbers, side="right"))
    filled = np.flatnonzero(spans.count)
    start, end = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    shown, blocks = np.full(count, NO_ROW, np.int64), np.zeros(count, np.uint64)
    sizes = np.zeros(count, np.uint64)
    if len(filled):
        first = spans.begin[filled]
        start[filled] = np.minimum.reduceat(side.starts, first)
        end[filled] = np.maximum.reduceat(side.ends, first)
        shown[filled] = _find_largest(side.numbers("size").values, first, ordered)
        sizes[filled] = np.add.reduceat(side.numbers("size").values, first)
        blocks[filled] = np.add.reduceat(begins[order].astype(np.uint64), first)
    half = Half(spans, start, end, shown, placed=end - start == sizes)
    return Keyed(side, order, half, blocks)


def _find_largest(sizes: Uints, first: Rows, ordered: NDArray[np.int64]) -> Rows:
    """Return the row of the largest region of each key, of equals the first."""
    largest = np.maximum.reduceat(sizes, first)
    counts = np.diff(np.append(first, len(sizes)))
    rows = np.flatnonzero(sizes == np.repeat(largest, counts))
    found: Rows = rows[np.searchsorted(ordered[rows], ordered[first])]
    return found
