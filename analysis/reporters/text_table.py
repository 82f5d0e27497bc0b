"""Plain text tables that fit a width; knows columns of ready strings, and nothing of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN
from mmpscope.analysis.reporters.names import measure_width, shorten_middle
from mmpscope.analysis.reporters.screen import Screen

__all__ = ["KEEP", "TextColumn", "digest_parts", "explain_marks", "render_parts", "render_table"]

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


def digest_parts(parts: Iterable[Sequence[TextColumn]]) -> list[TextColumn]:
    """Return the columns of a table in parts with few cells: those that decide its widths and its notes."""
    digests: list[TextColumn] = []
    for part in parts:
        digests = digests or [replace(column, cells=[]) for column in part]
        digests = [
            replace(digest, cells=[*dict.fromkeys([*digest.cells, *_digest(column.cells)])])
            for digest, column in zip(digests, part, strict=True)
        ]
    return digests


def _digest(cells: Sequence[str]) -> Iterator[str]:
    """Yield the widest cell, each mark, and one that is none."""
    yield max(cells, key=measure_width, default="")
    yield from (mark for mark in (UNKNOWN, NOT_APPLICABLE) if mark in cells)
    yield next((cell for cell in cells if cell not in {"", UNKNOWN}), "")


def render_table(columns: Sequence[TextColumn], screen: Screen, note: str = "") -> list[str]:
    """Lay the columns out as lines for a screen; the last line holds the note and names the columns that
    did not fit.

    The columns of least worth go first, until the rest fits with its cells shortened as far as they may be;
    what room is left then goes back to the shortened cells.
    """
    return list(render_parts(columns, [columns], screen, note))


def render_parts(
    columns: Sequence[TextColumn], parts: Iterable[Sequence[TextColumn]], screen: Screen, note: str = ""
) -> Iterator[str]:
    """Lay out a long table, a part at a time, as `render_table` does.

    ``columns`` are what `digest_parts` makes of the parts, which have the same columns.
    """
    kept, hidden = _choose_columns(columns, screen.width)
    if kept:  # rows that tell nothing of what is known have none
        chosen = [columns[index] for index in kept]
        widths = _share_width(chosen, screen.width)
        height = max(column.title.count("\n") for column in chosen) + 1
        titles = [(_pad_title(column.title, height), column) for column in chosen]
        yield from _join_rows(titles, widths, screen)
        for part in parts:
            yield from _join_rows([(part[index].cells, part[index]) for index in kept], widths, screen)
    notes = [note, *([f"no room for: {', '.join(dict.fromkeys(hidden))}"] if hidden else [])]
    yield from screen.wrap("; ".join(filter(None, notes)))


def _choose_columns(columns: Sequence[TextColumn], width: int | None) -> tuple[list[int], list[str]]:
    """Return the places of the columns that there is room for, and the titles of the others."""
    kept, hidden = list(range(len(columns))), list[str]()
    while (
        width is not None and sum(columns[at].narrowest for at in kept) + len(_GAP) * (len(kept) - 1) > width
    ):
        poorest = min(reversed(kept), key=lambda at: columns[at].worth)
        if columns[poorest].worth >= KEEP:
            break
        kept.remove(poorest)
        hidden.insert(0, columns[poorest].title.replace("\n", " "))
    return kept, hidden


def _join_rows(
    columns: Sequence[tuple[Sequence[str], TextColumn]], widths: Sequence[int], screen: Screen
) -> Iterator[str]:
    mark = "…" if screen.fine else "..."
    padded = [
        [_pad(cell, width, mark, right=column.right) for cell in cells]
        for (cells, column), width in zip(columns, widths, strict=True)
    ]
    return (_GAP.join(row).rstrip() for row in zip(*padded, strict=True))


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
