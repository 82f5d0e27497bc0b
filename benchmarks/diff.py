"""Figures: diff of two snapshots of 1,000,000 regions, 1 % changed, against one hash join of both.

As two instances, of which no address is alike, against as one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from benchmarks.commands import call_in_child
from benchmarks.figures import Figure, Options
from benchmarks.million import make_changed, make_million

__all__ = ["diff_once", "measure", "time_diff"]

_PEAK_MIB = 2048


def measure(options: Options) -> list[Figure]:
    """Compare calls within one process, both snapshots loaded; the peak is of a process of its own."""
    million = make_million(options)
    changed = make_changed(million)
    times, _ = call_in_child(__name__, "time_diff", str(million), str(changed), options.runs)
    _, peak = call_in_child(__name__, "diff_once", str(million), str(changed))
    return [
        Figure("diff of two", times["diff"], "pyarrow join on start", times["join"], "s", 3.0),
        Figure("diff of two instances", times["apart"], "diff of one", times["diff"], "s", 3.0),
        Figure("diff of two, peak memory", peak / 2**20, "the limit", _PEAK_MIB, "MiB", 1.0),
    ]


def diff_once(before: str, after: str) -> None:
    """Load both and compare them."""
    from mmpscope import analysis

    analysis.diff(analysis.load(before)[0], analysis.load(after)[0])


def time_diff(before: str, after: str, runs: int) -> dict[str, float]:
    """Return median seconds of the diff, as one and as two instances, and of a full outer join on start."""
    from mmpscope import analysis

    a, b = analysis.load(before)[0], analysis.load(after)[0]
    left, right = a.raw_regions, b.raw_regions
    for side in (a, b):
        assert side.regions.num_rows  # classified before the clock starts
    calls: dict[str, Callable[[], object]] = {
        "diff": lambda: analysis.diff(a, b),
        "apart": lambda: analysis.diff(a, b, "different"),
        "join": lambda: left.join(right, keys="start", join_type="full outer", right_suffix="_after"),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(min(runs, 5) + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[1:]) for name, each in taken.items()}
