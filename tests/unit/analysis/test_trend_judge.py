"""Verdicts about single series whose truth anybody can see."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Verdict
from numpy.typing import NDArray

MIB = 1 << 20
HOUR = 3600.0

Floats = NDArray[np.float64]


def _hours(count: int, span: float = 24.0) -> Floats:
    return np.linspace(0, span * HOUR, count)


def _noise(count: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal(count)


def _bytes(values: Floats) -> NDArray[np.int64]:
    return np.round(values).astype(np.int64)


def test_no_points_are_an_answer() -> None:
    """An empty series cannot be told, and is no error."""
    said = judge([], [])
    assert (said.verdict, said.points, said.slope) == (Verdict.CANNOT_TELL, 0, None)


@pytest.mark.parametrize("count", range(1, 10))
def test_fewer_than_ten_points_cannot_be_told(count: int) -> None:
    """However straight a line of 9 points is, nobody knows how its noise hangs together."""
    said = judge(_hours(count), [i * MIB for i in range(count)])
    assert said.verdict is Verdict.CANNOT_TELL
    assert said.reason == "10 points are needed"


def test_one_moment_cannot_be_told() -> None:
    """Any number of values of one moment have no slope."""
    said = judge([5.0] * 30, list(range(30)))
    assert said.verdict is Verdict.CANNOT_TELL
    assert (said.points, said.slope, said.detectable) == (1, None, None)


def test_constant_is_flat_and_names_what_would_have_shown() -> None:
    """A constant is flat, and one could have seen it move by ten pages and no less."""
    said = judge(_hours(50), [64 * MIB] * 50)
    assert (said.verdict, said.slope, said.low, said.high) == (Verdict.FLAT, 0, 0, 0)
    assert said.detectable == pytest.approx(10 * 4096 / 24)


def test_leak_is_growing_and_its_interval_holds_the_truth() -> None:
    """1 MiB an hour under noise is found, in bytes per hour."""
    times = _hours(200)
    said = judge(times, _bytes(100 * MIB + MIB * times / HOUR + 0.5 * MIB * _noise(200)))
    assert said.verdict is Verdict.GROWING
    assert said.low is not None
    assert said.high is not None
    assert said.low < MIB < said.high
    assert said.change == pytest.approx(24 * MIB, rel=0.1)


def test_what_falls_is_shrinking() -> None:
    """The mirror image of a leak has the mirror image of its verdict."""
    times = _hours(200)
    said = judge(times, _bytes(100 * MIB - MIB * times / HOUR + 0.5 * MIB * _noise(200)))
    assert said.verdict is Verdict.SHRINKING


@pytest.mark.parametrize("seed", range(10))
def test_s1_warm_up_climb_is_no_leak(seed: int) -> None:
    """S1: quarter medians 30.95, 34.73, 35.02, 35.06 MiB over 24 h are a plateau from about 7.5 h on."""
    times = _hours(289)
    curve = 35.07 - 13.1 * np.exp(-times / HOUR / 2.6)
    quarters = [float(np.median(part)) for part in np.array_split(curve, 4)]
    assert quarters == pytest.approx([30.95, 34.73, 35.02, 35.06], abs=0.15)
    said = judge(times, _bytes(MIB * (curve + 0.05 * _noise(289, seed))))
    assert said.verdict is Verdict.FLAT
    assert said.plateau_s is not None
    assert 6 < said.plateau_s / HOUR < 12
    assert said.reason.startswith("plateau reached at ")


def test_leak_behind_a_warm_up_is_found() -> None:
    """A plateau may slope: what comes after the warm-up is judged by itself."""
    times = _hours(300)
    curve = 40 * (1 - np.exp(-times / HOUR)) + 0.5 * times / HOUR
    said = judge(times, _bytes(MIB * (100 + curve + 0.2 * _noise(300))))
    assert said.verdict is Verdict.GROWING
    assert said.plateau_s is not None
    assert said.slope == pytest.approx(0.5 * MIB, rel=0.1)


def test_a_straight_line_settles_nowhere() -> None:
    """Rounding is all that a fit leaves of it, and another on each processor."""
    lines = [
        (_hours(count), [i * pages * 4096 for i in range(count)])
        for count in range(12, 60)
        for pages in (1, 16)
    ]
    assert [judge(*line).verdict for line in lines] == [Verdict.GROWING] * len(lines)


@pytest.mark.parametrize("before", [[44_336], [8_140, 20_000, 44_336], [46_900]])
def test_a_first_point_far_off_is_no_level_that_wanders(before: list[int]) -> None:
    """Two snapshots saw the end of a warm-up, 71 saw nothing move: that is flat, within nothing."""
    values = [kib * 1024 for kib in [*before, *[46_404] * 71]]
    said = judge(range(len(values)), values)
    assert (said.verdict, said.slope, said.low, said.high) == (Verdict.FLAT, 0, 0, 0)


def test_a_leak_behind_a_first_point_far_off_keeps_its_rate() -> None:
    """Only the points before the line of all others are left out."""
    values = [0, 0, *(64 * MIB + i * MIB for i in range(60))]
    said = judge([i * 60.0 for i in range(len(values))], values)
    assert said.verdict is Verdict.GROWING
    assert said.slope == pytest.approx(60 * MIB)


def test_leak_that_gets_faster_is_no_warm_up() -> None:
    """What lies off its last line because it sped up is growth from the beginning."""
    times = _hours(300)
    said = judge(times, _bytes(MIB * (100 + 0.05 * (times / HOUR) ** 2 + 0.2 * _noise(300))))
    assert (said.verdict, said.plateau_s) == (Verdict.GROWING, None)


def test_one_step_is_no_leak() -> None:
    """12 MiB at 3.2 h and nothing after: said with its size and time."""
    times = _hours(200)
    said = judge(times, _bytes(MIB * (100 + 12 * (times > 3.2 * HOUR) + 0.1 * _noise(200))))
    assert said.verdict is Verdict.FLAT
    assert len(said.steps) == 1
    assert said.steps[0].size == pytest.approx(12 * MIB, rel=0.05)
    assert said.steps[0].time_s == pytest.approx(3.2 * HOUR, abs=0.2 * HOUR)
    assert said.reason.startswith("one step of +11.9 MiB at 3.2 h, flat since")


def test_three_steps_up_may_be_growth_in_large_pieces() -> None:
    """Three steps up and none down are neither called flat nor a leak."""
    times = _hours(200)
    climbed = sum((times > at * HOUR) * 12.0 for at in (3, 8, 14))
    said = judge(times, _bytes(MIB * (100 + climbed + 0.1 * _noise(200))))
    assert (said.verdict, len(said.steps)) == (Verdict.CANNOT_TELL, 3)


def test_move_during_a_gap_may_be_a_step_or_growth() -> None:
    """What moved while no snapshot was taken moved by a step or little by little."""
    times = np.concatenate([_hours(100, 5), 20 * HOUR + _hours(100, 5)])
    said = judge(times, _bytes(MIB * (100 + 12 * (times > 10 * HOUR) + 0.1 * _noise(200))))
    assert said.verdict is Verdict.CANNOT_TELL
    assert "gap" in said.reason


@pytest.mark.parametrize(("leak", "verdict"), [(0.0, Verdict.FLAT), (2.0, Verdict.GROWING)])
def test_teeth_are_judged_by_their_lowest_points(leak: float, verdict: Verdict) -> None:
    """A garbage collector's saw-tooth grows when its troughs do."""
    times = _hours(400)
    teeth = 50 * ((times / HOUR / 1.1) % 1)
    said = judge(times, _bytes(MIB * (100 + teeth + leak * times / HOUR + 0.5 * _noise(400))))
    assert (said.verdict, said.method) == (verdict, "lower envelope")
    assert "lowest points" in said.reason


