"""Trends as text and JSON: for each process one line that answers, then what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mmpscope.analysis.export import describe_columns
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_count, show_kib, show_size
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.shapes import draw_shape
from mmpscope.analysis.reporters.text_table import TextColumn, explain_marks, render_table
from mmpscope.analysis.reporters.trend_words import (
    describe_process,
    describe_reach,
    name_metric,
    write_headline,
)
from mmpscope.analysis.trends.answer import SHAPE, Row, SeriesTrend, make_table
from mmpscope.analysis.trends.durations import show_interval, show_rate
from mmpscope.analysis.trends.judgement import Verdict
from mmpscope.analysis.trends.recorder import COHORT, COUNT, KIND, LIMIT, TOTAL_SCOPE, TYPE
from mmpscope.analysis.trends.schema import TREND

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["keep_types", "report_trends", "tabulate_trends"]

_WHOLE = 3
"""Processes that text shows in full; the others take a line each."""
_COLOURS = {
    Verdict.GROWING: "31",
    Verdict.SHRINKING: "36",
    Verdict.FLAT: "32",
    Verdict.CANNOT_TELL: "33",
}
_NAMES = ("module", "file", "name", "stack")
_TYPED = (TYPE, COHORT, KIND)
_SUSPECTS = (
    "memory that appears between snapshots and hardly ever goes; Births: ranges of addresses that came, "
    "Size from: what most of them have at least, Born: all of them; sizes in KiB"
)


def report_trends(trends: Sequence[SeriesTrend], types: Sequence[str], limit: int) -> Report:
    """Make the answer of `mmp trend`, of ``types`` or all; text shows ``limit`` rows of a kind (0: all)."""
    chosen = [keep_types(trend, types) for trend in trends]
    facts = {"series": [_describe(trend, number) for number, trend in enumerate(chosen)]}
    most = limit or None

    def draw(screen: Screen) -> list[str]:
        whole = [trend for trend in chosen if len(trend.series.rows) > 1][:_WHOLE] or list(chosen[:1])
        blocks = [_count_verdicts(chosen), *(_draw_series(trend, most, screen) for trend in whole)]
        blocks.append(_draw_others([trend for trend in chosen if trend not in whole], most, screen))
        return [line for block in blocks if block for line in ["", *block]][1:]

    return Report("trend", draw, facts, lambda: tabulate_trends(trends, types))


def tabulate_trends(trends: Sequence[SeriesTrend], types: Sequence[str]) -> pa.Table:
    """Return the rows of trends, of ``types`` or of all: a table of schema.TREND."""
    return describe_columns(make_table([keep_types(trend, types) for trend in trends]), TREND)


def _count_verdicts(trends: Sequence[SeriesTrend]) -> list[str]:
    """Say how many processes have each verdict, where there are several."""
    if len(trends) == 1:
        return []
    counts = Counter(trend.total["verdict"] for trend in trends)
    said = ", ".join(f"{counts[verdict]:,} {verdict.value}" for verdict in Verdict if counts[verdict])
    return [f"{len(trends):,} processes: {said}"]


def keep_types(trend: SeriesTrend, types: Sequence[str]) -> SeriesTrend:
    """Leave out what is of another type, or of none but the total; an empty list keeps all."""
    if not types:
        return trend
    rows = [row for row in trend.rows if row["scope"] == TOTAL_SCOPE or row["type"] in types]
    return replace(trend, rows=tuple(rows))


def _describe(trend: SeriesTrend, number: int) -> dict[str, object]:
    series, identity = trend.series, trend.series.last.identity
    first, last = series.moments[0], series.last
    return {
        "series": number,
        "process": last.name,
        "pid": identity.pid,
        "exe": last.exe,
        "host": last.hostname,
        "boot_id": identity.boot,
        "pid_namespace": identity.pid_namespace,
        "start_time": identity.start_time,
        "identity": "proven" if series.is_proven else "unproven",
        "snapshots": len(series.rows),
        "first": first.label,
        "last": last.label,
        "first_ns": first.time_ns,
        "last_ns": last.time_ns,
        "span_s": series.span_s if series.clock else None,
        "clock": series.clock,
        "metric": trend.metric,
        "verdict": trend.total["verdict"],
        "sentence": write_headline(trend),
        "notes": list(trend.notes),
        "steady": trend.steady,
        "small": trend.small,
    }


def _draw_series(trend: SeriesTrend, most: int | None, screen: Screen) -> list[str]:
    headline, verdict = write_headline(trend), trend.total["verdict"]
    lines = [*_prose(describe_process(trend), screen)]
    answer = _prose(headline, screen)
    lines += [screen.paint(verdict, _COLOURS[verdict]) + answer[0].removeprefix(verdict), *answer[1:]]
    lines += [line for note in trend.notes for line in _prose(note, screen)]
    types = [row for row in trend.rows if row["scope"] in (TOTAL_SCOPE, TYPE) and _is_there(row)]
    lines += _draw_rows(f"{name_metric(trend.metric)} by type", types, None, screen)
    lines += _draw_suspects(trend, most, screen)
    lines += _draw_limits(trend, screen)
    for title, scopes in (("By name", _NAMES), ("By class of size", (COHORT,)), ("Counted", (COUNT,))):
        rows = [row for row in trend.rows if row["scope"] in scopes and _is_worth(row, screen)]
        lines += _draw_rows(title, rows, most, screen)
    return [*lines, *_draw_left_out(trend, screen)]


def _prose(text: str, screen: Screen) -> list[str]:
    return screen.wrap(show_name(text), "    ")


def _is_there(row: Row) -> bool:
    """Whether there is anything of a row: types that a process does not have say nothing."""
    return row["scope"] == TOTAL_SCOPE or bool(row["first"] or row["last"] or row["change"])


def _is_worth(row: Row, screen: Screen) -> bool:
    """Whether a row is shown: one that is flat says nothing, unless all is asked for."""
    return screen.verbose or (row["verdict"] != Verdict.FLAT and bool(row["change"]))


def _draw_rows(title: str, rows: Sequence[Row], most: int | None, screen: Screen) -> list[str]:
    if not rows:
        return []
    shown, rest = rows[:most], rows[len(rows[:most]) :]
    columns = [
        TextColumn(title, [show_name(row["name"]) for row in shown], least=24),
        _lay_out_shapes(shown, screen),
        TextColumn("First", [_show(row, row["first"]) for row in shown], True, 10),
        TextColumn("Last", [_show(row, row["last"]) for row in shown], True, 30),
        TextColumn("Change", [_show(row, row["change"], sign=True) for row in shown], True, 70),
        *_lay_out_slopes(shown),
        TextColumn("Fitted", [row["method"] for row in shown], worth=5),
    ]
    is_bytes = any(row["unit"] == "bytes" for row in shown)
    note = "; ".join(["sizes in KiB"] * is_bytes + ([f"{len(rest):,} more (-n 0 shows all)"] if rest else []))
    return ["", *render_table(columns, screen, explain_marks(columns, note))]


def _lay_out_shapes(rows: Sequence[Row], screen: Screen) -> TextColumn:
    return TextColumn("Over time", [draw_shape(row[SHAPE], screen) for row in rows], worth=40)


def _lay_out_slopes(rows: Sequence[Row]) -> list[TextColumn]:
    return [
        TextColumn("Slope", [_show_slope(row) for row in rows], True),
        TextColumn("95 % interval", [_show_interval(row) for row in rows], True, 50),
        TextColumn("Verdict", [row["verdict"] for row in rows]),
    ]


def _show(row: Row, value: int | None, *, sign: bool = False) -> str:
    return (show_kib if row["unit"] == "bytes" else show_count)(value, sign=sign)


def _show_slope(row: Row) -> str:
    return (
        NOT_APPLICABLE
        if row["slope"] is None
        else show_rate(row["slope"], row["unit"], row["low"], row["high"])
    )


def _show_interval(row: Row) -> str:
    if row["low"] is None or row["slope"] is None:
        return NOT_APPLICABLE
    return show_interval(row["low"], row["high"], row["slope"], row["unit"])


def _draw_suspects(trend: SeriesTrend, most: int | None, screen: Screen) -> list[str]:
    """Show what comes and never goes, by the address space that it takes an hour."""
    suspects = [row for row in trend.rows if row.get("suspect")]
    if not suspects:
        return []
    suspects.sort(key=lambda row: (-row["born"], row["name"]))
    shown = suspects[:most]
    columns = [
        TextColumn("Leak suspects", [show_name(row["name"]) for row in shown], least=24),
        _lay_out_shapes(shown, screen),
        TextColumn("Births", [show_count(row["births"]) for row in shown], True),
        TextColumn("Deaths", [show_count(row["deaths"]) for row in shown], True),
        TextColumn("Size from", [show_size(row["birth_size"]) for row in shown], True, 30),
        TextColumn("Born", [show_kib(row["born"]) for row in shown], True, 40),
        *_lay_out_slopes(shown),
    ]
    left = len(suspects) - len(shown)
    note = "; ".join([_SUSPECTS] + ([f"{left:,} more (-n 0 shows all)"] if left else []))
    return ["", *render_table(columns, screen, note)]


def _draw_limits(trend: SeriesTrend, screen: Screen) -> list[str]:
    rows = [row for row in trend.rows if row["scope"] == LIMIT and row["last"] is not None]
    if not screen.verbose:
        rows = [row for row in rows if row.get("maximum") is not None]
    if not rows:
        return []
    maxima = [row.get("maximum") for row in rows]
    columns = [
        TextColumn("Limit", [row["name"] for row in rows]),
        _lay_out_shapes(rows, screen),
        TextColumn("Used", [_show(row, row["last"]) for row in rows], True),
        TextColumn(
            "At most",
            [
                "unlimited" if value is None else _show(row, value)
                for row, value in zip(rows, maxima, strict=True)
            ],
            True,
        ),
        *_lay_out_slopes(rows),
        TextColumn("Reached in", [_show_reach(row) for row in rows], worth=60),
    ]
    return ["", *render_table(columns, screen, explain_marks(columns, "sizes in KiB"))]


def _show_reach(row: Row) -> str:
    return "" if row.get("reached_h") is None else describe_reach(row).removeprefix("reached in ")


def _draw_left_out(trend: SeriesTrend, screen: Screen) -> list[str]:
    said = []
    if trend.small:
        said.append(f"{trend.small:,} names, cohorts and kinds moved less than these, and were not judged")
    if trend.steady:
        said.append(f"{trend.steady:,}{'' if trend.small else ' names, cohorts and kinds'} never moved")
    return ["", *_prose("; ".join(said), screen)] if said else []


def _draw_others(trends: Sequence[SeriesTrend], most: int | None, screen: Screen) -> list[str]:
    """Write one line for each process beyond the first few."""
    if not trends:
        return []
    shown = trends[:most]
    rows = [trend.total for trend in shown]
    columns = [
        TextColumn("Other processes", [show_name(_name(trend)) for trend in shown], least=20),
        _lay_out_shapes(rows, screen),
        TextColumn("Snapshots", [show_count(len(trend.series.rows)) for trend in shown], True, 40),
        TextColumn("Change", [_show(row, row["change"], sign=True) for row in rows], True, 30),
        *_lay_out_slopes(rows),
    ]
    left = len(trends) - len(shown)
    note = "; ".join(
        [f"{name_metric(shown[0].metric)}, sizes in KiB", "--process PID shows one in full"]
        + ([f"{left:,} more (-n 0 shows all)"] if left else [])
    )
    return render_table(columns, screen, explain_marks(columns, note))


def _name(trend: SeriesTrend) -> str:
    pid = trend.series.last.identity.pid
    return f"{trend.series.last.name or 'unknown process'}{'' if pid is None else f' (pid {pid})'}"
