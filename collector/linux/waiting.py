"""Waiting for a signal, a key or the end of a process at once: signals arrive in a pipe."""

from __future__ import annotations

import math
import os
import select
import signal

from mmpscope.collector.linux.keys import Keyboard

__all__ = ["Waiting"]

_LONGEST_WAIT_S = 86400.0
"""poll takes at most 2^31 - 1 ms. Who waits longer finds that nothing happened, and waits again."""


class Waiting:
    """Listens between `start` and `stop`; what was set up before is set up again."""

    def __init__(self) -> None:
        self._pipe: tuple[int, int] = (-1, -1)
        self._wakeup_before = -1

    def start(self) -> None:
        """Have the number of each signal written to a pipe."""
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._wakeup_before = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)

    def stop(self) -> None:
        """Put back what was before."""
        signal.set_wakeup_fd(self._wakeup_before)
        for end in self._pipe:
            os.close(end)

    def note(self, number: int) -> None:
        """Do nothing: the number is in the pipe already."""

    def wait(
        self, timeout_s: float | None, exit_handle: int | None, keyboard: Keyboard | None
    ) -> tuple[bytes, bytes, bool]:
        """Wait until something happens: the numbers of signals, keys, and whether the process has ended.

        At most ``timeout_s``, and a day, however long one wanted to wait.
        """
        watched = [self._pipe[0]]
        watched += [] if exit_handle is None else [exit_handle]
        watched += [] if keyboard is None else [keyboard.fd]
        ready = _poll(watched, timeout_s)
        numbers = os.read(self._pipe[0], 4096) if self._pipe[0] in ready else b""
        keys = keyboard.read() if keyboard is not None and keyboard.fd in ready else b""
        return numbers, keys, exit_handle in ready


def _poll(watched: list[int], timeout_s: float | None) -> set[int]:
    """Tell which descriptors have something; select would refuse those from 1024 on."""
    poller = select.poll()
    for fd in watched:
        poller.register(fd, select.POLLIN)
    wait_s = _LONGEST_WAIT_S if timeout_s is None else min(timeout_s, _LONGEST_WAIT_S)
    return {fd for fd, _ in poller.poll(math.ceil(wait_s * 1000))}
