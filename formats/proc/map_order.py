"""Where one map of a text ends and the next begins, told by the order of addresses alone.

People put maps together with `cat`, or save one process again and again into the same file. The kernel lists
regions by address, so a new map shows as a fall. Not every fall is one: the kernel prints a long map piece by
piece and looks up where it was by address, and a process that maps and unmaps meanwhile moves under its
hands. Kernels up to 5 go on behind the region whose start they printed last, later ones at the first region
that ends above the end they printed last. So neighbours may overlap, but start and end never fall both.

The rule: a region begins a new map where

- it neither starts nor ends above the region before it, or
- it starts at or below the first region of a map that has two or more, or
- it, or the region before it, is the one line of a roll-up.

Lists that somebody sorted by another column fall all the time. They are one map, where regions overlap
nowhere and not every run of ascending regions but the last may be a process (`is_process`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import lt
from typing import NamedTuple

from mmpscope.formats.model import Fact
from mmpscope.formats.proc.header import Header

__all__ = ["ROLLUP", "MapOrder", "Span", "have_overlaps", "is_process"]

ROLLUP = b"[rollup]"
"""The path of the one line that begins `smaps_rollup`; it covers all regions and is none."""
_LEAST_REGIONS = 3
"""Regions of the smallest process: its program, its stack, and the page of the kernel (vdso, vectors)."""
_AT_THE_TOP = frozenset(
    (b"[stack]", b"[vdso]", b"[vvar]", b"[vvar_vclock]", b"[vsyscall]", b"[vectors]", b"[sigpage]")
)
"""What lies highest in a process, on any machine."""


class Span(NamedTuple):
    """The last region seen of a map; ``end`` is exclusive."""

    start: int
    end: int
    path: Fact


class MapOrder:
    """Follows the regions of one map and tells where the next map begins."""

    def __init__(self) -> None:
        self._first = 0
        self._rows = 0
        self._last = Span(0, 0, None)

    def find_restart(self, headers: Iterable[Header]) -> int | None:
        """Take in map lines; return the number of the one that begins another map, None where none does."""
        for row, header in enumerate(headers):
            span = Span(header.start, header.start + header.size, header.path)
            if self.is_restart(span):
                return row
            self._add(span, span.start, 1)
        return None

    def find_restart_in(
        self, starts: Sequence[Fact], sizes: Sequence[Fact], paths: Sequence[Fact]
    ) -> int | None:
        """Take in regions by column, as `find_restart` does line by line."""
        if self._is_higher(starts) and ROLLUP not in paths:
            self._add(Span(starts[-1], starts[-1] + sizes[-1], paths[-1]), starts[0], len(starts))
            return None
        for row, (start, size, path) in enumerate(zip(starts, sizes, paths)):
            span = Span(start, start + size, path)
            if self.is_restart(span):
                return row
            self._add(span, start, 1)
        return None

    def is_restart(self, span: Span) -> bool:
        """Whether a region that would come next begins another map."""
        if not self._rows:
            return False
        last = self._last
        falls = span.start <= last.start and span.end <= last.end
        is_below_all = self._rows > 1 and span.start <= self._first
        return falls or is_below_all or ROLLUP in (span.path, last.path)

    def _is_higher(self, starts: Sequence[Fact]) -> bool:
        is_next = not self._rows or (starts[0] > self._last.start and self._last.path != ROLLUP)
        return bool(is_next and all(map(lt, starts, islice(starts, 1, None))))

    def _add(self, last: Span, first: int, rows: int) -> None:
        if not self._rows:
            self._first = first
        self._rows += rows
        self._last = last


def is_process(rows: int, last_path: Fact) -> bool:
    """Whether a run of ascending regions may be a whole process: it has three, the highest a known one."""
    return rows >= _LEAST_REGIONS and last_path in _AT_THE_TOP


def have_overlaps(ranges: Iterable[tuple[int, int]]) -> bool:
    """Whether any of these (start, end) overlap, as no two regions of a process do."""
    ordered = sorted(ranges)
    return any(end > following for (_, end), (following, _) in zip(ordered, islice(ordered, 1, None)))
