"""``python -m benchmarks.trend_accuracy``: how often the verdicts about series of known truth are right."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Verdict

from benchmarks.simulated_series import FAMILIES, Family, Series
from benchmarks.unseen_series import UNSEEN


@dataclass(frozen=True)
class Score:
    """Verdicts of one family, and how many leaks of twice the detectable slope were found in its series."""

    family: Family
    verdicts: Counter[Verdict]
    seeds: int
    covered: int
    planted: int
    found: int


def score_family(family: Family, seeds: int) -> Score:
    """Judge `seeds` series, and each once more with a leak of twice its own detectable slope added."""
    verdicts: Counter[Verdict] = Counter()
    covered = planted = found = 0
    for seed in range(seeds):
        series = family.make(np.random.default_rng([seed, sum(family.name.encode())]))
        said = judge(series.times_s, series.values)
        verdicts[said.verdict] += 1
        covered += said.low is not None and said.high is not None and said.low <= 0 <= said.high
        if family.truth == "flat" and said.verdict is Verdict.FLAT and said.detectable is not None:
            planted += 1
            leaking = plant_leak(series, 2 * said.detectable)
            found += judge(leaking.times_s, leaking.values).verdict is Verdict.GROWING
    return Score(family, verdicts, seeds, covered, planted, found)


def plant_leak(series: Series, slope: float) -> Series:
    """Add `slope` bytes an hour, in whole bytes."""
    leak = np.round(slope * series.times_s / 3600).astype(np.int64)
    return Series(series.times_s, series.values + leak)


def render_row(score: Score) -> str:
    """Write percentages of verdicts, of planted leaks found, and of intervals that hold 0."""
    parts = [100 * score.verdicts[verdict] / score.seeds for verdict in Verdict]
    found = f"{100 * score.found / score.planted:6.1f}" if score.planted else "     -"
    shares = " ".join(f"{part:6.1f}" for part in parts)
    covered = 100 * score.covered / score.seeds
    return f"{score.family.name:36} {score.family.truth:8} {shares} {found} {covered:6.1f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trend_accuracy", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    for family in (*FAMILIES, *UNSEEN):
        if not arguments.only or arguments.only in family.name:
            print(render_row(score_family(family, arguments.seeds)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
