"""Regions that agree with themselves byte by byte and cannot be true: told, and never dropped.

Knows what holds of every process on every system. What is odd but real is for the analysis to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import decode_column
from mmpscope.formats.model import Fact, Facts, Snapshot
from mmpscope.formats.source import Fault

__all__ = ["CHECKED", "MOST_CHECKED", "OVERLAPS", "check_snapshot", "list_contradictions"]

MOST_CHECKED = 1 << 20
"""Regions that are compared with each other; no process has so many, and a few bytes may claim millions."""

OVERLAPS = "a region overlaps"
"""How every sentence about overlapping regions begins."""
_PARTS_OF_SIZE = ("Rss", "Pss", "Anonymous", "Swap")
_PARTS_OF_RSS = ("Pss", "Anonymous")
CHECKED = ("start", "size", *_PARTS_OF_SIZE)
"""The columns that are looked at."""
_LAST = 1 << 64

Column = Sequence[Fact]


def list_contradictions(
    columns: Mapping[str, Column], system: Facts, where: str, offset: int | None
) -> Iterator[Fault]:
    """Yield what cannot be true of decoded `CHECKED` columns, a fault a kind with how often.

    Ranges that overlap or end beyond 2^64, counters larger than their region, parts larger than their sum,
    and pages that no machine of this much memory holds (``system`` has its meminfo).
    """
    log = FaultLog()
    starts, sizes = columns.get("start"), columns.get("size")
    if starts is not None and sizes is not None:
        for what in _check_ranges(starts, sizes):
            log.add(f"{what} in {where}", offset=offset)
        for name in _PARTS_OF_SIZE:
            _compare(log, columns, (name, "size"), "its region", where, offset)
    for name in _PARTS_OF_RSS:
        _compare(log, columns, (name, "Rss"), "Rss", where, offset)
    if _exceeds_memory(columns.get("Anonymous", ()), system):
        log.add(f"Anonymous adds up to more than the memory of the machine in {where}", offset=offset)
    yield from log.list()


def check_snapshot(snapshot: Snapshot, where: str) -> Iterator[Fault]:
    """Yield what cannot be true of the regions of a snapshot of any format."""
    table = snapshot.tables.get("regions")
    if table is not None and table.rows <= MOST_CHECKED:
        columns = {name: decode_column(table, name) for name in CHECKED if name in table.columns}
        yield from list_contradictions(columns, snapshot.capture.system, where, None)


def _check_ranges(starts: Column, sizes: Column) -> Iterator[str]:
    known = [(start, size) for start, size in zip(starts, sizes) if _is_size(start) and _is_size(size)]
    if len(known) < len(starts):
        yield "a region has no address or no size"
    for start, size in known:
        if start + size > _LAST:
            yield "a range ends beyond 2^64"
    end = 0
    for start, size in sorted(known):
        if size and start < end:
            yield f"{OVERLAPS} another one"
        end = max(end, start + size)


def _compare(
    log: FaultLog,
    columns: Mapping[str, Column],
    names: tuple[str, str],
    whole: str,
    where: str,
    offset: int | None,
) -> None:
    part, most = (columns.get(name, ()) for name in names)
    for value, limit in zip(part, most):
        if _is_size(value) and _is_size(limit) and value > limit:
            log.add(f"{names[0]} is larger than {whole} in {where}", offset=offset)


def _exceeds_memory(values: Column, system: Facts) -> bool:
    """Whether more pages are resident that only this process has than there is memory."""
    meminfo = system.get("meminfo")
    total = meminfo.get("MemTotal") if isinstance(meminfo, dict) else None
    return _is_size(total) and sum(value for value in values if _is_size(value)) > total


def _is_size(value: Fact) -> bool:
    return type(value) is int and value >= 0
