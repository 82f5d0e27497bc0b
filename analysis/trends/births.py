"""Which memory of a process comes and never goes: ranges of each kind that appear and vanish over a series.

The kernel joins neighbours that are alike, so that a hundred small mappings can be one region that grows.
Hence not regions are counted, but the ranges by which the memory of a kind differs from that of the snapshot
before. Only two snapshots are held at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mmpscope.analysis.columns import Uints
from mmpscope.analysis.diffs.sides import Side, read_side
from mmpscope.analysis.diffs.units import find_size_class
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.intervals import NO_ROW, Ranges, merge_touching, settle, split_segments
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Births", "Kind", "Tally"]

_TEXTS = ("type", "path", "subtype", "protection")
_Range = tuple[int, int, int]


class Kind(NamedTuple):
    """Memory of one type, one file, name or subtype, and one protection."""

    type: str | None
    name: str | None
    protection: str | None


@dataclass
class Tally:
    """Ranges of a kind that appeared and vanished, and their bytes; ``steps`` counts snapshots with births.

    ``classes`` counts births by class of size (diffs.units.find_size_class).
    """

    births: int = 0
    deaths: int = 0
    born: int = 0
    died: int = 0
    steps: int = 0
    classes: Counter[int] = field(default_factory=Counter)

    @property
    def usual_class(self) -> int | None:
        """The class of size of most births; of several the smallest. None without births."""
        most = max(self.classes.values(), default=0)
        return min((power for power, count in self.classes.items() if count == most), default=None)


class Births:
    """Follows one instance, snapshot by snapshot in the order in which they were taken."""

    def __init__(self) -> None:
        self.tallies: dict[Kind, Tally] = defaultdict(Tally)
        self._numbers: dict[Kind, int] = {}
        self._before: set[_Range] | None = None

    def add(self, snapshot: LoadedSnapshot, metric: str) -> dict[Kind, int]:
        """Compare with the snapshot before, and return what each kind has of a figure, as far as it is known.

        A snapshot that does not show all regions tells no births, and neither does the one after it.
        """
        if find_extent(snapshot).shown != ALL:
            self._before = None
            return {}
        side = read_side(snapshot.regions)
        codes, kinds = self._number(side)
        now = set(zip(codes.tolist(), side.starts.tolist(), side.ends.tolist(), strict=True))
        if self._before is not None:
            self._compare(self._before - now, now - self._before)
        self._before = now
        return dict(_sum(side, codes, kinds, metric))

    def _number(self, side: Side) -> tuple[NDArray[np.int64], dict[int, Kind]]:
        """Give each region the number of its kind, which is the same in every snapshot."""
        texts = [side.columns.text(name).take(side.rows) for name in _TEXTS if name in side.columns]
        keys = np.zeros(len(side.rows), np.int64)
        for text in texts:
            keys = keys * (len(text.values) + 1) + text.codes
        groups = group_by(keys)
        words = [[text.values[code] for code in text.codes[groups.first].tolist()] for text in texts]
        named = dict(zip((name for name in _TEXTS if name in side.columns), words, strict=True))
        nothing = [None] * len(groups.begins)
        paths, subtypes = named.get("path", nothing), named["subtype"]
        names = [path or subtype for path, subtype in zip(paths, subtypes, strict=True)]
        kinds = list(map(Kind, named["type"], names, named["protection"]))
        numbers = [self._numbers.setdefault(kind, len(self._numbers)) for kind in kinds]
        return np.array(numbers, np.int64)[groups.codes], dict(zip(numbers, kinds, strict=True))

    def _compare(self, gone: set[_Range], new: set[_Range]) -> None:
        known = {number: kind for kind, number in self._numbers.items()}
        before, after = _by_kind(gone), _by_kind(new)
        for number in before.keys() | after.keys():
            vanished, appeared = _differ(before[number], after[number])
            tally = self.tallies[known[number]]
            tally.births += len(appeared)
            tally.deaths += len(vanished)
            tally.born += int(appeared.size.sum())
            tally.died += int(vanished.size.sum())
            tally.steps += len(appeared) > 0
            tally.classes.update(find_size_class(appeared.size).tolist())


def _by_kind(ranges: set[_Range]) -> defaultdict[int, list[tuple[int, int]]]:
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, start, end in sorted(ranges):
        found[number].append((start, end))
    return found


def _differ(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> tuple[Ranges, Ranges]:
    """Return what only the one side covers and what only the other does, each as few ranges as possible."""
    a, b = (_settle(side) for side in (before, after))
    parts = split_segments(a, b)
    return merge_touching(parts.ranges[parts.row_b == NO_ROW]), merge_touching(
        parts.ranges[parts.row_a == NO_ROW]
    )


def _settle(ranges: list[tuple[int, int]]) -> Ranges:
    edges: Uints = np.array(ranges, np.uint64).reshape(-1, 2)
    return settle(edges[:, 0].copy(), edges[:, 1].copy()).ranges


def _sum(
    side: Side, codes: NDArray[np.int64], kinds: dict[int, Kind], metric: str
) -> Iterator[tuple[Kind, int]]:
    groups = group_by(codes)
    sums = groups.sum(side.numbers(metric))
    known = sums.numbers.is_known & ~sums.partial
    numbers = codes[groups.first].tolist()
    for number, value, is_known in zip(numbers, sums.numbers.values.tolist(), known.tolist(), strict=True):
        if is_known:
            yield kinds[number], value
