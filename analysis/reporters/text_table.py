"""Plain text tables that fit a width; knows columns of ready strings, and nothing of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN
from mmpscope.analysis.reporters.names import measure_width, shorten_middle
from mmpscope.analysis.reporters.screen import Screen

__all__ = ["KEEP", "TextColumn", "explain_marks", "render_table"]

KEEP = 1_000
"""The worth of a column that is never left out."""

_GAP = "  "
_STUB = 8
"""Columns of the terminal that are left of a name where nothing else can give room."""


@dataclass(frozen=True)
class TextColumn:
    """One column: ``title`` may hold line breaks, the column of least ``worth`` is left out first.

    Cells of a column with ``least`` > 0 may be shortened in the middle, down to that many columns of the
    terminal.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    worth: int = KEEP
    least: int = 0

    @cached_property
    def natural(self) -> int:
        """The width that shows every cell whole."""
        return max(map(measure_width, [*self.title.split("\n"), *self.cells]))

    @property
    def narrowest(self) -> int:
        """The width below which the column is better left out."""
        return min(self.least, self.natural) if self.least else self.natural


def render_table(columns: Sequence[TextColumn], screen: Screen, note: str = "") -> list[str]:
    """Lay the columns out as lines for a screen; the last line holds the note and names the columns that
    did not fit.

    The columns of least worth go first, until the rest fits with its cells shortened as far as they may be;
    what room is left then goes back to the shortened cells.
    """
    kept, width = list(columns), screen.width
    hidden: list[str] = []
    while (
        width is not None and sum(column.narrowest for column in kept) + len(_GAP) * (len(kept) - 1) > width
    ):
        poorest = min(reversed(kept), key=lambda column: column.worth)
        if poorest.worth >= KEEP:
            break
        kept.remove(poorest)
        hidden.append(poorest.title.replace("\n", " "))
    if not kept:  # a table whose rows tell nothing of what is known
        return screen.wrap(note)
    widths = _share_width(kept, width)
    height = max(column.title.count("\n") for column in kept) + 1
    titles = [_pad_title(column.title, height) for column in kept]
    mark = "…" if screen.fine else "..."
    padded = [
        [_pad(text, width, mark, right=column.right) for text in (*title, *column.cells)]
        for title, column, width in zip(titles, kept, widths, strict=True)
    ]
    lines = [_GAP.join(row).rstrip() for row in zip(*padded, strict=True)]
    notes = [note, *([f"no room for: {', '.join(dict.fromkeys(reversed(hidden)))}"] if hidden else [])]
    return lines + screen.wrap("; ".join(filter(None, notes)))


def explain_marks(columns: Sequence[TextColumn], note: str = "") -> str:
    """Explain the marks that stand for a null in these columns, after a note."""
    cells = {cell for column in columns if column.right for cell in column.cells}
    marks = {UNKNOWN: "? not known", NOT_APPLICABLE: "- does not apply"}
    return "; ".join([*filter(None, [note]), *(words for mark, words in marks.items() if mark in cells)])


def _share_width(columns: Sequence[TextColumn], width: int | None) -> list[int]:
    """Take what is too much from the widest column that can give, a character at a time."""
    widths = [column.natural for column in columns]
    if width is None:
        return widths
    for _ in range(sum(widths) + len(_GAP) * (len(columns) - 1) - width):
        givers = [index for index, column in enumerate(columns) if widths[index] > column.narrowest]
        # Columns that are never left out may be too wide together: then names give more than is their least.
        givers = givers or [at for at, column in enumerate(columns) if column.least and widths[at] > _STUB]
        if not givers:
            break
        widths[max(givers, key=widths.__getitem__)] -= 1
    return widths


def _pad_title(title: str, height: int) -> list[str]:
    lines = title.split("\n")
    return [""] * (height - len(lines)) + lines


def _pad(text: str, width: int, mark: str, *, right: bool) -> str:
    if len(text) <= width and text.isascii():  # nearly all cells: a character is a column
        return text.rjust(width) if right else text.ljust(width)
    shown = shorten_middle(text, width, mark)
    pad = " " * (width - measure_width(shown))
    return pad + shown if right else shown + pad
