"""The sentence that explains a verdict: what was seen, over which time, and what could not have been seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.trends.durations import show_duration, show_interval, show_rate
from mmpscope.analysis.trends.judgement import Verdict

if TYPE_CHECKING:
    from mmpscope.analysis.trends.slopes import Slope
    from mmpscope.analysis.trends.stretches import Stretch

__all__ = ["Finding", "describe_lead", "explain"]

_LEAST_GRAINS = 10
"""A slope moves this many least differences over the time that is fitted, to be told from a few steps."""

_CHOSEN_ANEW = 1.5
"""With a leak the plateau would have been found a little elsewhere, and less of it might have been fitted."""

_NOTHING = 0.1
"""Part of the slope since a turn below which there was none before it."""


@dataclass(frozen=True)
class Finding:
    """A verdict with all that it came from; `limit` is the bound of FLAT."""

    verdict: Verdict
    stretch: Stretch
    slope: Slope | None
    limit: float | None
    unit: str

    @property
    def detectable(self) -> float | None:
        """The smallest slope that would have been growth; None where no slope would."""
        line = self.stretch.line
        if self.slope is None or not line.span:
            return None
        is_all = self.stretch.plateau_h is None and self.stretch.turn_h is None
        chosen = 1.0 if is_all else _CHOSEN_ANEW
        least = chosen * self.slope.detectable + self.stretch.allowance[1]
        return max(least, _LEAST_GRAINS * line.grain / line.span)


def explain(finding: Finding) -> str:
    """Write one sentence: what came first (warm-up, steps, teeth), then the verdict with its numbers."""
    lead = describe_lead(finding)
    rest = _describe_verdict(finding, since=bool(lead))
    return f"{lead}, {rest}" if lead else rest


def describe_lead(finding: Finding) -> str:
    """Say what came before the stretch that is fitted; empty where all of it is."""
    parts = (_describe_steps(finding), _describe_plateau(finding), _describe_turn(finding))
    return ", ".join(said for part in parts for said in part)


def _describe_steps(finding: Finding) -> list[str]:
    steps = finding.stretch.steps
    if not steps:
        return []
    shown = [f"{_show_amount(size, finding.unit)} at {show_duration(at * 3600)}" for at, size in steps]
    count = ("one step", "two steps", "three steps")[len(steps) - 1]
    return [f"{count} of {' and '.join(shown)}"]


def _describe_plateau(finding: Finding) -> list[str]:
    at = finding.stretch.plateau_h
    if at is None:
        return []
    word = "plateau reached at" if finding.verdict is Verdict.FLAT else "warm-up until"
    return [f"{word} {show_duration(at * 3600)}"]


def _describe_turn(finding: Finding) -> list[str]:
    stretch = finding.stretch
    if stretch.turn_h is None:
        return []
    until = f"until {show_duration(stretch.turn_h * 3600)}"
    if finding.slope and abs(stretch.earlier) < _NOTHING * abs(finding.slope.value):
        return [f"flat {until}"]
    rate = show_rate(stretch.earlier, finding.unit)
    word = Verdict.GROWING if stretch.earlier > 0 else Verdict.SHRINKING
    return [f"{rate} {until}" if word == finding.verdict else f"{word} {until} ({rate})"]


def _describe_verdict(finding: Finding, *, since: bool) -> str:
    slope, unit = finding.slope, finding.unit
    where = " on the lowest points between drops" if "envelope" in finding.stretch.method else ""
    if finding.verdict is Verdict.CANNOT_TELL or slope is None:
        return _describe_doubt(finding)
    rate = show_rate(slope.value, unit, slope.low, slope.high)
    interval = f"{rate} ({show_interval(slope.low, slope.high, slope.value, unit)})"
    word = f"{finding.verdict}{' since' if since else ''}{where}"
    if finding.verdict is Verdict.FLAT:
        return f"{word}: {interval}, which is within {_show_bound(finding.limit or 0.0, unit)}"
    return f"{word}: {interval} over {show_duration(finding.stretch.line.span * 3600)}"


def _describe_doubt(finding: Finding) -> str:
    detectable = finding.detectable
    if finding.stretch.doubt is not None or detectable is None:
        return finding.stretch.doubt or "there is but one moment"
    why = "its level wanders" if finding.slope and finding.slope.wandering else "it varies too much"
    if finding.slope and finding.stretch.regain * finding.slope.value > 0:
        why = "it takes back the last step, as teeth do"
    return f"{why}: growth below {_show_bound(detectable, finding.unit)} would not show"


def _show_bound(rate: float, unit: str) -> str:
    return show_rate(rate, unit).removeprefix("+")


def _show_amount(size: float, unit: str) -> str:
    shown = show_size(round(abs(size))) if unit == "bytes" else f"{abs(size):,.0f} {unit}"
    return f"{'+' if size > 0 else '-'}{shown}"
