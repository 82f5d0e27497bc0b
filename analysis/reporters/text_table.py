"""Plain text tables that fit a width; knows columns of ready strings, and nothing of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mmpscope.analysis.reporters.names import measure_width, shorten_middle

__all__ = ["KEEP", "TextColumn", "render_table"]

KEEP = 1_000
"""The worth of a column that is never left out."""

_GAP = "  "


@dataclass(frozen=True)
class TextColumn:
    """One column: ``title`` may hold line breaks, the column of least ``worth`` is left out first.

    Cells of a column with ``least`` > 0 may be shortened in the middle, down to that many columns of the terminal.
    """

    title: str
    cells: Sequence[str]
    right: bool = False
    worth: int = KEEP
    least: int = 0

    @property
    def natural(self) -> int:
        """The width that shows every cell whole."""
        return max(map(measure_width, [*self.title.split("\n"), *self.cells]))


def render_table(columns: Sequence[TextColumn], width: int | None = None) -> tuple[list[str], list[str]]:
    """Lay the columns out as lines, and name the columns that did not fit.

    ``width`` None means as wide as it takes. First the columns of least worth go, while even shortened cells do not
    fit; then the shortenable column gets what is left.
    """
    kept, hidden = list(columns), []
    natural = {id(column): column.natural for column in columns}
    while width is not None and _needs(kept, natural) > width:
        poorest = min(kept, key=lambda column: column.worth)
        if poorest.worth >= KEEP:
            break
        kept.remove(poorest)
        hidden.append(poorest.title.replace("\n", " "))
    widths = _share_width(kept, natural, width)
    height = max(column.title.count("\n") for column in kept) + 1
    titles = [_pad_title(column.title, height) for column in kept]
    rows = [*zip(*titles, strict=True), *zip(*(column.cells for column in kept), strict=True)]
    return [_join(row, kept, widths) for row in rows], hidden


def _needs(columns: Sequence[TextColumn], natural: dict[int, int]) -> int:
    least = (min(column.least or natural[id(column)], natural[id(column)]) for column in columns)
    return sum(least) + len(_GAP) * (len(columns) - 1)


def _share_width(columns: Sequence[TextColumn], natural: dict[int, int], width: int | None) -> list[int]:
    wanted = [natural[id(column)] for column in columns]
    if width is None:
        return wanted
    excess = sum(wanted) + len(_GAP) * (len(columns) - 1) - width
    for index, column in enumerate(columns):
        if column.least and excess > 0:
            given = min(excess, wanted[index] - min(column.least, wanted[index]))
            wanted[index] -= given
            excess -= given
    return wanted


def _pad_title(title: str, height: int) -> list[str]:
    lines = title.split("\n")
    return [""] * (height - len(lines)) + lines


def _join(row: Sequence[str], columns: Sequence[TextColumn], widths: Sequence[int]) -> str:
    parts = []
    for text, column, width in zip(row, columns, widths, strict=True):
        shown = shorten_middle(text, width)
        pad = " " * (width - measure_width(shown))
        parts.append(pad + shown if column.right else shown + pad)
    return _GAP.join(parts).rstrip()
