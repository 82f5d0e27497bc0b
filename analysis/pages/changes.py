"""What changed between two snapshots in a sentence: figures and types that moved by a share that matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmpscope.analysis.reporters.amounts import show_size

__all__ = ["NOTHING", "say_of_changes"]

NOTHING = "nothing that it counts changed"
_FIGURES = (
    ("private", "private"),
    ("committed", "committed"),
    ("total_ws", "working set"),
    ("reserved", "reserved"),
)
"""What is told, in this order. Reserved is what has an address and no memory: size - committed."""
_NO_PART = ("Total", "Unusable", "Free")
_LARGE = 10
"""A tenth of the change of committed memory or of the working set matters, whatever its size."""
_USUAL = (1 << 20, 20)
"""So does a change of 1 MiB that is a twentieth of it."""

Row = Mapping[str, Any]


def say_of_changes(types: Sequence[Row]) -> str:
    """Say how private, committed, working set and reserved size changed, and which types most of it is of.

    ``types`` are rows of diffs.schema.DIFF_TYPES, the total first. changes.js says the same on the page.
    """
    if not types:
        return "how it changed is not known"
    total, parts = types[0], [row for row in types if row["type"] not in _NO_PART]
    whole = max(abs(_find_change(total, name) or 0) for name in ("committed", "total_ws"))
    told = [text for name, words in _FIGURES if (text := _tell_figure(name, words, total, parts, whole))]
    known = [name for name, _ in _FIGURES if _find_change(total, name) is not None]
    if not known:
        return "how it changed is not known"
    return ", ".join(told) or NOTHING


def _tell_figure(name: str, words: str, total: Row, parts: Sequence[Row], whole: int) -> str | None:
    """Tell how one figure changed; None where it does not matter.

    Of committed memory, the types are those of which more than the private part moved."""
    change = _find_change(total, name)
    if name == "committed":
        parts = [row for row in parts if _find_change(row, name) != _find_change(row, "private")]
        if not parts and change == _find_change(total, "private"):
            return None
    moved = [(row["type"], found) for row in parts if _matters(found := _find_change(row, name), whole)]
    if change is None or not (moved or _matters(change, whole)):
        return None
    said = f"{words} {_sign(change)}" if change else f"{words} the same"
    moved.sort(key=lambda pair: -abs(pair[1] or 0))
    listed = ", ".join(f"{kind} {_sign(found or 0)}" for kind, found in moved)
    return f"{said} ({listed})" if listed else said


def _find_change(row: Row, name: str) -> int | None:
    if name != "reserved":
        change: int | None = row[f"{name}_delta"]
        return change
    size, committed = row["size_delta"], row["committed_delta"]
    return None if size is None or committed is None else size - committed


def _matters(change: int | None, whole: int) -> bool:
    if not change:
        return False
    least, part = _USUAL
    return abs(change) * _LARGE >= whole or (abs(change) >= least and abs(change) * part >= whole)


def _sign(change: int) -> str:
    return f"{'+' if change > 0 else ''}{show_size(change)}"
