"""Single keys from the console, without Enter and without echo."""

from __future__ import annotations

import sys
from contextlib import suppress

if sys.platform == "win32":
    import ctypes
    import msvcrt

__all__ = ["Keyboard", "find_keyboard"]

_EXTENDED = ("\0", "\xe0")
"""What comes before the code of a function key or an arrow."""


class Keyboard:
    """A console that gives each key at once; Ctrl-C works as always."""

    def __init__(self) -> None:
        self.is_listening = False

    def start(self) -> None:
        """Listen."""
        self.is_listening = True

    def read(self) -> bytes:
        """Read the keys that wait."""
        keys = b""
        if sys.platform == "win32":
            while msvcrt.kbhit():
                key = msvcrt.getwch()
                if key in _EXTENDED:
                    msvcrt.getwch()
                else:
                    keys += key.encode("utf-8", "replace")
        return keys

    def stop(self) -> None:
        """Listen no more."""
        self.is_listening = False


def find_keyboard() -> Keyboard | None:
    """Find the console on standard input; None where there is none.

    `isatty` is true of NUL as well, which scripts give us for an input; only a console has a mode.
    """
    if sys.platform == "win32" and sys.stdin is not None:
        with suppress(OSError, ValueError):  # it is closed, or no file of the system
            handle = ctypes.c_void_p(msvcrt.get_osfhandle(sys.stdin.fileno()))
            mode = ctypes.c_uint32()
            if ctypes.windll.kernel32.GetConsoleMode(handle, ctypes.byref(mode)):
                return Keyboard()
    return None
