"""VMMap's summary as text: one row a type, Total first, and three bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_count, show_kib
from mmpscope.analysis.reporters.bars import draw_bars
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_head
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["report_summary"]

_FIGURES = (
    ("size", "Size", KEEP),
    ("committed", "Committed", KEEP),
    ("private", "Private", KEEP),
    ("total_ws", "Total\nWS", KEEP),
    ("private_ws", "Private\nWS", 9),
    ("shareable_ws", "Shareable\nWS", 6),
    ("shared_ws", "Shared\nWS", 5),
    ("locked_ws", "Locked\nWS", 3),
)
"""VMMap's columns, and the worth of each where the screen is narrow."""

_MORE = (
    ("swap", "Swap", 4),
    ("lazyfree", "Lazy\nFree", 2),
    ("pss", "PSS", 2),
    ("uss", "USS", 2),
    ("thp", "Huge\nPages", 2),
    ("commit_charge", "Commit\nCharge", 2),
)
"""Columns beyond VMMap's, on request; two of them also where they are not zero, because then they matter."""
_SHOWN_WHEN_USED = {"swap", "lazyfree"}

_BARS = (("Committed", "committed"), ("Private", "private"), ("Working Set", "total_ws"))
_NO_REGIONS = "Page Table"
"""The row of the kernel's own memory, which lies in no region and so has no blocks."""

_AT_LEAST = "+"

Rows = Mapping[str, Sequence[Any]]


def report_summary(snapshot: LoadedSnapshot, table: pa.Table) -> Report:
    """Make the answer of `mmp summary` from the finished table."""
    rows = table.to_pydict()
    facts = {"snapshot": describe_snapshot(snapshot), "capability": describe_capability(snapshot)}

    def draw(screen: Screen) -> list[str]:
        return [*draw_head(snapshot, screen), "", *_draw(rows, screen)]

    return Report("summary", draw, facts, table)


def _draw(rows: Rows, screen: Screen) -> list[str]:
    if rows["size"][0] is None and rows["blocks"][0] is None:
        return ["no figures are known"]
    more = [m for m in _MORE if screen.verbose or (m[0] in _SHOWN_WHEN_USED and any(rows[m[0]]))]
    columns = [
        TextColumn("Type", [str(kind) for kind in rows["type"]]),
        *(
            TextColumn(title, _cells(rows, name, show_kib), True, worth)
            for name, title, worth in (*_FIGURES, *more)
        ),
        TextColumn("Blocks", _cells(rows, "blocks", show_count), True, 8),
        TextColumn("Largest", _cells(rows, "largest", show_kib), True, 7),
    ]
    bars = draw_bars({title: _parts(rows, name) for title, name in _BARS}, screen)
    has_part = any(rows["partial"])
    note = f"sizes in KiB; {_AT_LEAST} at least: the rest is not known" if has_part else "sizes in KiB"
    lines = render_table(columns, screen, explain_marks(columns, note))
    return [*lines, "", *bars] if bars else lines


def _cells(rows: Rows, name: str, show: Callable[[int | None], str]) -> list[str]:
    """Write one figure of each type; what is only the known part of a sum gets a plus."""
    cells = []
    for kind, value, partial in zip(rows["type"], rows[name], rows["partial"], strict=True):
        if value is None and kind == _NO_REGIONS and name in {"blocks", "largest"}:
            cells.append(NOT_APPLICABLE)
        else:
            is_part = value is not None and name in (partial or "").split(", ")
            cells.append(show(value) + (_AT_LEAST if is_part else ""))
    return cells


def _parts(rows: Rows, name: str) -> list[tuple[str, int | None]]:
    """Pick the types that a bar is made of: neither the total nor space that nothing occupies."""
    return [
        (kind, value)
        for kind, value in zip(rows["type"], rows[name], strict=True)
        if kind not in {"Total", "Unusable", "Free"}
    ]
