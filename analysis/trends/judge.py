"""Whether a series of numbers grows: `judge` weighs the times and values, and knows nothing of snapshots.

Nothing of numpy or scipy is imported before a series is judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import AnalysisError, UsageError
from mmpscope.analysis.trends.judgement import Judgement, Step, Verdict
from mmpscope.analysis.trends.wording import Finding, describe_lead, explain

if TYPE_CHECKING:
    from mmpscope.analysis.trends.slopes import Slope
    from mmpscope.analysis.trends.stretches import Stretch
    from mmpscope.analysis.trends.thinning import Line, Times, Values

__all__ = ["judge"]

_FLAT_SHARE = 0.1
"""Of the level: what a flat series may move by over the time that is fitted, unless the caller says."""
_FLAT_GRAINS = 10
_PERSISTING = 0.4
"""The last two thirds of growth have at least this part of its slope: what stops was no leak."""


def judge(times_s: Times, values: Values, *, unit: str = "bytes", bound: float | None = None) -> Judgement:
    """Say if `values` grow over `times_s` (seconds of any origin, not decreasing); `unit` is for the reason.

    `bound` is the slope per hour below which growth is of no interest; without it a slope counts as flat
    below a tenth of the level over the time that was fitted. No points at all are CANNOT_TELL.

    Raises ValueError where the times decrease or the lengths differ, UsageError without the extra `stats`.
    """
    if not len(values):
        return _judge_nothing()
    from mmpscope.analysis.trends.thinning import prepare_line

    line = prepare_line(times_s, values, unit)
    change = int(values[-1]) - int(values[0])
    return _conclude(_weigh(line, unit, bound), change, len(line.hours))


def _weigh(line: Line, unit: str, bound: float | None) -> Finding:
    """Judge the stretch to be fitted, and what moves once more since its slope changed last."""
    _require_statistics()
    from mmpscope.analysis.trends.contradictions import find_contradiction
    from mmpscope.analysis.trends.slopes import fit_slope
    from mmpscope.analysis.trends.stretches import choose_stretch, cut_turn

    def weigh(stretch: Stretch) -> Finding:
        slope = fit_slope(stretch.line.hours, stretch.line.values, stretch.widening)
        if slope is not None and stretch.doubt is None:
            stretch = replace(stretch, doubt=find_contradiction(stretch.seen, stretch.line, slope))
        verdict, limit = _decide(line, stretch, slope, bound)
        return Finding(verdict, stretch, slope, limit, unit)

    found = weigh(choose_stretch(line))
    turned = cut_turn(found.stretch) if found.verdict in (Verdict.GROWING, Verdict.SHRINKING) else None
    if turned is None:
        return found
    recent = weigh(turned)
    return recent if _is_turned(recent) else found


def _is_turned(recent: Finding) -> bool:
    """Say if there is a verdict on the time since the turn, and what was before is beyond its interval."""
    slope, before = recent.slope, recent.stretch.earlier
    if slope is None or recent.verdict is Verdict.CANNOT_TELL:
        return False
    return not slope.sure_low <= before <= slope.sure_high


def _require_statistics() -> None:
    """Import on first use: scipy.stats alone takes a second."""
    try:
        import mmpscope.analysis.trends.slopes  # noqa: F401  # for its error
    except ModuleNotFoundError as error:
        raise UsageError("verdicts on series need scipy: pip install 'mmpscope[stats]'") from error
    except ImportError as error:  # it is there, and the system cannot map its libraries
        raise AnalysisError(f"scipy cannot be loaded ({error}). Is there a limit of memory?") from error


def _judge_nothing() -> Judgement:
    none, reason = Verdict.CANNOT_TELL, "there are no points"
    return Judgement(none, None, None, None, 0, None, None, "nothing", None, None, (), 0, 0, reason, "")


def _decide(
    line: Line, stretch: Stretch, slope: Slope | None, bound: float | None
) -> tuple[Verdict, float | None]:
    """Return the verdict, and for FLAT the bound that it holds within."""
    fitted = stretch.line
    if stretch.doubt is not None or slope is None or not fitted.span:
        return Verdict.CANNOT_TELL, None
    limit = bound
    if limit is None:
        limit = max(_FLAT_SHARE * line.level, _FLAT_GRAINS * line.grain) / fitted.span
    is_within = -limit <= slope.low and slope.high <= limit
    if bound is not None and is_within:
        return Verdict.FLAT, limit
    if _is_sure(stretch, slope):
        return (Verdict.GROWING if slope.value > 0 else Verdict.SHRINKING), None
    is_flat = is_within and slope.low <= 0 <= slope.high
    return (Verdict.FLAT, limit) if is_flat else (Verdict.CANNOT_TELL, None)


def _is_sure(stretch: Stretch, slope: Slope) -> bool:
    """Say if the slope is beyond doubt and chance, and the last two thirds have a fair part of it."""
    from mmpscope.analysis.trends.slopes import fit_theil_sen

    downwards, upwards = stretch.allowance
    if downwards <= slope.sure_high and slope.sure_low <= upwards:
        return False
    later = stretch.line.cut(len(stretch.line.hours) // 3)
    return fit_theil_sen(later.hours, later.values) / slope.value >= _PERSISTING


def _conclude(finding: Finding, change: int, points: int) -> Judgement:
    stretch, slope = finding.stretch, finding.slope
    return Judgement(
        finding.verdict,
        slope.value if slope else None,
        slope.low if slope else None,
        slope.high if slope else None,
        change,
        finding.limit,
        finding.detectable,
        stretch.method,
        None if stretch.plateau_h is None else stretch.plateau_h * 3600,
        float(stretch.line.hours[0]) * 3600 if slope else None,
        tuple(Step(hours * 3600, round(size)) for hours, size in stretch.steps),
        points,
        len(stretch.line.hours),
        explain(finding),
        describe_lead(finding),
    )
