"""The threads of a snapshot, each with its stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.schema import THREADS, TYPES
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.layout import Rows
    from mmpscope.analysis.regions import Described

__all__ = ["list_threads"]

_OWN = ("tid", "name", "state", "starttime", "sp", "ip")
_OF_STACK = ("size", "committed", "private", "total_ws", "private_ws", "swap")


def list_threads(snapshot: Described) -> pa.Table:
    """Return schema.THREADS in the order of the source, each with the figures of its stack and guard.

    The stack of a thread is where its stack pointer lies, if that is a stack; threads of Go, say, run on
    stacks in the heap, and have null here. Two threads of one allocation both show all of it.
    """
    raw, allocations = snapshot.decode_raw("threads"), list_allocations(snapshot)
    places = _find_stacks(snapshot, RawColumns(allocations), raw.rows)
    stacks = pa.array(places, mask=places < 0)
    columns: dict[str, object] = {name: raw.table.column(name) for name in _OWN if name in raw}
    columns["stack"] = allocations.column("address").take(stacks)
    columns |= {name: allocations.column(name).take(stacks) for name in _OF_STACK}
    return build_table(THREADS, columns, raw.rows)


def _find_stacks(snapshot: Described, allocations: RawColumns, threads: int) -> Rows:
    """Return for each thread the row of its stack among the allocations; -1 where it is unknown."""
    classes = snapshot.classified.classes
    rows = classes.thread_rows
    if not threads or not allocations.rows:
        return np.full(threads, -1, np.int64)
    on_stack = (rows >= 0) & (classes.type[rows] == TYPES.index("Stack"))
    places = np.searchsorted(allocations.numbers("address").values, classes.allocation[rows])
    return np.where(on_stack, places, -1)
