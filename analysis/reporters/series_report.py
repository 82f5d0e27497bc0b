"""Several snapshots as text and JSON: one column a snapshot, then the comparison of the first and last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.series import Step, number_instances
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

_MOST = 12
"""Snapshots that text shows where nothing limits its width; JSON has all."""
_GAP = 2
"""Columns of the terminal between two columns of a table."""
_FIGURES = ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws")
_WHERE_CHANGED = ("shared_ws", "locked_ws", "pss", "swap", "lazyfree", "thp")
_AT_LEAST, _COMMON = "+", "*"

_Changes = Mapping[str, int | None]


def add_series(report: Report, steps: Sequence[Step], result: DiffResult) -> Report:
    """Put several snapshots side by side before the comparison of the first of them with the last."""

    def draw(screen: Screen) -> list[str]:
        return [*_draw(steps, result, screen), "", *report.draw(screen)]

    numbers = number_instances(steps)
    facts = {
        "series": [_describe(*each, result.metric) for each in zip(steps, numbers, strict=True)],
    }
    return replace(report, draw=draw, facts={**report.facts, **facts})


def _describe(step: Step, instance: int | None, metric: str) -> dict[str, object]:
    return {
        "label": step.label,
        "pid": step.pid,
        "name": step.name,
        "time_ns": step.time_ns,
        "instance": instance,
        "mappings": step.mappings,
        "totals": dict(step.totals),
        "partial": sorted(step.partial),
        "types": {type_: {metric: value} for type_, value in step.types.items()},
        "partial_types": sorted(step.partial_types),
    }


def _draw(steps: Sequence[Step], result: DiffResult, screen: Screen) -> list[str]:
    chosen = _choose(len(steps), _count_columns(steps, result, screen))
    numbered = [(at + 1, steps[at]) for at in chosen]
    left = len(steps) - len(chosen)
    told = "{:,} of them have no column (--json has their figures)"
    told = told if screen.verbose else "{:,} more between them (-v names them, --json has their figures)"
    more = [told.format(left)] if left else []
    deltas = {row["metric"]: row["delta"] for row in result.totals.to_pylist()}
    types = {row["type"]: row[f"{result.metric}_delta"] for row in result.types.to_pylist()}
    types.pop(TOTAL, None)
    by_type = _draw_types(numbered, types, result.metric, screen)
    return [
        *_draw_names(steps, range(len(steps)) if screen.verbose else chosen, screen),
        *more,
        "",
        *_draw_totals(numbered, deltas, result, screen),
        *(["", *by_type] if by_type else []),
    ]


def _count_columns(steps: Sequence[Step], result: DiffResult, screen: Screen) -> int:
    """Count the snapshots that fit side by side: both ends at least."""
    if screen.width is None:
        return _MOST
    cells = [_show(value, name in step.partial) for step in steps for name, value in step.totals.items()]
    cells += [
        _show(value, name in step.partial_types) for step in steps for name, value in step.types.items()
    ]
    deltas = [result.totals.column("delta"), result.types.column(f"{result.metric}_delta")]
    changes = [show_kib(delta, sign=True) + _COMMON for each in deltas for delta in each.to_pylist()]
    labels = [_name_types(result.metric), *TITLES.values(), *result.types.column("type").to_pylist()]
    room = screen.width - max(map(len, labels)) - max(map(len, changes)) - _GAP
    return max(2, room // (max(map(len, cells)) + _GAP))


def _name_types(metric: str) -> str:
    return f"{TITLES[metric]} by type".replace("\n", " ")


def _choose(count: int, most: int) -> list[int]:
    """Choose evenly from the first to the last."""
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // (most - 1) for place in range(most)]


def _draw_names(steps: Sequence[Step], chosen: Sequence[int], screen: Screen) -> list[str]:
    numbers = number_instances(steps)
    named = [steps[at] for at in chosen]
    names = [f"{step.name or 'unknown process'}{_show_pid(step)}" for step in named]
    instances = [show_count(numbers[at]) for at in chosen]
    columns = [
        TextColumn("", [str(at + 1) for at in chosen], True),
        TextColumn("Process", [show_name(name) for name in names], False, KEEP, 16),
        *([TextColumn("Instance", instances, True)] if len(set(numbers)) > 1 else []),
        TextColumn("Time", [show_time(step.time_ns, fraction=True) for step in named], False, 5),
        TextColumn("Snapshot", [show_name(step.label) for step in named], False, KEEP, 22),
    ]
    return render_table(columns, screen, explain_marks(columns))


def _show_pid(step: Step) -> str:
    return "" if step.pid is None else f" (pid {step.pid})"


def _draw_totals(
    numbered: Sequence[tuple[int, Step]], deltas: _Changes, result: DiffResult, screen: Screen
) -> list[str]:
    steps = [step for _, step in numbered]
    told = (*_FIGURES, result.metric, *(TITLES if screen.verbose else ()))
    changed = [name for name in _WHERE_CHANGED if len({step.totals[name] for step in steps} - {None}) > 1]
    names = [name for name in TITLES if name in told or name in changed]
    cells = [[_show(step.totals[name], name in step.partial) for name in names] for step in steps]
    rows = [TITLES[name].replace("\n", " ") for name in names]
    ends = [[step.totals[name] for name in names] for step in (steps[0], steps[-1])]
    changes = [_show_change(deltas[name], *end) for name, *end in zip(names, *ends, strict=True)]
    limit = None
    if any(step.mappings is not None for step in steps):
        first, last = steps[0].mappings, steps[-1].mappings
        cells = [[*column, show_count(step.mappings)] for column, step in zip(cells, steps, strict=True)]
        changes.append(show_count(None if first is None or last is None else last - first, sign=True))
        rows, limit = [*rows, "Mappings"], result.map_count[1].limit
    return _draw_table(("Total", rows), numbered, cells, changes, screen, limit)


def _show_change(delta: int | None, first: int | None, last: int | None) -> str:
    """Write a change, with a mark where it is not the difference of what stands there."""
    is_other = delta is not None and first is not None and last is not None and last - first != delta
    return show_kib(delta, sign=True) + _COMMON * is_other


def _draw_types(
    numbered: Sequence[tuple[int, Step]], deltas: _Changes, metric: str, screen: Screen
) -> list[str]:
    """Write the figure by type, but for types of which there is nothing in any snapshot."""
    steps = [step for _, step in numbered]
    names = [name for name in deltas if any(step.types[name] for step in steps)]
    cells = [[_show(step.types[name], name in step.partial_types) for name in names] for step in steps]
    ends = [[step.types[name] for name in names] for step in (steps[0], steps[-1])]
    changes = [_show_change(deltas[name], *end) for name, *end in zip(names, *ends, strict=True)]
    return _draw_table((_name_types(metric), names), numbered, cells, changes, screen) if names else []


def _draw_table(
    rows: tuple[str, list[str]],
    numbered: Sequence[tuple[int, Step]],
    cells: Sequence[list[str]],
    changes: list[str],
    screen: Screen,
    limit: int | None = None,
) -> list[str]:
    """Lay out one column a snapshot, then what changed; ``limit`` is the most mappings that there may be."""
    columns = [
        TextColumn(*rows),
        *(TextColumn(str(number), column, True) for (number, _), column in zip(numbered, cells, strict=True)),
        TextColumn("Change", changes, True),
    ]
    notes = ["sizes in KiB"] if limit is None else ["sizes in KiB", f"at most {limit:,} mappings"]
    if any(cell.endswith(_AT_LEAST) for column in cells for cell in column):
        notes.append(f"{_AT_LEAST} at least: the rest is not known")
    if any(cell.endswith(_COMMON) for cell in changes):
        notes.append(f"{_COMMON} of what the first and the last both know")
    return render_table(columns, screen, explain_marks(columns, "; ".join(notes)))


def _show(value: int | None, is_partial: bool) -> str:
    return show_kib(value) + (_AT_LEAST if is_partial and value is not None else "")
