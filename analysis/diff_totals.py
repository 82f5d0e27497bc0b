"""The two summaries side by side: totals, types, and the parts of a total that are no regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text
from mmpscope.analysis.diff_notes import CLEAN
from mmpscope.analysis.diff_rows import (
    WORDS,
    Figures,
    choose_words,
    find_unknown,
    name_masks,
    to_columns,
    to_signed,
)
from mmpscope.analysis.diff_schema import DIFF_ROWS, DIFF_TOTALS, DIFF_TYPES, METRICS, SAME
from mmpscope.analysis.diff_sides import OUTSIDE, list_estimates
from mmpscope.analysis.exact_sums import Deltas, subtract, sum_deltas
from mmpscope.analysis.extent import ALL, NOTHING, find_extent
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "Summaries",
    "compare_summaries",
    "diff_outside",
    "diff_totals",
    "diff_types",
    "forget_total",
    "forget_types",
    "put_stated_total",
    "put_total",
]

_MORE = ("blocks", "allocations", "largest")
_TOTAL, _FREE = "Total", "Free"
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Summaries:
    """Two summaries, row by row: every figure before and after, what changed, what is left out."""

    types: list[str]
    figures: Figures
    partial: Mapping[str, Bools]

    def find(self, *types: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rows of some types."""
        return np.array([self.types.index(name) for name in types])

    def find_parts(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the rows that Total is the sum of."""
        return self.find(*(name for name in self.types if name not in (_TOTAL, _FREE)))


def compare_summaries(before: pa.Table, after: pa.Table) -> Summaries:
    """Subtract one summary (schema.SUMMARY) from another.

    A delta is unknown where either side leaves something out: what was not counted before is no growth.
    """
    types: list[str] = before.column("type").to_pylist()
    places = {name: place for place, name in enumerate(after.column("type").to_pylist())}
    a, b = RawColumns(before), RawColumns(after.take([places[name] for name in types]))
    partial = {name: _find_partial(a, name) | _find_partial(b, name) for name in (*METRICS, *_MORE)}
    one, two = ({name: side.numbers(name) for name in partial} for side in (a, b))
    one[CLEAN] = two[CLEAN] = Numbers.unknown(len(types))
    deltas = {name: subtract(two[name].only(~left_out), one[name]) for name, left_out in partial.items()}
    deltas[CLEAN] = subtract(two[CLEAN], one[CLEAN])
    return Summaries(types, Figures(one, two, deltas), partial)


def _find_partial(summary: RawColumns, name: str) -> Bools:
    return summary.text("partial").match(lambda names: name in names.split(", "))


def diff_outside(summaries: Summaries) -> pa.Table:
    """Return rows (diff_schema.DIFF_ROWS) for what is in the total and in no region, where it changed."""
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


def put_stated_total(summaries: Summaries) -> Summaries:
    """Set the deltas of Total to the difference of the totals that sources state, or sum up of all regions.

    Page Table and Unusable count as far as both sides know them: a total of resident pages by the kernel has
    neither.
    """
    [place] = summaries.find(_TOTAL)
    figures, deltas = summaries.figures, dict(summaries.figures.deltas)
    for name in METRICS:
        change = _subtract_totals(summaries, name, summaries.find(*OUTSIDE))
        deltas[name] = _set(deltas[name], int(place), change)
    return replace(summaries, figures=replace(figures, deltas=deltas))


def _subtract_totals(summaries: Summaries, name: str, outside: Rows) -> int | None:
    [place] = summaries.find(_TOTAL)
    sides = (summaries.figures.before[name], summaries.figures.after[name])
    parts = [side.take(outside) for side in sides]
    is_whole = all(part.known is None or part.known.all() for part in parts)
    others = np.setdiff1d(summaries.find_parts(), outside)
    left_out = summaries.partial[name][others].any() or (summaries.partial[name][place] and is_whole)
    if left_out or not all(side.is_known[place] for side in sides):
        return None
    before, after = (
        int(side.values[place]) - sum(part.values.tolist()) for side, part in zip(sides, parts, strict=True)
    )
    delta = after - before + sum_deltas(summaries.figures.deltas[name].take(outside))
    return delta if abs(delta) <= _MOST else None


def forget_total(summaries: Summaries) -> Summaries:
    """Make the deltas of Total unknown: a side sums up only what it happens to list."""
    place = summaries.find(_TOTAL)
    deltas = {name: _forget(each, place) for name, each in summaries.figures.deltas.items()}
    return replace(summaries, figures=replace(summaries.figures, deltas=deltas))


def forget_types(summaries: Summaries) -> Summaries:
    """Make the deltas of types unknown: the two sides tell types by other facts."""
    rows = np.setdiff1d(summaries.find_parts(), summaries.find(*OUTSIDE))
    deltas = {name: _forget(each, rows) for name, each in summaries.figures.deltas.items()}
    return replace(summaries, figures=replace(summaries.figures, deltas=deltas))


def _forget(deltas: Deltas, rows: Rows) -> Deltas:
    known = deltas.known.copy()
    known[rows] = False
    return Deltas(deltas.values * known, known)


def put_total(summaries: Summaries, rows: pa.Table | None) -> Summaries:
    """Set the deltas of Total to the sum over the rows of a diff, or where there are none over the types.

    So they cover what both sides know, and where both know all they are the difference of the totals.
    """
    [place] = summaries.find(_TOTAL)
    figures, deltas = summaries.figures, dict(summaries.figures.deltas)
    for name in METRICS:
        each = deltas[name].take(summaries.find_parts()) if rows is None else _read_deltas(rows, name)
        total = sum_deltas(each)
        is_told = all(side[name].is_known[place] for side in (figures.before, figures.after))
        deltas[name] = _set(deltas[name], int(place), total if is_told and abs(total) <= _MOST else None)
    return replace(summaries, figures=replace(figures, deltas=deltas))


def _read_deltas(rows: pa.Table, name: str) -> Deltas:
    column = rows.column(f"{name}_delta")
    return Deltas(column.fill_null(0).to_numpy(), column.is_valid().to_numpy())


def _set(deltas: Deltas, place: int, value: int | None) -> Deltas:
    values, known = deltas.values.copy(), deltas.known.copy()
    values[place], known[place] = value or 0, value is not None
    return Deltas(values, known)


def diff_types(summaries: Summaries) -> pa.Table:
    """Return the summaries row by row (columns of diff_schema.DIFF_TYPES)."""
    figures = summaries.figures
    columns: dict[str, object] = {"type": summaries.types, **to_columns(figures)}
    for name in _MORE:
        columns[f"{name}_a"], columns[f"{name}_b"] = figures.before[name], figures.after[name]
        columns[f"{name}_delta"] = to_signed(figures.deltas[name])
    columns["unknown"] = name_masks(find_unknown(figures, METRICS))
    return build_table(DIFF_TYPES, columns, len(summaries.types))


def diff_totals(summaries: Summaries, a: LoadedSnapshot, b: LoadedSnapshot, compared: str = ALL) -> pa.Table:
    """Return one row a metric (columns of diff_schema.DIFF_TOTALS), with the reasons of what is unknown.

    ``compared`` tells which totals these are, as diff_scope.Scope does.
    """
    [place] = summaries.find(_TOTAL)
    growth = diff_types(summaries).column("note")[place].as_py()
    rows = []
    for name in METRICS:
        before, after = (
            numbers[name].to_arrow()[place].as_py()
            for numbers in (summaries.figures.before, summaries.figures.after)
        )
        delta = to_signed(summaries.figures.deltas[name])[place].as_py()
        left_out = _list_left_out(summaries, name, compared)
        reasons = [f"not all known: {', '.join(left_out)}"] if left_out else []
        reasons += _explain(a, b, name) if left_out or None in (before, after, delta) else []
        reasons += [growth] if name == "total_ws" and growth else []
        rows.append((name, before, after, delta, bool(left_out), "; ".join(reasons) or None))
    columns = zip(*rows, strict=True)
    return build_table(
        DIFF_TOTALS, {f.name: [*column] for f, column in zip(DIFF_TOTALS, columns, strict=True)}, len(rows)
    )


def _list_left_out(summaries: Summaries, name: str, compared: str) -> list[str]:
    """List the types of which the delta of Total leaves something out: one side does not know all of them.

    What neither side knows at all, as the page tables of two bare smaps texts, is no part of either total.
    Totals that a source states say nothing of types; they may lack what is in no region.
    """
    if compared not in (ALL, NOTHING):
        return []
    one_side = summaries.figures.before[name].is_known ^ summaries.figures.after[name].is_known
    left_out = one_side | summaries.partial[name]
    return [
        type_ for row, type_ in enumerate(summaries.types) if left_out[row] and type_ not in (_TOTAL, _FREE)
    ]


def _explain(a: LoadedSnapshot, b: LoadedSnapshot, name: str) -> list[str]:
    """Say why a figure is not known, side by side, as the capability tables have it."""
    reasons = []
    for side, snapshot, other in (("a", a, b), ("b", b, a)):
        if name in list_estimates(snapshot.regions, other.regions):
            reasons.append(f"in {side} only estimated")
        if (reason := find_extent(snapshot).reason) is not None:
            reasons.append(f"in {side}: {reason}")
        found = [row for row in snapshot.capability.to_pylist() if row["item"] == f"regions.{name}"]
        reasons += [f"in {side} {row['state']}: {row['reason'] or 'no reason given'}" for row in found]
    return reasons
