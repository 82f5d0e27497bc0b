"""What one input may cost unless it was chosen: snapshots that are answered for, and rows of their tables.

Time and memory are in proportion to them. A snapshot that was collected has kilobytes, and its rows differ; a
megabyte that holds thousands of snapshots, or a million rows, was made to cost them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mmpscope.formats.errors import LimitError
from mmpscope.formats.mmp.columns import bound_text, measure_text
from mmpscope.formats.model import Capture, Snapshot, Table

if TYPE_CHECKING:
    from mmpscope.analysis.loading import OpenedInput

__all__ = ["COPIED", "LEAST_BYTES", "MEASURED", "MOST_ROWS", "MOST_UNCHOSEN", "bound_rows", "refuse_crowd"]

MOST_UNCHOSEN = 250
"""Snapshots that any input may have."""
LEAST_BYTES = 4096
"""A larger input may have one for each so many bytes: those of ours have 6 KiB and more, packed."""

MOST_ROWS = 150_000
"""Rows that the tables of any input may have. Linux allows a process 65,530 mappings if nobody says else."""
_ROW_BYTES = 7
"""A larger input may have one for each so many bytes: so 1 MiB has as many."""
_NARROW = 64
"""Columns that a row may have; one of more counts as several. Those of smaps are 40."""
_FREE_TEXT, _TEXT_A_ROW = 32 << 20, 512
"""Bytes of text that the rows of a table may have, and how many beyond that count as a row."""
_LAYOUT = "layout"
"""How each row was printed, a kilobyte that no list shows."""
COPIED, MEASURED = 4, 16
"""So many times the rows for what copies each snapshot or keeps a part of it, and for what sums it up."""


def refuse_crowd(opened: OpenedInput) -> None:
    """Refuse an input that stands for more snapshots than its bytes can be of, unless they were chosen.

    LimitError then; the source is closed.
    """
    if opened.choice is not None or opened.size is None:
        return
    most, count = max(MOST_UNCHOSEN, opened.size // LEAST_BYTES), len(opened.chosen)
    if count <= most:
        return
    opened.source.close()
    raise LimitError(
        f"it has {count:,} snapshots, more than the {most:,} that are answered for unasked in so few bytes",
        path=opened.path,
        now=_tell_choice(opened.path, "some", f"0:{most}"),
    )


def _tell_choice(path: str, what: str, numbers: str) -> str:
    """Say how to have the answer all the same; "-#0" would be an option of the command line."""
    name, before = (path, "Choose") if path != "-" else ("FILE", "Save it to a file, and choose")
    return f"{before} {what}, as in {name}#{numbers}, or all of them: {name}#0:"


def bound_rows(opened: OpenedInput, times: int = 1) -> OpenedInput:
    """Return an input whose tables are refused once they have more rows than its bytes can be of.

    One snapshot may have as many as an input, all of them together ``times`` as many: reading a table raises
    LimitError then. An input of which snapshots were chosen stays as it is.
    """
    if opened.choice is not None or opened.size is None:
        return opened
    most = max(MOST_ROWS, opened.size // _ROW_BYTES)
    return opened._replace(watch=_Gate(opened, most, times).watch)


class _Gate:
    """Has the tables of one input counted as they are read."""

    def __init__(self, opened: OpenedInput, most: int, times: int) -> None:
        # Apart from the gate, which holds a capture: tables that know the gate would be a circle, and stay.
        self._count = _Counter(opened, most, times).count
        self._capture: tuple[Capture, Capture] | None = None

    def watch(self, index: int, snapshot: Snapshot) -> Snapshot:
        """Return the same snapshot, whose tables count when they are asked for."""
        if self._capture is None or self._capture[0] is not snapshot.capture:  # which neighbours share
            counted = _CountedTables(snapshot.capture.tables, partial(self._count, index))
            self._capture = snapshot.capture, replace(snapshot.capture, tables=counted)
        tables = _CountedTables(snapshot.tables, partial(self._count, index))
        return replace(snapshot, tables=tables, capture=self._capture[1])


class _Counter:
    """Counts the rows of the tables that are read of one input; what is read again counts once."""

    def __init__(self, opened: OpenedInput, most: int, times: int) -> None:
        self._entries, self._path = opened.source.entries, opened.path
        self._most, self._most_in_all = most, most * times
        self._rows: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self._sum = 0

    def count(self, index: int, name: str, table: Table) -> None:
        """Count one table; LimitError where it is one too many."""
        own = self._rows[index]
        if name in own:
            return
        rows = _weigh(table)
        if sum(own.values()) + rows > self._most or self._sum + rows > self._most_in_all:
            number = self._entries[index].index
            raise LimitError(
                f"the tables up to #{number} have more rows, or text, than are read unasked of so few bytes",
                path=self._path,
                now=_tell_choice(self._path, "it", str(number)),
            )
        own[name] = rows
        self._sum += rows


def _weigh(table: Table) -> int:
    """Return the rows of a table, more where they are wide or have long texts."""
    rows = table.rows * -(-len(table.columns) // _NARROW)
    names = [name for name, column in table.columns.items() if column.type == "text" and name != _LAYOUT]
    if sum(bound_text(table, name) for name in names) <= _FREE_TEXT:
        return rows
    texts = sum(measure_text(table, name) for name in names)
    return rows + max(0, texts - _FREE_TEXT) // _TEXT_A_ROW


class _CountedTables(Mapping[str, Table]):
    """Tables that are counted when they are asked for."""

    def __init__(self, tables: Mapping[str, Table], count: Callable[[str, Table], None]) -> None:
        self._tables = tables
        self._count = count

    def __getitem__(self, name: str) -> Table:
        """Return one table; LimitError where it is one too many, FormatError where its bytes are damaged."""
        table = self._tables[name]
        self._count(name, table)
        return table

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)
