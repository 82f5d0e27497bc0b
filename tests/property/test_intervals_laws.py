"""The range map against sets of bytes, in plain Python: slow, and obviously right."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis.intervals import (
    NO_ROW,
    Ranges,
    clip,
    find_common,
    find_components,
    find_gaps,
    find_overlaps,
    measure_coverage,
    merge_like,
    merge_touching,
    settle,
    split_segments,
)

SPAN = 40
BASES = st.sampled_from([0, 1, 4096, 2**32 - 20, 2**63 - 20, 2**64 - 1 - SPAN])
"""Where the span lies: also across the signed limit, and up to the last end that there is."""
ANY = st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=8)
"""Pairs of any order: empty, backward, overlapping, unsorted."""


@st.composite
def settled_pairs(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Draw settled ranges; about every second pair of neighbours touches."""
    edges = sorted(draw(st.sets(st.integers(0, SPAN), max_size=14)))
    kept = draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    return [(low, high) for low, high, keep in zip(edges, edges[1:], kept, strict=False) if keep]


def to_ranges(pairs: list[tuple[int, int]], base: int) -> Ranges:
    """Move pairs of small numbers up to ``base``."""
    return Ranges(
        np.array([base + low for low, _ in pairs], np.uint64),
        np.array([base + high for _, high in pairs], np.uint64),
    )


def to_pairs(ranges: Ranges, base: int) -> list[tuple[int, int]]:
    """Undo `to_ranges`, exactly."""
    return [
        (low - base, high - base)
        for low, high in zip(ranges.start.tolist(), ranges.end.tolist(), strict=True)
    ]


def to_bytes(pairs: list[tuple[int, int]]) -> set[int]:
    """List every byte of some ranges."""
    return {byte for low, high in pairs for byte in range(low, high)}


def to_runs(held: set[int]) -> list[tuple[int, int]]:
    """Write a set of bytes as few ranges as possible."""
    starts = sorted(byte for byte in held if byte - 1 not in held)
    ends = sorted(byte + 1 for byte in held if byte + 1 not in held)
    return list(zip(starts, ends, strict=True))


def is_settled(pairs: list[tuple[int, int]]) -> bool:
    """Tell if ranges are sorted, not empty and free of overlap."""
    flat = [edge for pair in pairs for edge in pair]
    return flat == sorted(flat) and all(low < high for low, high in pairs)


@given(ANY, BASES)
def test_settling_keeps_every_byte_and_flags_every_cut(pairs: list[tuple[int, int]], base: int) -> None:
    """Settled ranges cover what the input covers, each within its own row; clean input stays as it is."""
    ranges = to_ranges(pairs, base)
    settled = settle(ranges.start, ranges.end)
    result, rows = to_pairs(settled.ranges, base), settled.rows.tolist()
    assert is_settled(result)
    assert to_bytes(result) == to_bytes(pairs)
    for (low, high), row in zip(result, rows, strict=True):
        assert pairs[row][0] <= low < high <= pairs[row][1]
    assert settled.empty.tolist() == [high <= low for low, high in pairs]
    whole = {row for pair, row in zip(result, rows, strict=True) if pair == pairs[row]}
    cut = [row for row, (low, high) in enumerate(pairs) if low < high and row not in whole]
    assert np.flatnonzero(settled.overlapping).tolist() == cut
    assert settled.is_clean == (not cut and not settled.empty.any())


@given(ANY, BASES)
def test_overlaps_are_the_bytes_covered_twice(pairs: list[tuple[int, int]], base: int) -> None:
    """A byte is in an overlap just when two ranges or more have it, and overlaps are as few as possible."""
    ranges = to_ranges(pairs, base)
    count = {byte: sum(low <= byte < high for low, high in pairs) for byte in range(SPAN)}
    expected = to_runs({byte for byte, covers in count.items() if covers > 1})
    assert to_pairs(find_overlaps(ranges.start, ranges.end), base) == expected


@given(settled_pairs(), BASES, st.integers(0, SPAN), st.integers(0, SPAN))
def test_coverage_and_gaps_are_the_whole_window(
    pairs: list[tuple[int, int]], base: int, low: int, high: int
) -> None:
    """Gaps are the bytes of the window that no range has; sizes of both add up to the window's."""
    ranges = to_ranges(pairs, base)
    gaps = find_gaps(ranges, base + low, base + high)
    window = set(range(low, high))
    assert to_pairs(gaps.ranges, base) == to_runs(window - to_bytes(pairs))
    inside, rows = clip(ranges, base + low, base + high)
    assert is_settled(to_pairs(inside, base))
    assert to_bytes(to_pairs(inside, base)) == window & to_bytes(pairs)
    assert [low for low, _ in to_pairs(inside, base)] == [max(low, pairs[row][0]) for row in rows.tolist()]
    assert measure_coverage(inside) + measure_coverage(gaps.ranges) == len(window)


