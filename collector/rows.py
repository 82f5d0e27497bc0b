"""The list of processes as a raw table."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.collector.base import ProcessRow
from mmpscope.formats.model import Fact, Table
from mmpscope.formats.proc.processes import COLUMNS, encode_processes

__all__ = ["tabulate"]


def tabulate(rows: Sequence[ProcessRow]) -> Table:
    """Make the table `processes`: the fields of a row but executable and has_memory, under their names."""
    # A list for each column, no map for each row: there may be 100,000 of them.
    known: dict[str, list[Fact]] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    known["user"] = [row.user and row.user.encode() for row in rows]
    return encode_processes(known, len(rows))
