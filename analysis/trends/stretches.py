"""Which part of a series is fitted, after teeth, steps and warm-ups were found in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from mmpscope.analysis.trends.shapes import (
    find_faded,
    find_plateau,
    find_settling,
    find_start,
    find_steps,
    find_troughs,
    find_turn,
)
from mmpscope.analysis.trends.slopes import fit_theil_sen
from mmpscope.analysis.trends.thinning import Floats, Line, thin_line

__all__ = ["FEWEST", "Stretch", "choose_stretch", "cut_turn"]

FEWEST = 10
"""Points, or troughs, below which no verdict is given: how noise hangs together cannot be seen in fewer."""
_MOST_PLATEAUS = 3
_LONG_GAP = 5.0
"""Times the usual distance of two points."""
_TAKEN_BACK = 1.25
"""A step is measured by the points around it, some of which have begun to climb again."""
_RECENT = 8
"""A turn lies at least one part in so many of the points from either end."""
_SETTLED_BY = 0.75
"""A warm-up that takes longer than this part of what is seen has not ended."""


@dataclass(frozen=True)
class Stretch:
    """The part of a series that is fitted, and what was found on the way to it."""

    line: Line
    method: str = "all points"
    plateau_h: float | None = None
    steps: tuple[tuple[float, float], ...] = ()
    widening: float = 1.0
    turn_h: float | None = None
    """Where another slope began, which is the one that is fitted."""
    earlier: float = 0.0
    """The slope before the turn, in units per hour."""
    doubt: str | None = None
    """Why this stretch allows no verdict."""
    settling: float = 0.0
    """What the end of a warm-up may still move by, in units per hour; only a slope above it is growth."""
    curve: Floats | None = None
    """What was taken off the line, at each of its points: the end of a warm-up."""
    regain: float = 0.0
    """The slope that takes back the last step: what falls and climbs again may be a tooth, and no growth."""

    @property
    def seen(self) -> Line:
        """The values as they were before a curve was taken off."""
        return self.line if self.curve is None else replace(self.line, values=self.line.values + self.curve)

    @property
    def allowance(self) -> tuple[float, float]:
        """The slopes, downwards and upwards, beyond which a slope is growth."""
        return min(0.0, self.regain) - self.settling, max(0.0, self.regain) + self.settling


def choose_stretch(line: Line) -> Stretch:
    """Look for teeth, which leave their lowest points, else for steps; then for a warm-up in what is left."""
    thin = thin_line(line)
    if len(line.hours) < FEWEST:
        return Stretch(thin, doubt=f"{FEWEST} points are needed")
    troughs = find_troughs(line, fit_theil_sen(thin.hours, thin.values))
    if troughs is not None:
        low = thin_line(troughs)
        doubt = None if len(low.hours) >= FEWEST else f"{len(low.hours)} teeth, {FEWEST} are needed"
        return _skip_settling(Stretch(low, "lower envelope", doubt=doubt))
    return _skip_settling(_skip_steps(Stretch(thin)))


def cut_turn(stretch: Stretch) -> Stretch | None:
    """Leave the time since the slope changed last; None where one line fits all there is."""
    line = stretch.line
    turn = find_turn(line, max(FEWEST, len(line.hours) // _RECENT))
    if turn is None:
        return None
    before, after = line.cut(0, turn + 1), line.cut(turn)
    method = f"{stretch.method}, after the turn".removeprefix("all points, ")
    earlier = fit_theil_sen(before.hours, before.values)
    hours = float(line.hours[turn])
    curve = None if stretch.curve is None else stretch.curve[turn:]
    return replace(stretch, line=after, method=method, turn_h=hours, earlier=earlier, curve=curve)


def _skip_steps(stretch: Stretch) -> Stretch:
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
    if len(last.hours) < max(FEWEST, len(line.hours) // 5):
        doubt = "too short a time since the last step"
    gaps = np.diff(line.hours)
    if any(gaps[point - 1] > _LONG_GAP * np.median(gaps) for point, _ in found):
        doubt = "it moved during a gap in time, by a step or little by little"
    regain = -_TAKEN_BACK * steps[-1][1] / last.span if last.span else 0.0
    return replace(stretch, line=last, method="after the last step", steps=steps, doubt=doubt, regain=regain)


def _skip_settling(stretch: Stretch) -> Stretch:
    """Leave out a warm-up that has ended, take off one that is ending, doubt one that has not."""
    plateaus = _find_plateaus(stretch.line)
    if plateaus:
        stretch = _cut_plateau(stretch, plateaus)
    line = stretch.line
    curve = find_settling(line)
    if curve is None:
        return _skip_start(stretch)
    if curve.hours > _SETTLED_BY * line.span:
        return replace(stretch, doubt=stretch.doubt or "it is still settling")
    straight = replace(line, values=line.values - curve.curve)
    until = stretch.plateau_h if plateaus else float(line.hours[0]) + curve.hours
    return replace(stretch, line=straight, plateau_h=until, widening=curve.widening, curve=curve.curve)


def _skip_start(stretch: Stretch) -> Stretch:
    """Leave out the very first points where they lie far off the line of all others.

    The flank of the last step, or a warm-up that few snapshots saw: beside a constant they look like a
    level that wanders.
    """
    line = stretch.line
    start = find_start(line)
    if not start or len(line.hours) - start < FEWEST:
        return stretch
    method = f"{stretch.method}, after the plateau".removeprefix("all points, ")
    hours = float(line.hours[start]) if stretch.plateau_h is None else stretch.plateau_h
    curve = None if stretch.curve is None else stretch.curve[start:]
    return replace(stretch, line=line.cut(start), plateau_h=hours, method=method, curve=curve)


def _find_plateaus(line: Line) -> list[int]:
    """Return the first point of the plateau, of the one within it if it still climbs, and so on: 3 at most.

    The first is where the warm-up ended for a person; the last is where a slope can be told from its end.
    """
    found: list[int] = []
    for _ in range(_MOST_PLATEAUS):
        start = found[-1] if found else 0
        later = find_plateau(line.cut(start))
        if later is None or len(line.hours) - start - later < FEWEST:
            break
        found.append(start + later)
    return found


def _cut_plateau(stretch: Stretch, plateaus: list[int]) -> Stretch:
    line, plateau = stretch.line, plateaus[-1]
    last = len(line.hours) - max(FEWEST, len(line.hours) // 8)
    start, left = find_faded(line, plateau, max(plateau, last))
    method = f"{stretch.method}, after the plateau".removeprefix("all points, ")
    rest = line.cut(start)
    hours = float(line.hours[plateaus[0]])
    return replace(stretch, line=rest, plateau_h=hours, method=method, settling=left / rest.span)
