"""Verdicts about series that a line fits badly: they turn, swing, or only ever rise."""

from __future__ import annotations

import numpy as np
import pytest
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Verdict
from numpy.typing import NDArray

MIB = 1 << 20
MINUTE = 60.0
POINTS = np.arange(110)
TIMES = np.linspace(0, 109 * MINUTE, 110)


def _bytes(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.round(values).astype(np.int64)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("period", [4, 5, 6, 7, 8, 10, 15])
def test_small_steps_among_larger_ones_are_no_teeth(period: int, direction: int) -> None:
    """A leak of pieces of three, now and then of two, never falls: it grows, and has no lower envelope."""
    pieces = np.cumsum([2 if i % period == 0 else 3 for i in range(60)]) * 262_144
    said = judge(np.linspace(0, 59 * MINUTE, 60), 150 * MIB + direction * pieces)
    assert said.verdict is (Verdict.GROWING if direction > 0 else Verdict.SHRINKING)
    assert said.method != "lower envelope"


@pytest.mark.parametrize("seed", range(12))
def test_pieces_that_beat_with_the_snapshots_are_growth(seed: int) -> None:
    """A piece each 20.3 s, seen about each minute, is a leak, however the two intervals fall together."""
    times = np.linspace(0, 59 * MINUTE, 60) + np.random.default_rng(seed).uniform(0, 3, 60)
    assert judge(times, 50 * MIB + (times // 20.3).astype(np.int64) * MIB).verdict is Verdict.GROWING


@pytest.mark.parametrize("phase", range(12))
def test_one_swing_without_noise_is_no_trend(phase: int) -> None:
    """A full sine ends where it began: whatever part of it is fitted, nothing grows."""
    swing = 5e6 * np.sin(2 * np.pi * (POINTS / 110 + phase / 12))
    said = judge(TIMES, 4096 * np.round((100e6 + swing) / 4096).astype(np.int64))
    assert said.verdict in (Verdict.FLAT, Verdict.CANNOT_TELL)


@pytest.mark.parametrize("noise", [0, 20_000])
def test_growth_that_ended_is_told_with_its_end(noise: int) -> None:
    """What has not moved in the last quarter is not growing now, and until when it grew is said."""
    shaken = noise * np.random.default_rng(2).standard_normal(110)
    said = judge(TIMES, _bytes(50 * MIB + 262_144.0 * np.minimum(POINTS, 85) + shaken))
    assert said.verdict is Verdict.FLAT
    assert said.method == "after the turn"
    assert said.reason.startswith("growing until 1.4 h (+15 MiB/h), flat since: ")


@pytest.mark.parametrize("noise", [0, 20_000])
def test_growth_that_began_late_has_the_slope_of_its_own_time(noise: int) -> None:
    """A leak of 15 MiB an hour since point 70 leaks that much, not a third of it."""
    shaken = noise * np.random.default_rng(2).standard_normal(110)
    said = judge(TIMES, _bytes(50 * MIB + 262_144.0 * np.maximum(POINTS - 70, 0) + shaken))
    assert said.verdict is Verdict.GROWING
    assert said.slope == pytest.approx(15 * MIB, rel=0.05)
    assert said.lead.startswith("flat until 1.2 h")


def test_what_only_rises_is_not_flat_by_a_line_that_falls() -> None:
    """A curve that was taken off too much leaves a slope against all that was seen: nothing is told then."""
    random = np.random.default_rng(34)
    pieces = random.random(110) < random.uniform(0.1, 1) * np.exp(-POINTS / random.uniform(10, 80))
    risen = np.cumsum(np.where(pieces, random.exponential(1, 110), 0))
    said = judge(POINTS.tolist(), 50 * MIB + 4096 * np.floor(2250 * risen / risen[-1]).astype(np.int64))
    assert said.verdict is Verdict.CANNOT_TELL
    assert "it never falls, but the line that fits best does" in said.reason
