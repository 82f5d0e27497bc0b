"""What a fitted slope must not contradict: the values themselves, and the beginning of what was fitted."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.trends.slopes import Slope, fit_slope
from mmpscope.analysis.trends.thinning import Line

__all__ = ["find_contradiction"]


def find_contradiction(seen: Line, fitted: Line, slope: Slope) -> str | None:
    """Say what speaks against a slope, None for nothing; `seen` is `fitted` before a curve was taken off.

    Values that only ever rise have no slope downwards: there the curve of a warm-up took off too much. And
    what surely fell in the first third before it rose is part of a swing, of which no slope tells.
    """
    moves = np.diff(seen.values) * np.sign(slope.value)
    moved = abs(slope.value) * fitted.span
    if moved >= seen.grain and moves.max() < seen.grain / 2 and -moves.sum() >= seen.grain:
        return f"it never {'rises' if slope.value > 0 else 'falls'}, but the line that fits best does"
    first = fitted.cut(0, len(fitted.hours) // 3)
    early = fit_slope(first.hours, first.values) if _is_sure(slope) else None
    if early is not None and _is_sure(early) and early.value * slope.value < 0:
        return f"it {'fell' if slope.value > 0 else 'rose'} at first, as part of a swing does"
    return None


def _is_sure(slope: Slope) -> bool:
    return slope.sure_low > 0 or slope.sure_high < 0
