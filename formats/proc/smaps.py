"""`/proc/PID/smaps` and `/proc/PID/maps` text to a regions table, and back to the very bytes.

Nothing is interpreted: every key is a column under its own name, kB become bytes, everything else stays as
printed. What does not parse is kept as text in the `raw` column and named as a fault; no byte is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, LimitError, NotASnapshotError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import Plain, decode_table, encode_table
from mmpscope.formats.model import Fact, Facts, Table
from mmpscope.formats.proc.blocks import BlockReader, find_header, starts_block
from mmpscope.formats.proc.counters import REGION_COLUMNS
from mmpscope.formats.proc.grid import Grid, make_grid
from mmpscope.formats.proc.layout import Layout, compile_layout, render
from mmpscope.formats.proc.segments import Segment, join_segments
from mmpscope.formats.proc.source_text import normalize, restore
from mmpscope.formats.source import Fault

__all__ = ["Regions", "parse_smaps", "render_smaps"]

_STRETCH = 1 << 18
_SLOW_STRETCH = 1 << 16
"""Bytes of text that are read at once: what the processor's cache holds, and what shows that nothing fits."""


class Regions(NamedTuple):
    """The regions of one text.

    ``form`` keeps what is odd about the text as a whole and is empty for what a kernel wrote: `before` (bytes
    before the first map line), `newline`, `encoding`. ``faults`` name the lines that did not parse. ``rows``
    is 0 where the text was empty: a process without address space (kernel thread, zombie), or no permission.
    """

    columns: dict[str, Plain]
    rows: int
    faults: list[Fault]
    form: Facts

    @property
    def counters(self) -> tuple[str, ...]:
        """The keys of the lines below the map lines, by first appearance; () for maps text."""
        return tuple(name for name in self.columns if name not in REGION_COLUMNS)

    def encode(self) -> Table:
        """Encode the columns for a snapshot."""
        return encode_table(self.columns, self.rows)


def parse_smaps(data: bytes) -> Regions:
    """Parse the text of smaps or maps; NotASnapshotError where no line of it is a map line."""
    text, form = normalize(data)
    start = find_header(text, 0)
    if start == len(text):
        if data:
            raise NotASnapshotError("line 1 is not a map line", now="Give the text as the kernel wrote it.")
        return Regions(join_segments([], {}), 0, [], {})
    if start:
        form["before"] = form.get("before", b"") + text[:start]
    blocks = BlockReader(text, start)
    segments = list(_read_segments(text, start, blocks))
    rows = sum(segment.rows for segment in segments)
    return Regions(join_segments(segments, blocks.kinds), rows, blocks.faults, form)


def _read_segments(text: bytes, start: int, blocks: BlockReader) -> Iterator[Segment]:
    """Read the first block by itself, then many at once as long as they are of the form of the last one."""
    end = find_header(text, start + 1)
    grid: Grid | None = None
    cells = 0
    while start < len(text):
        segment = grid.read(text[start:end], blocks.form) if grid else None
        if segment is None:
            segment = blocks.read(start, end)
            grid = make_grid(blocks.last_layout)
        cells += segment.rows * len(segment.columns)
        if cells > DEFAULT_LIMITS.table_cells:
            raise LimitError("there are more regions and counters than a table may hold", offset=start)
        yield segment
        start, end = end, _find_end(text, end, grid)


def _find_end(text: bytes, start: int, grid: Grid | None) -> int:
    """Find where a stretch of whole blocks from ``start`` on may end."""
    if grid is None:
        return find_header(text, start + _SLOW_STRETCH)
    if start + _STRETCH >= len(text):
        return len(text)
    counters = max(start, text.rfind(grid.separator, start, start + _STRETCH))
    end = text.rfind(b"\n", start, counters) + 1
    return end if end > start and starts_block(text, end) else find_header(text, start + _STRETCH)


def render_smaps(table: Table, form: Fact = None) -> bytes:
    """Write the text that a regions table was parsed from, byte for byte.

    ``form`` is that of `Regions`. CorruptError where the table does not hold the text: a row without layout
    and raw text, or values that do not fit.
    """
    form = form if isinstance(form, dict) else {}
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
