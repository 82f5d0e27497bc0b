"""`/proc/PID/smaps` and `/proc/PID/maps` text to a regions table, and back to the very bytes.

Nothing is interpreted: every key is a column under its own name, kB become bytes, everything else stays as printed.
What does not parse is kept as text in the `raw` column and named as a fault; no byte is ever lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from re import Match
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, NotASnapshotError
from mmpscope.formats.mmp.columns import Plain, decode_table, encode_table
from mmpscope.formats.model import Fact, Facts, Table
from mmpscope.formats.proc.counters import REGION_COLUMNS, Body, BodyReader
from mmpscope.formats.proc.header import (
    HEADER,
    KERNEL_PATH_COLUMN,
    Header,
    HeaderReader,
    is_header,
    parse_header,
)
from mmpscope.formats.proc.layout import Layout, compile_layout, render
from mmpscope.formats.proc.source_text import normalize, restore
from mmpscope.formats.source import Fault

__all__ = ["Regions", "parse_smaps", "render_smaps"]

Values = list[Fact]


class Regions(NamedTuple):
    """The regions of one text.

    ``form`` keeps what is odd about the text as a whole and is empty for what a kernel wrote: `before` (bytes before
    the first map line), `newline`, `encoding`. ``faults`` name the lines that did not parse. ``rows`` is 0 where the
    text was empty: a process without an address space (kernel thread, zombie), or without permission to read it.
    """

    columns: dict[str, Plain]
    rows: int
    faults: list[Fault]
    form: Facts

    @property
    def counters(self) -> tuple[str, ...]:
        """The keys of the lines below the map lines, in the order of their first appearance; () for maps text."""
        return tuple(name for name in self.columns if name not in REGION_COLUMNS)

    def encode(self) -> Table:
        """Encode the columns for a snapshot."""
        return encode_table(self.columns, self.rows)


def parse_smaps(data: bytes) -> Regions:
    """Parse the text of smaps or maps; NotASnapshotError where no line of it is a map line."""
    text, form = normalize(data)
    headers = [match for match in HEADER.finditer(text) if is_header(match)]
    if not headers:
        if data:
            raise NotASnapshotError("line 1 is not a map line")
        return Regions(_Columns().finish({}), 0, [], {})
    faults: list[Fault] = []
    before = text[: headers[0].start()]
    if before:
        form["before"] = before
        if before.strip(b"\xef\xbb\xbf\n"):
            faults.append(
                Fault("text before the first map line", line=1, lost="nothing: it is kept as it is")
            )
    reader, bodies, columns = HeaderReader(_find_path_column(headers)), BodyReader(), _Columns()
    ends = [match.start() for match in headers[1:]] + [len(text)]
    line = before.count(b"\n") + 1
    for match, end in zip(headers, ends):
        header, body = parse_header(match), bodies.read(text[match.end() : end])
        layout = reader.fit(match, header)
        oddity = body.oddity if layout is not None else "this map line has an unusual form"
        if oddity is None:
            columns.add(header, body, (layout or b"") + (body.layout or b""), None)
        else:
            columns.add(header, body, None, text[match.start() : end])
            at = line + (body.line if layout is not None else 0)
            faults.append(Fault(oddity, line=at, lost="nothing: the block is kept as text too"))
        line += text.count(b"\n", match.start(), end)
    return Regions(columns.finish(bodies.kinds), len(headers), faults, form)


def _find_path_column(headers: Sequence[Match[bytes]]) -> int:
    """Tell where paths begin in this text: the first path that stands apart by more than a blank shows it."""
    for match in headers:
        if match[13] and len(match[12]) > 1:
            return match.end(12) - match.start()
    return KERNEL_PATH_COLUMN


class _Columns:
    """Collects rows into columns."""

    def __init__(self) -> None:
        self._headers: list[Header] = []
        self._layouts: list[bytes | None] = []
        self._raws: list[bytes | None] = []
        self._bodies: dict[tuple[str, ...], tuple[list[int], list[tuple[int | bytes, ...]]]] = {}

    def add(self, header: Header, body: Body, layout: bytes | None, raw: bytes | None) -> None:
        """Add one region."""
        rows, values = self._bodies.setdefault(body.keys, ([], []))
        rows.append(len(self._headers))
        values.append(body.values)
        self._headers.append(header)
        self._layouts.append(layout)
        self._raws.append(raw)

    def finish(self, kinds: dict[str, str]) -> dict[str, Plain]:
        """Put the columns together: map line, counters in the order of their first appearance, layout, raw."""
        fields = list(zip(*self._headers)) or [()] * len(Header._fields)
        columns = {
            name: _plain("text" if name in ("perms", "path") else "uint", values, name)
            for name, values in zip(Header._fields, fields)
        }
        counters: dict[str, Values] = {}
        for keys, (rows, values) in self._bodies.items():
            for key, column in zip(keys, zip(*values)):
                whole = counters.setdefault(key, [None] * len(self._headers))
                for row, value in zip(rows, column):
                    whole[row] = value
        for key, whole in counters.items():
            columns[key] = _plain("text" if kinds[key] == "text" else "uint", whole, key)
        columns["layout"] = _plain("text", self._layouts, "layout")
        columns["raw"] = _plain("text", self._raws, "raw")
        return columns


def _plain(kind: str, values: Sequence[Fact], name: str) -> Plain:
    if kind != "text":
        return Plain(kind, values, len_of="start" if name == "size" else None)
    try:
        b"\n".join({value for value in values if value is not None}).decode()
    except UnicodeDecodeError:
        return Plain(kind, values, text="bytes")
    return Plain(kind, values, text="utf-8")


def render_smaps(table: Table, form: Facts | None = None) -> bytes:
    """Write the text that a regions table was parsed from, byte for byte.

    CorruptError where the table does not hold it: a row without layout and raw text, or values that do not fit.
    """
    form = form or {}
    columns = decode_table(table)
    before = form.get("before", b"")
    blocks = [before if isinstance(before, bytes) else str(before).encode()]
    layouts: dict[bytes, Layout] = {}
    for row, values in enumerate(zip(*columns.values())):
        facts = dict(zip(columns, values))
        raw, layout = facts.get("raw"), facts.get("layout")
        if isinstance(raw, bytes):
            blocks.append(raw)
        elif isinstance(layout, bytes):
            if layout not in layouts:
                layouts[layout] = compile_layout(layout)
            blocks.append(render(layouts[layout], facts))
        else:
            raise CorruptError(f"region {row} has neither a layout nor its text", field="layout")
    return restore(b"".join(blocks), form)
