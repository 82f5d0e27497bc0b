"""Sums and differences at the edges of 64 bits, against Python's own integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis.columns import Numbers
from mmpscope.analysis.diffs.notes import subtract_deltas
from mmpscope.analysis.exact_sums import Deltas, Spans, subtract, sum_deltas, sum_spans

UINT = st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.sampled_from([2**63, 2**63 - 1, 2**32, 2**64 - 1])
INT = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-9, 9)
MAYBE = st.none() | UINT


def to_numbers(values: list[int | None]) -> Numbers:
    """Write values with None for unknown."""
    known = np.array([value is not None for value in values], np.bool_)
    return Numbers(np.array([value or 0 for value in values], np.uint64), known)


def to_list(numbers: Numbers) -> list[int | None]:
    """Undo `to_numbers`."""
    return [x if known else None for x, known in zip(numbers.values.tolist(), numbers.is_known, strict=True)]


def to_deltas(values: list[int | None]) -> Deltas:
    """Write signed values with None for unknown."""
    known = np.array([value is not None for value in values], np.bool_)
    return Deltas(np.array([value or 0 for value in values], np.int64), known)


def list_deltas(deltas: Deltas) -> list[int | None]:
    """Undo `to_deltas`."""
    return [x if known else None for x, known in zip(deltas.values.tolist(), deltas.known, strict=True)]


@given(st.lists(MAYBE, max_size=9), st.data())
def test_sums_are_exact_or_unknown(values: list[int | None], data: st.DataObject) -> None:
    """A sum is what Python says, unknown from 2^64 on or where a part is unknown; of nothing it is 0."""
    edges = st.integers(0, len(values))
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(edges, edges), max_size=5))]
    spans = Spans(*(np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1)))
    expected = []
    for begin, end in pairs:
        part = values[begin:end]
        total = None if None in part else sum(x for x in part if x is not None)
        expected.append(total if total is None or total < 2**64 else None)
    assert to_list(sum_spans(to_numbers(values), spans)) == expected


def test_the_lower_half_carries_into_the_upper() -> None:
    """Sums are taken in halves of 32 bits; what the lower one has too much belongs to the upper one."""
    numbers = to_numbers([2**32 - 1, 1, 2**32 - 1, 2**64 - 2**32, 1])
    spans = Spans(np.array([0, 1, 2, 2]), np.array([2, 3, 4, 5]))
    assert to_list(sum_spans(numbers, spans)) == [2**32, 2**32, 2**64 - 1, None]


@given(st.lists(st.tuples(MAYBE, MAYBE), max_size=6))
def test_differences_are_exact_or_unknown(pairs: list[tuple[int | None, int | None]]) -> None:
    """A difference is what Python says, unknown where a side is or where its size is 2^63 or more."""
    after, before = (to_numbers([pair[at] for pair in pairs]) for at in (0, 1))
    expected = [None if a is None or b is None or abs(a - b) >= 2**63 else a - b for a, b in pairs]
    assert list_deltas(subtract(after, before)) == expected


@given(st.lists(st.tuples(st.none() | INT, st.none() | INT), max_size=6))
def test_differences_of_differences_do_not_wrap(pairs: list[tuple[int | None, int | None]]) -> None:
    """Growth without LazyFree is exact, or unknown where it leaves 64 bits."""
    one, other = (to_deltas([pair[at] for pair in pairs]) for at in (0, 1))
    expected = [None if a is None or b is None or not -(2**63) <= a - b < 2**63 else a - b for a, b in pairs]
    assert list_deltas(subtract_deltas(one, other)) == expected


@given(st.lists(st.none() | INT, max_size=9))
def test_adding_up_differences_has_no_limit(values: list[int | None]) -> None:
    """The sum of many large differences is an exact integer, without what is unknown."""
    assert sum_deltas(to_deltas(values)) == sum(value for value in values if value is not None)
