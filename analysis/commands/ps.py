"""List the processes that could be collected.

Private memory and the like are null where only the owner of the process, or root, may read them. Kernel
threads and zombies have no memory to collect: only -v lists them.

\b
Example:
  mmp ps --sort private -n 20
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.options import Listing, Manner, Writing

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.collector.base import ProcessRow

__all__ = ["run"]


def run(listing: Listing, writing: Writing, manner: Manner) -> int:
    """List what runs now."""
    from mmpscope.analysis.listing import limit_rows, sort_rows
    from mmpscope.analysis.reporters.list_report import draw_list
    from mmpscope.analysis.reporters.report import Report, deliver

    table, rest = limit_rows(sort_rows(_list_processes(every=manner.verbose), listing.sort), listing.limit)
    deliver(
        [Report("processes", lambda screen: draw_list("processes", table, rest, screen), {}, lambda: table)],
        writing,
        manner,
    )
    return 0


def _list_processes(*, every: bool) -> pa.Table:
    import pyarrow as pa
    from mmpscope.analysis.reporters.list_report import PROGRAM
    from mmpscope.analysis.schema import PROCESSES
    from mmpscope.collector.ps import list_processes

    rows = [row for row in list_processes() if every or row.rss is not None]
    columns = {
        field.name: pa.array([_take(row, field.name) for row in rows], field.type)
        for field in (*PROCESSES, PROGRAM)
    }
    return pa.table(columns)


def _take(row: ProcessRow, name: str) -> object:
    from mmpscope.analysis.facts import show_fact

    value = getattr(row, name)
    return show_fact(value) if isinstance(value, bytes) else value
