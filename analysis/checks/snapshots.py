"""A snapshot against budgets: is it within what is allowed, beside a baseline of one snapshot or of many?

A baseline is read, and never written: what becomes of it after a check is for people to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from mmpscope.analysis.checks.budget import MODULES, RIGHTS, TOTAL, TYPE, Budget, Subject, choose_default
from mmpscope.analysis.checks.figures import Figure, Pair, compare_figures, join_sides, measure_figure
from mmpscope.analysis.checks.parts import Named, list_modules_by_name, list_unsafe, measure_part
from mmpscope.analysis.checks.schema import CANNOT_TELL, CHECK, OK, VIOLATED
from mmpscope.analysis.checks.verdicts import judge_alone, judge_growth, judge_new
from mmpscope.analysis.mapping_count import count_mappings
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["CheckResult", "check"]

_EXIT_CODES = {OK: 0, VIOLATED: 1, CANNOT_TELL: 4}
_LISTS = {RIGHTS: list_unsafe, MODULES: list_modules_by_name}


@dataclass(frozen=True)
class CheckResult:
    """`table` has one row a budget (columns of checks.schema.CHECK); `baseline` names its snapshots."""

    table: pa.Table
    baseline: tuple[str, ...]

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


class _Sample(NamedTuple):
    """What was measured of the new snapshot beside one of the baseline."""

    label: str
    pairs: dict[Subject, Pair]
    names: dict[Subject, Named]


def check(
    new: LoadedSnapshot, baseline: Iterable[LoadedSnapshot], budgets: Sequence[Budget] | None = None
) -> CheckResult:
    """Judge a snapshot by budgets (`budgets.read_budgets`), by default those of `budget.choose_default`.

    `baseline` is asked for one snapshot after the other, and none is kept. Of several the median counts. What
    is not known is no pass: the verdict is that it cannot be told, with the reason.
    """
    is_counted = count_mappings(new).applies
    asked = choose_default(1, has_mapping_count=is_counted) if budgets is None else budgets
    subjects = list(dict.fromkeys(budget.subject for budget in asked if budget.limit.needs_baseline))
    alone = {s: measure_part(new, s) for s in subjects if s.kind not in (TOTAL, TYPE) and s not in _LISTS}
    samples = [_measure(each, new, subjects, alone) for each in baseline]
    if budgets is None:
        asked = choose_default(len(samples), has_mapping_count=is_counted)
    rows = [_judge(budget, new, samples) for budget in asked]
    columns = {field.name: [row[field.name] for row in rows] for field in CHECK}
    return CheckResult(build_table(CHECK, columns, len(rows)), tuple(sample.label for sample in samples))


def _measure(
    baseline: LoadedSnapshot,
    new: LoadedSnapshot,
    subjects: Sequence[Subject],
    alone: dict[Subject, Figure],
) -> _Sample:
    figures = [subject for subject in subjects if subject.kind in (TOTAL, TYPE) and subject not in _LISTS]
    pairs = compare_figures(baseline, new, figures) if figures else {}
    for subject, after in alone.items():
        pairs[subject] = _put_together(measure_part(baseline, subject), after)
    names = {subject: _LISTS[subject](baseline) for subject in subjects if subject in _LISTS}
    return _Sample(baseline.label, pairs, names)


def _put_together(before: Figure, after: Figure) -> Pair:
    return Pair(before.value, after.value, join_sides(before.lacking, after.lacking))


def _judge(budget: Budget, new: LoadedSnapshot, samples: Sequence[_Sample]) -> dict[str, Any]:
    subject = budget.subject
    if subject in _LISTS:
        return judge_new(budget, _LISTS[subject](new), [sample.names[subject] for sample in samples])
    if budget.limit.needs_baseline:
        return judge_growth(budget, [sample.pairs[subject] for sample in samples])
    measure = measure_figure if subject.kind in (TOTAL, TYPE) else measure_part
    return judge_alone(budget, measure(new, subject))
