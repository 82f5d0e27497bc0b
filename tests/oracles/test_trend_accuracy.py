"""Verdicts against series of known truth: a few seeds of what benchmarks/trend_accuracy.py tabulates."""

from __future__ import annotations

import pytest
from mmpscope.analysis.trends.judgement import Verdict

from benchmarks.simulated_series import FAMILIES, Family
from benchmarks.trend_accuracy import score_family
from benchmarks.unseen_series import UNSEEN

SEEDS = 6
ALL = (*FAMILIES, *UNSEEN)
HARD = {
    "leak in chunks at random",
    "warm-up, two constants",
    "garbage collector, growing heap",
    "start-up higher than work",
    "flat, length of a queue",
}
"""Called growing in 2 % and more, or leaks missed in 10 %; docs/trend-accuracy.md has how often."""


def _choose(truth: str) -> list[Family]:
    return [family for family in ALL if family.truth == truth and family.name not in HARD]


@pytest.mark.parametrize("family", _choose("flat"), ids=lambda family: family.name)
def test_flat_series_raise_no_alarm(family: Family) -> None:
    """Noise, warm-ups, teeth and steps are no leak, and a planted leak of twice the stated size is found."""
    score = score_family(family, SEEDS)
    assert score.verdicts[Verdict.GROWING] == 0
    assert score.found >= score.planted - 1


@pytest.mark.parametrize("family", _choose("growing"), ids=lambda family: family.name)
def test_leaks_are_found(family: Family) -> None:
    """Leaks behind warm-ups, below teeth, across gaps and in few points are growth."""
    assert score_family(family, SEEDS).verdicts[Verdict.GROWING] >= SEEDS - 1


def test_random_walk_cannot_be_told() -> None:
    """A level that wanders grows without a leak, and shrinks without a repair."""
    family = next(family for family in FAMILIES if family.name == "random walk without drift")
    assert score_family(family, SEEDS).verdicts[Verdict.CANNOT_TELL] >= SEEDS - 1
