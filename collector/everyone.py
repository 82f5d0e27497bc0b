"""Every process with memory, one after the other: which of them open, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Callable

from mmpscope.collector.base import Collector, Target
from mmpscope.collector.cost import Cost, add_costs
from mmpscope.collector.errors import CollectError
from mmpscope.formats.model import Capability, Capture

__all__ = ["Everyone"]

_MOST_SHOWN = 8


class Everyone:
    """The processes of one moment; kernel threads and zombies, which have no memory, do not count.

    ``cost`` is what reading those that open costs, where that is to be told (`Target.estimate_cost`).
    """

    def __init__(self, collector: Collector) -> None:
        self._rows = collector.list_processes()
        self._collector = collector
        self._open = [(row.pid, row.starttime) for row in self._rows if row.has_memory]
        self._count = len(self._open)
        self._refused: dict[str, list[int]] = {}
        self.cost: Cost | None = None

    def check(self) -> None:
        """Open each process for a moment: who refuses is to be named before the first snapshot."""
        costs: list[Cost] = []

        def look(target: Target) -> None:
            target.check_access()
            cost = target.estimate_cost()
            if cost is not None:
                costs.append(cost)

        self._open = [process for process in self._open if self._do(process, look)]
        self.cost = add_costs(costs) if costs else None

    def take_capture(self) -> Capture:
        """Collect what holds for the whole system, the list of all processes included, and let go of that."""
        rows, self._rows = self._rows, []
        return self._collector.take_capture(rows)

    def visit(self, take: Callable[[Target], None]) -> Iterator[None]:
        """Call ``take`` for each process that opens, and yield after each."""
        for process in self._open:
            self._do(process, take)
            yield

    def _do(self, process: tuple[int, int | None], act: Callable[[Target], None]) -> bool:
        try:
            with closing(self._collector.open_target(*process)) as target:
                act(target)
        except CollectError as error:
            code = "" if error.code is None or str(error.code) in error.reason else f" ({error.code})"
            self._refused.setdefault(error.reason + code, []).append(process[0])
            return False
        return True

    def describe_refused(self) -> str | None:
        """Say who is missing: `2 of 40 processes are not in it: permission denied (13): 1, 7`."""
        if not self._refused:
            return None
        missing = sum(map(len, self._refused.values()))
        reasons = "; ".join(f"{reason}: {_list_pids(pids)}" for reason, pids in self._refused.items())
        return f"{missing} of {self._count} processes are not in it: {reasons}"

    def judge(self) -> Capability:
        """Put `describe_refused` into the words of a capability table."""
        text = self.describe_refused()
        return Capability("snapshots", "ok" if text is None else "partial", None, text)


def _list_pids(pids: list[int]) -> str:
    shown = ", ".join(map(str, pids[:_MOST_SHOWN]))
    return shown if len(pids) <= _MOST_SHOWN else f"{shown} and {len(pids) - _MOST_SHOWN} more"
