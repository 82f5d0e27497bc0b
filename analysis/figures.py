"""What the figures of all families of columns share: counters that can be true, and laws among figures.

Which formulas apply is told by the raw columns that are there, never by the name of an operating system; see
`families`. docs/metrics.md has each formula with its source and its traps.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mmpscope.analysis.columns import Numbers, RawColumns, Uints
from mmpscope.analysis.faults import Faults

__all__ = ["Counters", "Needs", "check_laws"]

Needs = Mapping[str, "tuple[str, ...] | str"]
"""For each figure the raw columns that it is computed from, or a sentence why this family never has it."""

_LARGEST_SPACE = 1 << 57
"""Bytes of the largest address space there is (x86-64 with five-level paging)."""

_LAWS = (
    ("private", "committed"),
    ("private_ws", "private"),
    ("private_ws", "total_ws"),
    ("shared_ws", "shareable_ws"),
    ("shareable_ws", "total_ws"),
    ("locked_ws", "total_ws"),
    ("total_ws", "size"),
)
"""What can be no more than what; they hold in every region of a source that does not err."""


class Counters:
    """The counters that a source states in raw columns, without those that cannot be true.

    F35, a counter below zero that was printed as 2^64 less a bit, is the usual impossible one. ``slack`` is
    how much more than its size a region may hold by the rounding of the source, in bytes.
    """

    def __init__(self, raw: RawColumns, size: Numbers, slack: Uints | np.uint64, faults: Faults) -> None:
        self._raw = raw
        self._size = size
        self._limit = Numbers(np.minimum(size.values, np.uint64(_LARGEST_SPACE)) + slack)
        self._faults = faults
        self._sound: dict[str, Numbers] = {}

    def __getitem__(self, name: str) -> Numbers:
        if name not in self._sound:
            self._sound[name] = self._judge(name)
        return self._sound[name]

    def _judge(self, name: str) -> Numbers:
        numbers = self._raw.numbers(name)
        impossible = numbers.exceeds(self._limit)
        self._faults.add(impossible, f"{name} is impossible for its size and left out")
        self._faults.add(numbers.exceeds(self._size) & ~impossible, f"{name} is larger than the region")
        return numbers.only(~impossible) if impossible.any() else numbers


def check_laws(figures: Mapping[str, Numbers], size: Numbers, faults: Faults) -> None:
    """Add a fault where figures that a source states contradict each other; they are kept as they are."""
    known = {**figures, "size": size}
    for low, high in _LAWS:
        faults.add(known[low].exceeds(known[high]), f"{low} is more than {high}")
    parts, total = figures["private_ws"] + figures["shareable_ws"], figures["total_ws"]
    faults.add(
        parts.exceeds(total) | total.exceeds(parts), "private_ws and shareable_ws do not add up to total_ws"
    )
