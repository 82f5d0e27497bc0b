"""What a row of captures says of a process besides its figures: who it is, when it was, how much is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.extent import ALL, SOME, TOTALS
from mmpscope.analysis.facts import as_number, get_map, get_number, show_fact
from mmpscope.analysis.identity import identify
from mmpscope.analysis.measures.versions import find_version
from mmpscope.formats.model import Fact

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["NEEDED", "SHOWN", "count_threads", "name_lacks", "read_facts"]

SHOWN = {ALL: "all regions", SOME: "some regions", TOTALS: "totals"}
NEEDED = ("size", "committed", "private", "total_ws")
"""The figures without which a snapshot is not complete."""


def read_facts(snapshot: LoadedSnapshot) -> dict[str, object]:
    """Return who a process is, and when it was looked at: columns of schema.CAPTURES."""
    host, process, moment = snapshot.capture.host, snapshot.process, snapshot.moment
    identity = identify(snapshot)
    return {
        "input": snapshot.label,
        "host_id": identity.host,
        "hostname": show_fact(host.get("hostname")),
        "os": show_fact(host.get("os")),
        "kernel": show_fact(host.get("kernel")),
        "boot_id": identity.boot,
        "pid_namespace": as_number(identity.pid_namespace),
        "pid": as_number(identity.pid),
        "start_time": as_number(identity.start_time),
        "name": show_fact(process.get("name")),
        "exe": show_fact(process.get("exe")),
        "version": find_version(snapshot),
        "time_ns": _as_time(moment.get("time_ns")),
        "mono_ns": _as_time(moment.get("mono_ns")),
        "page_size": snapshot.page_size,
        "map_moved": moved if isinstance(moved := moment.get("map_moved"), bool) else None,
    }


def _as_time(fact: Fact) -> int | None:
    return fact if type(fact) is int and -(1 << 63) <= fact < 1 << 63 else None


def count_threads(snapshot: LoadedSnapshot) -> int | None:
    """Count the threads that are listed; where none are, take the count of Linux."""
    threads = snapshot.raw.tables.get("threads")
    listed = threads.rows if threads is not None else 0
    return listed or get_number(get_map(snapshot.process, "status"), "Threads")


def name_lacks(unknown: Sequence[str], partial: Sequence[str]) -> list[str]:
    """Say which figures are not known, and which in part."""
    told = [f"{', '.join(unknown)} not known"] if unknown else []
    return [*told, f"{', '.join(partial)} known in part"] if partial else told
