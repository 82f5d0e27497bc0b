"""The slope of a series whose level may wander: noise upon a random walk with drift (Harvey 1989).

How much it wanders is not guessed: the interval holds for every share that the series leaves open.
"""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.trends.thinning import Floats, take_medians

__all__ = ["fit_wandering"]

_BLOCKS = 100
"""Averages that are fitted at most: the cost is the cube of their number."""
_SHARES = np.concatenate([[0.0], np.geomspace(1e-2, 1e4, 25)])
"""Variance of the walk over the whole time, in units of the noise of one average."""
_LEFT_OPEN = 2.71
"""Twice the log likelihood that a share may lack: 5 % of the chi-squared distribution on one side."""


def fit_wandering(hours: Floats, values: Floats) -> tuple[float, float, int]:
    """Return the likeliest slope, a standard error that no likely share exceeds, and its freedom.

    Restricted maximum likelihood (Patterson and Thompson 1971) over a grid of shares, by generalized least
    squares in the eigenvectors of the covariance of the walk.
    """
    moments, levels = take_medians(hours, values, _BLOCKS)
    span = float(moments[-1] - moments[0])
    moments = (moments - moments[0]) / span
    strengths, vectors = np.linalg.eigh(np.minimum.outer(moments, moments))
    design = vectors.T @ np.column_stack([np.ones_like(moments), moments])
    target = vectors.T @ levels
    fits = [_fit_share(strengths, design, target, share) for share in _SHARES]
    best = max(fits)
    error = max(fit[2] for fit in fits if 2 * (best[0] - fit[0]) <= _LEFT_OPEN)
    return best[1] / span, error / span, len(levels) - 2


def _fit_share(strengths: Floats, design: Floats, target: Floats, share: float) -> tuple[float, float, float]:
    """Return the restricted log likelihood of one share, its slope, and the standard error of that."""
    variances = 1 + share * np.maximum(strengths, 0)
    weighted = design / variances[:, None]
    information = design.T @ weighted
    solution = np.linalg.solve(information, weighted.T @ target)
    left = target - design @ solution
    freedom = len(target) - 2
    variance = float(left @ (left / variances)) / freedom
    if variance <= 0:
        return 0.0, float(solution[1]), 0.0
    lost = float(np.log(variances).sum()) + float(np.linalg.slogdet(information)[1])
    error = float(np.sqrt(variance * np.linalg.inv(information)[1, 1]))
    return -(freedom * float(np.log(variance)) + lost) / 2, float(solution[1]), error
