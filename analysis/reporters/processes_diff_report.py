"""A comparison of several processes as text and JSON: one row a role, the total last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.capability import tell_redaction
from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES, METRICS, TOTAL_WS
from mmpscope.analysis.diffs.process_unread import count_unread
from mmpscope.analysis.diffs.processes import ProcessesDiff, choose_roles, count_matches
from mmpscope.analysis.diffs.schema import OTHERS
from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.reporters.amounts import show_count, show_kib, show_time
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.diffs.process_sides import ProcessSide
    from mmpscope.analysis.reporters.screen import Screen

__all__ = ["TOTAL_WS_WARNING", "report_processes"]

Row = dict[str, Any]

TOTAL_WS_WARNING = (
    "Total WS counts a shared page once for each process that maps it, so that its sums over processes are "
    "more than the memory they use; --metric pss adds up"
)
_TITLES = {"pss": "PSS", "uss": "USS", "private": "Private", "swap": "Swap", TOTAL_WS: "Total WS"}
_WORTH = {"uss": 30, "private": 20, "swap": 10}
_REASONS = 3
"""Reasons that the text tells, and names in each of them; all reasons in verbose."""


def report_processes(
    result: ProcessesDiff, inputs: tuple[str, str], said: Sequence[str], limit: int, least: int
) -> Report:
    """Make the answer of `mmp diff` for several processes; ``inputs`` are the names of the two sides."""
    listed = choose_roles(result, limit, least)
    facts: dict[str, object] = {
        "a": _describe_side(result.sides[0], inputs[0]),
        "b": _describe_side(result.sides[1], inputs[1]),
        "metric": result.metric,
        "matching": [{"match": how, "roles": count} for how, count in count_matches(result).items()],
        "total": _list(result.total)[0],
    }
    sentences = [*said, _count(result), *([result.metric_reason] if result.metric_reason else [])]

    def draw(screen: Screen) -> list[str]:
        heads = [
            part
            for label, side, name in zip("ab", result.sides, inputs, strict=True)
            for part in screen.wrap(show_name(f"{label}: {_name_side(side)}, {name}"), "    ")
        ]
        lines = [line for sentence in sentences for line in screen.wrap(show_name(sentence))]
        return [*heads, *lines, "", *_draw(result, listed, screen)]

    return Report("diff_processes", draw, facts, lambda: result.roles, _list(listed))


def _list(table: pa.Table) -> list[dict[str, object]]:
    return list(iterate_rows(describe_columns(table, DIFF_PROCESSES)))


def _describe_side(side: ProcessSide, name: str) -> dict[str, object]:
    return {
        "input": name,
        "host": _find_host(side),
        "time_ns": _find_time(side),
        "processes": len(side.members),
        "not_read": len(side.unread) if side.is_listed else None,
        "reason": side.reason,
    }


def _find_host(side: ProcessSide) -> str | None:
    hosts = {show_fact(m.facts.capture.host.get("hostname")) for m in side.members if m.facts is not None}
    return hosts.pop() if len(hosts) == 1 else None


def _find_time(side: ProcessSide) -> int | None:
    times = [get_number(m.facts.moment, "time_ns") for m in side.members if m.facts is not None]
    return max((time for time in times if time is not None), default=None)


def _name_side(side: ProcessSide) -> str:
    count = len(side.members)
    host = f" on {host}" if (host := _find_host(side)) else ""
    unread = count_unread(side.reason, len(side.unread))
    rest = f" ({unread})" if unread else ""
    told = (tell_redaction(m.facts.capture.capability) for m in side.members if m.facts is not None)
    tokens = ", names are tokens" if any(told) else ""
    return f"{count:,} process{'' if count == 1 else 'es'}{host}, {show_time(_find_time(side))}{tokens}{rest}"


def _count(result: ProcessesDiff) -> str:
    counts = count_matches(result)
    total = result.roles.num_rows
    alone = counts.pop(None, 0)
    told = [
        f"{count:,} matched as {how}" if how == "same instance" else f"{count:,} by {how}"
        for how, count in counts.most_common()
    ]
    told += [f"{alone:,} on one side only"] if alone else []
    return f"{total:,} role{'' if total == 1 else 's'} of processes: {', '.join(told)}"


def _draw(result: ProcessesDiff, listed: pa.Table, screen: Screen) -> list[str]:
    rows: list[Row] = [*listed.to_pylist(), *result.total.to_pylist()]
    if result.is_empty:
        rows = rows[-1:]
    lines = ["nothing changed", ""] if result.is_empty else []
    return [*lines, *_draw_rows(rows, result.metric, screen), *_draw_reasons(rows[:-1], screen)]


def _draw_rows(rows: Sequence[Row], metric: str, screen: Screen) -> list[str]:
    more = [
        name
        for name in METRICS
        if name not in (metric, TOTAL_WS) and any(row[f"{name}_delta"] for row in rows)
    ]
    title = _TITLES[metric]
    columns = [
        TextColumn("", [_show_word(row) for row in rows]),
        TextColumn("Process", [_show_process(row) for row in rows], False, KEEP, 12),
        TextColumn("Pid", [_show_pids(row) for row in rows], True, 35),
        TextColumn("Count", [_show_instances(row) for row in rows], True, 40),
        TextColumn(f"{title}\nbefore", [show_kib(row[f"{metric}_a"]) for row in rows], True, 50),
        TextColumn(f"{title}\nafter", [show_kib(row[f"{metric}_b"]) for row in rows], True, 50),
        TextColumn(f"{title}\nchange", [show_kib(row[f"{metric}_delta"], sign=True) for row in rows], True),
        *(
            TextColumn(
                f"{_TITLES[name]}\nchange",
                [show_kib(row[f"{name}_delta"], sign=True) for row in rows],
                True,
                _WORTH.get(name, 15),
            )
            for name in more
        ),
        *_draw_sources(rows, screen),
    ]
    note = rows[-1]["note"]
    lines = render_table(columns, screen, explain_marks(columns, "sizes in KiB"))
    return [*lines, *screen.wrap(f"total {note}" if note else "", "    ")]


def _draw_sources(rows: Sequence[Row], screen: Screen) -> list[TextColumn]:
    """Say how roles were matched, and in verbose what their commands are."""
    matches, commands = [_show_match(row) for row in rows], [show_name(row["command"] or "") for row in rows]
    columns = [TextColumn("Matched by", matches, False, 5)] if any(matches) else []
    return [*columns, *([TextColumn("Command", commands, False, 3, 24)] if screen.verbose else [])]


def _show_word(row: Row) -> str:
    return str(row["word"])


def _show_process(row: Row) -> str:
    if row["name"] is None:
        count = f"{row['rows']:,}"
        return f"({count} more)" if row["word"] == OTHERS else f"{count} role{'' if count == '1' else 's'}"
    return show_name(row["name"])


def _show_pids(row: Row) -> str:
    before, after = row["pid_a"], row["pid_b"]
    if before is None or after is None or before == after:
        return str(after or before or "")
    return f"{before} -> {after}"


def _show_instances(row: Row) -> str:
    """Write how many processes a role had and has, as in 4 -> 6; nothing where it is one at most.

    Sums of rows count those that were read, as the first lines do.
    """
    before, after = row["instances_a"], row["instances_b"]
    if row["name"] is None:
        before, after = before - row["unread_a"], after - row["unread_b"]
    if max(before, after) <= 1 and row["name"] is not None:
        return ""
    if before == after:
        return show_count(before)
    return f"{show_count(before)} -> {show_count(after)}"


def _show_match(row: Row) -> str:
    if row["match"] is None:
        return ""
    doubt = "" if row["confidence"] == "high" else f" ({row['confidence']})"
    return f"{row['match']}{doubt}"


def _draw_reasons(rows: Sequence[Row], screen: Screen) -> list[str]:
    """Say why roles are unknown, each reason once, with the names that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        if row["note"] and row["name"] is not None:
            about.setdefault(row["note"], []).append(row["name"])
    shown = list(about.items())[: None if screen.verbose else _REASONS]
    told = [f"{_name_some(names)}: {note}" for note, names in shown]
    left = len(about) - len(shown)
    lines = [line for sentence in told for line in screen.wrap(show_name(sentence), "    ")]
    return [*lines, *([f"{left:,} more reasons (-v tells them)"] if left else [])]


def _name_some(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _REASONS:,} more" if len(distinct) > _REASONS else ""
    return ", ".join(distinct[:_REASONS]) + more
