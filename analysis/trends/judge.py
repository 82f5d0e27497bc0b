"""Whether a series of numbers grows: `judge` weighs the times and values, and knows nothing of snapshots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mmpscope.analysis.trends.judgement import Judgement, Step, Verdict

if TYPE_CHECKING:
    from mmpscope.analysis.trends.slopes import Slope
    from mmpscope.analysis.trends.thinning import Line, Times, Values

__all__ = ["judge"]

_FEWEST = 10
"""Points, or troughs, below which no verdict is given: how noise hangs together cannot be seen in fewer."""
_FLAT_SHARE = 0.1
_FLAT_GRAINS = 10
_PERSISTING = 0.3


@dataclass(frozen=True)
class _Stretch:
    """The part of a series that is fitted, and what was found on the way to it."""

    line: Line
    method: str = "all points"
    plateau_h: float | None = None
    steps: tuple[tuple[float, float], ...] = ()
    doubt: str | None = None
    """Why growth of this stretch would be no growth of the series."""


def judge(times_s: Times, values: Values, *, unit: str = "bytes", bound: float | None = None) -> Judgement:
    """Say if `values` grow over `times_s` (seconds of any origin, not decreasing); `unit` is for the reason.

    `bound` is the slope per hour below which growth is of no interest; without it a slope counts as flat
    below a tenth of the level over the time that was fitted. No points at all are CANNOT_TELL.

    Raises ValueError where the times decrease or the lengths differ, UsageError without the extra `stats`.
    """
    from mmpscope.analysis.trends.slopes import fit_slope
    from mmpscope.analysis.trends.thinning import prepare_line

    if not len(values):
        return _judge_nothing()
    line = prepare_line(times_s, values, unit)
    stretch = _choose_stretch(line)
    fitted = stretch.line
    slope = fit_slope(fitted.hours, fitted.values)
    return _conclude(line, stretch, slope, bound)


def _judge_nothing() -> Judgement:
    verdict = Verdict.CANNOT_TELL
    return Judgement(
        verdict, None, None, None, 0, None, None, "nothing", None, (), 0, 0, "there are no points"
    )


def _choose_stretch(line: Line) -> _Stretch:
    from mmpscope.analysis.trends.shapes import find_troughs
    from mmpscope.analysis.trends.slopes import fit_theil_sen
    from mmpscope.analysis.trends.thinning import thin_line

    thin = thin_line(line)
    if len(line.hours) < _FEWEST:
        return _Stretch(thin, doubt=f"{_FEWEST} points are needed")
    troughs = find_troughs(line, fit_theil_sen(thin.hours, thin.values))
    if troughs is not None:
        low = thin_line(troughs)
        doubt = None if len(low.hours) >= _FEWEST else f"{len(low.hours)} teeth, {_FEWEST} are needed"
        return _skip_settling(_Stretch(low, "lower envelope", doubt=doubt))
    return _skip_settling(_skip_steps(_Stretch(thin)))


def _skip_steps(stretch: _Stretch) -> _Stretch:
    from mmpscope.analysis.trends.shapes import find_steps

    line = stretch.line
    found = find_steps(line)
    if not found:
        return stretch
    edges = [0, *(point for point, _ in found), len(line.hours)]
    steps = tuple((float(line.hours[p - 1] + line.hours[p]) / 2, size) for p, size in found)
    last = line.cut(edges[-2])
    doubt = None
    if len(found) == 3 and len({size > 0 for _, size in found}) == 1:
        doubt = "3 steps the same way may be growth in large pieces"
    if len(last.hours) < max(_FEWEST, len(line.hours) // 5):
        doubt = "too short a time since the last step"
    return replace(stretch, line=last, method="after the last step", steps=steps, doubt=doubt)


def _skip_settling(stretch: _Stretch) -> _Stretch:
    from mmpscope.analysis.trends.shapes import find_settling

    line, origin = stretch.line, float(stretch.line.hours[0])
    whole = line.span
    plateau = stretch.plateau_h
    method = stretch.method
    while stretch.doubt is None:
        settling = find_settling(line)
        if settling is None:
            break
        until = float(line.hours[0]) + settling.hours
        start = int((line.hours < until).sum())
        if until - origin > 0.7 * whole or len(line.hours) - start < _FEWEST:
            return replace(stretch, line=line, method=method, plateau_h=None, doubt="it is still settling")
        line, plateau = line.cut(start), until
        method = (
            f"{stretch.method} after the plateau" if stretch.method != "all points" else "after the plateau"
        )
    return replace(stretch, line=line, plateau_h=plateau, method=method)


def _conclude(line: Line, stretch: _Stretch, slope: Slope | None, bound: float | None) -> Judgement:
    fitted = stretch.line
    limit = bound
    if limit is None and fitted.span:
        limit = max(_FLAT_SHARE * fitted.level, _FLAT_GRAINS * fitted.grain) / fitted.span
    verdict = Verdict.CANNOT_TELL
    if stretch.doubt is None and slope is not None and limit is not None:
        verdict = _decide(fitted, slope, limit)
    detectable = None if slope is None else max(slope.detectable, _FLAT_GRAINS * fitted.grain / fitted.span)
    return Judgement(
        verdict,
        slope.value if slope else None,
        slope.low if slope else None,
        slope.high if slope else None,
        int(line.values[-1] - line.values[0]),
        limit if verdict is Verdict.FLAT else None,
        detectable,
        stretch.method,
        stretch.plateau_h * 3600 if stretch.plateau_h else None,
        tuple(Step(hours * 3600, round(size)) for hours, size in stretch.steps),
        len(line.hours),
        len(fitted.hours),
        stretch.doubt or "",
    )


def _decide(line: Line, slope: Slope, limit: float) -> Verdict:
    if slope.sure_low > 0 and _persists(line, slope.value):
        return Verdict.GROWING
    if slope.sure_high < 0 and _persists(line, slope.value):
        return Verdict.SHRINKING
    if -limit <= slope.low and slope.high <= limit:
        return Verdict.FLAT
    return Verdict.CANNOT_TELL


def _persists(line: Line, slope: float) -> bool:
    """Say if the last two thirds move on their own at a fair part of the whole slope."""
    from mmpscope.analysis.trends.slopes import fit_theil_sen

    later = line.cut(len(line.hours) // 3)
    return fit_theil_sen(later.hours, later.values) / slope >= _PERSISTING
