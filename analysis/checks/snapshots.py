"""A snapshot against budgets: is it within what is allowed, beside a baseline of one snapshot or of many?

A baseline is read, and never written: what becomes of it after a check is for people to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from mmpscope.analysis.checks.budget import (
    MODULE,
    MODULES,
    RIGHTS,
    TOTAL,
    TYPE,
    Budget,
    Subject,
    choose_default,
)
from mmpscope.analysis.checks.figures import Figure, Pair, compare_figures, measure_figure, pair_up
from mmpscope.analysis.checks.parts import Named, list_modules_by_name, list_unsafe, measure_part
from mmpscope.analysis.checks.schema import CANNOT_TELL, CHECK, OK, VIOLATED
from mmpscope.analysis.checks.verdicts import judge_alone, judge_growth, judge_new
from mmpscope.analysis.mapping_count import count_mappings
from mmpscope.analysis.summary import Summary, sum_up
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.datasets.baseline import KeptSnapshot
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["CheckResult", "check"]

_EXIT_CODES = {OK: 0, VIOLATED: 1, CANNOT_TELL: 4}
_LISTS = {RIGHTS: list_unsafe, MODULES: list_modules_by_name}


@dataclass(frozen=True)
class CheckResult:
    """`table` has one row a budget (columns of checks.schema.CHECK); `baseline` names its snapshots.

    `moved` names those, the new one among them, whose map changed while it was read: their sums are not of
    one moment.
    """

    table: pa.Table
    baseline: tuple[str, ...]
    moved: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_check

        return show_check(self)

    @property
    def outcome(self) -> str:
        """Violated where one budget is; else cannot tell where one cannot be told; else ok."""
        words = self.table.column("verdict").to_pylist()
        return next((word for word in (VIOLATED, CANNOT_TELL) if word in words), OK)

    @property
    def exit_code(self) -> int:
        """What the command line returns: 0 ok, 1 violated, 4 cannot tell."""
        return _EXIT_CODES[self.outcome]


class _New(NamedTuple):
    """The snapshot that is checked, and what is measured of it once for all samples of the baseline."""

    snapshot: LoadedSnapshot
    summary: Summary
    alone: dict[Subject, Figure]


class _Sample(NamedTuple):
    """What was measured of the new snapshot beside one of the baseline."""

    label: str
    has_moved: bool
    pairs: dict[Subject, Pair]
    names: dict[Subject, Named]


def check(
    new: LoadedSnapshot,
    baseline: Iterable[LoadedSnapshot],
    budgets: Sequence[Budget] | None = None,
    kept: Iterable[KeptSnapshot] = (),
) -> CheckResult:
    """Judge a snapshot by budgets (`budgets.read_budgets`), by default those of `budget.choose_default`.

    `baseline` is asked for one snapshot after the other, and none is kept; `kept` are snapshots of a dataset,
    which belong to it as well. Of several the median counts. What is not known is no pass: the verdict is
    that it cannot be told, with the reason.
    """
    is_counted = count_mappings(new).applies
    asked = choose_default(1, has_mapping_count=is_counted) if budgets is None else budgets
    subjects = list(dict.fromkeys(budget.subject for budget in asked if _needs_baseline(budget)))
    alone = {s: measure_part(new, s) for s in subjects if s.kind not in (TOTAL, TYPE) and s not in _LISTS}
    checked = _New(new, sum_up(new), alone)
    samples = [_measure(each, checked, subjects) for each in baseline]
    samples += [
        _Sample(each.label, each.has_moved, *each.measure(new, checked.summary, subjects)) for each in kept
    ]
    if budgets is None:
        asked = choose_default(len(samples), has_mapping_count=is_counted)
    rows = [_judge(budget, checked, samples) for budget in asked]
    columns = {field.name: [row[field.name] for row in rows] for field in CHECK}
    moved = [*([new.label] if _has_moved(new) else []), *(each.label for each in samples if each.has_moved)]
    labels = tuple(sample.label for sample in samples)
    return CheckResult(build_table(CHECK, columns, len(rows)), labels, tuple(moved))


def _needs_baseline(budget: Budget) -> bool:
    """Tell if there is something to measure of the baseline, be it only if it has a module of that name."""
    return budget.limit.needs_baseline or budget.subject.kind == MODULE


def _has_moved(snapshot: LoadedSnapshot) -> bool:
    return snapshot.moment.get("map_moved") is True


def _measure(baseline: LoadedSnapshot, new: _New, subjects: Sequence[Subject]) -> _Sample:
    figures = [subject for subject in subjects if subject.kind in (TOTAL, TYPE) and subject not in _LISTS]
    pairs = compare_figures(baseline, new.snapshot, new.summary, figures) if figures else {}
    for subject, after in new.alone.items():
        pairs[subject] = pair_up(measure_part(baseline, subject), after)
    names = {subject: _LISTS[subject](baseline) for subject in subjects if subject in _LISTS}
    return _Sample(baseline.label, _has_moved(baseline), pairs, names)


def _judge(budget: Budget, new: _New, samples: Sequence[_Sample]) -> dict[str, Any]:
    subject = budget.subject
    if subject in _LISTS:
        return judge_new(budget, _LISTS[subject](new.snapshot), [sample.names[subject] for sample in samples])
    if budget.limit.needs_baseline:
        return judge_growth(budget, [sample.pairs[subject] for sample in samples])
    if subject.kind in (TOTAL, TYPE):
        return judge_alone(budget, measure_figure(new.snapshot, new.summary, subject))
    figure = measure_part(new.snapshot, subject)
    pairs = [sample.pairs[subject] for sample in samples if subject in sample.pairs]
    is_there = figure.is_there or any(pair.is_there and pair.lacking is None for pair in pairs)
    return judge_alone(budget, figure._replace(is_there=is_there))
