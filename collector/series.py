"""Snapshots of one process in a row: when each is due, and what ends it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Callable

from mmpscope.collector.base import Target
from mmpscope.collector.errors import ProcessGoneError
from mmpscope.collector.events import Event, Events

__all__ = ["Plan", "Schedule", "Series"]

_POLL_S = 0.2
"""How often to look whether the process lives, where the system cannot tell us when it ends."""


@dataclass(frozen=True)
class Plan:
    """One snapshot every ``interval_s``, the first at once, until ``count`` or ``duration_s`` is reached."""

    interval_s: float = 1.0
    count: int | None = None
    duration_s: float | None = None


class Schedule:
    """Due times are start + k * interval, so that delays do not add up; those that passed are left out."""

    def __init__(self, plan: Plan, start: float) -> None:
        self._plan = plan
        self._start = start
        self._tick = 0
        self._taken = 0

    def find_due(self) -> float | None:
        """Tell when the next snapshot is due, None where the plan is fulfilled."""
        plan = self._plan
        after = self._tick * plan.interval_s
        if plan.count is not None and self._taken >= plan.count:
            return None
        if plan.duration_s is not None and after > plan.duration_s:
            return None
        return self._start + after

    def mark_taken(self, now: float) -> None:
        """Count a snapshot that was due, and move on to the first due time after ``now``."""
        self._taken += 1
        self._tick = max(self._tick, math.floor((now - self._start) / self._plan.interval_s)) + 1


class Series:
    """Takes snapshots by ``take`` until the plan is fulfilled, somebody says stop, or the process ends."""

    def __init__(
        self, target: Target, plan: Plan, take: Callable[[], None], events: Events, say: Callable[[str], None]
    ) -> None:
        self._target = target
        self._plan = plan
        self._take = take
        self._events = events
        self._say = say
        self._is_paused = False

    def run(self) -> str | None:
        """Run to the end; tell in words what ended it before its plan was fulfilled, None where nothing did.

        What goes wrong with the first snapshot comes out as it is; later on the end of the process ends the
        series.
        """
        schedule = Schedule(self._plan, time.monotonic())
        self._take()
        schedule.mark_taken(time.monotonic())
        try:
            while (due := schedule.find_due()) is not None:
                ended_by = self._wait(due)
                if ended_by is not None:
                    return ended_by
                if not self._is_paused and time.monotonic() >= due:
                    self._take()
                    schedule.mark_taken(time.monotonic())
        except ProcessGoneError:
            return self._describe_end()
        return None

    def _wait(self, due: float) -> str | None:
        """Wait for ``due`` or something before it, act on it, and tell what ended the series, if it did."""
        handle = self._target.exit_handle()
        left = math.inf if self._is_paused else max(0.0, due - time.monotonic())
        if handle is None:
            left = min(left, _POLL_S)
        events = self._events.wait(None if math.isinf(left) else left, handle)
        if Event.STOP in events:
            return f"stopped by {self._events.stopped_by}"
        if Event.TARGET_ENDED in events or (handle is None and not self._target.is_alive()):
            return self._describe_end()
        if Event.PAUSE in events:
            self._is_paused = not self._is_paused
            self._say("paused: Enter takes a snapshot, p goes on" if self._is_paused else "going on")
        if Event.TAKE in events:
            self._take()
        return None

    def _describe_end(self) -> str:
        return f"process {self._target.pid} ended"
