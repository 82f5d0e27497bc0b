"""VMMap's summary as text: one row a type, Total first, and three bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.extent import ALL, find_extent
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
"""Columns beyond VMMap's, on request as far as the system has them; two also where they are not zero."""
_SHOWN_WHEN_USED = {"swap", "lazyfree"}

_BARS = (("Committed", "committed"), ("Private", "private"), ("Working Set", "total_ws"))
_NO_BLOCKS = {"Page Table": ("blocks", "largest"), "Unusable": ("blocks",)}
"""What rows of no region do not have: memory of the kernel, and what is lost between regions."""

_TOTAL = "Total"
_AT_LEAST = "+"

Rows = Mapping[str, Sequence[Any]]


def report_summary(snapshot: LoadedSnapshot, table: pa.Table) -> Report:
    """Make the answer of `mmp summary` from the finished table."""
    rows = table.to_pydict()
    rows["partial"] = [frozenset((words or "").split(", ")) for words in rows["partial"]]
    capability = describe_capability(snapshot)
    facts = {"snapshot": describe_snapshot(snapshot), "capability": capability}
    strange = {row["item"] for row in capability if row["state"] == "not applicable"}
    left_out = [name for name, _, _ in _MORE if f"regions.{name}" in strange]
    known = {name: values for name, values in rows.items() if name not in left_out}

    is_whole = find_extent(snapshot).shown == ALL

    def draw(screen: Screen) -> list[str]:
        shown = known if is_whole else _leave_out_unknown(known)
        return [*draw_head(snapshot, screen), "", *_draw(shown, screen)]

    return Report("summary", draw, facts, lambda: table)


def _draw(rows: Rows, screen: Screen) -> list[str]:
    if not rows["type"]:
        return ["no figures are known"]
    columns = [
        TextColumn("Type", [str(kind) for kind in rows["type"]]),
        *(
            TextColumn(title, _cells(rows, name, show_kib), True, worth)
            for name, title, worth in _choose_figures(rows, screen)
        ),
        *(
            TextColumn(name.capitalize(), _cells(rows, name, show), True, worth)
            for name, show, worth in (("blocks", show_count, 8), ("largest", show_kib, 7))
            if _is_known(rows, name)
        ),
    ]
    has_part = any(cell.endswith(_AT_LEAST) for column in columns[1:] for cell in column.cells)
    note = f"sizes in KiB; {_AT_LEAST} at least: the rest is not known" if has_part else "sizes in KiB"
    lines = [*render_table(columns, screen, explain_marks(columns, note)), *_explain_untold(rows, screen)]
    bars = draw_bars({title: _parts(rows, name) for title, name in _BARS}, _show_totals(rows), screen)
    return [*lines, "", *bars] if bars else lines


def _explain_untold(rows: Rows, screen: Screen) -> list[str]:
    """Say where the memory of types is that the source cannot tell; nothing is missing for them."""
    kinds = zip(rows["type"], rows["size"], strict=True)
    untold = [kind for kind, size in kinds if size is None and kind not in (_TOTAL, *_NO_BLOCKS)]
    if not untold or rows["size"][0] is None:
        return []
    return screen.wrap(f"{_list_words(untold)}: what no fact tells apart is Private Data")


def _list_words(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _show_totals(rows: Rows) -> dict[str, str]:
    """Write the total behind each bar as the table has it; a source may state more than its parts."""
    return {title: f"{_cells(rows, name, show_kib)[0].removesuffix(_AT_LEAST)} K" for title, name in _BARS}


def _leave_out_unknown(rows: Rows) -> Rows:
    """Leave out the types of which nothing is known: a source of totals has most of them, an excerpt some."""
    names = [name for name in rows if name not in ("type", "partial")]
    kept = [row for row in range(len(rows["type"])) if any(rows[name][row] is not None for name in names)]
    return {name: [values[row] for row in kept] for name, values in rows.items()}


def _choose_figures(rows: Rows, screen: Screen) -> list[tuple[str, str, int]]:
    """Choose the columns: VMMap's, and more on request or where they matter.

    A source of totals alone knows few of them, and it is asked for those: proportional sizes, as a rule. So
    the columns that it does not know give way to the ones that it does.
    """
    if not _is_known(rows, "committed"):
        return [figure for figure in (*_FIGURES, *_MORE) if _is_known(rows, figure[0])]
    asked = [more for more in _MORE if more[0] in rows]
    asked = [more for more in asked if screen.verbose or more[0] in _SHOWN_WHEN_USED]
    more = [figure for figure in asked if rows[figure[0]][0] is not None]
    return [*_FIGURES, *(figure for figure in more if screen.verbose or any(rows[figure[0]]))]


def _is_known(rows: Rows, name: str) -> bool:
    return name in rows and any(value is not None for value in rows[name])


def _cells(rows: Rows, name: str, show: Callable[[int | None], str]) -> list[str]:
    """Write one figure of each type; what is only the known part of a sum gets a plus."""
    cells = []
    for kind, value, partial in zip(rows["type"], rows[name], rows["partial"], strict=True):
        if value is None and name in _NO_BLOCKS.get(kind, ()):
            cells.append(NOT_APPLICABLE)
        else:
            is_part = value is not None and name in partial
            cells.append(show(value) + (_AT_LEAST if is_part else ""))
    return cells


def _parts(rows: Rows, name: str) -> list[tuple[str, int | None]]:
    """Pick the types that a bar is made of: neither the total nor space that nothing occupies.

    Where the total is not known, the zeros of types that the process has nothing of make no bar.
    """
    return [
        (kind, None if rows[name][0] is None else value)
        for kind, value in zip(rows["type"], rows[name], strict=True)
        if kind not in {_TOTAL, "Unusable", "Free"}
    ]
