"""Many snapshots side by side as text and JSON: rows, groups, outliers with reasons, what was not read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.comparisons.compare import GROUPINGS
from mmpscope.analysis.comparisons.schema import CANNOT_TELL, COMPARE, COMPARE_TABLES, OUTLIER
from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.listing import limit_rows
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_count, show_kib
from mmpscope.analysis.reporters.cells import Shown, lay_out
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.comparisons.answer import Answer

__all__ = ["report_compare"]

Row = dict[str, Any]

_ROWS = 25
"""Rows, groups and reasons that are shown where nobody says how many."""
_REASONS = 3
_FEW = 2
_SEVERAL = 2
_ODD, _OPEN = "*", "?"
_MARKS = {OUTLIER: _ODD, CANNOT_TELL: _OPEN}
_SNAPSHOT = "Snapshot"
_SHOWN = (
    Shown("hostname", "Host", 45, 8),
    Shown("name", "Process", KEEP, 10),
    Shown("pid", "PID", 60),
    Shown("version", "Version", 10, 8),
    Shown("size", "Size", 20),
    Shown("committed", "Committed", 15),
    Shown("private", "Private", 55),
    Shown("total_ws", "Total\nWS", 50),
    Shown("largest_free", "Largest\nfree", 30),
    Shown("external_fragmentation", "External\nfrag.", 25),
    Shown("mappings", "Mappings", 35),
    Shown("threads", "Threads", 12),
    Shown("input", _SNAPSHOT, 58, 30),
)


def report_compare(answer: Answer, limit: int | None) -> Report:
    """Make the answer of `mmp compare`; ``limit`` is for rows of snapshots, and in a text for each list."""
    shown, rest = _limit_snapshots(answer.rows, limit)
    facts: dict[str, object] = {
        "snapshots": answer.compared,
        "earlier": answer.earlier,
        "unreadable": len(answer.errors),
        "by": list(answer.choice.by),
        "metric": answer.choice.metric.name,
        "mads": answer.choice.sensitivity.mads,
        "rows_left_out": rest.num_rows,
        "outliers": list(iterate_rows(describe_columns(answer.outliers, COMPARE_TABLES["outliers"]))),
        "groups": list(iterate_rows(describe_columns(answer.groups, COMPARE_TABLES["groups"]))),
    }

    def draw(screen: Screen) -> list[str]:
        return _draw(answer, _ROWS if limit is None else limit, screen)

    return Report("compare", draw, facts, lambda: shown)


def _limit_snapshots(rows: pa.Table, limit: int | None) -> tuple[pa.Table, pa.Table]:
    """Limit the rows of snapshots; what could not be read follows them whole: nobody asked to lose it."""
    import pyarrow as pa

    shown, rest = limit_rows(rows.filter(rows["error"].is_null()), limit)
    return pa.concat_tables([shown, rows.filter(rows["error"].is_valid())]), rest


def _draw(answer: Answer, limit: int, screen: Screen) -> list[str]:
    table = answer.rows.filter(answer.rows["error"].is_null())
    parts = [
        screen.wrap(_tell_counts(answer, table)),
        _draw_rows(table, limit, screen),
        _draw_groups(answer, limit, screen),
        _draw_reasons(table, limit, screen),
        _draw_errors(answer, limit, screen),
    ]
    return [line for part in parts if part for line in ("", *part)][1:]


def _tell_counts(answer: Answer, table: pa.Table) -> str:
    verdicts = table["verdict"].to_pylist()
    told = [_count(answer.compared, "snapshot")]
    if table.num_rows != answer.compared:
        told.append(f"{table.num_rows:,} shown")
    told.append(_count(verdicts.count(OUTLIER), "outlier"))
    if unknown := verdicts.count(CANNOT_TELL):
        told.append(f"{unknown:,} cannot tell")
    if answer.earlier:
        told.append(f"{answer.earlier:,} others of the same processes left out")
    if answer.errors:
        told.append(f"{_count(len(answer.errors), 'file')} not read")
    return ", ".join(told)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _draw_rows(table: pa.Table, limit: int, screen: Screen) -> list[str]:
    shown, rest = limit_rows(table, limit)
    if not shown.num_rows:
        return []
    marks = [_MARKS.get(verdict, "") for verdict in shown["verdict"].to_pylist()]
    complete = ["" if known else "part" for known in shown["complete"].to_pylist()]
    folder = _find_folder(shown["input"].to_pylist())
    laid = [
        replace(column, cells=[cell.removeprefix(show_name(folder)) for cell in column.cells])
        if column.title == _SNAPSHOT
        else column
        for column in lay_out(COMPARE, _SHOWN, shown)
    ]
    columns = [
        TextColumn("", marks),
        *laid,
        *([TextColumn("Known", complete)] if any(complete) else []),
    ]
    more = [f"{rest.num_rows:,} more (-n 0 shows all)"] if rest.num_rows else []
    odd = [f"{mark} {verdict}" for verdict, mark in _MARKS.items() if mark in marks]
    place = [f"snapshots are in {show_name(folder)}"] if folder else []
    note = "; ".join(["sizes in KiB", *odd, *place, *more])
    return render_table(columns, screen, explain_marks(columns, note))


def _find_folder(names: Sequence[str]) -> str:
    """Return the folder or URI that all of several names begin with, and that tells none apart."""
    if len(names) < _SEVERAL:
        return ""
    common = os.path.commonprefix(names)  # noqa: RUF071  # URIs have no common path; it is cut at a separator
    return common[: max(common.rfind("/"), common.rfind("\\")) + 1]


def _draw_groups(answer: Answer, limit: int, screen: Screen) -> list[str]:
    metric = answer.choice.metric
    rows = [row for row in answer.groups.to_pylist() if row["metric"] == metric.name]
    shown = rows[:limit] if limit else rows
    if not shown:
        return []

    def show(name: str) -> list[str]:
        values = [row[name] for row in shown]
        return [
            NOT_APPLICABLE if v is None else show_kib(v) if metric.unit else show_count(v) for v in values
        ]

    columns = [
        TextColumn(f"{metric.name} by {', '.join(answer.choice.by)}", _read(shown, "group"), least=16),
        TextColumn("Snapshots", [show_count(row["snapshots"]) for row in shown], True),
        *(
            TextColumn(title, show(name), True, worth)
            for name, title, worth in (
                ("min", "Min", 30),
                ("q1", "Q1", 20),
                ("median", "Median", KEEP),
                ("q3", "Q3", 20),
                ("p95", "P95", 40),
                ("max", "Max", 50),
            )
        ),
    ]
    more = "; ".join(_tell_more(rows, shown, "group"))
    return render_table(columns, screen, explain_marks(columns, more))


def _read(rows: Sequence[Row], name: str) -> list[str]:
    return [show_name(row[name]) for row in rows]


def _draw_reasons(table: pa.Table, limit: int, screen: Screen) -> list[str]:
    rows = [row for row in table.to_pylist() if row["verdict"] == OUTLIER]
    shown = rows[:limit] if limit else rows
    lines = [line for row in shown for line in screen.wrap(_tell(row["input"], row["reason"]), "    ")]
    return [*lines, *_tell_more(rows, shown, "outlier"), *_tell_open(table, screen)]


def _tell_open(table: pa.Table, screen: Screen) -> list[str]:
    """Say why snapshots were not judged, the most frequent reasons first."""
    rows = [row for row in table.to_pylist() if row["verdict"] == CANNOT_TELL]
    reasons = Counter(row["reason"] for row in rows)
    told = [
        f"{CANNOT_TELL} ({_name_open(rows, why, count)}): {show_name(why)}"
        for why, count in reasons.most_common(_REASONS)
    ]
    lines = [line for each in told for line in screen.wrap(each, "    ")]
    return [*lines, *_tell_more(list(reasons), told, "reason")]


def _name_open(rows: Sequence[Row], why: str, count: int) -> str:
    """Say how many were not judged for a reason, and of one or two programs also which."""
    names = sorted({GROUPINGS["executable"](row) for row in rows if row["reason"] == why})
    return f"{count:,}: {', '.join(map(show_name, names))}" if len(names) <= _FEW else f"{count:,}"


def _draw_errors(answer: Answer, limit: int, screen: Screen) -> list[str]:
    shown = answer.errors[:limit] if limit else answer.errors
    lines = [line for each in shown for line in screen.wrap(f"not read: {show_name(each.reason)}", "    ")]
    return [*lines, *_tell_more(answer.errors, shown, "file", " not read")]


def _tell(name: str, reason: str) -> str:
    return f"{show_name(name)}: {show_name(reason)}"


def _tell_more(rows: Sequence[object], shown: Sequence[object], what: str, end: str = "") -> list[str]:
    rest = len(rows) - len(shown)
    return [f"{rest:,} more {what}{'' if rest == 1 else 's'}{end}"] if rest else []
