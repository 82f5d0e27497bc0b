"""The list of regions as text: allocations with their sub-blocks, or every region by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN
from mmpscope.analysis.reporters.cells import Shown, lay_out
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_head
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_table
from mmpscope.analysis.schema import REGIONS

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["report_regions"]

_COLUMNS = (
    Shown("address", "Address"),
    Shown("type", "Type"),
    Shown("size", "Size"),
    Shown("committed", "Committed", 6),
    Shown("private", "Private", 7),
    Shown("total_ws", "Total\nWS", 9),
    Shown("private_ws", "Private\nWS", 5),
    Shown("shareable_ws", "Shareable\nWS", 4),
    Shown("shared_ws", "Shared\nWS", 2),
    Shown("locked_ws", "Locked\nWS", 1),
    Shown("blocks", "Blocks", 3),
    Shown("protection", "Prot", 8),
)
"""VMMap's columns in its order, and the worth of each where the screen is narrow."""

_MORE = (Shown("subtype", "Subtype", 11), Shown("rule", "Rule", 10), Shown("confidence", "Sure", 10))
_DETAILS = Shown("details", "Details", KEEP, 24)
_EMPTY_SPACE = {"Free", "Unusable"}


def report_regions(snapshot: LoadedSnapshot, regions: pa.Table, shown: pa.Table, rest: pa.Table) -> Report:
    """Make the answer of `mmp regions`.

    ``regions`` are the rows for machines, ``shown`` those for the eye (with ``level`` 1 for a sub-block),
    ``rest`` what a limit left out: it is folded into one row, so that the figures still add up.
    """
    facts = {"snapshot": describe_snapshot(snapshot), "capability": describe_capability(snapshot)}

    def draw(screen: Screen) -> list[str]:
        if not shown.num_rows:
            return [*draw_head(snapshot, screen), "", "no region fits"]
        wanted = [*_COLUMNS, *(_MORE if screen.verbose else ()), _DETAILS]
        columns = _mark_rows(lay_out(REGIONS, wanted, shown, rest), shown)
        lines = render_table(columns, screen, explain_marks(columns, "sizes in KiB"))
        return [*draw_head(snapshot, screen), "", *lines]

    return Report("regions", draw, facts, regions)


def _mark_rows(columns: Sequence[TextColumn], shown: pa.Table) -> list[TextColumn]:
    """Indent sub-blocks under their allocation, and tell figures that do not exist from unknown ones."""
    kinds = shown["type"].to_pylist()
    is_part = [level == 1 for level in shown["level"].to_pylist()] if "level" in shown.column_names else []
    marked = []
    for column in columns:
        cells = list(column.cells)
        for row, kind in enumerate(kinds):
            if cells[row] == UNKNOWN and kind in _EMPTY_SPACE:
                cells[row] = NOT_APPLICABLE
        for row, part in enumerate(is_part):
            if part and column.title == "Address":
                cells[row] = "  " + cells[row]
            elif part and column.title == "Blocks":
                cells[row] = ""
        left = column.title == "Address" and any(is_part)
        marked.append(replace(column, cells=cells, right=column.right and not left))
    return marked
