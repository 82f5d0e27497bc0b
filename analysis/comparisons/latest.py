"""Which captures of a process stand for it: a process is not odd beside itself an hour ago."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from mmpscope.analysis.tables import list_rows

__all__ = ["keep_latest"]

_PROOF = ("boot_id", "pid", "start_time")
_INSTANCE = (*_PROOF, "pid_namespace")


def keep_latest(captures: pa.Table) -> pa.Table:
    """Keep of each process its last capture, wherever the others lie; rows stay in order.

    Captures are of one process where boot, pid, start time and pid namespace are the same; where one of the
    first three is not known, each stands for itself.
    """
    latest: dict[object, tuple[Any, int]] = {}
    for number, row in enumerate(list_rows(captures, [*_INSTANCE, "mono_ns"])):
        is_proven = all(row[name] is not None for name in _PROOF)
        key = tuple(row[name] for name in _INSTANCE) if is_proven else number
        moment: Any = row["mono_ns"] if row["mono_ns"] is not None else -1
        latest[key] = max(latest.get(key, (-1, number)), (moment, number))
    return captures.take(pa.array(sorted(number for _, number in latest.values()), pa.int64()))
