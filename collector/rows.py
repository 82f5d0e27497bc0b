"""The list of processes as a raw table."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.collector.base import ProcessRow
from mmpscope.formats.model import Table
from mmpscope.formats.proc.processes import encode_processes

__all__ = ["tabulate"]


def tabulate(rows: Sequence[ProcessRow]) -> Table:
    """Make the table `processes`: the fields of a row but executable and has_memory, under their names."""
    return encode_processes([{**vars(row), "user": row.user and row.user.encode()} for row in rows])
