"""The processes that ran beside a snapshot, as the collector saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.schema import PROCESSES
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["list_processes"]


def list_processes(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.PROCESSES in the order of the source; empty where the list was not collected."""
    raw = snapshot.decode("processes")
    return build_table(PROCESSES, {name: raw.column(name) for name in raw.column_names}, len(raw))
