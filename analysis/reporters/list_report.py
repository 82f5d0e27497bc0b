"""Lists of threads, modules, heaps and processes as text: which columns, under which titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING

from mmpscope.analysis.reporters.cells import Laid, Shown, lay_out
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_head
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, explain_marks, render_parts
from mmpscope.analysis.schema import TABLES, Field

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["PROGRAM", "draw_list", "report_list"]

PROGRAM = Field("executable", "string", "", "program file; null where it may not be read")
"""What `mmp ps` knows of a process besides the table of a snapshot."""

_MAPPED = (
    Shown("size", "Size", 30),
    Shown("committed", "Committed", 12),
    Shown("private", "Private", 16),
    Shown("total_ws", "Total\nWS", 20),
    Shown("private_ws", "Private\nWS", 18),
)
_SWAP = Shown("swap", "Swap", 6)

_COLUMNS = {
    "threads": (
        Shown("tid", "Thread"),
        Shown("name", "Name", KEEP, 15),
        Shown("state", "State", 20),
        Shown("stack", "Stack", 40),
        *_MAPPED,
        _SWAP,
        Shown("sp", "Stack\npointer", 10),
        Shown("ip", "Instruction\npointer", 4),
        Shown("starttime", "Started\n(ticks)", 3),
    ),
    "modules": (
        Shown("address", "Address"),
        *_MAPPED,
        Shown("shareable_ws", "Shareable\nWS", 10),
        Shown("shared_ws", "Shared\nWS", 8),
        Shown("pss", "PSS", 7),
        _SWAP,
        Shown("bss", ".bss", 5),
        Shown("blocks", "Blocks", 9),
        Shown("loads", "Loads", 4),
        Shown("build_id", "Build id", 3, 12),
        Shown("path", "Path", KEEP, 24),
    ),
    "heaps": (
        Shown("address", "Address"),
        Shown("type", "Type", 25),
        *_MAPPED,
        Shown("lazyfree", "Lazy\nFree", 8),
        _SWAP,
        Shown("blocks", "Blocks", 14),
        Shown("rule", "Rule", 3),
        Shown("confidence", "Sure", 5),
        Shown("name", "Name", KEEP, 20),
    ),
    "processes": (
        Shown("pid", "PID"),
        Shown("ppid", "Parent", 8),
        Shown("user", "User", 20, 8),
        Shown("threads", "Threads", 10),
        Shown("rss", "RSS", 40),
        Shown("private", "Private", 12),
        Shown("elf_class", "Bits", 6),
        Shown("starttime", "Started\n(ticks)", 3),
        Shown("name", "Name"),
        Shown("executable", "Program", 7, 20),
        Shown("cmdline", "Command line", 15, 24),
    ),
}

_ONLY_IN_DETAIL = {"starttime", "ip", "rule", "confidence", "build_id"}
"""Columns that the text shows only in verbose."""


def report_list(snapshot: LoadedSnapshot, kind: str, table: pa.Table, rest: pa.Table) -> Report:
    """Make the answer of a command that lists a part of a snapshot; ``rest`` is folded into one row."""
    facts = {"snapshot": describe_snapshot(snapshot), "capability": describe_capability(snapshot)}

    def draw(screen: Screen) -> Iterable[str]:
        parts = draw_list(kind, table, rest, screen) if table.num_rows else [f"no {kind}"]
        return chain(draw_head(snapshot, screen), [""], parts)

    return Report(kind, draw, facts, lambda: table)


def draw_list(kind: str, table: pa.Table, rest: pa.Table, screen: Screen) -> Iterator[str]:
    """Lay out one of the tables; a column in which nothing is known is left out (the head says why)."""
    wanted = [column for column in _COLUMNS[kind] if screen.verbose or column.name not in _ONLY_IN_DETAIL]
    fields = (*TABLES[kind], PROGRAM)
    laid = Laid(partial(lay_out, fields, wanted), table, rest)
    telling = [_says_something(column.cells) for column in laid.columns]
    columns = list(compress(laid.columns, telling))
    parts = (list(compress(part, telling)) for part in laid)
    return render_parts(columns, parts, screen, explain_marks(columns, "sizes in KiB"))


def _says_something(cells: Sequence[str]) -> bool:
    return any(cell not in {"", "?"} for cell in cells)
