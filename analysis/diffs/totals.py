"""The two summaries side by side: totals, types, and the parts of a total that are no regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text
from mmpscope.analysis.diffs.notes import CLEAN, HUGETLB
from mmpscope.analysis.diffs.rows import (
    WORDS,
    Figures,
    choose_words,
    find_unknown,
    name_masks,
    to_columns,
    to_signed,
)
from mmpscope.analysis.diffs.schema import DIFF_ROWS, DIFF_TOTALS, DIFF_TYPES, METRICS, SAME
from mmpscope.analysis.diffs.scope import Scope
from mmpscope.analysis.diffs.sides import OUTSIDE, list_estimates
from mmpscope.analysis.exact_sums import Deltas, subtract
from mmpscope.analysis.extent import NOTHING, SOME, find_extent
from mmpscope.analysis.families import find_family
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.space import find_guessed_window
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.summary import Summary

__all__ = [
    "Summaries",
    "compare_summaries",
    "diff_outside",
    "diff_totals",
    "diff_types",
    "forget_types",
]

_MORE = ("blocks", "allocations", "largest")
_TOTAL, _FREE = "Total", "Free"

Pair = tuple["LoadedSnapshot", "LoadedSnapshot"]


class _Total(NamedTuple):
    """A total before and after, and how it changed; ``left_out`` names what only one side knows."""

    a: int | None
    b: int | None
    delta: int | None
    left_out: Mapping[str, str] = {}
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summaries:
    """Two summaries, row by row: every figure before and after, what changed, what is left out."""

    types: list[str]
    figures: Figures
    partial: tuple[Mapping[str, Bools], Mapping[str, Bools]]
    totals: Mapping[str, _Total]

    def find(self, *types: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rows of some types."""
        return np.array([self.types.index(name) for name in types])

    def find_parts(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rows that Total is the sum of."""
        return self.find(*(name for name in self.types if name not in (_TOTAL, _FREE)))


def compare_summaries(before: Summary, after: Summary, pair: Pair, scope: Scope) -> Summaries:
    """Subtract one summary from another.

    A delta is unknown where either side leaves something out: what was not counted before is no growth. So it
    is where one side only estimates what the other knows, and of free space where nobody states its bounds.
    """
    types: list[str] = before.table.column("type").to_pylist()
    a, b = RawColumns(before.table), RawColumns(after.table)
    names = (*METRICS, *_MORE)
    partial = tuple({name: _find_partial(side, name) for name in names} for side in (a, b))
    one, two = ({name: side.numbers(name) for name in names} for side in (a, b))
    hidden = {name: Numbers.unknown(len(types)) for name in (CLEAN, HUGETLB)}
    one, two = one | hidden, two | hidden
    unlike = {name: partial[0][name] | partial[1][name] for name in names}
    if find_guessed_window(*(side.usable_range for side in pair)) is not None:
        for name in ("size", *_MORE):
            unlike[name] = unlike[name] | np.array([type_ == _FREE for type_ in types])
    estimates = _list_estimates(pair)
    if estimates:
        exact = _find_exact(types, one, pair) & _find_exact(types, two, pair)
        unlike |= {name: unlike[name] | ~exact for name in estimates}
    deltas = {name: subtract(two[name].only(~unlike[name]), one[name]) for name in names}
    deltas |= {name: subtract(numbers, numbers) for name, numbers in hidden.items()}
    summaries = Summaries(types, Figures(one, two, deltas), (partial[0], partial[1]), {})
    totals = {
        name: _compare_total(summaries, name, (before.left_out[name], after.left_out[name]), scope)
        if name not in estimates
        else _Total(*_read_total(summaries, name), None)
        for name in METRICS
    }
    return _put_totals(summaries, totals)


def _list_estimates(pair: Pair) -> frozenset[str]:
    a, b = (side.regions for side in pair)
    return frozenset((*list_estimates(a, b), *list_estimates(b, a)))


def _find_exact(types: list[str], figures: Mapping[str, Numbers], pair: Pair) -> Bools:
    """Find the rows that no estimate is in: no region, types without regions, and those told exactly."""
    doubtful = {
        type_ for side in pair for type_ in find_family(RawColumns(side.regions)).estimated_types
    } - set(OUTSIDE)
    told = np.array([name not in doubtful for name in types], np.bool_)
    exact: Bools = told | (figures["size"].is_known & (figures["size"].values == 0))
    return exact


def _read_total(summaries: Summaries, name: str) -> tuple[int | None, int | None]:
    [place] = summaries.find(_TOTAL)
    sides = (summaries.figures.before[name], summaries.figures.after[name])
    before, after = (int(side.values[place]) if side.is_known[place] else None for side in sides)
    return before, after


def _compare_total(
    summaries: Summaries, name: str, left_out: tuple[frozenset[str], frozenset[str]], scope: Scope
) -> _Total:
    """Compare a total of what both sides know; unknown where they do not know the same parts."""
    before, after = _read_total(summaries, name)
    lacking = tuple(type_ for type_ in summaries.types if type_ in left_out[0] | left_out[1])
    unknown = _Total(before, after, None, lacking=lacking)
    if before is None or after is None or scope.totals in (SOME, NOTHING):
        return unknown
    sides, taken = (summaries.figures.before[name], summaries.figures.after[name]), [0, 0]
    only: dict[str, str] = {}
    for type_ in lacking:
        [row] = summaries.find(type_)
        is_null = [not side.is_known[row] and type_ in out for side, out in zip(sides, left_out, strict=True)]
        if all(is_null) and (type_ in OUTSIDE or scope.types):
            continue
        if type_ not in OUTSIDE or not any(is_null):
            return unknown
        knows = is_null.index(False) if False in is_null else 0
        if type_ in left_out[knows]:
            return unknown
        taken[knows] += int(sides[knows].values[row])
        only[type_] = "ab"[1 - knows]
    before, after = before - taken[0], after - taken[1]
    delta = after - before
    return _Total(before, after, delta, only) if abs(delta) < 1 << 63 else unknown


def _put_totals(summaries: Summaries, totals: Mapping[str, _Total]) -> Summaries:
    """Put what was found out of the totals into the row of Total, too."""
    [place] = summaries.find(_TOTAL)
    figures, row = summaries.figures, int(place)
    before, after, deltas = dict(figures.before), dict(figures.after), dict(figures.deltas)
    partial = tuple({name: side.copy() for name, side in each.items()} for each in summaries.partial)
    for name, total in totals.items():
        before[name], after[name] = _set(before[name], row, total.a), _set(after[name], row, total.b)
        values, known = deltas[name].values.copy(), deltas[name].known.copy()
        values[row], known[row] = total.delta or 0, total.delta is not None
        deltas[name] = Deltas(values, known)
        for each in partial:
            each[name][row] |= bool(total.left_out)
    return Summaries(summaries.types, Figures(before, after, deltas), (partial[0], partial[1]), totals)


def _set(numbers: Numbers, row: int, value: int | None) -> Numbers:
    values, known = numbers.values.copy(), numbers.is_known.copy()
    values[row], known[row] = value or 0, value is not None
    return Numbers(values, known)


def _find_partial(summary: RawColumns, name: str) -> Bools:
    return summary.text("partial").match(lambda names: name in names.split(", "))


def diff_outside(summaries: Summaries) -> pa.Table:
    """Return rows (diffs.schema.DIFF_ROWS) for what is in the total and in no region, where it changed."""
    rows = summaries.find(*OUTSIDE)
    figures = summaries.figures.take(rows)
    everywhere = np.ones(len(rows), np.bool_)
    words = choose_words(everywhere, everywhere, figures, ~everywhere)
    unknown = name_masks(find_unknown(figures, METRICS))
    kept = np.flatnonzero((words != WORDS.index(SAME)) | ~unknown.is_null)
    types = pa.array([OUTSIDE[row] for row in kept], pa.string())
    told = {
        "word": Text(words[kept], WORDS),
        "match": Text.repeat("summary", len(kept)),
        "confidence": Text.repeat("high", len(kept)),
        "rows": np.ones(len(kept), np.uint64),
        "type_a": types,
        "type_b": types,
        "unknown": unknown.take(kept),
    }
    return build_table(DIFF_ROWS, {**told, **to_columns(figures.take(kept))}, len(kept))


def forget_types(summaries: Summaries) -> Summaries:
    """Make the deltas of types unknown: the two sides tell types by other facts."""
    rows = np.setdiff1d(summaries.find_parts(), summaries.find(*OUTSIDE))
    deltas = {name: _forget(each, rows) for name, each in summaries.figures.deltas.items()}
    return replace(summaries, figures=replace(summaries.figures, deltas=deltas))


def _forget(deltas: Deltas, rows: Rows) -> Deltas:
    known = deltas.known.copy()
    known[rows] = False
    return Deltas(deltas.values * known, known)


def diff_types(summaries: Summaries) -> pa.Table:
    """Return the summaries row by row (columns of diffs.schema.DIFF_TYPES)."""
    figures = summaries.figures
    columns: dict[str, object] = {"type": summaries.types, **to_columns(figures)}
    for name in _MORE:
        columns[f"{name}_a"], columns[f"{name}_b"] = figures.before[name], figures.after[name]
        columns[f"{name}_delta"] = to_signed(figures.deltas[name])
    for side, partial in zip("ab", summaries.partial, strict=True):
        columns[f"partial_{side}"] = name_masks(partial)
    columns["unknown"] = name_masks(find_unknown(figures, METRICS))
    return build_table(DIFF_TYPES, columns, len(summaries.types))


def diff_totals(summaries: Summaries, pair: Pair) -> pa.Table:
    """Return one row a metric (columns of diffs.schema.DIFF_TOTALS), with the reasons of what is unknown."""
    [place] = summaries.find(_TOTAL)
    growth = diff_types(summaries).column("note")[place].as_py()
    rows = []
    for name, total in summaries.totals.items():
        reasons = [f"without {type_}, which {side} does not tell" for type_, side in total.left_out.items()]
        if total.delta is None:
            reasons += [f"not all known: {', '.join(total.lacking)}"] if total.lacking else []
            reasons += _explain(*pair, name)
        reasons += [growth] if name == "total_ws" and growth else []
        partial = [
            bool(side[name][place]) and total[at] is not None for at, side in enumerate(summaries.partial)
        ]
        figures = (total.a, total.b, total.delta)
        rows.append((name, *figures, *partial, any(partial), "; ".join(reasons) or None))
    columns = zip(*rows, strict=True)
    return build_table(
        DIFF_TOTALS, {f.name: [*column] for f, column in zip(DIFF_TOTALS, columns, strict=True)}, len(rows)
    )


def _explain(a: LoadedSnapshot, b: LoadedSnapshot, name: str) -> list[str]:
    """Say why a figure is not known, side by side, as the capability tables have it."""
    reasons = []
    for side, snapshot, other in (("a", a, b), ("b", b, a)):
        if name in list_estimates(snapshot.regions, other.regions):
            reasons.append(f"in {side} only estimated")
        if (reason := find_extent(snapshot).reason) is not None:
            reasons.append(f"in {side}: {reason}")
        found = [row for row in snapshot.stated_capability if row.item == f"regions.{name}"]
        reasons += [f"in {side} {row.state}: {row.reason or 'no reason given'}" for row in found]
    return reasons
