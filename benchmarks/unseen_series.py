"""More series of known truth, written after the judge was finished; nothing of it was changed to suit them.

Their error rates say more about a real process than those of `simulated_series`, which it was built with.
"""

from __future__ import annotations

import numpy as np

from benchmarks.simulated_series import Family, Floats, Random, Series, finish, make_noise

__all__ = ["UNSEEN"]

MIB = float(1 << 20)
HOUR = 3600.0


def _draw(random: Random, low: int = 60, high: int = 600) -> tuple[Floats, float, float]:
    """Draw times at random moments (as of requests), a level, and the size of its noise."""
    count = int(random.integers(low, high + 1))
    times = np.cumsum(random.exponential(float(random.uniform(5, 1800)), count))
    level = float(np.exp(random.uniform(np.log(8 * MIB), np.log(2048 * MIB))))
    return times - times[0], level, level * float(random.uniform(0.001, 0.02))


def _flat_arenas(random: Random) -> Series:
    """Uniform noise seen in pieces of 64 KiB."""
    times, level, spread = _draw(random)
    return finish(times, level + spread * random.uniform(-2, 2, len(times)), 65536.0)


def _flat_skewed(random: Random) -> Series:
    """Lognormal load upon a base."""
    times, level, spread = _draw(random)
    return finish(times, level + spread * np.exp(random.standard_normal(len(times))))


def _flat_spikes(random: Random) -> Series:
    """Every twentieth sample meets a transient of half the level."""
    times, level, spread = _draw(random)
    values = level + spread * random.standard_normal(len(times))
    return finish(times, values + level * 0.5 * (random.uniform(size=len(times)) < 0.05))


def _flat_moving_average(random: Random) -> Series:
    times, level, spread = _draw(random)
    window = int(random.integers(3, 12))
    shocks = random.standard_normal(len(times) + window - 1)
    return finish(times, level + spread * np.convolve(shocks, np.ones(window), "valid"))


def _flat_two_levels(random: Random) -> Series:
    """A pool that is there or not, for 5 to 20 samples each."""
    times, level, spread = _draw(random)
    turns = random.uniform(size=len(times)) < 1 / random.uniform(5, 20)
    state = np.cumsum(turns) % 2
    return finish(times, level + 10 * spread * state + spread * random.standard_normal(len(times)))


def _flat_slow(random: Random) -> Series:
    """AR(1) 0.98: it returns to its level, but hardly within the series."""
    times, level, spread = _draw(random)
    return finish(times, level + spread * make_noise(random, len(times), "ar0.98"))


def _flat_queue(random: Random) -> Series:
    """A queue, which is a random walk that cannot fall below 0, at 70 to 90 % load."""
    times, level, spread = _draw(random)
    load, length = random.uniform(0.7, 0.9), 0.0
    lengths = np.empty(len(times))
    for i in range(len(times)):
        length = max(0.0, length + random.poisson(load * 4) - 4)
        lengths[i] = length
    return finish(times, level + spread * lengths)


def _days(random: Random, low: float, high: float) -> tuple[Floats, float, Floats]:
    """Draw times of so many days, a level, and the curve of a working day with its noise."""
    days = random.uniform(low, high)
    times = np.arange(0, days * 24 * HOUR, random.uniform(300, 3600))
    level = float(np.exp(random.uniform(np.log(8 * MIB), np.log(2048 * MIB))))
    wave = np.sin(2 * np.pi * (times / (24 * HOUR) + random.uniform(0, 1)))
    load = level * random.uniform(0.01, 0.1) * (wave + 0.3 * wave**2)
    return times, level, load + level * 0.003 * make_noise(random, len(times), "ar0.5")


def _flat_days(random: Random) -> Series:
    times, level, load = _days(random, 3, 10)
    return finish(times, level + load)


def _part_of_a_day(random: Random) -> Series:
    """A third to a half of a day: from within, a morning cannot be told from a leak."""
    times, level, load = _days(random, 0.33, 0.5)
    return finish(times, level + load)


def _leak_in_days(random: Random) -> Series:
    times, level, load = _days(random, 3, 10)
    return finish(times, level + load + level * random.uniform(0.2, 1) * times / times[-1])


def _collect_garbage(random: Random, times: Floats, height: float) -> Floats:
    """Fill by random amounts, collect at a random height down to a random remainder."""
    fill = height / random.uniform(6, 25)
    held = random.uniform(0, height)
    values = np.empty(len(times))
    for i in range(len(times)):
        held += fill * random.exponential()
        if held > height * random.uniform(0.8, 1.2):
            held = height * random.uniform(0, 0.1)
        values[i] = held
    return values


def _garbage(random: Random) -> Series:
    times, level, _ = _draw(random, 200, 800)
    return finish(times, level + _collect_garbage(random, times, level * random.uniform(0.05, 0.5)))


def _garbage_growing_heap(random: Random) -> Series:
    """The collector lets the heap grow: higher teeth, the same troughs."""
    times, level, _ = _draw(random, 200, 800)
    height = level * random.uniform(0.05, 0.2)
    teeth = _collect_garbage(random, times, height)
    higher = np.maximum(0, teeth - 0.1 * height) * random.uniform(0.5, 2) * times / times[-1]
    return finish(times, level + teeth + higher)


