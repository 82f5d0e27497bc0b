"""Snapshots that pass one by one, read some at a time: what classifying costs for each call is paid once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.stack_tables import SharedStack

__all__ = ["Batch", "classify_ahead", "read_batches"]

_TOGETHER, _MOST_REGIONS = 12, 1 << 15
"""Snapshots, and regions, that are in memory at once; each may be a file that is open."""


class Batch(NamedTuple):
    """Some snapshots, and the stacks of those that were classified together."""

    snapshots: list[LoadedSnapshot]
    stacks: list[SharedStack]


def classify_ahead(snapshots: Iterable[LoadedSnapshot]) -> Iterator[LoadedSnapshot]:
    """Classify some snapshots at a time, which is cheaper than each alone, and yield them one by one.

    One that cannot be read says so to whoever asks it.
    """
    for batch in read_batches(snapshots):
        batch.snapshots.reverse()
        while batch.snapshots:  # each can go before the next is asked for
            yield batch.snapshots.pop()


def read_batches(snapshots: Iterable[LoadedSnapshot]) -> Iterator[Batch]:
    """Yield snapshots some at a time, as `classify_ahead` does one by one."""
    waiting: list[LoadedSnapshot] = []
    rows = 0
    for snapshot in snapshots:
        waiting.append(snapshot)
        rows += _count_regions(snapshot)
        if len(waiting) == _TOGETHER or rows >= _MOST_REGIONS:
            yield from _classify(waiting)
            waiting, rows = [], 0
    if waiting:
        yield from _classify(waiting)


def _count_regions(snapshot: LoadedSnapshot) -> int:
    try:
        table = snapshot.raw.tables.get("regions")
    except FormatError:
        return 0
    return 0 if table is None else table.rows


def _classify(waiting: list[LoadedSnapshot]) -> Iterator[Batch]:
    if len(waiting) == 1:
        yield Batch(waiting, [])
        return
    from mmpscope.analysis.shared_tables import share_together  # a snapshot alone does without

    stacks, let_go = share_together(waiting)
    yield Batch(waiting, stacks)
    let_go()
