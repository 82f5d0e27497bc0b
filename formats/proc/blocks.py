"""One region after the other: for text of any form, and for what is odd in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from re import Match
from typing import NamedTuple

from mmpscope.formats.model import Fact
from mmpscope.formats.proc.counters import Body, BodyReader, Kind
from mmpscope.formats.proc.header import (
    HEADER,
    Header,
    HeaderForm,
    HeaderReader,
    is_header,
    parse_header,
)
from mmpscope.formats.proc.segments import Segment, pack_numbers

__all__ = ["BlockReader", "Blocks", "Oddity", "find_header", "starts_block"]

_LOOKED_AT = 1 << 13
_LINES_LOOKED_AT = 64
"""Bytes and lines of a map in which a path is looked for, to tell where paths begin."""


class Oddity(NamedTuple):
    """A line that does not fit, at ``position`` of the text; ``may_hide``: it may have been a map line."""

    what: str
    position: int
    may_hide: bool


class Blocks(NamedTuple):
    """What was read of a stretch of text, and what is odd in it."""

    segment: Segment
    oddities: Sequence[Oddity] = ()


def starts_block(text: bytes, position: int) -> bool:
    """Whether a line that begins at ``position`` is a map line."""
    match = HEADER.match(text, position)
    return match is not None and is_header(match)


def find_header(text: bytes, position: int) -> int:
    """Find the first line at or after ``position`` that is a map line; the end of the text where none is."""
    for match in HEADER.finditer(text, position):
        if is_header(match):
            return match.start()
    return len(text)


class BlockReader:
    """Reads stretches of a text that begin with a map line; the first of the map is at ``start``."""

    def __init__(self, text: bytes, start: int) -> None:
        self.last_layout = b""
        self._text = text
        self._headers = HeaderReader(HeaderForm(column=_find_path_column(text, start)))
        self._bodies = BodyReader()

    @property
    def kinds(self) -> dict[str, Kind]:
        """How each key is printed."""
        return self._bodies.kinds

    @property
    def form(self) -> HeaderForm:
        """The form of the last map line."""
        return self._headers.form

    def read(self, start: int, end: int) -> Blocks:
        """Read the blocks from ``start``, which is that of a map line, to ``end``."""
        matches = [match for match in HEADER.finditer(self._text, start, end) if is_header(match)]
        ends = [match.start() for match in matches[1:]] + [end]
        headers, bodies, layouts, raws = [], [], [], []
        oddities: list[Oddity] = []
        for match, stop in zip(matches, ends):
            header, body = parse_header(match), self._bodies.read(self._text[match.end() : stop])
            layout = self._join_layout(match, header, body, oddities)
            headers.append(header)
            bodies.append(body)
            layouts.append(layout)
            raws.append(self._text[match.start() : stop] if layout is None else None)
        self.last_layout = bodies[-1].layout or b""
        return Blocks(_make_segment(headers, bodies, layouts, raws), oddities)

    def _join_layout(
        self, match: Match[bytes], header: Header, body: Body, oddities: list[Oddity]
    ) -> bytes | None:
        """Tell the layout of a block; None, and an oddity, where there is none."""
        layout = self._headers.fit(match, header)
        if layout is None:
            what = "this map line is of an unusual form; its block is kept as text"
            oddities.append(Oddity(what, match.start(), body.may_hide))
        elif body.layout is None:
            what = f"{body.oddity}; its block is kept as text"
            oddities.append(Oddity(what, match.end() + body.odd_at, body.may_hide))
        else:
            return layout + body.layout
        return None


def _find_path_column(text: bytes, start: int) -> int:
    """Tell where paths begin in this text: the first path that stands apart by more than a blank shows it."""
    for match in islice(HEADER.finditer(text, start, start + _LOOKED_AT), _LINES_LOOKED_AT):
        if match[13] and len(match[12]) > 1:
            return match.end(12) - match.start()
    return HeaderForm().column


def _make_segment(
    headers: Sequence[Header],
    bodies: Sequence[Body],
    layouts: Sequence[bytes | None],
    raws: Sequence[bytes | None],
) -> Segment:
    columns: dict[str, Sequence[Fact]] = {
        name: values if isinstance(values[0], bytes) or name == "path" else pack_numbers(values)
        for name, values in zip(Header._fields, zip(*headers))
    }
    counters: dict[str, list[Fact]] = {}
    for row, body in enumerate(bodies):
        for key, value in zip(body.keys, body.values):
            counters.setdefault(key, [None] * len(bodies))[row] = value
    for key, values in counters.items():
        columns[key] = values if any(isinstance(value, bytes) for value in values) else pack_numbers(values)
    columns["layout"], columns["raw"] = layouts, raws
    return Segment(len(bodies), columns)
