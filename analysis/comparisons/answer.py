"""The whole answer of `mmp compare`: what is asked, and the tables that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.bulk.measuring import FileError, Measured
from mmpscope.analysis.comparisons.compare import GROUPINGS, compare_measures, group_measures
from mmpscope.analysis.comparisons.conditions import Condition, keep_rows, parse_condition
from mmpscope.analysis.comparisons.latest import keep_latest
from mmpscope.analysis.comparisons.metrics import METRICS, Metric, choose_metric
from mmpscope.analysis.comparisons.outliers import USUAL_SENSITIVITY, Sensitivity
from mmpscope.analysis.comparisons.schema import COMPARE, OUTLIER
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.listing import sort_rows
from mmpscope.analysis.measures.schema import CAPTURES
from mmpscope.analysis.tables import build_table

__all__ = ["Answer", "Choice", "answer", "choose_by", "choose_figure", "choose_rows"]

_DEFAULT_BY = ("build",)


class Choice(NamedTuple):
    """What is asked: words of compare.GROUPINGS, which rows, in which order, and how far odd is."""

    by: tuple[str, ...] = _DEFAULT_BY
    conditions: tuple[Condition, ...] = ()
    metric: Metric = METRICS[2]
    sort: str | None = None
    only_outliers: bool = False
    sensitivity: Sensitivity = USUAL_SENSITIVITY


@dataclass(frozen=True)
class Answer:
    """``rows`` has schema.COMPARE, what could not be read last; ``compared`` are all snapshots judged."""

    rows: pa.Table
    outliers: pa.Table
    groups: pa.Table
    choice: Choice
    compared: int
    errors: tuple[FileError, ...]
    earlier: int = 0
    """Captures that were left out since a later one of the same process is there."""


def choose_by(words: Sequence[str] | None) -> tuple[str, ...]:
    """Check what snapshots are grouped by; UsageError for an unknown word."""
    for word in words or ():
        if word not in GROUPINGS:
            raise UsageError(f"--by {word!r}: nothing is grouped by that. Give one of {', '.join(GROUPINGS)}")
    return tuple(words or _DEFAULT_BY)


def choose_figure(word: str) -> Metric:
    """Return the figure that groups are told by; UsageError for an unknown one."""
    metric = choose_metric(word)
    if metric is None:
        known = ", ".join(metric.name for metric in METRICS)
        raise UsageError(f"--metric {word!r}: there is no such figure. Give one of {known}")
    return metric


def choose_rows(conditions: Sequence[str] | None) -> tuple[Condition, ...]:
    """Read the conditions that rows must meet; UsageError for one that cannot be meant."""
    return tuple(parse_condition(text, COMPARE) for text in conditions or ())


def answer(measured: Measured, choice: Choice, *, latest: bool = False) -> Answer:
    """Judge all snapshots, then keep the rows that are asked for; UsageError for an unknown column.

    Files that could not be read are rows whatever is asked for. With ``latest`` of each process only the last
    capture counts.
    """
    measures = measured.measures
    taken = keep_latest(measures.captures) if latest else measures.captures
    earlier = measured.earlier + measures.captures.num_rows - taken.num_rows
    compared = compare_measures(replace(measures, captures=taken), choice.sensitivity)
    rows = keep_rows(_order_by_file(compared.rows), choice.conditions)
    captures = rows.select([field.name for field in CAPTURES])
    groups = group_measures(replace(measures, captures=captures), choice.by)
    if choice.only_outliers:
        rows = rows.filter(pc.equal(rows["verdict"], OUTLIER))
    is_shown = pc.is_in(_text(compared.outliers, "input"), _text(rows, "input").combine_chunks())
    return Answer(
        pa.concat_tables([_sort(rows, choice), _list_errors(measured.errors)]).unify_dictionaries(),
        _order_by_file(compared.outliers.filter(is_shown)),
        groups,
        choice,
        compared.rows.num_rows,
        measured.errors,
        earlier,
    )


def _order_by_file(rows: pa.Table) -> pa.Table:
    """Put rows in the order of the names of their files.

    A dataset has them in another than a folder, and rows that are equal in what is sorted by keep theirs.
    """
    files = pc.replace_substring_regex(_text(rows, "input"), r"#\d+$", "")
    return rows.take(pc.sort_indices(pa.table({"file": files}), sort_keys=[("file", "ascending")]))  # stable


def _text(table: pa.Table, column: str) -> pa.ChunkedArray:
    return table[column].cast(pa.string())


def _sort(rows: pa.Table, choice: Choice) -> pa.Table:
    """Sort as asked; else outliers first, and then by the figure, or by private for one of a type."""
    if choice.sort is not None:
        return sort_rows(rows, choice.sort)
    column = choice.metric.column if choice.metric.type is None else "private"
    ordered = sort_rows(rows, column)
    is_odd = pc.equal(ordered["verdict"], OUTLIER)
    return pa.concat_tables([ordered.filter(is_odd), ordered.filter(pc.invert(is_odd))])


def _list_errors(errors: Sequence[FileError]) -> pa.Table:
    columns = {"input": [each.input for each in errors], "error": [each.reason for each in errors]}
    return build_table(COMPARE, columns, len(errors))