def test_few_teeth_cannot_be_told() -> None:
    """Five troughs are too few to say where they go."""
    times = _hours(400)
    said = judge(times, _bytes(MIB * (100 + 50 * ((times / HOUR / 4.5) % 1) + 0.5 * _noise(400))))
    assert (said.verdict, said.reason) == (Verdict.CANNOT_TELL, "5 teeth, 10 are needed")


def test_climb_after_a_drop_may_be_a_tooth() -> None:
    """What one garbage collection took, and what comes back since, is no leak; twice as much is."""
    times = _hours(300)
    since = np.maximum(0, times / HOUR - 8)
    fall = MIB * (100 - 40 * (times > 8 * HOUR) + 0.3 * _noise(300))
    said = judge(times, _bytes(fall + MIB * 2 * since))
    assert said.verdict is Verdict.CANNOT_TELL
    assert "teeth" in said.reason
    assert judge(times, _bytes(fall + MIB * 5 * since)).verdict is Verdict.GROWING


def test_bound_of_the_caller_decides_what_is_of_interest() -> None:
    """A slope that is sure and far below the bound is flat; without the bound it is growth."""
    times = _hours(200)
    values = _bytes(100 * MIB + MIB * times / HOUR + 0.1 * MIB * _noise(200))
    assert judge(times, values).verdict is Verdict.GROWING
    said = judge(times, values, bound=2.0 * MIB)
    assert (said.verdict, said.bound) == (Verdict.FLAT, 2.0 * MIB)


