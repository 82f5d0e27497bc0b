"""Answers as a notebook shows them: a heading, a few sentences and short tables of HTML, every name escaped.

`_repr_html_` of each answer calls one function of this module; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.fit_limits import FITS
from mmpscope.analysis.pages.cells import show_bytes, show_summary_figure
from mmpscope.analysis.pages.tables import make_title
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN, show_address, show_count, show_size
from mmpscope.analysis.reporters.names import shorten_middle, show_name
from mmpscope.analysis.schema import SUMMARY, Field

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.checks.snapshots import CheckResult
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.fit import FitAnswer
    from mmpscope.analysis.fragmentation import Fragmentation
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.trends.answer import SeriesTrend

__all__ = ["show_check", "show_diff", "show_fit", "show_fragmentation", "show_snapshot", "show_trend"]

_MOST = 20
"""Rows of a table that are shown."""
_LONGEST = 100
"""Characters of a cell that are shown."""
_ONE_LINE = 10_000
"""Columns that no sentence of a head has: the browser breaks lines."""
_FIGURES = ("size", "committed", "private", "total_ws")
_DELTAS = tuple(f"{name}_delta" for name in _FIGURES)
_INDICES = ("external", "fragmentation_index")
"""Figures that there are only where something is free, or where no hole holds the request."""
_RIGHT = ' style="text-align: right"'

Row = Mapping[str, Any]


def show_snapshot(snapshot: LoadedSnapshot) -> str:
    """Show what a snapshot is of, its summary, and what is not known."""
    from mmpscope.analysis.reporters.head import draw_head
    from mmpscope.analysis.reporters.screen import Screen
    from mmpscope.analysis.summary import summarize

    fields = _choose(SUMMARY, ("type", *_FIGURES, "private_ws", "blocks", "largest"))
    table = _draw_table(fields, summarize(snapshot).to_pylist(), _show_summary_cell)
    return _join("Snapshot", draw_head(snapshot, Screen(width=_ONE_LINE)), [table])


def show_diff(result: DiffResult) -> str:
    """Show the totals of a comparison, and what changed most."""
    from mmpscope.analysis.diffs.schema import DIFF_ROWS, DIFF_TOTALS

    movers = ("word", "type_b", *_DELTAS, "details_a", "details_b")
    tables = [
        _draw(_choose(DIFF_TOTALS, ("metric", "a", "b", "delta")), result.totals),
        _draw(_choose(DIFF_ROWS, movers), result.movers),
    ]
    return _join(f"What changed most, by {result.metric}", [result.mode_reason], tables)


def show_trend(trend: SeriesTrend) -> str:
    """Show the verdict on a series, and on what it consists of."""
    from mmpscope.analysis.reporters.trend_words import describe_process, write_headline
    from mmpscope.analysis.trends.answer import make_table
    from mmpscope.analysis.trends.schema import TREND

    shown = ("scope", "name", "metric", "unit", "verdict", "slope", "first", "last", "change", "reason")
    table = _draw(_choose(TREND, shown), make_table([trend]))
    return _join(write_headline(trend), [describe_process(trend), *trend.notes], [table])


def show_check(result: CheckResult) -> str:
    """Show the verdict on every budget."""
    from mmpscope.analysis.checks.schema import CHECK

    said = [f"baseline: {', '.join(result.baseline)}"] if result.baseline else []
    return _join(f"Check: {result.outcome}", said, [_draw(CHECK, result.table)])


def show_fit(answer: FitAnswer) -> str:
    """Show whether a request fits, and what each check says."""
    from mmpscope.analysis.free_schema import FIT

    said = [] if answer.address is None else [f"at {show_address(answer.address)}: {answer.placement}"]
    heading = f"A request of {show_size(answer.size)}: {answer.outcome}"
    return _join(heading, [*said, answer.binding.reason], [_draw(FIT, answer.to_table())])


def show_fragmentation(answer: Fragmentation) -> str:
    """Show the figures of each window, and of each request in it."""
    from mmpscope.analysis.free_schema import REQUESTS, WINDOWS

    return _join("Free space", [], [_draw(WINDOWS, answer.windows), _draw(REQUESTS, answer.requests)])


def _choose(fields: Iterable[Field], names: Sequence[str]) -> list[Field]:
    found = {field.name: field for field in fields}
    return [found[name] for name in names]


def _draw(fields: Sequence[Field], table: pa.Table) -> str:
    return _draw_table(fields, table.slice(0, _MOST).to_pylist(), _show_cell, table.num_rows)


def _draw_table(
    fields: Sequence[Field], rows: Sequence[Row], show: Callable[[Field, Row], str], count: int = 0
) -> str:
    """Draw a table, and say how many of its ``count`` rows are not shown."""
    heads = "".join(f"<th{_align(field)}>{escape(make_title(field.name))}</th>" for field in fields)
    body = "".join(
        f"<tr>{''.join(_draw_cell(field, row, show(field, row)) for field in fields)}</tr>" for row in rows
    )
    more = f"<p>{count - len(rows):,} more rows</p>" if count > len(rows) else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def _align(field: Field) -> str:
    return "" if field.type in ("string", "bool") else _RIGHT


def _draw_cell(field: Field, row: Row, shown: str) -> str:
    value = row[field.name]
    is_rounded = isinstance(value, int) and value and _find_unit(field, row) == "bytes"
    exact = f' title="{value:,} bytes"' if is_rounded else ""
    return f"<td{_align(field)}{exact}>{escape(shown)}</td>"


def _find_unit(field: Field, row: Row) -> str:
    """Return the unit of a number: some tables have rows of several, and a column that says which."""
    return field.unit or str(row.get("unit") or "")


def _show_summary_cell(field: Field, row: Row) -> str:
    return _show_cell(field, row) if field.type == "string" else show_summary_figure(row, field.name)


def _show_cell(field: Field, row: Row) -> str:
    """Write a value as tables of reports do; text without what would act instead of being seen."""
    value = row[field.name]
    if field.type == "string":
        return shorten_middle(show_name(value or ""), _LONGEST)
    if value is None:
        return NOT_APPLICABLE if _is_absent(field, row) else UNKNOWN
    if field.type == "bool":
        return "yes" if value else "no"
    is_change = field.name.endswith("delta") or field.name in ("change", "slope")
    return _show_number(value, _find_unit(field, row), is_change=is_change)


def _is_absent(field: Field, row: Row) -> bool:
    """Tell a figure that does not exist from one that is not known: an index, a limit where all fits."""
    return field.name in _INDICES or row.get("outcome") == FITS


def _show_number(value: int | float, unit: str, *, is_change: bool) -> str:
    if isinstance(value, float):
        return f"{value:+,.4g}" if is_change and value else f"{value:,.4g}"
    if unit == "address":
        return show_address(value)
    return show_bytes(value, sign=is_change) if unit == "bytes" else show_count(value, sign=is_change)


def _join(heading: str, said: Iterable[str], tables: Iterable[str]) -> str:
    lines = "".join(f"<p>{escape(show_name(line.strip()))}</p>" for line in said if line.strip())
    return f"<h4>{escape(show_name(heading))}</h4>{lines}{''.join(tables)}"
