"""Lines of a list that VMMap saved, CSV or text, to rows and totals; damage is noted with its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Facts, Table
from mmpscope.formats.vmmap.layouts import Layout, find_layout, split_head
from mmpscope.formats.vmmap.protection import read_protection
from mmpscope.formats.vmmap.rows import Place, RegionRows, name_extra
from mmpscope.formats.vmmap.sizes import parse_address, parse_count, parse_kib
from mmpscope.formats.vmmap.words import FIGURES, HOLES

__all__ = ["ListParser", "Totals"]

_ROUNDING = 1023
"""Bytes that a size in whole K may be off by."""
_MOST_HEAD_LINES = 1000
_MOST_TOTALS = 1000
_HEADINGS = {"Address", "Type", "Size", "Blocks", "Protection", "Details", *(f.heading for f in FIGURES)}
_LAST = 1 << 64
_DIGITS_64 = 16

Totals = dict[str, dict[str, "int | None"]]
"""VMMap's summary: figures by raw name, of each of its lines by name."""


class ListParser:
    """Takes the lines of one list; ``layout`` is that of the last heading, None above the first.

    ``ends_open`` tells that the last line has no end, as where a text is cut.
    """

    def __init__(self, log: FaultLog) -> None:
        self.log = log
        self.rows = RegionRows(lambda what: log.add(what, line=self._line), _ROUNDING)
        self.process: Facts = {}
        self.totals: Totals = {}
        self.layout: Layout | None = None
        self.lost = 0
        self.ends_open = False
        self._line: int | None = 0
        self._columns: dict[str, int] = {}
        self._extra: list[tuple[str, int]] = []
        self._is_indented = False

    def read(self, lines: Iterable[tuple[int, str, bool]]) -> None:
        """Read all lines; LimitError where there are too many rows."""
        for number, line, is_whole in lines:
            self._line, self.ends_open = number, not is_whole and bool(line.strip())
            layout = find_layout(line)
            if layout is not None:
                self._begin(layout)
            elif self.layout is None:
                self._read_head(line)
            else:
                self._read_cells(self.layout, line, is_whole)
        self._line = None

    def _begin(self, layout: Layout) -> None:
        self.layout = layout
        self._columns = {name: at for at, name in enumerate(layout.names)}
        unknown = [name for name in self._columns if name and name not in _HEADINGS]
        self._extra = [(name_extra(name), self._columns[name]) for name in unknown]

    def _read_head(self, line: str) -> None:
        words = split_head(line) if self._line is not None and self._line <= _MOST_HEAD_LINES else []
        if len(words) < 2 or not words[1]:
            return
        if words[0].casefold() == "process":
            self.process["name"] = words[1]
        elif (
            words[0].casefold() == "pid" and words[1].isascii() and words[1].isdigit() and len(words[1]) < 11
        ):
            self.process["pid"] = int(words[1])

    def _read_cells(self, layout: Layout, line: str, is_whole: bool) -> None:
        cells = layout.split(line)
        if not is_whole and line.strip() and self._is_cut(layout, line, cells):
            self.lose("the text ends within a line")
        elif not any(cell.strip() for cell in cells):
            return
        elif layout.is_list:
            self._read_row(cells)
        else:
            self._read_total(cells)

    def _is_cut(self, layout: Layout, line: str, cells: Sequence[str]) -> bool:
        """Whether the last line, which has no end, lacks a cell, or the quotes that its other cells have."""
        lacks_quotes = line.startswith('"') and (not line.endswith('"') or line.count('"') % 2 == 1)
        return len(cells) < len(layout.names) or lacks_quotes

    def lose(self, what: str) -> None:
        """Note the loss of a row."""
        self.lost += 1
        self.log.add(what, line=self._line, lost="the row")

    def _cell(self, cells: Sequence[str], name: str) -> str | None:
        """Return a cell; None where the list has no such column, or the line does not reach so far."""
        at = self._columns.get(name)
        return None if at is None or at >= len(cells) else cells[at]

    def _read_row(self, cells: Sequence[str]) -> None:
        shown = self._cell(cells, "Address") or ""
        address, size = parse_address(shown), parse_kib(self._cell(cells, "Size") or "")
        if address is None:
            return self.lose("a row has no address")
        if not size:
            return self.lose("a row has no size, or one that is no number of K")
        if address + size > _LAST:
            return self.lose("a row ends beyond the last address")
        if len(cells) < len(self._columns):
            self.log.add("a line has fewer cells than its heading", line=self._line)
        kind = (self._cell(cells, "Type") or "").strip() or None
        place = Place(address, size, kind, None if kind in HOLES else self._find_part(shown))
        if len(shown.strip()) == _DIGITS_64:
            self.process["bits"] = 64
        extra = {name: cells[at] for name, at in self._extra if at < len(cells) and cells[at]}
        numbers = (*self._read_figures(cells), *self._read_counts(cells, extra), None, None, None)
        self.rows.add(place, numbers, self._cell(cells, "Details"), extra)
        return None

    def _find_part(self, address: str) -> bool | None:
        """Tell a sub-block by its indentation; None in a list that a spreadsheet took all blanks from."""
        if address[:1].isspace():
            self._is_indented = True
            return True
        return False if self._is_indented else None

    def _read_figures(self, cells: Sequence[str]) -> Iterable[int | None]:
        for figure in FIGURES:
            text = self._cell(cells, figure.heading)
            value = None if text is None else parse_kib(text)
            if value is None and text is not None:
                self.log.add(f"{figure.heading} is no number of K", line=self._line)
            yield value

    def _read_counts(self, cells: Sequence[str], extra: dict[str, str]) -> tuple[int | None, int | None]:
        """Read Blocks and Protection; words for it that we do not know are kept in ``extra``."""
        blocks, words = self._cell(cells, "Blocks"), (self._cell(cells, "Protection") or "").strip()
        count = None if blocks is None else parse_count(blocks)
        if count is None and blocks is not None:
            self.log.add("Blocks is no number", line=self._line)
        protection = read_protection(words) if words else None
        if words and protection is None:
            self.log.add("a protection has words that we do not know", line=self._line)
            extra["ProtectionText"] = words
        return count, protection

    def _read_total(self, cells: Sequence[str]) -> None:
        name = (self._cell(cells, "Type") or "").strip()
        if not name or len(self.totals) >= _MOST_TOTALS:
            return
        sizes = {"Size": "Size", **{figure.name: figure.heading for figure in FIGURES}}
        row = {raw: self._read_total_cell(cells, heading) for raw, heading in sizes.items()}
        # Nothing of a type is 0 in all; else an empty cell is a figure that makes no sense there.
        for column, parse in (("Blocks", parse_count), ("Largest", parse_kib)):
            text = self._cell(cells, column)
            row[column] = parse(text) if text and text.strip() else (None if row["Size"] else row["Size"])
        self.totals[name] = row

    def _read_total_cell(self, cells: Sequence[str], heading: str) -> int | None:
        text = self._cell(cells, heading)
        return None if text is None else parse_kib(text)

    def encode_totals(self) -> Table | None:
        """Encode VMMap's summary as the table totals; None where there is none."""
        if not self.totals:
            return None
        names = next(iter(self.totals.values()))
        columns = {"name": Plain("text", [name.encode() for name in self.totals], "utf-8")}
        columns |= {name: Plain("uint", [row[name] for row in self.totals.values()]) for name in names}
        return encode_table(columns, len(self.totals))
