"""What reading the counters of one process, or of several, costs them and us, as it is told to a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Cost", "add_costs"]

_GIB = 1 << 30


@dataclass(frozen=True)
class Cost:
    """Seconds that each source will take, and for how long mmap and munmap of a process will wait.

    ``processes`` of them are read, one after the other.
    """

    mappings: int
    resident: int
    smaps_s: float
    rollup_s: float
    threads_s: float
    stall_s: float
    processes: int = 1

    @property
    def counters_s(self) -> float:
        """What the counters take in all."""
        return self.smaps_s + self.rollup_s

    def describe(self) -> str:
        """Say it for a person: how much there is to read, how long that takes, and what a process feels."""
        gib, stall_ms = self.resident / _GIB, self.stall_s * 1e3
        several = "" if self.processes == 1 else f" of {self.processes} processes"
        whose = "its mmap and munmap" if self.processes == 1 else "mmap and munmap of each of them"
        return (
            f"reading the counters of {self.mappings} mappings{several} with {gib:.1f} GiB in memory takes "
            f"about {self.counters_s:.1f} s, in which {whose} may wait up to {stall_ms:.0f} ms"
        )


def add_costs(costs: Sequence[Cost]) -> Cost:
    """Add up what is read one after the other; no process waits longer than the one that waits longest."""
    return Cost(
        sum(cost.mappings for cost in costs),
        sum(cost.resident for cost in costs),
        sum(cost.smaps_s for cost in costs),
        sum(cost.rollup_s for cost in costs),
        sum(cost.threads_s for cost in costs),
        max((cost.stall_s for cost in costs), default=0.0),
        len(costs),
    )
