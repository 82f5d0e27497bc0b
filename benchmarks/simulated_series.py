"""Series of numbers whose truth is known, for measuring how often a verdict about a series is right.

Each family draws length, sampling, noise and size from its generator, so that no verdict can fit one case.
These are the families that the judge was built with; `unseen_series` has those that came afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "Family", "Floats", "Random", "Series", "finish", "make_noise", "sample_times"]

Floats = NDArray[np.float64]
Random = np.random.Generator

MIB = float(1 << 20)
PAGE = 4096.0


@dataclass(frozen=True)
class Series:
    """Times in seconds, and values in bytes."""

    times_s: Floats
    values: NDArray[np.int64]


@dataclass(frozen=True)
class Family:
    """A kind of series: its truth ("flat", "growing", or "open": neither is right), and how to make one."""

    name: str
    truth: str
    make: Callable[[Random], Series]


def sample_times(random: Random, low: int = 40, high: int = 400) -> Floats:
    """Draw the moments of a series: 1 s to 1 h apart, with the jitter of a scheduler."""
    count = int(random.integers(low, high + 1))
    interval = float(np.exp(random.uniform(0, np.log(3600))))
    gaps = interval * (1 + random.uniform(-0.05, 0.05, count))
    times: Floats = np.cumsum(gaps) - gaps[0]
    return times


def make_noise(random: Random, count: int, kind: str) -> Floats:
    """Draw noise of about unit spread: "white", "heavy" (Student t, 2 degrees), "ar0.9" and the like."""
    if kind == "white":
        return random.standard_normal(count)
    if kind == "heavy":
        return random.standard_t(2, count)
    share = float(kind.removeprefix("ar"))
    shocks = random.standard_normal(count) * np.sqrt(1 - share * share)
    noise = np.empty(count)
    noise[0] = random.standard_normal()
    for i in range(1, count):
        noise[i] = share * noise[i - 1] + shocks[i]
    return noise


def finish(times_s: Floats, values: Floats, grain: float = 1.0) -> Series:
    """Round the values to whole grains, none below 0."""
    rounded = np.round(np.maximum(values, 0) / grain) * grain
    return Series(times_s, rounded.astype(np.int64))


def _level(random: Random) -> float:
    return float(np.exp(random.uniform(np.log(1 * MIB), np.log(4096 * MIB))))


def _spread(random: Random, level: float) -> float:
    return float(level * np.exp(random.uniform(np.log(0.0002), np.log(0.03))))


def _flat(kind: str, grain: float = 1.0) -> Callable[[Random], Series]:
    def make(random: Random) -> Series:
        times, level = sample_times(random), _level(random)
        noise = make_noise(random, len(times), kind)
        return finish(times, level + _spread(random, level) * noise, grain)

    return make


def _few_values(random: Random) -> Series:
    """One of three levels, a page apart: nearly all pairs are ties."""
    times, level = sample_times(random), _level(random)
    return finish(times, level + PAGE * random.choice([0, 0, 0, 0, 1, -1], len(times)), PAGE)


def _constant(random: Random) -> Series:
    times = sample_times(random)
    return finish(times, np.full(len(times), _level(random)), PAGE)


def _any_noise(random: Random, count: int) -> Floats:
    return make_noise(random, count, str(random.choice(["white", "ar0.5", "ar0.8", "heavy"])))


def _warm_up(random: Random) -> Series:
    """An exponential approach that has ended, to 1 part in 20, within the first half."""
    times, level = sample_times(random), _level(random)
    settled = times[-1] * random.uniform(0.05, 0.5)
    rise = level * random.uniform(0.05, 0.6)
    curve = level - rise * np.exp(-3 * times / settled)
    return finish(times, curve + _spread(random, level) * _any_noise(random, len(times)), PAGE)


def _warm_up_ramp(random: Random) -> Series:
    """A straight ramp to a plateau within the first half."""
    times, level = sample_times(random), _level(random)
    settled = times[-1] * random.uniform(0.05, 0.5)
    rise = level * random.uniform(0.05, 0.6)
    curve = level - rise * np.maximum(0, 1 - times / settled)
    return finish(times, curve + _spread(random, level) * _any_noise(random, len(times)), PAGE)


def _teeth(random: Random, times: Floats, amplitude: float) -> Floats:
    period = times[-1] / random.uniform(3, 40)
    phase = random.uniform(0, 1)
    teeth: Floats = amplitude * ((times / period + phase) % 1)
    return teeth


def _saw_tooth(random: Random) -> Series:
    times, level = sample_times(random, 120, 600), _level(random)
    amplitude = level * random.uniform(0.05, 0.8)
    noise = amplitude * random.uniform(0.005, 0.05) * _any_noise(random, len(times))
    return finish(times, level + _teeth(random, times, amplitude) + noise, PAGE)


def _rising_troughs(random: Random) -> Series:
    """Teeth upon a leak that adds 0.5 to 3 times their height over the whole time."""
    times, level = sample_times(random, 200, 600), _level(random)
    amplitude = level * random.uniform(0.05, 0.8)
    period = times[-1] / random.uniform(12, 40)
    teeth = amplitude * ((times / period + random.uniform(0, 1)) % 1)
    leak = amplitude * random.uniform(0.5, 3) * times / times[-1]
    noise = amplitude * random.uniform(0.005, 0.05) * _any_noise(random, len(times))
    return finish(times, level + teeth + leak + noise, PAGE)


def _steps(least: int, most: int) -> Callable[[Random], Series]:
    def make(random: Random) -> Series:
        times, level = sample_times(random), _level(random)
        spread = _spread(random, level)
        values = level + spread * _any_noise(random, len(times))
        for _ in range(int(random.integers(least, most + 1))):
            at = times[-1] * random.uniform(0.1, 0.7)
            values += spread * random.uniform(15, 100) * (times >= at)
        return finish(times, values, PAGE)

    return make


def _leak(random: Random) -> Series:
    """1 KB/h to 10 MB/h, sampled each minute to hour for hours to weeks, noise a fiftieth of what leaks."""
    rate = float(np.exp(random.uniform(np.log(1e3), np.log(1e7))))
    times = sample_times(random)
    leaked = rate * times / 3600
    noise = leaked[-1] / 50 * _any_noise(random, len(times))
    return finish(times, _level(random) + leaked + noise, 1.0)


def _leak_in_pages(random: Random) -> Series:
    """A leak without noise that shows as 20 to 200 single pages."""
    times = sample_times(random)
    pages = random.uniform(20, 200)
    return finish(times, _level(random) + PAGE * pages * times / times[-1], PAGE)


def _leak_after_warm_up(random: Random) -> Series:
    """A warm-up in the first quarter upon a leak of 60 times the noise or more."""
    times, level = sample_times(random, 100, 600), _level(random)
    spread = _spread(random, level)
    settled = times[-1] * random.uniform(0.05, 0.25)
    curve = level * random.uniform(0.05, 0.6) * (1 - np.exp(-3 * times / settled))
    leak = spread * random.uniform(60, 300) * times / times[-1]
    return finish(times, level + curve + leak + spread * _any_noise(random, len(times)), PAGE)


def _with_gap(make: Callable[[Random], Series]) -> Callable[[Random], Series]:
    """Take out two thirds of the time in the middle: the collector was off."""

    def holed(random: Random) -> Series:
        series = make(random)
        times, span = series.times_s, series.times_s[-1]
        start = span * random.uniform(0.1, 0.4)
        kept = (times < start) | (times > start + span * 0.5)
        return Series(times[kept], series.values[kept])

    return holed


def _random_walk(random: Random) -> Series:
    times, level = sample_times(random), _level(random)
    steps = random.standard_normal(len(times))
    return finish(times, level + level * 0.3 / np.sqrt(len(times)) * np.cumsum(steps))


def _few_points(random: Random) -> Series:
    """1 to 9 points of noise: too few for a verdict."""
    times = sample_times(random, 1, 9)
    level = _level(random)
    return finish(times, level + _spread(random, level) * random.standard_normal(len(times)))


FAMILIES = (
    Family("flat, white noise", "flat", _flat("white")),
    Family("flat, AR(1) 0.5", "flat", _flat("ar0.5")),
    Family("flat, AR(1) 0.9", "flat", _flat("ar0.9")),
    Family("flat, heavy-tailed (t, 2 degrees)", "flat", _flat("heavy")),
    Family("flat, white noise in pages", "flat", _flat("white", PAGE)),
    Family("flat, three distinct values", "flat", _few_values),
    Family("flat, constant", "flat", _constant),
    Family("flat, with a gap in time", "flat", _with_gap(_flat("ar0.5"))),
    Family("warm-up, exponential", "flat", _warm_up),
    Family("warm-up, straight ramp", "flat", _warm_up_ramp),
    Family("saw-tooth, flat troughs", "flat", _saw_tooth),
    Family("one step", "flat", _steps(1, 1)),
    Family("two or three steps", "flat", _steps(2, 3)),
    Family("leak, 1 KB/h to 10 MB/h", "growing", _leak),
    Family("leak, whole pages, no noise", "growing", _leak_in_pages),
    Family("leak, with a gap in time", "growing", _with_gap(_leak)),
    Family("leak after a warm-up", "growing", _leak_after_warm_up),
    Family("saw-tooth, rising troughs", "growing", _rising_troughs),
    Family("random walk without drift", "open", _random_walk),
    Family("1 to 9 points", "open", _few_points),
)
