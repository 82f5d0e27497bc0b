"""What is said of one series of numbers; how it is found is in `judge`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Judgement", "Step", "Verdict"]


class Verdict(StrEnum):
    """The answers to "does it grow?"; CANNOT_TELL is one of them, and names what could have been seen."""

    GROWING = "growing"
    SHRINKING = "shrinking"
    FLAT = "flat"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Step:
    """A change of level between two points: seconds after the first point, and the signed size."""

    time_s: float
    size: int


@dataclass(frozen=True)
class Judgement:
    """A verdict with what it rests on; slopes are in units of the values per hour, None where there is none.

    No field is ever NaN or infinite.
    """

    verdict: Verdict
    slope: float | None
    """Theil-Sen slope of the stretch that `method` names."""
    low: float | None
    high: float | None
    """95 % interval of the slope, both ends or neither."""
    change: int
    """Last level less first level over the whole observed time, warm-up and steps included."""
    bound: float | None
    """FLAT means: any slope lies between -bound and +bound. Given by the caller or measured."""
    detectable: float | None
    """The smallest slope that would have been called growth in a series of this length and noise."""
    method: str
    """What was fitted: "all points", "after the plateau", "after the turn", "lower envelope"."""
    plateau_s: float | None
    """Where a warm-up ended, in seconds after the first point; None: no warm-up was found."""
    fitted_s: float | None
    """Where the fitted stretch begins, in seconds after the first point; None: nothing was fitted."""
    steps: tuple[Step, ...]
    points: int
    used: int
    """How many values were fitted, after the plateau and after thinning."""
    reason: str
    """One sentence for a person."""
    lead: str
    """The part of it about what came before the stretch that was fitted; empty for nothing."""
