"""Reading the one map that begins at a line of a text, stretch by stretch, and finding where it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from mmpscope.formats.errors import LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.proc.blocks import BlockReader, Blocks, Oddity, find_header, starts_block
from mmpscope.formats.proc.counters import Kind
from mmpscope.formats.proc.grid import Grid, make_grid
from mmpscope.formats.proc.header import HEADER, is_header, parse_header
from mmpscope.formats.proc.map_order import MapOrder, Span
from mmpscope.formats.proc.segments import Segment
from mmpscope.formats.proc.titles import find_title, is_harmless

__all__ = ["MapText", "read_map", "read_span"]

_FIRST_STRETCH = 1 << 8
_STRETCH = 1 << 18
_SLOW_STRETCH = 1 << 16
"""Bytes of text that are read at once: what the processor's cache holds, and what shows that nothing fits.

A map begins with small stretches: what was read beyond its end is read again.
"""
_GROWTH = 4
_COUNTER = re.compile(rb"[A-Za-z_][\w-]{0,63}:")


class MapText(NamedTuple):
    """One map: its text from ``start`` to ``end``, parsed; ``kinds`` is how each key is printed."""

    start: int
    end: int
    segments: Sequence[Segment]
    oddities: Sequence[Oddity]
    kinds: Mapping[str, Kind]


def read_span(text: bytes, position: int) -> Span:
    """Read what the map line at ``position`` covers."""
    match = HEADER.match(text, position)
    assert match is not None  # stretches begin and end at map lines
    header = parse_header(match)
    return Span(header.start, header.start + header.size, header.path)


def read_map(text: bytes, start: int, *, is_only: bool = False) -> MapText:
    """Read the map that begins with the map line at ``start``, up to where another one begins.

    With ``is_only`` all that follows belongs to it. LimitError where a table cannot hold it.
    """
    return _MapReader(text, start, is_only=is_only).read()


class _MapReader:
    def __init__(self, text: bytes, start: int, *, is_only: bool) -> None:
        self._text = text
        self._start = start
        self._blocks = BlockReader(text, start)
        self._order = None if is_only else MapOrder()
        self._grid: Grid | None = None
        self._size = _FIRST_STRETCH
        self._cells = 0

    def read(self) -> MapText:
        segments: list[Segment] = []
        oddities: list[Oddity] = []
        start, end, is_over = self._start, find_header(self._text, self._start + 1), False
        while start < len(self._text) and not is_over:
            blocks, end, is_over = self._read_stretch(start, end)
            self._count(blocks.segment, start)
            segments.append(blocks.segment)
            oddities += blocks.oddities
            start, end = end, self._find_end(end)
        return MapText(self._start, start, segments, oddities, self._blocks.kinds)

    def _read_stretch(self, start: int, end: int) -> tuple[Blocks, int, bool]:
        """Read the blocks up to ``end``, or to the end of the map; return them, where they end, and which."""
        blocks = self._try_grid(start, end)
        cut = None if self._order is None else self._find_cut(self._order, blocks, start, end)
        if cut is not None and cut != end:
            blocks = self._try_grid(start, cut)
        stop = end if cut is None else cut
        if blocks is None:
            blocks = self._read_blocks(start, stop)
        if cut is None and self._order is not None and blocks.oddities and end == len(self._text):
            cut = self._trim(start, end)
            if cut < end and is_harmless(self._text[cut:]):
                return self._read_blocks(start, cut), cut, True
            cut = None
        return blocks, stop, cut is not None

    def _find_cut(self, order: MapOrder, blocks: Blocks | None, start: int, end: int) -> int | None:
        """Find where the map ends among these blocks, or right behind them; None where it goes on.

        Where they are no grid, which ``blocks`` tells, lines may stand between them.
        """
        title = None if blocks is not None else find_title(self._text, start, end)
        stop = end if title is None else title
        if blocks is None:
            matches = [match for match in HEADER.finditer(self._text, start, stop) if is_header(match)]
            row = order.find_restart([parse_header(match) for match in matches])
            if row is not None:
                return self._trim(start, matches[row].start())
        else:
            columns = blocks.segment.columns
            row = order.find_restart_in(columns["start"], columns["size"], columns["path"])
            if row is not None:
                return self._trim(start, self._find_row(start, end, row))
        is_over = title is not None or (
            end < len(self._text) and order.is_restart(read_span(self._text, end))
        )
        return self._trim(start, stop) if is_over else None

    def _find_row(self, start: int, end: int, row: int) -> int:
        headers = (match for match in HEADER.finditer(self._text, start, end) if is_header(match))
        return next(islice(headers, row, None)).start()

    def _trim(self, start: int, cut: int) -> int:
        """Leave out the lines before ``cut`` that are no map lines or counters: they go with what follows."""
        while True:
            line = self._text.rfind(b"\n", start, cut - 1) + 1
            if line <= start or starts_block(self._text, line) or _COUNTER.match(self._text, line, cut):
                return cut
            cut = line

    def _try_grid(self, start: int, end: int) -> Blocks | None:
        segment = self._grid.read(self._text[start:end], self._blocks.form) if self._grid else None
        return None if segment is None else Blocks(segment)

    def _read_blocks(self, start: int, end: int) -> Blocks:
        blocks = self._blocks.read(start, end)
        self._grid = make_grid(self._blocks.last_layout)
        return blocks

    def _find_end(self, start: int) -> int:
        """Find where the next stretch of whole blocks, from ``start`` on, may end."""
        grid, self._size = self._grid, min(self._size * _GROWTH, _STRETCH)
        if grid is None:
            return find_header(self._text, start + min(self._size, _SLOW_STRETCH))
        if start + self._size >= len(self._text):
            return len(self._text)
        counters = max(start, self._text.rfind(grid.separator, start, start + self._size))
        end = self._text.rfind(b"\n", start, counters) + 1
        if end > start and starts_block(self._text, end):
            return end
        return find_header(self._text, start + self._size)

    def _count(self, segment: Segment, start: int) -> None:
        self._cells += segment.rows * len(segment.columns)
        if self._cells > DEFAULT_LIMITS.table_cells:
            raise LimitError("there are more regions and counters than a table may hold", offset=start)
