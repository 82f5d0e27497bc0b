"""How a line of a list falls into cells: separated as in CSV, or by width as in text; told by its heading.

Columns go by their names, wherever they stand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mmpscope.formats.vmmap.protection import PROTECTION
from mmpscope.formats.vmmap.sizes import IN_GROUPS

__all__ = ["CsvLayout", "Layout", "TextLayout", "find_layout", "split_head"]

_LIST = frozenset({"Address", "Type", "Size", "Committed"})
_SUMMARY = frozenset({"Type", "Size", "Committed", "Blocks", "Largest"})
_WORKING_SETS = frozenset({"Total WS", "Private WS"})
"""What tells text of VMMap from what we print ourselves, where these headings take two lines."""
_DELIMITERS = ",;\t"
"""Of VMMap; of a spreadsheet where the comma is the decimal sign; of one that saves "Unicode text"."""
_MOST_COLUMNS = 64
_NAME = re.compile(r"\S+(?: \S+)*")
_WIDE_GAP = re.compile(r"\s{2,}|\t")


class Layout(Protocol):
    """How the lines below one heading fall into cells."""

    @property
    def names(self) -> tuple[str, ...]:
        """The headings, in order."""
        ...

    @property
    def is_list(self) -> bool:
        """Whether these are the columns of the list of regions, not of the summary."""
        ...

    def split(self, line: str) -> list[str]:
        """Return the cells of a line: as many as there are, the first one with the blanks before it."""
        ...


class CsvLayout(NamedTuple):
    """Cells between delimiters, quoted or not."""

    names: tuple[str, ...]
    is_list: bool
    delimiter: str

    def split(self, line: str) -> list[str]:
        """Return the cells; the trailing comma of VMMap's own headings makes none."""
        return _split_csv(line, self.delimiter)


class TextLayout(NamedTuple):
    """Cells below their headings; one that is too wide moves all that follow to the right."""

    names: tuple[str, ...]
    is_list: bool
    starts: tuple[int, ...]

    def split(self, line: str) -> list[str]:
        """Return as many cells as there are headings; what a short line lacks is empty."""
        line = line.rstrip()
        cells, moved = [], 0
        for name, start, end in zip(self.names, self.starts, (*self.starts[1:], None), strict=True):
            if end is None:
                cells.append(line[start + moved :])
                break
            stop = _find_end(line, name, start + moved, end + moved)
            cells.append(line[start + moved : stop])
            moved += stop - (end + moved)
        return cells


_OVERFLOWING = {
    "Address": re.compile(r" *[0-9A-Fa-f]{1,16}"),
    "Type": re.compile(r"[A-Za-z ]+(?:\([A-Za-z ]+\))?"),
    "Protection": PROTECTION,
}
"""What a cell may be that runs into the next one; all else are numbers."""


def _find_end(line: str, name: str, start: int, end: int) -> int:
    """Find where a cell ends: where the next heading begins, unless it is wider.

    A 64-bit process reserves 2 TB for control flow guard: 2,147,483,648 K, 13 characters in a column of 12.
    """
    if end >= len(line) or line[end - 1].isspace() or line[end].isspace():
        return end
    match = _OVERFLOWING.get(name, IN_GROUPS).match(line, start)
    return end if match is None else max(end, match.end())


def find_layout(line: str) -> Layout | None:
    """Tell whether a line is the heading of a list or a summary, and how the lines below it are laid out."""
    if "Size" not in line or "Committed" not in line:
        return None
    for delimiter in _DELIMITERS:
        names = tuple(cell.strip() for cell in _split_csv(line, delimiter))
        if _LIST.issubset(names) or _SUMMARY.issubset(names):
            return CsvLayout(_cut_names(names), _LIST.issubset(names), delimiter)
    found = list(_NAME.finditer(line))[:_MOST_COLUMNS]
    names = tuple(match[0] for match in found)
    if not _WORKING_SETS.issubset(names) or not (_LIST.issubset(names) or _SUMMARY.issubset(names)):
        return None
    starts = (0, *(match.start() for match in found[1:]))
    return TextLayout(names, _LIST.issubset(names), starts)


def _cut_names(names: Sequence[str]) -> tuple[str, ...]:
    """Leave out the nameless columns that a trailing comma or a spreadsheet adds."""
    last = max(place for place, name in enumerate(names) if name)
    return tuple(names[: last + 1][:_MOST_COLUMNS])


def _split_csv(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader((line,), delimiter=delimiter), [])
    except csv.Error:  # a cell of more than 128 KiB; lines are shorter, so a stray NUL or carriage return
        return []


def split_head(line: str) -> list[str]:
    """Split a line above the tables, as ``"PID:","29892"`` or ``PID: 29892``, into its words and the rest."""
    for delimiter in _DELIMITERS:
        cells = [cell.strip() for cell in _split_csv(line, delimiter)]
        if len(cells) > 1 and cells[0].endswith(":"):
            return [cells[0].rstrip(":"), cells[1]]
    label, colon, value = line.partition(":")
    return [label.strip(), value.strip()] if colon else [label.strip()]
