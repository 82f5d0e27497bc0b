"""The list of regions as text: allocations with their sub-blocks, or every region by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN
from mmpscope.analysis.reporters.cells import EMPTY_SPACE, Laid, Shown, lay_out
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_head
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, explain_marks, render_parts
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
    Shown("private", "Private", 9),
    Shown("total_ws", "Total\nWS", 8),
    Shown("private_ws", "Private\nWS", 5),
    Shown("shareable_ws", "Shareable\nWS", 4),
    Shown("shared_ws", "Shared\nWS", 2),
    Shown("locked_ws", "Locked\nWS", 1),
    Shown("blocks", "Blocks", 3),
    Shown("protection", "Prot", 7),
)
"""VMMap's columns in its order, and the worth of each where the screen is narrow: who looks for what grew
reads Private and Total WS first, and Committed takes more room than the rights and seldom differs from Size.
"""

_MORE = (Shown("subtype", "Subtype", 11), Shown("rule", "Rule", 10), Shown("confidence", "Sure", 10))
_DETAILS = Shown("details", "Details", KEEP, 24)


def report_regions(
    snapshot: LoadedSnapshot,
    list_rows: Callable[[], pa.Table],
    nest_rows: Callable[[], pa.Table],
    rest: pa.Table,
) -> Report:
    """Make the answer of `mmp regions`.

    ``list_rows`` makes the rows for machines, ``nest_rows`` those for the eye (with ``level`` 1 for a
    sub-block); ``rest`` is what a limit left out, folded into one row, so that the figures still add up.
    """
    facts = {"snapshot": describe_snapshot(snapshot), "capability": describe_capability(snapshot)}

    def draw(screen: Screen) -> Iterator[str]:
        yield from draw_head(snapshot, screen)
        yield ""
        shown = nest_rows()
        if not shown.num_rows:
            yield "no region fits"
            return
        laid = Laid(partial(_lay_out, screen), shown, rest)
        yield from render_parts(laid.columns, laid, screen, explain_marks(laid.columns, "sizes in KiB"))

    return Report("regions", draw, facts, list_rows)


def _lay_out(screen: Screen, shown: pa.Table, rest: pa.Table | None) -> list[TextColumn]:
    is_nested = "level" in shown.column_names
    wanted = [column for column in _COLUMNS if is_nested or column.name != "blocks"]
    more, told = (_MORE, shown) if screen.verbose else ((), _name_unnamed(shown))
    laid = lay_out(REGIONS, [*wanted, *more, _DETAILS], told, rest)
    kinds = shown["type"].cast("string").to_pylist()
    columns = [_mark_free(column, kinds) for column in laid]
    if not is_nested:
        return columns
    levels = shown["level"].to_pylist()
    return [_mark_parts(column, levels) for column in columns]


def _name_unnamed(shown: pa.Table) -> pa.Table:
    """Let the subtype stand where there are no details, as for an arena, which has no name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [shown[name].cast(pa.string()) for name in ("details", "subtype")]
    return shown.set_column(shown.column_names.index("details"), "details", pc.coalesce(*texts))


def _mark_free(column: TextColumn, kinds: Sequence[str]) -> TextColumn:
    """Tell figures that free space does not have from those that are not known."""
    if UNKNOWN not in column.cells:
        return column
    cells = [
        NOT_APPLICABLE if cell == UNKNOWN and kind in EMPTY_SPACE else cell
        for cell, kind in zip(column.cells, kinds, strict=False)
    ]
    return replace(column, cells=[*cells, *column.cells[len(kinds) :]])


def _mark_parts(column: TextColumn, levels: Sequence[int]) -> TextColumn:
    """Indent sub-blocks under their allocation, of which the rights may be mixed."""
    if column.title not in {"Address", "Blocks", "Prot"}:
        return column
    cells = list(column.cells)
    for row, level in enumerate(levels):
        if level and column.title == "Address":
            cells[row] = f"  {cells[row]}"
        elif level and column.title == "Blocks":
            cells[row] = ""
        elif column.title == "Prot" and "," in cells[row]:
            cells[row] = "mixed"
    return replace(column, cells=cells, right=column.right and column.title != "Address")
