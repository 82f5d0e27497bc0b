"""What each source cost, and why one could not be had; the reason behind every null of a snapshot."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping
from typing import Callable, TypeVar

from mmpscope.formats.model import Capability, Fact, Facts

__all__ = ["NotApplicableError", "Recorder", "explain"]

T = TypeVar("T")


class NotApplicableError(ValueError):
    """This process has no such thing, and that is no lack of ours; the text says why."""


class Recorder:
    """Collects, for one snapshot or capture, the cost of each source in ns and the reason behind each gap."""

    def __init__(self) -> None:
        self.cost: dict[str, int] = {}
        self._capability: dict[str, Capability] = {}

    @property
    def capability(self) -> list[Capability]:
        """What was had and what was not, in the order of asking."""
        return list(self._capability.values())

    def attempt(self, item: str, read: Callable[[], T]) -> T | None:
        """Do as `require`, but where the system refuses, note why and return None.

        A ValueError (what was read makes no sense) counts as refusal, with its text for a reason.
        """
        try:
            return self.require(item, read)
        except OSError as error:
            self.miss(item, "unavailable", error.errno, explain(error))
        except ValueError as error:
            state = "not applicable" if isinstance(error, NotApplicableError) else "unavailable"
            self.miss(item, state, None, str(error))
        return None

    def require(self, item: str, read: Callable[[], T]) -> T:
        """Call ``read`` and note its time and success; its errors come out as they are."""
        value = self.measure(item, read)
        self._capability.setdefault(item, Capability(item, "ok"))
        return value

    def measure(self, item: str, work: Callable[[], T]) -> T:
        """Call ``work``, which is no source of the system, and note its time."""
        start = time.perf_counter_ns()
        try:
            return work()
        finally:
            self.cost[item] = self.cost.get(item, 0) + time.perf_counter_ns() - start

    def absorb(self, other: Recorder) -> None:
        """Take over what another recorder noted."""
        for item, cost in other.cost.items():
            self.cost[item] = self.cost.get(item, 0) + cost
        for known in other.capability:
            self._capability.setdefault(known.item, known)

    def gather(self, readers: Mapping[str, Callable[[], Fact]]) -> Facts:
        """Attempt each reader; what could not be had is left out."""
        values = {item: self.attempt(item, read) for item, read in readers.items()}
        return {item: value for item, value in values.items() if value is not None}

    def miss(self, item: str, state: str, code: int | None, reason: str) -> None:
        """Note that ``item`` is not there, or not whole (`partial`), and why."""
        self._capability[item] = Capability(item, state, code, reason)


def explain(error: OSError) -> str:
    """Say what the system answered: `permission denied (EACCES)`; an error of Windows has its own words."""
    if type(error).__str__ is not OSError.__str__:
        return str(error)
    number = error.errno or 0
    return f"{os.strerror(number).lower()} ({errno.errorcode.get(number, number)})"
