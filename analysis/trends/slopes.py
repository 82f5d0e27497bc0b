"""The slope of a series with an interval that holds for correlated samples; numbers in, numbers out.

Times are hours, strictly increasing; values are floats relative to the first. Needs scipy (extra `stats`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mmpscope.analysis.trends.thinning import Floats
from mmpscope.analysis.trends.wandering import fit_wandering
from scipy.stats import norm, t, theilslopes

__all__ = ["Slope", "fit_slope", "fit_theil_sen", "measure_persistence", "weigh_noise"]

DECISION = 0.001
"""One-sided level at which a slope counts as growth; the interval that is shown is one of 95 %."""

_LAGS = 4
_COARSE = 25
"""Averages that slow wandering is looked for in; with fewer, the test hardly rejects anything."""
_MOST_REACH = 1.4
"""Kendall's S of a perfect line is 1.5 sqrt(n) deviations: an interval that needs as much has no end."""
_ONE_PERCENT = (-3.95877, -9.0531, -28.428, -134.155)
_FIVE_PERCENT = (-3.41049, -4.3904, -9.036, -45.374)
"""Critical values of Dickey and Fuller's test with constant and trend, by powers of 1/n (MacKinnon 2010)."""


@dataclass(frozen=True)
class Slope:
    """Units per hour: the estimate, its 95 % interval, and the interval that decides."""

    value: float
    low: float
    high: float
    sure_low: float
    sure_high: float
    wandering: bool
    """The noise may be a random walk, and the interval allows for that."""

    @property
    def detectable(self) -> float:
        """The smallest slope that would have been sure: half the interval that decides."""
        return (self.sure_high - self.sure_low) / 2


@dataclass(frozen=True)
class Persistence:
    """How long the noise remembers."""

    inflation: float
    """Variance of a mean, compared with independent noise of the same spread; at least 1."""
    walk: bool
    """A random walk was not rejected."""


def fit_slope(hours: Floats, values: Floats, widening: float = 1.0) -> Slope | None:
    """Fit a line to at least 4 points; None where they are too few for an interval.

    `widening` is what the variance is to be multiplied by for a curve that was taken off the values before.
    """
    if len(hours) < 4:
        return None
    persistence = measure_persistence(hours, values)
    if not persistence.walk:
        slope = _fit_theil_sen(hours, values, persistence.inflation * widening)
        if slope is not None:
            return slope
    return _fit_wandering(hours, values, widening)


def measure_persistence(hours: Floats, values: Floats) -> Persistence:
    """Weigh the memory of the detrended values point by point, and of their averages over blocks of time.

    The averages show slow wandering below fast noise, which a short autoregression of points does not see.
    """
    noise = _clip(values - fit_theil_sen(hours, values) * hours)
    if not noise.any():
        return Persistence(1.0, walk=False)
    if len(noise) < 10:
        return Persistence(1.0, walk=True)
    fine = _weigh_memory(noise, _ONE_PERCENT)
    if len(noise) < 2 * _COARSE:
        return fine
    averages = np.array([part.mean() for part in np.array_split(noise, _COARSE)])
    coarse = _weigh_memory(averages, _FIVE_PERCENT)
    scale = len(noise) / _COARSE * float(np.var(averages)) / float(np.var(noise))
    return Persistence(max(fine.inflation, coarse.inflation * scale), fine.walk or coarse.walk)


def weigh_noise(noise: Floats) -> float:
    """Return the inflation by memory of residuals; infinite where they wander."""
    if len(noise) < 10 or not noise.any():
        return 1.0
    found = _weigh_memory(_clip(noise), _ONE_PERCENT)
    return float("inf") if found.walk else found.inflation


def _weigh_memory(noise: Floats, critical: tuple[float, ...]) -> Persistence:
    """Fit an autoregression, its order by BIC, and weigh the sum of its coefficients.

    The test is that of Dickey and Fuller (1979) with constant and trend; the bias of the sum for detrended
    series is taken off as by Kendall (1954), (2 + 4 rho) / n.
    """
    count = len(noise)
    most = min(_LAGS, count // 10)
    best = min(_fit_autoregression(noise, lags, most) for lags in range(most + 1))
    _, pull, error, variance = best
    least = sum(c / count**power for power, c in enumerate(critical))
    corrected = pull + (2 + 4 * (1 + pull)) / count
    if corrected >= -1e-9:
        return Persistence(np.inf, walk=True)
    inflation = variance / corrected**2 / float(np.var(noise))
    return Persistence(max(1.0, inflation), walk=pull >= least * error)


def _fit_autoregression(noise: Floats, lags: int, start: int) -> tuple[float, float, float, float]:
    """Regress differences on the level before: BIC, coefficient, its error, variance of the shocks.

    Every number of lags has the same rows, from `start` on: BIC compares fits to the same data only.
    """
    steps = np.diff(noise)
    target = steps[start:]
    rows = len(target)
    columns = [np.ones(rows), np.arange(rows, dtype=np.float64), noise[start:-1]]
    columns += [steps[start - lag : -lag] for lag in range(1, lags + 1)]
    design = np.column_stack(columns)
    solution = np.linalg.lstsq(design, target, rcond=None)[0]
    left = target - design @ solution
    variance = float(left @ left) / max(1, rows - design.shape[1])
    scatter = np.linalg.pinv(design.T @ design)[2, 2]
    error = float(np.sqrt(max(0.0, variance * scatter)))
    bic = rows * float(np.log(max(variance, 1e-300))) + lags * float(np.log(rows))
    return bic, float(solution[2]), error, variance


def _clip(noise: Floats) -> Floats:
    """Centre, and bring spikes to 4 robust deviations: one of them would hide how the rest hangs together."""
    centred = noise - np.median(noise)
    spread = 1.4826 * float(np.median(np.abs(centred)))
    return np.clip(centred, -4 * spread, 4 * spread) if spread > 0 else centred


def fit_theil_sen(hours: Floats, values: Floats) -> float:
    """Return the median of the slopes of all pairs."""
    return float(theilslopes(values, hours)[0])


def _fit_theil_sen(hours: Floats, values: Floats, inflation: float) -> Slope | None:
    """Theil (1950) and Sen (1968), the variance of Kendall's S inflated as by Hamed and Rao (1998)."""
    count = len(hours)
    freedom = max(3.0, count / inflation - 2)
    ends = []
    for level in (0.025, DECISION):
        reach = float(t.isf(level, freedom)) * float(np.sqrt(inflation))
        if reach >= _MOST_REACH * np.sqrt(count):
            return None
        ends.append(theilslopes(values, hours, alpha=2 * norm.sf(reach)))
    (value, _, low, high), (_, _, sure_low, sure_high) = ends
    return Slope(float(value), float(low), float(high), float(sure_low), float(sure_high), wandering=False)


def _fit_wandering(hours: Floats, values: Floats, widening: float) -> Slope:
    value, error, freedom = fit_wandering(hours, values)
    error *= float(np.sqrt(widening))
    shown, sure = (float(t.isf(level, freedom)) * error for level in (0.025, DECISION))
    return Slope(value, value - shown, value + shown, value - sure, value + sure, wandering=True)
