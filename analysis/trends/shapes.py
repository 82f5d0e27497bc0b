"""What else moves a series besides growth: teeth, steps and a warm-up, each found by the data alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from mmpscope.analysis.trends.slopes import Floats, weigh_noise
from mmpscope.analysis.trends.thinning import Line
from numpy.lib.stride_tricks import sliding_window_view

__all__ = ["Settling", "find_settling", "find_steps", "find_troughs"]

_TOOTH = 0.5
"""A drop counts as the end of a tooth from this part of the middle 80 % of the values on."""
_WINDOW = 5
_SHARP = 0.6
_STEP_DEVIATIONS = 8.0
_MOST_STEPS = 3
_CURVED = 12.0
_SETTLED = 0.05


def find_troughs(line: Line, slope: float) -> Line | None:
    """Return the lowest point of each tooth between two drops; None where the series is no saw-tooth.

    A saw-tooth falls at once what it gains little by little: at least 3 large drops between neighbours, and
    at most a fifth as many rises of that size. Noise, spikes and steps up rise as often as they drop.
    """
    level = line.values - slope * line.hours
    low, high = np.quantile(level, (0.1, 0.9))
    large = _TOOTH * float(high - low)
    moves = np.diff(level)
    drops = np.flatnonzero(moves < -large)
    rises = int(np.count_nonzero(moves > large))
    if large <= line.grain or len(drops) < 3 or rises * 5 > len(drops):
        return None
    edges = [*(drops + 1), len(level)]
    lowest = np.array([a + int(np.argmin(level[a:b])) for a, b in pairwise(edges)])
    return Line(line.hours[lowest], line.values[lowest], line.first, line.grain)


def find_steps(line: Line) -> list[tuple[int, float]]:
    """Find at most 3 sharp changes of level: the point after each, and its size.

    The medians of 5 points on either side differ by far more than elsewhere in the series, and most of the
    difference lies between two neighbours. More than 3 are not a few, and none is returned.
    """
    values = line.values
    if len(values) < 4 * _WINDOW:
        return []
    middles = np.median(sliding_window_view(values, _WINDOW), axis=1)
    jumps = middles[_WINDOW:] - middles[:-_WINDOW]
    usual = float(np.median(jumps))
    spread = 1.4826 * float(np.median(np.abs(jumps - usual)))
    least = max(_STEP_DEVIATIONS * spread, 0.99 * line.grain)
    found: list[tuple[int, float]] = []
    excess = np.abs(jumps - usual)
    while len(found) <= _MOST_STEPS and excess.max() > least:
        at = int(np.argmax(excess))
        point = _find_edge(values, at + _WINDOW, float(jumps[at]))
        if point is not None:
            found.append((point, float(jumps[at])))
        excess[max(0, at - _WINDOW) : at + _WINDOW + 1] = 0
    return sorted(found) if len(found) <= _MOST_STEPS else []


def _find_edge(values: Floats, near: int, jump: float) -> int | None:
    """Return the point after the sharpest move within a window, None where the change is gradual."""
    start, end = max(1, near - 2), min(len(values) - 1, near + 3)
    moves = [values[i + 1] - values[i - 1] for i in range(start, end)]
    if max(np.sign(jump) * move for move in moves) < _SHARP * abs(jump):
        return None
    single = [np.sign(jump) * (values[i] - values[i - 1]) for i in range(start, end + 1)]
    return start + int(np.argmax(single))


@dataclass(frozen=True)
class Settling:
    """An exponential approach to a line: signed height at the first point, and its time constant in hours."""

    height: float
    constant: float

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
    best = min(
        (_fit_exponential(hours, values, tau) for tau in np.geomspace(line.span / 60, line.span / 2, 24)),
        key=lambda fit: fit[0],
    )
    error, height, constant, left = best
    gained = float(straight @ straight) - error
    memory = weigh_noise(left)
    freedom = len(hours) - 4
    if gained * freedom <= _CURVED * memory * error:
        return None
    return Settling(height, constant)


def _fit_exponential(hours: Floats, values: Floats, tau: float) -> tuple[float, float, float, Floats]:
    solution, left = _fit_columns([np.ones_like(hours), hours, np.exp(-hours / tau)], values)
    return float(left @ left), float(solution[2]), tau, left


def _fit_columns(columns: list[Floats], values: Floats) -> tuple[Floats, Floats]:
    design = np.column_stack(columns)
    solution = np.linalg.lstsq(design, values, rcond=None)[0]
    return solution, values - design @ solution


def _despike(values: Floats) -> Floats:
    """Replace what stands out of its 5 neighbours by their median (Hampel's filter)."""
    padded = np.pad(values, 2, mode="edge")
    middles = np.median(sliding_window_view(padded, 5), axis=1)
    away = np.abs(values - middles)
    usual = 1.4826 * float(np.median(away))
    return np.where(away > 4 * usual, middles, values) if usual > 0 else values
