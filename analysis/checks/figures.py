"""What a check compares of totals and types of memory: the two summaries, by the rules of a comparison.

A figure that one side does not know, or knows of other parts than the other, is no figure to judge by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpscope.analysis.capability import find_estimates
from mmpscope.analysis.checks.budget import TOTAL, Subject
from mmpscope.analysis.diffs.evidence import level_evidence
from mmpscope.analysis.diffs.scope import find_scope
from mmpscope.analysis.diffs.sides import list_estimates
from mmpscope.analysis.diffs.totals import compare_summaries, diff_types, forget_types
from mmpscope.analysis.extent import find_extent
from mmpscope.analysis.summary import Summary, sum_up
from mmpscope.analysis.untold import find_untold

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Figure", "Pair", "compare_figures", "join_sides", "measure_figure", "pair_up"]

_TOTAL_ROW = "Total"
_SIDES = ("the baseline", "the new snapshot")
_OTHER_FACTS = "the baseline tells types of memory by other facts than the new snapshot"
_UNTOLD = "no fact tells it from other private data"
_UNKNOWN = "not all of it is known"


class Figure(NamedTuple):
    """A value of one snapshot; None, or at least that, where ``lacking`` says what is not known of it.

    ``is_there`` is false where nothing has the name that was asked for: a 0 of another kind than that of a
    module of which nothing is swapped out.
    """

    value: int | None
    lacking: str | None = None
    is_there: bool = True


class Pair(NamedTuple):
    """A value before and after; ``lacking`` says why the two cannot be compared, ``note`` what they mean.

    ``is_there`` is false where neither side has anything of the name that was asked for.
    """

    baseline: int | None
    value: int | None
    lacking: str | None = None
    note: str | None = None
    is_there: bool = True


def measure_figure(snapshot: LoadedSnapshot, summary: Summary, subject: Subject) -> Figure:
    """Take a figure of the total or of a type out of the summary of a snapshot."""
    [row] = [row for row in summary.table.to_pylist() if row["type"] == _name_row(subject)]
    value = row[subject.metric]
    if value is None or subject.metric in (row["partial"] or "").split(", "):
        if subject.where in find_untold(snapshot):
            return Figure(value, _UNTOLD)
        left_out = summary.left_out[subject.metric] if subject.kind == TOTAL else ()
        return Figure(value, _explain(snapshot, subject.metric, sorted(left_out)))
    return Figure(value)


def _name_row(subject: Subject) -> str:
    return _TOTAL_ROW if subject.kind == TOTAL else subject.where


def _explain(snapshot: LoadedSnapshot, metric: str, left_out: Iterable[str] = ()) -> str:
    """Say why a figure of one snapshot is not known, or not all of it."""
    if (reason := find_extent(snapshot).reason) is not None:
        return reason
    for row in snapshot.stated_capability:
        if row.item == f"regions.{metric}" and row.state != "ok":
            return row.reason or row.state
    return f"not known: {', '.join(left_out)}" if left_out else _UNKNOWN


def compare_figures(
    baseline: LoadedSnapshot, new: LoadedSnapshot, summary: Summary, subjects: Iterable[Subject]
) -> dict[Subject, Pair]:
    """Compare figures of totals and types, as `diff` does; ``summary`` is that of the new snapshot.

    It is made anew where the baseline knows less, so that types rest on what both know.
    """
    scope, pair = find_scope(baseline, new), level_evidence(baseline, new)
    after = summary if pair[1] is new else sum_up(pair[1])
    summaries = compare_summaries(sum_up(pair[0]), after, pair, scope)
    if not scope.types:
        summaries = forget_types(summaries)
    rows = {row["type"]: row for row in diff_types(summaries).to_pylist()}
    pairs = {}
    for subject in subjects:
        row, metric = rows[_name_row(subject)], subject.metric
        lacking = note = None
        if row[f"{metric}_delta"] is None:
            is_other = subject.kind != TOTAL and not scope.types
            lacking = _OTHER_FACTS if is_other else _explain_both(pair, row, metric)
        if subject.kind == TOTAL:
            left_out = summaries.totals[metric].left_out
            note = "; ".join(
                f"without {type_}, which {_SIDES['ab'.index(side)]} does not tell"
                for type_, side in left_out.items()
            )
        if metric == "total_ws" and row["note"]:
            note = "; ".join(filter(None, [note, row["note"]]))
        pairs[subject] = Pair(row[f"{metric}_a"], row[f"{metric}_b"], lacking, note or None)
    return pairs


def _explain_both(pair: tuple[LoadedSnapshot, LoadedSnapshot], row: dict[str, Any], metric: str) -> str:
    """Say of each side that does not know a figure why that is."""
    reasons: list[str | None] = []
    for side, snapshot, other in zip("ab", pair, reversed(pair), strict=True):
        reason = None
        if row[f"{metric}_{side}"] is None or metric in (row[f"partial_{side}"] or "").split(", "):
            is_untold = row["type"] in find_untold(snapshot)
            reason = _UNTOLD if is_untold else _explain(snapshot, metric)
        elif metric in list_estimates(snapshot.regions, other.regions):
            # A type may rest on an estimate where the whole side has nothing that is estimated.
            reason = find_estimates(snapshot).get(metric, _UNKNOWN)
        reasons.append(reason)
    return join_sides(*reasons) or "both sides do not know the same parts of it"


def pair_up(before: Figure, after: Figure) -> Pair:
    """Put a value of the baseline beside that of the new snapshot."""
    lacking = join_sides(before.lacking, after.lacking)
    return Pair(before.value, after.value, lacking, is_there=before.is_there or after.is_there)


def join_sides(before: str | None, after: str | None) -> str | None:
    """Say what is lacking on which side; None where nothing is."""
    if before is not None and before == after:
        return f"both sides: {before}"
    told = [f"{side}: {reason}" for side, reason in zip(_SIDES, (before, after), strict=True) if reason]
    return "; ".join(told) or None
