"""Two moments of one small process compared, and what the answer says."""

from __future__ import annotations

from typing import Any

from mmpscope.analysis import DiffResult, diff
from support.snapshots import GATE_AREA, Row, make_snapshot

__all__ = ["HOST", "LOW", "PROCESS", "compare", "find_total", "list_rows"]

LOW = 0x7F00_0000_0000
HOST = {"boot_id": "b"}
PROCESS: dict[str, Any] = {"pid": 1, "pid_namespace": 2, "stat": {"starttime": 3}}


def compare(before: list[Row], after: list[Row], **options: Any) -> DiffResult:
    """Compare two moments of one process."""
    a, b = (make_snapshot(rows or [GATE_AREA], host=HOST, process=dict(PROCESS)) for rows in (before, after))
    return diff(a, b, **options)


def list_rows(result: DiffResult, name: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of one of the tables."""
    return [tuple(row[c] for c in columns) for row in result.to_tables()[name].to_pylist()]


def find_total(result: DiffResult, metric: str) -> dict[str, Any]:
    """Return the row of one metric among the totals."""
    [row] = [row for row in result.totals.to_pylist() if row["metric"] == metric]
    return dict(row)
