"""Single keys from the terminal, without Enter and without echo; the terminal is put back as it was."""

from __future__ import annotations

import os
import sys
import termios

__all__ = ["Keyboard", "find_keyboard"]


class Keyboard:
    """A terminal that gives each key at once between `start` and `stop`; Ctrl-C and Ctrl-Z work as always."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.is_listening = False
        self._before = termios.tcgetattr(fd)

    def start(self) -> None:
        """Switch off line editing and echo, as long as we own the terminal."""
        if not self._is_foreground():
            return
        mode = termios.tcgetattr(self.fd)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self.fd, termios.TCSADRAIN, mode)
        self.is_listening = True

    def read(self) -> bytes:
        """Read the keys that wait; none (and no more ever) once the terminal is gone."""
        try:
            keys = os.read(self.fd, 1024)
        except OSError:
            keys = b""
        if not keys:
            self.is_listening = False
        return keys

    def stop(self) -> None:
        """Put the terminal back."""
        if self.is_listening and self._is_foreground():
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
