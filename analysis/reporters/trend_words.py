"""The one line that answers for a process, and its line of identity."""

from __future__ import annotations

from mmpscope.analysis.reporters.amounts import show_count, show_size, show_time
from mmpscope.analysis.reporters.diff_report import TITLES
from mmpscope.analysis.trends.answer import LEAD, Row, SeriesTrend
from mmpscope.analysis.trends.durations import show_duration, show_interval, show_rate
from mmpscope.analysis.trends.judgement import Verdict
from mmpscope.analysis.trends.recorder import LIMIT, TYPE

__all__ = ["describe_process", "describe_reach", "find_binding", "name_metric", "write_headline"]

_MOSTLY = 0.5
"""A type that has this share of the slope is named with it."""
_FOREVER_H = 366 * 24
"""A limit that is farther away than this concerns nobody: the table has it, the answer in a line does not."""


def name_metric(metric: str) -> str:
    """Write a figure as the heads of tables do, as in Private WS."""
    return TITLES[metric].replace("\n", " ")


def describe_process(trend: SeriesTrend) -> str:
    """Say of which process a series is, how many snapshots it has, and over which time."""
    last, count = trend.series.last, len(trend.series.rows)
    pid = "" if last.identity.pid is None else f" (pid {last.identity.pid})"
    where = f" on {last.hostname}" if last.hostname else ""
    many = "1 snapshot" if count == 1 else f"{count:,} snapshots"
    span = f" over {show_duration(trend.series.span_s)}" if trend.series.span_s else ""
    first = trend.series.moments[0]
    since = f" from {show_time(first.time_ns)}" if first.time_ns is not None else ""
    return f"{last.name or 'unknown process'}{pid}{where}, {many}{span}{since}, {first.label}"


def write_headline(trend: SeriesTrend) -> str:
    """Answer in one line: the verdict on the total, how fast, of what, and until when."""
    total, what = trend.total, name_metric(trend.metric)
    if total["verdict"] in (Verdict.GROWING, Verdict.SHRINKING):
        lead = f": {total[LEAD]}, since then" if total[LEAD] else ""
        where = " on the lowest points between drops" if "envelope" in total["method"] else ""
        rate = f"{what}{lead} {_show_slope(total)}{where}{_name_most(trend)}"
        binding = find_binding(trend)
        limit = f"; {binding['name']} {_show_level(binding)} {describe_reach(binding)}" if binding else ""
        return f"{total['verdict']}: {rate}{limit}"
    reason = total["reason"].removeprefix(f"{total['verdict']}: ")
    return f"{total['verdict']}: {what}: {reason}{_name_risen(trend)}"


def _name_risen(trend: SeriesTrend) -> str:
    """Point to another total that rose while this one did not."""
    if trend.risen is None:
        return ""
    name, rise = trend.risen
    return f"; {name_metric(name)} rose by {show_size(rise)} in that time: see --metric {name}"


def _show_slope(row: Row) -> str:
    interval = ""
    if row["low"] is not None:
        interval = f" ({show_interval(row['low'], row['high'], row['slope'], row['unit'])})"
    return f"{show_rate(row['slope'], row['unit'], row['low'], row['high'])}{interval}"


def _show_level(row: Row) -> str:
    """Write the limit of a row."""
    if row["unit"] == "bytes":
        return f"limit {show_size(row['maximum'])}"
    return f"limit {show_count(row['maximum'])}"


def _name_most(trend: SeriesTrend) -> str:
    """Name the type that most of the slope comes from."""
    slope = trend.total["slope"]
    types = [row for row in trend.rows if row["scope"] == TYPE and row["slope"] and row["slope"] * slope > 0]
    most = max(types, key=lambda row: abs(row["slope"]), default=None)
    if most is None or abs(most["slope"]) < _MOSTLY * abs(slope):
        return ""
    return f", mostly {most['name']}"


def find_binding(trend: SeriesTrend) -> Row | None:
    """Return the limit that is reached first as things go; None where none is within a year."""
    reached = [
        row for row in trend.rows if row["scope"] == LIMIT and row.get("reached_h", _FOREVER_H) < _FOREVER_H
    ]
    return min(reached, key=lambda row: row["reached_h"], default=None)


def describe_reach(row: Row) -> str:
    """Say when a limit is reached, with the ends of the interval."""
    if not row["reached_h"]:
        return "is reached"
    first, last = row["reached_low_h"], row["reached_high_h"]
    until = (
        ""
        if first is None
        else f" ({_show_hours(first)} to {'never' if last is None else _show_hours(last)})"
    )
    return f"reached in {_show_hours(row['reached_h'])}{until}"


def _show_hours(hours: float) -> str:
    return show_duration(hours * 3_600)
