"""`/proc/PID/smaps` and `/proc/PID/maps` text to a regions table, and back to the very bytes.

Nothing is interpreted: every key is a column under its own name, kB become bytes, everything else stays as
printed. What does not parse is kept as text in the `raw` column and named as a fault; no byte is ever lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, LimitError, NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import Plain, decode_table, encode_table
from mmpscope.formats.model import Fact, Facts, Table
from mmpscope.formats.proc.blocks import Oddity, find_header
from mmpscope.formats.proc.counters import COUNTER, REGION_COLUMNS
from mmpscope.formats.proc.kernel_form import fill_in, make_layout
from mmpscope.formats.proc.layout import Layout, compile_layout, render
from mmpscope.formats.proc.map_text import MapText, read_map
from mmpscope.formats.proc.quoting import quote
from mmpscope.formats.proc.segments import join_segments
from mmpscope.formats.proc.source_text import normalize, restore
from mmpscope.formats.proc.space import GATES
from mmpscope.formats.source import Fault

__all__ = ["Regions", "check_lines", "make_regions", "no_regions", "parse_smaps", "render_smaps"]

_COUNTER_LINE = re.compile(rb"(?m)^" + COUNTER)
_LONGEST_LINE = 1 << 16
"""Bytes of a line: the kernel's longest path has 4 KiB, four times that where each byte is escaped."""


class Regions(NamedTuple):
    """The regions of one map.

    ``form`` keeps what is odd about the text as a whole and is empty for what a kernel wrote: see
    `render_smaps`. ``faults`` name the lines that did not parse, and
    ``odd`` counts them; ``missing`` says why regions may be missing, None where nothing speaks for that.
    ``rows`` is 0 where the text was empty: a process without address space (kernel thread, zombie), or no
    permission.
    """

    columns: dict[str, Plain]
    rows: int
    faults: list[Fault]
    form: Facts
    odd: int = 0
    missing: str | None = None

    @property
    def counters(self) -> tuple[str, ...]:
        """The keys of the lines below the map lines, by first appearance; () for maps text."""
        return tuple(name for name in self.columns if name not in REGION_COLUMNS)

    def encode(self) -> Table:
        """Encode the columns for a snapshot."""
        return encode_table(self.columns, self.rows)


def parse_smaps(data: bytes) -> Regions:
    """Parse the text of smaps or maps of one process.

    NotASnapshotError where no line of it is a map line, LimitError where one is longer than a kernel's.
    """
    text, form = normalize(data)
    check_lines(text)
    start = find_header(text, 0)
    if start == len(text):
        return no_regions(data)
    if start:
        form["before"] = form.get("before", b"") + text[:start]
    return make_regions(text, read_map(text, start, is_only=True))._replace(form=form)


def no_regions(text: bytes) -> Regions:
    """Make the regions of an empty text; NotASnapshotError where it is not empty."""
    if text:
        raise NotASnapshotError("line 1 is not a map line", now="Give the text as the kernel wrote it.")
    return Regions(join_segments([], {}), 0, [], {})


def check_lines(text: bytes) -> None:
    """Refuse a text with a line that no kernel writes, before time is lost with it; LimitError."""
    start = 0
    while len(text) - start > _LONGEST_LINE:
        end = text.rfind(b"\n", start, start + _LONGEST_LINE)
        if end < 0:
            line = text.count(b"\n", 0, start) + 1
            what = f"line {line} has more than {_LONGEST_LINE:,} bytes, and no kernel writes such a line"
            raise LimitError(what, now="Give the text as the kernel wrote it.")
        start = end + 1


def make_regions(
    text: bytes, found: MapText, *, before: int = 0, line: int = 1, log: FaultLog | None = None
) -> Regions:
    """Make the columns of one map and judge what is odd in it.

    What belongs to the map begins at ``before``, which is in line ``line`` of the file. Faults are added to
    ``log``, or are those of the regions alone.
    """
    columns = join_segments(found.segments, found.kinds)
    rows = sum(segment.rows for segment in found.segments)
    log = FaultLog() if log is None else log
    position, missing = before, None
    oddities = [*_judge_start(text, before, found.start), *_judge_end(text, found, columns)]
    for odd in oddities:
        line += text.count(b"\n", position, odd.position)
        position = odd.position
        log.add(odd.what, line=line)
        if odd.may_hide and missing is None:
            missing = f"line {line}: {odd.what}"
    return Regions(columns, rows, log.list(), {}, len(oddities), missing)


