"""Snapshots that pass one by one, read some at a time: what classifying costs for each call is paid once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["classify_ahead"]

_TOGETHER, _MOST_REGIONS = 32, 1 << 15
"""Snapshots, and regions, that are in memory at once."""


def classify_ahead(snapshots: Iterable[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
    """Classify some snapshots at a time, which is cheaper than each alone, and yield them one by one.

    One that cannot be read says so to whoever asks it.
    """
    waiting: list[LoadedSnapshot] = []
    rows = 0
    for snapshot in snapshots:
        waiting.append(snapshot)
        rows += _count_regions(snapshot)
        if len(waiting) == _TOGETHER or rows >= _MOST_REGIONS:
            yield from _classify(waiting)
            waiting, rows = [], 0
    yield from _classify(waiting)


def _count_regions(snapshot: LoadedSnapshot) -> int:
    try:
        table = snapshot.raw.tables.get("regions")
    except FormatError:
        return 0
    return 0 if table is None else table.rows


def _classify(waiting: list[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
    """Let go of each before the next is asked for: its tables are not needed any more."""
    if len(waiting) > 1:
        from mmpscope.analysis.shared_tables import share_together  # a snapshot alone does without

        let_go = share_together(waiting)
        yield from _hand_out(waiting)
        let_go()
    else:
        yield from _hand_out(waiting)


def _hand_out(waiting: list[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
    waiting.reverse()
    while waiting:
        yield waiting.pop()
