"""The diff against its slow reference, on 10,000 small maps and what became of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis.diffs.components import diff_components
from mmpscope.analysis.diffs.ranges import diff_ranges
from mmpscope.analysis.diffs.schema import DIFF_ROWS, METRICS
from mmpscope.analysis.diffs.segments import split_facts
from mmpscope.analysis.diffs.sides import list_compared, narrow_sides, read_side
from support.effort import scale
from support.slow_diff import (
    Map,
    diff_components_slowly,
    diff_ranges_slowly,
    draw_pair,
    to_rows,
)
from support.snapshots import PAGE, make_regions

EXAMPLES, AT_ONCE = 100, 100
"""10,000 pairs: so many in one space, since it is the tables that are dear."""
SPACE = 64
"""Pages from one small map to the next: nothing overlaps or touches across."""


def diff_fast(a: Map, b: Map) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of components and of ranges."""
    one, two = (read_side(make_regions(to_rows(parts))) for parts in (a, b))
    metrics = list_compared(one, two)
    one, two = narrow_sides(one, two)
    segments = split_facts(one, two)
    tables: list[pa.Table] = [diff_components(one, two, segments, metrics), diff_ranges(one, two, segments)]
    assert all(table.column_names == [field.name for field in DIFF_ROWS] for table in tables)
    return tables[0].to_pylist(), tables[1].to_pylist()


def find_metrics(a: Map, b: Map) -> list[str]:
    """List the metrics that some region of each side knows."""
    known = [
        {name for row in to_rows(parts) for name in METRICS if row[name] is not None} for parts in (a, b)
    ]
    known = [names or set(METRICS) for names in known]  # a side without regions lacks nothing
    return [name for name in METRICS if name in known[0] & known[1]]


def join(pairs: list[tuple[Map, Map]]) -> tuple[Map, Map]:
    """Put small maps into one large one, on each side."""
    return [part for a, _ in pairs for part in a], [part for _, b in pairs for part in b]


def check_ranges(rows: list[dict[str, Any]], pairs: list[tuple[Map, Map]]) -> None:
    """Compare the ranges, and their counters where they are made of whole regions."""
    expected = [(row, pair) for pair in pairs for row in diff_ranges_slowly(*pair)]
    assert len(rows) == len(expected)
    for row, ((word, low, high), pair) in zip(rows, expected, strict=True):
        assert row["word"] == word
        for side, parts in zip("ab", pair, strict=True):
            has = any(max(part.low, low) < min(part.high, high) for part in parts)
            edges = [low * PAGE, high * PAGE] if has else [None, None]
            assert [row[f"address_{side}"], row[f"end_{side}"]] == edges
            assert row[f"size_{side}"] == ((high - low) * PAGE if has else 0)
            inside = [part for part in parts if low <= part.low and part.high <= high]
            is_whole = not has or sum(part.high - part.low for part in inside) == high - low
            assert row[f"private_{side}"] == (_sum_private(inside) if is_whole else None)


def _sum_private(parts: Map) -> int:
    return sum(part.counters["private"] or 0 for part in parts)


def check_components(rows: list[dict[str, Any]], pairs: list[tuple[Map, Map]]) -> None:
    """Compare the components with all their figures; pairs of maps do not touch each other."""
    metrics = find_metrics(*join(pairs))
    expected = [answer for a, b in pairs for answer in diff_components_slowly(a, b, metrics)]
    assert len(rows) == len(expected)
    for row, answer in zip(rows, expected, strict=True):
        assert row["word"] == answer["word"]
        assert (row["regions_a"], row["regions_b"]) == answer["regions"]
        for side in ("a", "b"):
            edges = (answer[f"low_{side}"], answer[f"high_{side}"])
            pages = [None if edge is None else edge * PAGE for edge in edges]
            assert [row[f"address_{side}"], row[f"end_{side}"]] == pages
        for name in METRICS:
            assert (row[f"{name}_a"], row[f"{name}_b"]) == answer["sums"][name]
            assert row[f"{name}_delta"] == answer["deltas"][name]
        assert row["unknown"] == (", ".join(answer["unknown"]) or None)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_10000_small_maps_agree_with_the_reference(seed: int) -> None:
    """Splits, merges, moves, new rights, other files, unknown counters; pairs lie far apart in one space."""
    random = Random(seed)
    pairs = [draw_pair(random.randrange, 12, number * SPACE) for number in range(1, AT_ONCE + 1)]
    components, ranges = diff_fast(*join(pairs))
    check_ranges(ranges, pairs)
    check_components(components, pairs)


@settings(max_examples=scale(300), deadline=None)
@given(st.data())
def test_one_small_map_agrees_with_the_reference(data: st.DataObject) -> None:
    """The same, one pair at a time, so that a failure comes down to its smallest case."""
    a, b = draw_pair(lambda below: data.draw(st.integers(0, below - 1)), 6, 2)
    components, ranges = diff_fast(a, b)
    check_ranges(ranges, [(a, b)])
    check_components(components, [(a, b)])
