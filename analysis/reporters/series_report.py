"""Several snapshots as text and JSON: one column a snapshot, then the comparison of the first and last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.series import Step, put_ends
from mmpscope.analysis.reporters.amounts import show_count, show_kib, show_time
from mmpscope.analysis.reporters.diff_report import TITLES
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table
from mmpscope.analysis.totals import TOTAL

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.reporters.report import Report
    from mmpscope.analysis.reporters.screen import Screen

__all__ = ["add_series"]

_MOST = 8
"""Snapshots that text shows, the ends among them and the others evenly between; -v and JSON have all."""
_FIGURES = ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "swap", "pss")
_WHERE_USED = ("swap", "pss")
_AT_LEAST = "+"

_Changes = Mapping[str, int | None]


def add_series(report: Report, steps: Sequence[Step], result: DiffResult) -> Report:
    """Put several snapshots side by side before the comparison of the first of them with the last."""
    shown = put_ends(steps, result)

    def draw(screen: Screen) -> list[str]:
        return [*_draw(shown, result, screen), "", *report.draw(screen)]

    facts = {"series": [_describe(step, result.metric) for step in shown]}
    return replace(report, draw=draw, facts={**report.facts, **facts})


def _describe(step: Step, metric: str) -> dict[str, object]:
    return {
        "label": step.label,
        "pid": step.pid,
        "name": step.name,
        "time_ns": step.time_ns,
        "mappings": step.mappings,
        "totals": dict(step.totals),
        "partial": sorted(step.partial),
        "types": {type_: {metric: value} for type_, value in step.types.items()},
        "partial_types": sorted(step.partial_types),
    }


def _draw(steps: Sequence[Step], result: DiffResult, screen: Screen) -> list[str]:
    chosen = _choose(len(steps), None if screen.verbose else _MOST)
    numbered = [(at + 1, steps[at]) for at in chosen]
    left = len(steps) - len(chosen)
    more = [f"{left:,} more between them (-v and --json have all)"] if left else []
    deltas = {row["metric"]: row["delta"] for row in result.totals.to_pylist()}
    types = {row["type"]: row[f"{result.metric}_delta"] for row in result.types.to_pylist()}
    types.pop(TOTAL)
    return [
        *_draw_names(numbered, screen),
        *more,
        "",
        *_draw_totals(numbered, deltas, result.metric, screen),
        "",
        *_draw_types(numbered, types, result.metric, screen),
    ]


def _choose(count: int, most: int | None) -> list[int]:
    """Choose evenly from the first to the last."""
    if most is None or count <= most:
        return list(range(count))
    return [place * (count - 1) // (most - 1) for place in range(most)]


def _draw_names(numbered: Sequence[tuple[int, Step]], screen: Screen) -> list[str]:
    names = [f"{step.name or 'unknown process'}{_show_pid(step)}" for _, step in numbered]
    columns = [
        TextColumn("", [str(number) for number, _ in numbered], True),
        TextColumn("Process", [show_name(name) for name in names], False, KEEP, 12),
        TextColumn("Time", [show_time(step.time_ns, fraction=True) for _, step in numbered], False, 5),
        TextColumn("Snapshot", [show_name(step.label) for _, step in numbered], False, KEEP, 24),
    ]
    return render_table(columns, screen)


def _show_pid(step: Step) -> str:
    return "" if step.pid is None else f" (pid {step.pid})"


def _draw_totals(
    numbered: Sequence[tuple[int, Step]], deltas: _Changes, metric: str, screen: Screen
) -> list[str]:
    used = {name for name in _WHERE_USED if deltas[name]}
    names = [
        name
        for name in TITLES
        if name == metric or name in used or (name in _FIGURES and name not in _WHERE_USED)
    ]
    cells = [[_show(step.totals[name], name in step.partial) for name in names] for _, step in numbered]
    counts = [step.mappings for _, step in numbered]
    more = None if counts[0] is None or counts[-1] is None else counts[-1] - counts[0]
    is_counted = any(count is not None for count in counts)
    rows = [TITLES[name].replace("\n", " ") for name in names] + ["Mappings"] * is_counted
    changes = [show_kib(deltas[name], sign=True) for name in names]
    if is_counted:
        cells = [[*column, show_count(count)] for column, count in zip(cells, counts, strict=True)]
        changes.append(show_count(more, sign=True))
    return _draw_table(("Total", rows), numbered, cells, changes, screen)


def _draw_types(
    numbered: Sequence[tuple[int, Step]], deltas: _Changes, metric: str, screen: Screen
) -> list[str]:
    """Write the figure by type, but for types of which there is nothing in any snapshot."""
    names = [name for name in deltas if any(step.types[name] != 0 for _, step in numbered)]
    cells = [[_show(step.types[name], name in step.partial_types) for name in names] for _, step in numbered]
    changes = [show_kib(deltas[name], sign=True) for name in names]
    title = f"{TITLES[metric]} by type".replace("\n", " ")
    return _draw_table((title, names), numbered, cells, changes, screen) if names else []


def _draw_table(
    rows: tuple[str, list[str]],
    numbered: Sequence[tuple[int, Step]],
    cells: Sequence[list[str]],
    changes: list[str],
    screen: Screen,
) -> list[str]:
    """Lay out one column a snapshot; where there is no room, those in the middle go first."""
    last = len(numbered) - 1
    worth = [KEEP if at in (0, last) else abs(2 * at - last) for at in range(len(numbered))]
    columns = [
        TextColumn(*rows),
        *(
            TextColumn(str(number), column, True, value)
            for (number, _), column, value in zip(numbered, cells, worth, strict=True)
        ),
        TextColumn("Change", changes, True),
    ]
    is_partial = any(cell.endswith(_AT_LEAST) for column in cells for cell in column)
    note = f"sizes in KiB; {_AT_LEAST} at least: the rest is not known" if is_partial else "sizes in KiB"
    return render_table(columns, screen, explain_marks(columns, note))


def _show(value: int | None, is_partial: bool) -> str:
    return show_kib(value) + (_AT_LEAST if is_partial and value is not None else "")
