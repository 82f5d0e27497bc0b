"""One region after the other: for text of any form, and for what is odd in it."""

from __future__ import annotations

from collections.abc import Sequence
from re import Match

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
from mmpscope.formats.source import Fault

__all__ = ["BlockReader", "find_header", "starts_block"]


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
    """Reads stretches of a text that begin with a map line, in order, and collects the faults in it."""

    def __init__(self, text: bytes, start: int) -> None:
        self.faults: list[Fault] = []
        self.last_layout = b""
        self._text = text
        self._headers = HeaderReader(HeaderForm(column=_find_path_column(text, start)))
        self._bodies = BodyReader()
        self._counted = (0, 1)
        if text[:start].strip():
            self._note("there is text before the first map line; it is kept as it is", 0)

    @property
    def kinds(self) -> dict[str, Kind]:
        """How each key is printed."""
        return self._bodies.kinds

    @property
    def form(self) -> HeaderForm:
        """The form of the last map line."""
        return self._headers.form

    def read(self, start: int, end: int) -> Segment:
        """Read the blocks from ``start``, which is that of a map line, to ``end``."""
        matches = [match for match in HEADER.finditer(self._text, start, end) if is_header(match)]
        ends = [match.start() for match in matches[1:]] + [end]
        headers, bodies, layouts, raws = [], [], [], []
        for match, stop in zip(matches, ends):
            header, body = parse_header(match), self._bodies.read(self._text[match.end() : stop])
            layout = self._join_layout(match, header, body)
            headers.append(header)
            bodies.append(body)
            layouts.append(layout)
            raws.append(self._text[match.start() : stop] if layout is None else None)
        self.last_layout = bodies[-1].layout or b""
        return _make_segment(headers, bodies, layouts, raws)

    def _join_layout(self, match: Match[bytes], header: Header, body: Body) -> bytes | None:
        """Tell the layout of a block; None, and a fault, where there is none."""
        layout = self._headers.fit(match, header)
        if layout is None:
            self._note("this map line is of an unusual form; its block is kept as text", match.start())
        elif body.layout is None:
            self._note(f"{body.oddity}; its block is kept as text", match.end() + body.odd_at)
        else:
            return layout + body.layout
        return None

    def _note(self, what: str, position: int) -> None:
        counted, line = self._counted
        line += self._text.count(b"\n", counted, position)
        self._counted = (position, line)
        self.faults.append(Fault(what, line=line))


def _find_path_column(text: bytes, start: int) -> int:
    """Tell where paths begin in this text: the first path that stands apart by more than a blank shows it."""
    for match in HEADER.finditer(text, start):
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
