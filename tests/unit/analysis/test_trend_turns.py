"""Verdicts about series that a line fits badly: they turn, swing, or only ever rise."""

from __future__ import annotations

import numpy as np
import pytest
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Verdict

MIB = 1 << 20
MINUTE = 60.0


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("period", [4, 5, 6, 7, 8, 10, 15])
def test_small_steps_among_larger_ones_are_no_teeth(period: int, direction: int) -> None:
    """A leak of pieces of three, now and then of two, never falls: it grows, and has no lower envelope."""
    pieces = np.cumsum([2 if i % period == 0 else 3 for i in range(60)]) * 262_144
    said = judge(MINUTE * np.arange(60), 150 * MIB + direction * pieces)
    assert said.verdict is (Verdict.GROWING if direction > 0 else Verdict.SHRINKING)
    assert said.method != "lower envelope"


@pytest.mark.parametrize("seed", range(12))
def test_pieces_that_beat_with_the_snapshots_are_growth(seed: int) -> None:
    """A piece each 20.3 s, seen about each minute, is a leak, however the two intervals fall together."""
    times = MINUTE * np.arange(60) + np.random.default_rng(seed).uniform(0, 3, 60)
    assert judge(times, 50 * MIB + (times // 20.3).astype(np.int64) * MIB).verdict is Verdict.GROWING
