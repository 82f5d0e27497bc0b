"""The one sentence that stands out: of a snapshot, of a comparison, of a request for room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from mmpscope.analysis.fit_limits import DOES_NOT_FIT, FITS
from mmpscope.analysis.reporters.amounts import show_count, show_size

__all__ = ["say_of_diff", "say_of_room", "say_of_snapshot"]

_NEAR = 0.9
"""A limit of which this share is used goes before all else."""
_FIGURES = ("private", "private_ws", "total_ws", "committed", "size")
"""What the sentence is about: the first of these that is known."""
_NO_PART = ("Total", "Unusable", "Free")
_NAMES = {
    "private": "private memory",
    "private_ws": "the private working set",
    "total_ws": "the working set",
    "committed": "committed memory",
    "size": "the address space in use",
}


def say_of_snapshot(summary: pa.Table, limits: pa.Table) -> str:
    """Say which limit is near, else what most of the memory is."""
    near = [
        row
        for row in limits.to_pylist()
        if row["used"] is not None and row["maximum"] and row["used"] >= _NEAR * row["maximum"]
    ]
    if near:
        row = max(near, key=lambda row: row["used"] / row["maximum"])
        show = show_size if row["unit"] == "bytes" else show_count
        share = row["used"] * 1000 // row["maximum"] / 10  # 100 % is what is used up, and nothing less
        left = f"{show(row['headroom'])} left of {show(row['maximum'])}"
        return f"{row['limit']} is at {share:.1f}% of its limit: {left}"
    return _name_most(summary.to_pylist())


def _name_most(rows: list[dict[str, Any]]) -> str:
    figure = next((name for name in _FIGURES if rows and rows[0][name]), None)
    if figure is None:
        return "no figure of its memory is known"
    total = rows[0][figure]
    parts = [row for row in rows if row["type"] not in _NO_PART and row[figure]]
    what = f"{_NAMES[figure]} is {show_size(total)}"
    if not parts:
        return what
    most = max(parts, key=lambda row: row[figure])
    said = f"{what}, {most[figure] / total:.0%} of it {most['type']}"
    if most["largest"] and (most["allocations"] or 0) > 1:
        said += f": {most['allocations']:,} allocations, the largest of {show_size(most['largest'])}"
    return said


def say_of_diff(types: pa.Table, metric: str) -> str:
    """Say how the total of a figure changed, and the type that most of it comes from.

    Where that figure did not change, another that did is told beside it.
    """
    rows = types.to_pylist()
    what = _NAMES.get(metric, metric)
    delta = rows[0][f"{metric}_delta"] if rows else None
    if delta:
        return _tell_change(rows, metric)
    said = f"how {what} changed is not known" if delta is None else f"{what} did not change"
    others = (name for name in ("committed", "total_ws", "size") if name != metric)
    moved = next((name for name in others if rows and rows[0][f"{name}_delta"]), None)
    return said if moved is None else f"{said}, but {_tell_change(rows, moved)}"


def say_of_room(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say up to which size one more request would succeed; ``rows`` are those of schema.FITS, by size."""
    fitting = [row["request"] for row in rows if row["outcome"] == FITS]
    other = next((row for row in rows if row["outcome"] != FITS), None)
    said = f"room for one more request of {show_size(max(fitting))}" if fitting else ""
    if other is None:
        return said
    is_told, why = other["outcome"] == DOES_NOT_FIT, f"({other['check']}: {other['reason']})"
    if fitting:
        return f"{said}, {'not' if is_told else 'perhaps not'} of {show_size(other['request'])} {why}"
    if is_told:
        return f"no room for one more request of {show_size(other['request'])} {why}"
    return f"whether there is room for one more request cannot be told {why}"


def _tell_change(rows: list[dict[str, Any]], metric: str) -> str:
    delta, before, after = (rows[0][f"{metric}_{end}"] for end in ("delta", "a", "b"))
    share = f" ({delta / before:+.0%})" if before else ""
    word = "grew" if delta > 0 else "shrank"
    said = f"{_NAMES.get(metric, metric)} {word} by {show_size(abs(delta))}{share}, to {show_size(after)}"
    types = [row for row in rows if row["type"] not in _NO_PART]
    parts = [row for row in types if (row[f"{metric}_delta"] or 0) * delta > 0]
    if not parts:
        return said
    most = max(parts, key=lambda row: abs(row[f"{metric}_delta"]))
    change = most[f"{metric}_delta"]
    return f"{said}; most of it is {most['type']} ({'+' if change > 0 else ''}{show_size(change)})"
