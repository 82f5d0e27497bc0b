"""Waiting for a signal or a key on Windows, which has no descriptor that stands for either."""

from __future__ import annotations

import time

from mmpscope.collector.windows.keys import Keyboard

__all__ = ["Waiting"]

_SLICE_S = 0.05
_LONGEST_WAIT_S = 86400.0


class Waiting:
    """Looks twenty times a second; Ctrl-C ends a sleep at once."""

    def __init__(self) -> None:
        self._numbers = b""

    def start(self) -> None:
        """Forget what was before."""
        self._numbers = b""

    def stop(self) -> None:
        """Do nothing: nothing was set up."""

    def note(self, number: int) -> None:
        """Take down the number of a signal, from its handler."""
        self._numbers += bytes([number])

    def wait(
        self, timeout_s: float | None, exit_handle: int | None, keyboard: Keyboard | None
    ) -> tuple[bytes, bytes, bool]:
        """Wait until something happens: the numbers of signals, keys, and whether the process has ended.

        The end of a process is for `Target.is_alive` to tell: there is no handle for it here.
        """
        until = time.monotonic() + (_LONGEST_WAIT_S if timeout_s is None else timeout_s)
        while True:
            keys = keyboard.read() if keyboard is not None else b""
            numbers, self._numbers = self._numbers, b""
            left = until - time.monotonic()
            if numbers or keys or left <= 0:
                return numbers, keys, False
            time.sleep(min(left, _SLICE_S))
