"""Single keys from the terminal, without Enter and without echo; the terminal is put back as it was."""

from __future__ import annotations

import os
import sys
import termios
from contextlib import suppress

__all__ = ["Keyboard", "find_keyboard"]


class Keyboard:
    """A terminal that gives each key at once between `start` and `stop`; Ctrl-C and Ctrl-Z work as always."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.is_listening = False
        self._before = termios.tcgetattr(fd)

    def start(self) -> None:
        """Switch off line editing and echo if we own the terminal, else do not listen."""
        self.is_listening = False
        if not self._is_foreground():
            return
        with suppress(termios.error):  # it has just been closed
            mode = termios.tcgetattr(self.fd)
            mode[3] &= ~(termios.ICANON | termios.ECHO)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self.fd, termios.TCSADRAIN, mode)
            self.is_listening = True

    def read(self) -> bytes:
        """Read the keys that wait; none, and listen no more, once the terminal is gone or not ours.

        In the background a read would stop us (SIGTTIN), and what is typed is the shell's.
        """
        try:
            keys = os.read(self.fd, 1024) if self._is_foreground() else b""
        except OSError:
            keys = b""
        if not keys:
            self.is_listening = False
        return keys

    def stop(self) -> None:
        """Put the terminal back."""
        if self.is_listening and self._is_foreground():
            with suppress(termios.error):
                termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)
        self.is_listening = False

    def _is_foreground(self) -> bool:
        """Whether the terminal is ours now: in the background a change of its mode stops us (SIGTTOU)."""
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:  # it is gone, or not the one that controls us
            return False


def find_keyboard() -> Keyboard | None:
    """Find the terminal on standard input; None where there is none."""
    try:
        return Keyboard(sys.stdin.fileno()) if sys.stdin is not None and sys.stdin.isatty() else None
    except (OSError, ValueError, termios.error):
        return None