@given(settled_pairs(), BASES)
def test_gaps_name_their_neighbours(pairs: list[tuple[int, int]], base: int) -> None:
    """The row before a gap ends where it starts, the row after starts where it ends; none at the edges."""
    gaps = find_gaps(to_ranges(pairs, base), base, base + SPAN)
    for (low, high), before, after in zip(
        to_pairs(gaps.ranges, base), gaps.before.tolist(), gaps.after.tolist(), strict=True
    ):
        assert (low == 0) if before == NO_ROW else (pairs[before][1] == low)
        assert (high == SPAN) if after == NO_ROW else (pairs[after][0] == high)


@given(ANY, BASES)
def test_merging_what_touches_keeps_the_bytes(pairs: list[tuple[int, int]], base: int) -> None:
    """Merged ranges are the runs of the covered bytes, also where ranges overlap."""
    ordered = sorted(pair for pair in pairs if pair[0] < pair[1])
    assert to_pairs(merge_touching(to_ranges(ordered, base)), base) == to_runs(to_bytes(ordered))


@given(settled_pairs(), BASES, st.lists(st.integers(0, 1), min_size=SPAN, max_size=SPAN))
def test_merging_like_neighbours_tells_the_same_of_every_byte(
    pairs: list[tuple[int, int]], base: int, kinds: list[int]
) -> None:
    """Each byte keeps its kind, and no two results that touch are of one kind."""
    kind = np.array(kinds[: len(pairs)], np.int32)
    merged, firsts = merge_like(to_ranges(pairs, base), kind)
    result = to_pairs(merged, base)
    told = {byte: kind[row] for row, pair in enumerate(pairs) for byte in range(*pair)}
    again = {
        byte: kind[row] for pair, row in zip(result, firsts.tolist(), strict=True) for byte in range(*pair)
    }
    assert again == told
    for one, two, this, that in zip(result, result[1:], firsts, firsts[1:], strict=False):
        assert one[1] < two[0] or kind[this] != kind[that]


@given(settled_pairs(), settled_pairs(), BASES)
def test_segments_lie_within_one_range_of_each_side(
    a: list[tuple[int, int]], b: list[tuple[int, int]], base: int
) -> None:
    """Segments cover what either side covers, name the rows that cover them, and are as few as possible."""
    segments = split_segments(to_ranges(a, base), to_ranges(b, base))
    pairs = to_pairs(segments.ranges, base)
    assert is_settled(pairs)
    assert to_bytes(pairs) == to_bytes(a) | to_bytes(b)
    rows = list(zip(segments.row_a.tolist(), segments.row_b.tolist(), strict=True))
    for pair, each in zip(pairs, rows, strict=True):
        for side, row in zip((a, b), each, strict=True):
            if row == NO_ROW:
                assert not to_bytes([pair]) & to_bytes(side)
            else:
                assert side[row][0] <= pair[0] < pair[1] <= side[row][1]
    for one, two, this, that in zip(pairs, pairs[1:], rows, rows[1:], strict=False):
        assert one[1] < two[0] or this != that


@given(settled_pairs(), settled_pairs(), BASES)
def test_common_ranges_are_those_of_both_sides(
    a: list[tuple[int, int]], b: list[tuple[int, int]], base: int
) -> None:
    """A pair is found just when start and end are the same on both sides."""
    rows_a, rows_b = find_common(to_ranges(a, base), to_ranges(b, base))
    assert [a[row] for row in rows_a.tolist()] == [b[row] for row in rows_b.tolist()] == sorted({*a} & {*b})


@given(settled_pairs(), settled_pairs(), BASES)
def test_components_are_the_connected_groups(
    a: list[tuple[int, int]], b: list[tuple[int, int]], base: int
) -> None:
    """Two ranges share a number just when a chain of overlaps leads from one to the other."""
    of_a, of_b, count = find_components(to_ranges(a, base), to_ranges(b, base))
    numbers = [*of_a.tolist(), *of_b.tolist()]
    ranges = [*a, *b]
    expected = list(range(len(ranges)))
    for _ in ranges:
        for one, (low, high) in enumerate(ranges):
            for two, (start, end) in enumerate(ranges):
                if max(low, start) < min(high, end):
                    expected[one] = expected[two] = min(expected[one], expected[two])
    assert {(x, y) for x in range(len(ranges)) for y in range(len(ranges)) if numbers[x] == numbers[y]} == {
        (x, y) for x in range(len(ranges)) for y in range(len(ranges)) if expected[x] == expected[y]
    }
    assert count == len(set(expected))
    by_address = [number for _, number in sorted(zip(ranges, numbers, strict=True))]
    assert by_address == sorted(by_address)