def _judge_start(text: bytes, before: int, start: int) -> list[Oddity]:
    """Find out whether a map line is missing: prompts, titles and counts may stand there, but no counters."""
    match = _COUNTER_LINE.search(text, before, start)
    if match is None:
        return []
    return [Oddity("these counters have no map line; they are kept as text", match.start(), may_hide=True)]


def _judge_end(text: bytes, found: MapText, columns: Mapping[str, Plain]) -> list[Oddity]:
    """Add the cut, where the text ends too early, to what is odd in a map."""
    oddities = list(found.oddities)
    line = text.rfind(b"\n", found.start, found.end - 1) + 1
    is_open = text[found.end - 1 : found.end] != b"\n"
    if is_open and oddities and oddities[-1].position >= line:
        what = f"the text ends within a line of the region at {_show_last(columns)}, which is kept as text"
        return [*oddities[:-1], Oddity(what, oddities[-1].position, may_hide=True)]
    if _is_block_cut(columns) or (is_open and _may_be_cut(columns)):
        is_last = columns["path"].values[-1] in GATES  # nothing lies above
        what = f"the text ends within the region at {_show_last(columns)}"
        oddities.append(Oddity(what, line, may_hide=not is_last))
    return oddities


def _show_last(columns: Mapping[str, Plain]) -> str:
    return f"0x{columns['start'].values[-1]:x}"


def _is_block_cut(columns: Mapping[str, Plain]) -> bool:
    """Whether the last block has only the first few of the counters of the block before it."""
    counters = [plain.values for name, plain in columns.items() if name not in REGION_COLUMNS]
    if len(columns["start"].values) < 2:
        return False
    had = [values[-1] is not None for values in counters if values[-2] is not None]
    has_own = any(values[-1] is not None and values[-2] is None for values in counters)
    return not all(had) and had == sorted(had, reverse=True) and not has_own


def _may_be_cut(columns: Mapping[str, Plain]) -> bool:
    """Whether a map line at the very end may be cut within its path; `[stack]` and the like cannot be.

    Nor is a whole block of counters: editors take off the last line end.
    """
    has_counters = any(name not in REGION_COLUMNS for name in columns)
    path = columns["path"].values[-1]
    return not has_counters and path is not None and not path.endswith(b"]")


def render_smaps(table: Table, form: Fact = None) -> bytes:
    """Write the text that a regions table was parsed from, byte for byte.

    A table of another source, without layouts, is written as a kernel would (`kernel_form`).
    ``form`` has what is odd about the text, each key only where it is: `before` and `after` (bytes before the
    first map line, and behind the last block), `prefix` (bytes before each line, `blank` in place of an empty
    one, but neither for the `lead` and the `trail` around these lines), `newline`, `encoding`.

    CorruptError where the table does not hold the text: a row without layout and raw text, or values that do
    not fit.
    """
    form = form if isinstance(form, dict) else {}
    columns = decode_table(table)
    blocks = []
    layouts: dict[bytes, Layout] = {}
    for row, values in enumerate(zip(*columns.values())):
        facts = dict(zip(columns, values))
        raw, layout = facts.get("raw"), facts.get("layout")
        if isinstance(raw, bytes):
            blocks.append(raw)
        elif "layout" not in columns:
            blocks.append(_render_as_kernel(facts, layouts))
        elif isinstance(layout, bytes):
            if layout not in layouts:
                layouts[layout] = compile_layout(layout)
            blocks.append(render(layouts[layout], facts))
        else:
            raise CorruptError(f"region {row} has neither a layout nor its text", field="layout")
    text = _take_bytes(form, "before") + b"".join(blocks) + _take_bytes(form, "after")
    prefix = _take_bytes(form, "prefix")
    if prefix:
        text = quote(text, prefix, _take_bytes(form, "blank") if "blank" in form else prefix)
    return restore(_take_bytes(form, "lead") + text + _take_bytes(form, "trail"), form)


def _render_as_kernel(facts: Facts, layouts: dict[bytes, Layout]) -> bytes:
    layout = make_layout(facts)
    if layout not in layouts:
        layouts[layout] = compile_layout(layout)
    return render(layouts[layout], fill_in(facts))


def _take_bytes(form: Facts, name: str) -> bytes:
    value = form.get(name, b"")
    return value if isinstance(value, bytes) else str(value).encode()
