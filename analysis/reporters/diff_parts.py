"""What a comparison tells besides figures, as text: modules, threads, and the largest free block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.diffs.schema import GONE, MOVED, NEW, SHRUNK
from mmpscope.analysis.diffs.snapshots import SAME_MODE
from mmpscope.analysis.reporters.amounts import show_address, show_kib
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, render_table

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.snapshots import DiffResult

__all__ = ["draw_free", "draw_modules", "draw_threads", "pick_side", "show_both"]

Row = dict[str, Any]
Show = Callable[[Sequence[Row]], list[TextColumn]]

_NARROW = 24
_SPOKEN = {
    "Modules": {NEW: "loaded", GONE: "unloaded"},
    "Threads": {NEW: "started", GONE: "ended"},
}
"""What one says of parts that came and went within one instance; JSON has one vocabulary for all rows."""


def draw_modules(result: DiffResult, limit: int, screen: Screen) -> list[list[str]]:
    """List modules; those that only moved are counted, as all of them do where a program started anew."""
    rows = _speak(result, "Modules")
    moved = 0 if screen.verbose else sum(row["word"] == MOVED for row in rows)
    listed = [row for row in rows if row["word"] != MOVED] if moved else rows
    told = f"{moved:,} module{'' if moved == 1 else 's'} at another address (-v lists them)"
    return [_draw_parts("Modules", listed, limit, _show_modules, screen), [told] if moved else []]


def draw_threads(result: DiffResult, limit: int, screen: Screen) -> list[str]:
    """List threads that are not the same."""
    return _draw_parts("Threads", _speak(result, "Threads"), limit, _show_threads, screen)


def _draw_parts(title: str, rows: Sequence[Row], limit: int, show: Show, screen: Screen) -> list[str]:
    """List parts in their order, of more than a limit those whose size changed most."""
    if not rows:
        return []
    by_change = sorted(range(len(rows)), key=lambda at: -abs(rows[at].get("size_delta") or 0))
    shown = [rows[at] for at in sorted(by_change[: limit or None])]
    more = [f"({len(rows) - len(shown):,} more)"] if len(shown) < len(rows) else []
    return [*render_table([TextColumn(title, [row["word"] for row in shown]), *show(shown)], screen), *more]


def _show_modules(rows: Sequence[Row]) -> list[TextColumn]:
    addresses = [show_address(pick_side(row, "address")) for row in rows]
    changes = [show_kib(row["size_delta"], sign=True) for row in rows]
    paths = [show_name(row["path"] or "") for row in rows]
    return [
        TextColumn("Address", addresses, True),
        TextColumn("Size", changes, True),
        TextColumn("Path", paths, False, KEEP, _NARROW),
    ]


def _show_threads(rows: Sequence[Row]) -> list[TextColumn]:
    numbers, names = [str(row["tid"]) for row in rows], [show_both(row, "name") for row in rows]
    return [TextColumn("Thread", numbers, True), TextColumn("Name", names, least=15)]


def _speak(result: DiffResult, title: str) -> list[Row]:
    """Call what came and went within one process as one does; of two, nothing was loaded or ended."""
    rows: list[Row] = getattr(result, title.lower()).to_pylist()
    words = _SPOKEN[title] if result.mode == SAME_MODE else {}
    return [{**row, "word": words.get(row["word"], row["word"])} for row in rows]


def draw_free(result: DiffResult, screen: Screen) -> list[str]:
    """Say what became of the largest free block, where it changed."""
    lines = []
    for row in result.largest_free.to_pylist():
        before, after = show_kib(row["size_a"]), show_kib(row["size_b"])
        if before == after:
            continue
        told = f"; {why}" if (why := _explain_free(row)) else ""
        lines += screen.wrap(
            f"Largest free block: {_show_unit(before)} -> {_show_unit(after)}{show_name(told)}"
        )
    return lines


def _show_unit(shown: str) -> str:
    """Write the unit behind a size in KiB; a size in TiB has its own."""
    return shown if shown.endswith("iB") else f"{shown} KiB"


def _explain_free(row: Row) -> str:
    """Name the regions that did it; of two processes, between which regions the blocks lie."""
    name, did = ("taken_by", "taken by") if row["word"] == SHRUNK else ("given_back_by", "given back by")
    if row[name]:
        return f"{did} {row[name]}"
    sides = [f"in {side} between {row[f'between_{side}']}" for side in "ab" if row[f"between_{side}"]]
    return ", ".join(sides)


def pick_side(row: Row, name: str) -> Any:
    """Take a fact as it is after, of what is gone as it was before."""
    after = row[f"{name}_b"]
    return row[f"{name}_a"] if after is None else after


def show_both(row: Row, name: str) -> str:
    """Write a fact, and what it became."""
    before, after = row[f"{name}_a"], row[f"{name}_b"]
    if before is None or after is None or before == after:
        return show_name(after or before or "")
    return show_name(f"{before} -> {after}")