def test_verdict_does_not_hang_on_unit_or_size() -> None:
    """The same series a million times larger has the same verdict and a million times the slope."""
    times = _hours(120)
    shape = np.cumsum(_noise(120, 3)) * 0.1 + _noise(120, 4)
    small = judge(times, _bytes(1e6 + 1e4 * shape), unit="things")
    large = judge(times, _bytes(1e12 + 1e10 * shape), unit="things")
    assert (small.verdict, small.used) == (large.verdict, large.used)
    assert small.slope is not None
    assert small.detectable is not None
    assert large.slope == pytest.approx(1e6 * small.slope, rel=0.01)
    assert large.detectable == pytest.approx(1e6 * small.detectable, rel=0.01)


def test_addresses_and_sizes_of_64_bits_keep_their_change() -> None:
    """The change is taken of whole numbers: 2^64 - 1 less 2^63 is exact."""
    values = np.array([1 << 63] * 15 + [(1 << 64) - 1] * 15, dtype=np.uint64)
    assert judge(_hours(30), values).change == (1 << 63) - 1


def test_long_series_are_thinned_to_medians() -> None:
    """20,000 points are judged by 200 medians of neighbours, and a leak in them is found all the same."""
    times = _hours(20_000, 24 * 7)
    said = judge(times, _bytes(100 * MIB + 0.01 * MIB * times / HOUR + MIB * _noise(20_000)))
    assert (said.verdict, said.points, said.used) == (Verdict.GROWING, 20_000, 200)


def test_values_of_one_moment_are_one_point() -> None:
    """Two files of one moment count once, by the median of their values."""
    times = np.repeat(_hours(40), 2)
    said = judge(times, [MIB, 3 * MIB] * 40)
    assert (said.points, said.verdict) == (40, Verdict.FLAT)


@pytest.mark.parametrize("times", [[0.0, 2.0, 1.0], [0.0, float("nan"), 1.0], [0.0, 1.0]])
def test_times_that_are_none_are_refused(times: list[float]) -> None:
    """Decreasing times, times that are no numbers and too few of them are the caller's mistake."""
    with pytest.raises(ValueError, match="times"):
        judge(times, [1, 2, 3])


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence says what to install."""
    for name in ("slopes", "shapes", "stretches"):
        monkeypatch.delitem(sys.modules, f"mmpscope.analysis.trends.{name}", raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UsageError, match=r"pip install 'mmpscope\[stats\]'"):
        judge(_hours(20), [1, 2] * 10)


def test_nothing_heavy_is_imported_before_a_verdict() -> None:
    """The module that commands import brings neither numpy nor scipy."""
    asked = (
        "import sys, mmpscope.analysis.trends.judge as j; print(sorted({'numpy','scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
