"""One budget: what it is about, and what is allowed; and the budgets that hold where nobody gave any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "AT_LEAST",
    "AT_MOST",
    "FREE",
    "GROWTH",
    "LEAST_SAMPLES",
    "MAPPINGS",
    "MODULE",
    "MODULES",
    "NOTHING_NEW",
    "RIGHTS",
    "SPREAD",
    "TOTAL",
    "TYPE",
    "Budget",
    "Limit",
    "Subject",
    "choose_default",
]

TOTAL, TYPE, MODULE = "total", "type", "module"
"""Kinds of subjects that have a figure in bytes."""

GROWTH, SPREAD, AT_MOST, AT_LEAST, NOTHING_NEW = "growth", "spread", "at most", "at least", "nothing new"

LEAST_SAMPLES = 5
"""Snapshots of a baseline from which a spread can be told: of fewer, one odd run decides."""

_MIB = 1 << 20


class Subject(NamedTuple):
    """What is measured: ``where`` is a type or the pattern of a module, or says what else it is.

    ``window`` cuts the free space that is looked at.
    """

    kind: str
    where: str
    metric: str
    window: tuple[int, int] | None = None


MAPPINGS = Subject("mappings", "mappings", "count")
FREE = Subject("free", "free space", "largest")
RIGHTS = Subject("rights", "all memory", "executable and writable")
MODULES = Subject("modules", "modules", "modules")


@dataclass(frozen=True)
class Limit:
    """What is allowed, in the words of `rule`.

    Growth: the largest of what is given, ``amount``, ``percent`` of the baseline, and ``spread`` times the
    median absolute deviation of a baseline of several. At most and at least: ``amount``. Nothing new: only
    what ``allowed`` names.
    """

    rule: str
    amount: int | None = None
    percent: Fraction | None = None
    spread: Fraction | None = None
    allowed: tuple[str, ...] = ()

    @property
    def needs_baseline(self) -> bool:
        """Whether there is no verdict without something to compare with."""
        return self.rule not in (AT_MOST, AT_LEAST)


class Budget(NamedTuple):
    """A subject and its limit."""

    subject: Subject
    limit: Limit


_DEFAULTS = (
    (Subject(TOTAL, TOTAL, "private"), 4 * _MIB, 5),
    (Subject(TOTAL, TOTAL, "total_ws"), 8 * _MIB, 10),
    (MAPPINGS, 64, 10),
)
"""Twice the same program differs by less: address space layout and arenas move some hundreds of KiB."""
_DEFAULT_SPREAD = Fraction(6)
"""Six median absolute deviations are four standard deviations where samples scatter as a normal curve."""


def choose_default(samples: int, *, has_mapping_count: bool) -> Sequence[Budget]:
    """Choose the budgets of a check for which none were given, by the number of snapshots of the baseline.

    The number of mappings is left out where the system counts none.
    """
    spread = _DEFAULT_SPREAD if samples > 1 else None
    rule = GROWTH if spread is None else SPREAD
    chosen = [
        Budget(subject, Limit(rule, amount, Fraction(percent), spread))
        for subject, amount, percent in _DEFAULTS
        if has_mapping_count or subject != MAPPINGS
    ]
    return [*chosen, Budget(RIGHTS, Limit(NOTHING_NEW))]
