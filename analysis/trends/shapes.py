"""What else moves a series besides growth: teeth, steps and a warm-up, each found by the data alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from mmpscope.analysis.trends.slopes import fit_theil_sen, weigh_noise
from mmpscope.analysis.trends.thinning import Floats, Line
from numpy.lib.stride_tricks import sliding_window_view

__all__ = [
    "Settling",
    "find_faded",
    "find_plateau",
    "find_settling",
    "find_start",
    "find_steps",
    "find_troughs",
    "find_turn",
]

_TOOTH = 0.5
"""A drop counts as the end of a tooth from this part of the middle 80 % of the values on."""
_AFTER_DROP = 3
"""Points after a drop that its lowest is looked for in: a collection may lie between two snapshots."""
_WINDOW = 5
"""Points on either side of a step: their median stands two spikes."""
_SHARP = 0.6
"""Part of a step that lies within two distances of neighbours; of a straight ramp it is 0.4."""
_STEP_DEVIATIONS = 8.0
_MOST_STEPS = 3
_CURVED = 12.0
"""What F must exceed for an exponential: its 1 % point is 7, and here the best of 24 is taken."""
_SETTLED = 0.05
"""A warm-up has ended where this part of its way is left."""
_FEWEST_LEVEL = 8
_FAR = 8.0
"""Deviations that the start must lie off the line of the last third, besides ..."""
_ERROR_OF_LINE = 17.0
"""... twice the error of that line at the start: 2 sqrt(12) 2.5 deviations over the root of its points."""
_FADED = 0.25
"""Deviations below which the end of a warm-up cannot be told from noise."""


def find_troughs(line: Line, slope: float) -> Line | None:
    """Return the lowest point after each drop; None where the series is no saw-tooth.

    A saw-tooth falls at once what it gains little by little: at least 3 large drops between neighbours, and
    at most a fifth as many rises of that size. Noise, spikes and steps up rise as often as they drop. The
    values themselves must fall, and climb between: of a leak whose pieces differ only the trend is crossed.
    """
    level = line.values - slope * line.hours
    low, high = np.quantile(level, (0.1, 0.9))
    large = _TOOTH * float(high - low)
    moves = np.diff(level)
    drops = np.flatnonzero(np.maximum(moves, np.diff(line.values)) < -large)
    rises = int(np.count_nonzero(moves > large))
    if large <= line.grain or len(drops) < 3 or rises * 5 > len(drops):
        return None
    edges = [*(drops + 1), len(level)]
    if np.median(line.values[drops[1:]] - line.values[drops[:-1] + 1]) <= 0:
        return None
    # Of a whole tooth the lowest point would lie the lower, the longer the tooth.
    lowest = np.array([a + int(np.argmin(level[a : min(b, a + _AFTER_DROP)])) for a, b in pairwise(edges)])
    return Line(line.hours[lowest], line.values[lowest], line.first, line.grain)


def find_steps(line: Line) -> list[tuple[int, float]]:
    """Find at most 3 sharp changes of level: the point after each, and its size.

    The medians of 5 points on either side differ by far more than what the usual rate makes of the time
    between them, and most of the difference lies between two neighbours. More than 3 are not a few, and none
    is returned.
    """
    if len(line.values) < 4 * _WINDOW:
        return []
    jumps, usual, least = _weigh_jumps(line)
    found: list[tuple[int, float]] = []
    excess = np.minimum(np.abs(jumps - usual), np.abs(jumps)) / least  # the end of growth is no step
    while len(found) <= _MOST_STEPS and excess.max() > 1:
        at = int(np.argmax(excess))
        point = _find_edge(line.values, at + _WINDOW, float(jumps[at]))
        if point is not None:
            found.append((point, float(jumps[at])))
        excess[max(0, at - _WINDOW) : at + _WINDOW + 1] = 0
    return sorted(found) if len(found) <= _MOST_STEPS else []


def _weigh_jumps(line: Line) -> tuple[Floats, Floats, Floats]:
    """Return at each place the jump between medians, the usual one, and the least excess that is a step.

    A gap in time makes the usual jump as large as the gap is long, and less sure by the error of the rate.
    """
    middles = np.median(sliding_window_view(line.values, _WINDOW), axis=1)
    moments = sliding_window_view(line.hours, _WINDOW).mean(axis=1)
    jumps, gaps = middles[_WINDOW:] - middles[:-_WINDOW], moments[_WINDOW:] - moments[:-_WINDOW]
    usual = float(np.median(jumps / gaps)) * gaps
    spread = 1.4826 * float(np.median(np.abs(jumps - usual)))
    apart = gaps / float(np.median(gaps))
    spreads = spread * np.sqrt(1 + (apart - 1) ** 2 * 2 * _WINDOW / len(jumps))
    return jumps, usual, np.maximum(_STEP_DEVIATIONS * spreads, np.abs(usual) + 0.99 * line.grain)


def _find_edge(values: Floats, near: int, jump: float) -> int | None:
    """Return the point after the sharpest move within a window, None where the change is gradual."""
    start, end = max(1, near - 2), min(len(values) - 1, near + 3)
    moves = [values[i + 1] - values[i - 1] for i in range(start, end)]
    if max(np.sign(jump) * move for move in moves) < _SHARP * abs(jump):
        return None
    single = [np.sign(jump) * (values[i] - values[i - 1]) for i in range(start, end + 1)]
    return start + int(np.argmax(single))


def find_plateau(line: Line) -> int | None:
    """Return the first point of a plateau, which may slope: if the start lies far off the last third's line.

    It begins where the values come within a twentieth of the way to that line, or 3 deviations of the last
    third, and stay. A leak turns the line and moves nothing else, so it is neither cut off nor made up here.
    """
    count = len(line.hours)
    if count < 3 * _FEWEST_LEVEL:
        return None
    values, last = _despike(line.values), slice(2 * count // 3, count)
    off = values - fit_theil_sen(line.hours[last], values[last]) * line.hours
    off -= np.median(off[last])
    spread = 1.4826 * float(np.median(np.abs(off[last])))
    way = abs(float(np.median(off[: max(3, count // 20)])))
    if way <= max((_FAR + _ERROR_OF_LINE / np.sqrt(count / 3)) * spread, 2 * line.grain):
        return None
    outside = np.flatnonzero(np.abs(off[: last.start]) > max(_SETTLED * way, 3 * spread))
    start = int(outside[-1]) + 1 if len(outside) else 0
    if not 0 < start < last.start:
        return None
    early, late = (float(np.median(part)) for part in (values[: max(3, start // 4)], values[start:]))
    # A leak that gets faster lies off its last line as well, but on the other side of where it came from.
    return start if (late - early) * float(np.median(off[: max(3, start // 4)])) < 0 else None


def find_start(line: Line) -> int:
    """Return how many of the first 5 points lie far off the line of all others, one after the other.

    Eight deviations are never noise, and a leak is on its own line. What lies off later is a step or a spike.
    """
    if len(line.hours) < 3 * _WINDOW:
        return 0
    hours, values = line.hours[_WINDOW:], line.values[_WINDOW:]
    off = line.values - fit_theil_sen(hours, values) * line.hours
    off -= np.median(off[_WINDOW:])
    spread = 1.4826 * float(np.median(np.abs(off[_WINDOW:])))
    is_near = np.abs(off[:_WINDOW]) <= max(_FAR * spread, 2 * line.grain)
    return int(np.argmax(is_near)) if is_near.any() else _WINDOW


def find_faded(line: Line, plateau: int, last: int) -> tuple[int, float]:
    """Return the point where an exponential approach is lost in the noise, or `last`, and what is left there.

    The exponential is fitted to all points, with a constant no longer than the time to the plateau: within a
    twentieth of the way there is still a slope that a quiet series would show.
    """
    hours, values = line.hours - line.hours[0], _despike(line.values)
    until = float(hours[plateau])
    fits = (_fit_exponential(hours, values, tau) for tau in np.geomspace(until / 8, until, 16))
    _, height, constant, off = min(fits, key=lambda fit: fit[0])
    spread = 1.4826 * float(np.median(np.abs(off[plateau:] - np.median(off[plateau:]))))
    left = np.abs(height) * np.exp(-hours / constant)
    faded = int(np.count_nonzero(left > max(_FADED * spread, line.grain / 2)))
    start = min(max(plateau, faded), last)
    return start, float(left[start]) if start < faded else 0.0


@dataclass(frozen=True)
class Settling:
    """An exponential approach to a line: its values, its time constant, and what it costs."""

    curve: Floats
    constant: float
    widening: float
    """How much larger the variance of a slope is for having been told apart from the exponential."""

    @property
    def hours(self) -> float:
        """Hours after the first point at which 95 % of the way is done."""
        return -float(np.log(_SETTLED)) * self.constant


def find_settling(line: Line) -> Settling | None:
    """Fit ``a + d t + b exp(-t / tau)``; None where the exponential adds nothing that noise would not."""
    hours, values = line.hours - line.hours[0], _despike(line.values)
    if len(hours) < 12 or not np.ptp(values):
        return None
    straight = _fit_columns([np.ones_like(hours), hours], values)[1]
    if np.abs(straight).max() < line.grain:
        return None  # of a straight line the rounding of the fits is left, another one on each processor
    grid = np.geomspace(line.span / 60, line.span / 2, 24)
    error, height, constant, left = min(
        (_fit_exponential(hours, values, tau) for tau in grid), key=lambda fit: fit[0]
    )
    gained = float(straight @ straight) - error
    moved = float(np.median(values[-len(values) // 3 :]) - np.median(values[: max(3, len(values) // 20)]))
    if height * moved >= 0 or gained * (len(hours) - 4) <= _CURVED * weigh_noise(left) * error:
        return None  # what gets faster away from its start settles nowhere
    curve = np.exp(-hours / constant)
    away = _fit_columns([np.ones_like(hours), curve, hours * curve], hours)[1]
    widening = float(np.var(hours)) / max(float(np.var(away)), 1e-12 * float(np.var(hours)))
    return Settling(height * curve, constant, widening)


def find_turn(line: Line, fewest: int) -> int | None:
    """Return the point where a line bends most, at least `fewest` from either end; None where none is needed.

    The best broken line (Hinkley 1971) must explain more than one line does and noise would make up.
    """
    hours, values, count = line.hours - line.hours[0], _despike(line.values), len(line.hours)
    if count < 2 * fewest or not np.ptp(values):
        return None
    straight = _fit_columns([np.ones_like(hours), hours], values)[1]
    fits = [(knot, _fit_broken(hours, values, knot)) for knot in range(fewest, count - fewest + 1)]
    knot, left = min(fits, key=lambda fit: float(fit[1] @ fit[1]))
    error = float(left @ left)
    gained = float(straight @ straight) - error
    if np.abs(left).max() < line.grain:  # no noise that could be weighed: whole grains alone
        return knot if np.abs(straight).max() >= 2 * line.grain else None
    return knot if gained * (count - 4) > _CURVED * weigh_noise(left) * error else None


def _fit_broken(hours: Floats, values: Floats, knot: int) -> Floats:
    bent = np.maximum(0.0, hours - hours[knot])
    return _fit_columns([np.ones_like(hours), hours, bent], values)[1]


def _fit_exponential(hours: Floats, values: Floats, tau: float) -> tuple[float, float, float, Floats]:
    solution, left = _fit_columns([np.ones_like(hours), hours, np.exp(-hours / tau)], values)
    return float(left @ left), float(solution[2]), tau, left


def _fit_columns(columns: list[Floats], values: Floats) -> tuple[Floats, Floats]:
    design = np.column_stack(columns)
    solution = np.asarray(np.linalg.lstsq(design, values, rcond=None)[0], dtype=np.float64)
    return solution, np.asarray(values - design @ solution, dtype=np.float64)


def _despike(values: Floats) -> Floats:
    """Replace what stands out of its 5 neighbours by their median (Hampel's filter)."""
    padded = np.pad(values, 2, mode="edge")
    middles = np.median(sliding_window_view(padded, 5), axis=1)
    away = np.abs(values - middles)
    usual = 1.4826 * float(np.median(away))
    return np.where(away > 4 * usual, middles, values) if usual > 0 else values
