"""What holds for a verdict on any series at all."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Judgement, Verdict
from support.effort import scale

SIZES = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 20).map(lambda n: n * 4096))
GAPS = st.one_of(st.just(0.0), st.just(60.0), st.floats(1e-6, 1e7))
SERIES = st.lists(st.tuples(GAPS, SIZES), max_size=40)


def _judge(series: list[tuple[float, int]]) -> Judgement:
    times = np.cumsum(np.array([gap for gap, _ in series], dtype=np.float64))
    return judge(times, np.array([size for _, size in series], dtype=np.uint64))


@given(SERIES)
@settings(max_examples=scale(60), deadline=None)
def test_no_field_is_ever_nan_or_infinite(series: list[tuple[float, int]]) -> None:
    """Equal times, ties, gaps and the whole range of 64 bits leave finite numbers or None."""
    said = _judge(series)
    numbers = [getattr(said, field.name) for field in fields(said)]
    assert all(math.isfinite(number) for number in numbers if isinstance(number, float))
    assert said.reason
    assert "nan" not in said.reason


@given(SERIES)
@settings(max_examples=scale(60), deadline=None)
def test_interval_holds_the_slope_and_the_verdict_agrees(series: list[tuple[float, int]]) -> None:
    """Low <= slope <= high; growth lies above 0, and flat within its bound."""
    said = _judge(series)
    assert (said.slope is None) == (said.low is None) == (said.high is None)
    if said.slope is None or said.low is None or said.high is None:
        return
    room = 1e-9 * abs(said.slope)
    assert said.low - room <= said.slope <= said.high + room
    assert said.verdict is not Verdict.GROWING or said.low > 0
    assert said.verdict is not Verdict.SHRINKING or said.high < 0
    if said.verdict is Verdict.FLAT:
        assert said.bound is not None
        assert -said.bound <= said.low <= said.high <= said.bound


@given(st.integers(0, 2**32), st.integers(10, 80), st.integers(-(10**9), 10**9))
@settings(max_examples=scale(30), deadline=None)
def test_origin_of_the_clock_does_not_matter(seed: int, count: int, origin: int) -> None:
    """Times count from the first point: a boot long ago changes nothing."""
    values = np.random.default_rng(seed).integers(1 << 20, 1 << 21, count)
    times = 60.0 * np.arange(count, dtype=np.float64)
    assert judge(times, values) == judge(times + origin, values)
