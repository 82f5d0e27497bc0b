"""What may happen between two snapshots: a signal, a key, the end of the process, or just time.

Signals and keys are only noted while a snapshot is made, so that it gets finished; a second Ctrl-C cuts it.
"""

from __future__ import annotations

import enum
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from mmpscope.collector.keys import Keyboard

__all__ = ["Event", "Events", "interruptible"]


class Event(enum.Enum):
    """One thing that happened."""

    TAKE = "take a snapshot now"
    PAUSE = "pause, or go on"
    STOP = "stop"
    TARGET_ENDED = "the process ended"


_SIGNALS = {
    "SIGINT": Event.STOP,
    "SIGTERM": Event.STOP,
    "SIGHUP": Event.STOP,
    "SIGUSR1": Event.TAKE,
}
_KEYS = {ord("\n"): Event.TAKE, ord("\r"): Event.TAKE, ord("p"): Event.PAUSE}


class Events:
    """Listens while it is entered; everything is as before when it is left.

    A signal that was ignored when we started (nohup, a background job of a script) stays ignored.
    ``stopped_by`` is the name of the signal that asked us to stop.
    """

    def __init__(self, keyboard: Keyboard | None = None) -> None:
        self.stopped_by: str | None = None
        self._keyboard = keyboard
        self._meaning: dict[int, Event] = {}
        self._handlers_before: dict[int, object] = {}
        self._pipe: tuple[int, int] = (-1, -1)
        self._wakeup_before = -1

    def __enter__(self) -> Events:
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._wakeup_before = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        for name, meaning in _SIGNALS.items():
            number = signal.Signals[name]
            if signal.getsignal(number) != signal.SIG_IGN:
                self._meaning[number] = meaning
                self._handlers_before[number] = signal.signal(number, self._handle)
        if self._keyboard is not None:
            self._keyboard.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._keyboard is not None:
            self._keyboard.stop()
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal gave, whose type is private
        signal.set_wakeup_fd(self._wakeup_before)
        for end in self._pipe:
            os.close(end)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Note a wish to stop; the number itself also arrives in the pipe, where `wait` finds it."""
        if self._meaning[number] is Event.STOP:
            if self.stopped_by is not None:
                raise KeyboardInterrupt
            self.stopped_by = signal.Signals(number).name

    def wait(self, timeout_s: float | None, exit_handle: int | None) -> set[Event]:
        """Wait until something happens, at most ``timeout_s``; an empty set says that time is up."""
        keyboard = self._keyboard if self._keyboard is not None and self._keyboard.is_listening else None
        watched = [self._pipe[0]]
        watched += [] if exit_handle is None else [exit_handle]
        watched += [] if keyboard is None else [keyboard.fd]
        ready, _, _ = select.select(watched, [], [], timeout_s)
        events: set[Event] = set()
        if self._pipe[0] in ready:
            events.update(
                self._meaning[number] for number in os.read(self._pipe[0], 4096) if number in self._meaning
            )
        if exit_handle in ready:
            events.add(Event.TARGET_ENDED)
        if keyboard is not None and keyboard.fd in ready:
            events.update(_KEYS[key] for key in keyboard.read() if key in _KEYS)
        return events


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does, so that a file half made is taken away."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    wanted = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, interrupt) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
