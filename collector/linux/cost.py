"""What reading a process will cost, told from its map and status before anything costly is read.

The rates are those of `python -m benchmarks.stall` on a slow machine, rounded up (docs/reliability.md).
"""

from __future__ import annotations

import re
import time

from mmpscope.collector.cost import Cost

__all__ = ["Budget", "estimate_cost"]

_SMAPS_S, _ROLLUP_S = 8e-6, 1e-6
"""For each mapping."""
_WALK_S = 0.035
"""For each GiB of resident or swapped pages of 4 KiB, once for smaps and once for smaps_rollup."""
_THREAD_S = 60e-6
_GIB = 1 << 30
_PAGES = re.compile(rb"^(?:VmRSS|VmSwap):\s*(\d+) kB", re.MULTILINE)
_THREADS = re.compile(rb"^Threads:\s*(\d+)", re.MULTILINE)
_RANGE = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) ", re.MULTILINE)


def estimate_cost(maps: bytes, status: bytes) -> Cost:
    """Estimate from the texts of both files; huge pages cost far less than what is said here.

    Less than a GiB counts as one mapping: looking for the largest would take longer than what it tells.
    """
    mappings = maps.count(b"\n")
    resident = sum(int(size) for size in _PAGES.findall(status)) * 1024
    ranges = _RANGE.finditer(maps) if resident > _GIB else ()
    largest = max((int(found[2], 16) - int(found[1], 16) for found in ranges), default=resident)
    threads = _THREADS.search(status)
    walk_s = resident / _GIB * _WALK_S
    return Cost(
        mappings,
        resident,
        mappings * _SMAPS_S + walk_s,
        mappings * _ROLLUP_S + walk_s,
        int(threads[1]) * _THREAD_S if threads else 0.0,
        min(resident, largest) / _GIB * _WALK_S,
    )


class Budget:
    """The time that one snapshot may take, from now on; without ``limit_s`` there is no end of it."""

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._start = time.monotonic()

    def refuse(self, expected_s: float) -> str | None:
        """Say why a source that takes so long is left out; None where it fits."""
        if self._limit_s is None:
            return None
        left_s = self._limit_s - (time.monotonic() - self._start)
        if expected_s <= left_s:
            return None
        left = f"{_show(max(left_s, 0.0))} s of the budget of {self._limit_s:g} s were left"
        return f"about {_show(expected_s)} s were expected of it, and {left}"


def _show(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"
