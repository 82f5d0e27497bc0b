"""Waiting for a signal, a key or the end of a process on Windows, which has no descriptor for them all."""

from __future__ import annotations

import sys
import time
from collections import deque

from mmpscope.collector.windows.keys import Keyboard

__all__ = ["Waiting"]

_SLICE_S = 0.05
_LONGEST_WAIT_S = 86400.0
_WAIT_OBJECT_0 = 0


class Waiting:
    """Looks twenty times a second for signals and keys; the end of the process is seen at once."""

    def __init__(self) -> None:
        self._numbers: deque[int] = deque()

    def start(self) -> None:
        """Forget what was before."""
        self._numbers.clear()

    def stop(self) -> None:
        """Do nothing: nothing was set up."""

    def note(self, number: int) -> None:
        """Take down the number of a signal, from its handler."""
        self._numbers.append(number)

    def wait(
        self, timeout_s: float | None, exit_handle: int | None, keyboard: Keyboard | None
    ) -> tuple[bytes, bytes, bool]:
        """Wait until something happens: the numbers of signals, keys, and whether the process has ended.

        At most ``timeout_s``, and a day, however long one wanted to wait.
        """
        until = time.monotonic() + (_LONGEST_WAIT_S if timeout_s is None else timeout_s)
        has_ended = False
        while True:
            keys = keyboard.read() if keyboard is not None else b""
            # One by one: a handler may add another number between any two instructions.
            numbers = bytes(self._numbers.popleft() for _ in range(len(self._numbers)))
            left = until - time.monotonic()
            if numbers or keys or has_ended or left <= 0:
                return numbers, keys, has_ended
            has_ended = _sleep(min(left, _SLICE_S), exit_handle)


def _sleep(seconds: float, exit_handle: int | None) -> bool:
    """Sleep, and tell if the process ended meanwhile; a Ctrl-C ends only a sleep of Python's own at once."""
    if sys.platform == "win32" and exit_handle is not None:
        import ctypes

        wait = ctypes.windll.kernel32.WaitForSingleObject
        return bool(wait(ctypes.c_void_p(exit_handle), int(seconds * 1000) + 1) == _WAIT_OBJECT_0)
    time.sleep(seconds)
    return False
