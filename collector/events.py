"""What may happen between two snapshots: a signal, a key, the end of the process, or just time.

Signals and keys are only noted while a snapshot is made, so that it gets finished; a second Ctrl-C cuts it.
"""

from __future__ import annotations

import enum
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from mmpscope.collector.keys import Keyboard

if sys.platform == "win32":
    from mmpscope.collector.windows.waiting import Waiting
else:
    from mmpscope.collector.linux.waiting import Waiting

__all__ = ["Cut", "Event", "Events", "interruptible"]


class Event(enum.Enum):
    """One thing that happened."""

    TAKE = "take a snapshot now"
    PAUSE = "pause, or go on"
    STOP = "stop"
    TARGET_ENDED = "the process ended"


_STOPS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_SIGNALS = {**dict.fromkeys(_STOPS, Event.STOP), "SIGUSR1": Event.TAKE}
"""SIGBREAK is Windows' alone (Ctrl-Break), SIGHUP and SIGUSR1 are not there."""
_KEYS = {ord("\n"): Event.TAKE, ord("\r"): Event.TAKE, ord("p"): Event.PAUSE}


class Cut:
    """Somebody's wish not to wait: KeyboardInterrupt, but only while we read.

    A handler runs between any two instructions. Where a frame has been written and is not numbered yet, an
    exception would have the next frame take its number: the file would be damaged.
    """

    def __init__(self) -> None:
        self._is_asked = False
        self._is_allowed = False

    def ask(self) -> None:
        """Raise KeyboardInterrupt now, or when the next reading begins."""
        self._is_asked = True
        if self._is_allowed:
            self._is_allowed = False
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the body, which only reads, be interrupted."""
        self._is_allowed = True
        try:
            if self._is_asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._is_allowed = False


class Events:
    """Listens while it is entered; everything is as before when it is left.

    A signal that was ignored when we started (nohup, a background job of a script) stays ignored.
    ``stopped_by`` is the name of the signal that asked us to stop; the next one asks for a cut.
    """

    def __init__(self, keyboard: Keyboard | None = None, cut: Cut | None = None) -> None:
        self.stopped_by: str | None = None
        self._keyboard = keyboard
        self._cut = cut or Cut()
        self._meaning: dict[int, Event] = {}
        self._handlers_before: dict[int, object] = {}
        self._waiting = Waiting()

    def __enter__(self) -> Events:
        self._waiting.start()
        for name, meaning in _SIGNALS.items():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                self._meaning[number] = meaning
                self._handlers_before[number] = signal.signal(number, self._handle)
        if self._keyboard is not None:
            self._keyboard.start()
            if sys.platform != "win32" and signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
                self._handlers_before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
                self._handlers_before[signal.SIGCONT] = signal.signal(signal.SIGCONT, self._resume)
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
        self._waiting.stop()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Note a wish to stop, and the number for `wait` to find."""
        self._waiting.note(number)
        if self._meaning[number] is Event.STOP:
            if self.stopped_by is not None:
                self._cut.ask()
            else:
                self.stopped_by = signal.Signals(number).name

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Stop on Ctrl-Z as everybody does, but not before the terminal is as the shell knows it."""
        assert self._keyboard is not None
        self._keyboard.stop()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)  # somebody let us go on

    def _resume(self, number: int, frame: FrameType | None) -> None:
        """Listen to keys again, unless we go on in the background."""
        assert self._keyboard is not None
        self._keyboard.start()

    def wait(self, timeout_s: float | None, exit_handle: int | None) -> set[Event]:
        """Wait until something happens, at most ``timeout_s``; an empty set says that time is up.

        So it does after a day, however long one wanted to wait.
        """
        keyboard = self._keyboard if self._keyboard is not None and self._keyboard.is_listening else None
        numbers, keys, has_ended = self._waiting.wait(timeout_s, exit_handle, keyboard)
        events = {self._meaning[number] for number in numbers if number in self._meaning}
        events.update(_KEYS[key] for key in keys if key in _KEYS)
        if has_ended:
            events.add(Event.TARGET_ENDED)
        return events


@contextmanager
def interruptible(cut: Cut) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP ask for a cut, so that a file half made is taken away."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        cut.ask()

    numbers = [getattr(signal, name) for name in _STOPS if hasattr(signal, name)]
    wanted = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