def _garbage_and_leak(random: Random) -> Series:
    times, level, _ = _draw(random, 300, 800)
    height = level * random.uniform(0.05, 0.5)
    leak = height * random.uniform(0.5, 2) * times / times[-1]
    return finish(times, level + leak + _collect_garbage(random, times, height))


def _warm_up_two_phases(random: Random) -> Series:
    times, level, spread = _draw(random, 100)
    fast, slow = times[-1] * random.uniform(0.005, 0.03), times[-1] * random.uniform(0.05, 0.15)
    rise = level * random.uniform(0.1, 0.4)
    curve = rise * (0.6 * np.exp(-times / fast) + 0.4 * np.exp(-times / slow))
    return finish(times, level - curve + spread * make_noise(random, len(times), "ar0.5"))


def _warm_up_by_pieces(random: Random) -> Series:
    """Caches are filled piece by piece, each at its own time within the first 40 %."""
    times, level, spread = _draw(random, 100)
    values = level + spread * make_noise(random, len(times), "ar0.5")
    for _ in range(int(random.integers(4, 15))):
        values += level * random.uniform(0.01, 0.05) * (times > times[-1] * random.uniform(0, 0.4))
    return finish(times, values)


def _falling_start(random: Random) -> Series:
    """Start-up needs more than work does."""
    times, level, spread = _draw(random, 100)
    fall = level * random.uniform(0.1, 0.5) * np.exp(-times / (times[-1] * random.uniform(0.01, 0.1)))
    return finish(times, level + fall + spread * make_noise(random, len(times), "ar0.5"))


def _logarithm(random: Random) -> Series:
    """A cache of ever rarer keys: it grows without end, and slower and slower."""
    times, level, spread = _draw(random, 100)
    curve = np.log1p(times / (times[-1] * random.uniform(0.002, 0.05)))
    return finish(times, level + 10 * spread * curve + spread * random.standard_normal(len(times)))


def _slow_walk(random: Random) -> Series:
    """A random walk below noise that is 2 to 10 times its step."""
    times, level, spread = _draw(random)
    walk = np.cumsum(random.standard_normal(len(times)))
    noise = random.standard_normal(len(times)) * random.uniform(2, 10)
    return finish(times, level + spread / 5 * (walk + noise))


def _heavy_walk(random: Random) -> Series:
    times, level, spread = _draw(random)
    return finish(times, level + spread / 5 * np.cumsum(random.standard_t(3, len(times))))


def _leak_in_chunks(random: Random) -> Series:
    """256 KiB at random moments, 15 to 60 times."""
    times, level, _ = _draw(random)
    moments = random.uniform(0, times[-1], int(random.integers(15, 61)))
    chunks = 262144.0 * np.searchsorted(np.sort(moments), times)
    return finish(times, level + chunks + 30000 * make_noise(random, len(times), "ar0.5"))


def _leak_faster_and_faster(random: Random) -> Series:
    times, level, spread = _draw(random)
    share = times / times[-1]
    leak = spread * random.uniform(30, 100) * share ** random.uniform(1.2, 2.5)
    return finish(times, level + leak + spread * make_noise(random, len(times), "ar0.5"))


def _leak_of_few_points(random: Random) -> Series:
    """12 to 25 snapshots, and a leak of 40 times the noise."""
    times, level, spread = _draw(random, 12, 25)
    noise = spread * random.standard_normal(len(times))
    return finish(times, level + 40 * spread * times / times[-1] + noise)


def _flat_of_few_points(random: Random) -> Series:
    times, level, spread = _draw(random, 10, 25)
    return finish(times, level + spread * make_noise(random, len(times), "ar0.5"))


UNSEEN = (
    Family("flat, 10 to 25 points", "flat", _flat_of_few_points),
    Family("flat, pieces of 64 KiB", "flat", _flat_arenas),
    Family("flat, lognormal load", "flat", _flat_skewed),
    Family("flat, transients", "flat", _flat_spikes),
    Family("flat, moving average of 3 to 11", "flat", _flat_moving_average),
    Family("flat, two levels in turn", "flat", _flat_two_levels),
    Family("flat, AR(1) 0.98", "flat", _flat_slow),
    Family("flat, length of a queue", "flat", _flat_queue),
    Family("flat, 3 to 10 days", "flat", _flat_days),
    Family("garbage collector", "flat", _garbage),
    Family("garbage collector, growing heap", "flat", _garbage_growing_heap),
    Family("warm-up, two constants", "flat", _warm_up_two_phases),
    Family("warm-up, piece by piece", "flat", _warm_up_by_pieces),
    Family("start-up higher than work", "flat", _falling_start),
    Family("garbage collector and leak", "growing", _garbage_and_leak),
    Family("leak below daily cycles", "growing", _leak_in_days),
    Family("leak in chunks at random", "growing", _leak_in_chunks),
    Family("leak, faster and faster", "growing", _leak_faster_and_faster),
    Family("leak, 12 to 25 points", "growing", _leak_of_few_points),
    Family("random walk below noise", "open", _slow_walk),
    Family("random walk, heavy-tailed", "open", _heavy_walk),
    Family("logarithmic growth", "open", _logarithm),
    Family("a third to a half of a day", "open", _part_of_a_day),
)
