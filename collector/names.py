"""Names of processes are data from strangers: made harmless for a terminal, and for a file name."""

from __future__ import annotations

import re
import time

__all__ = ["make_file_name", "printable"]

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._+-]+")
_EXE = re.compile(r"\.exe$", re.IGNORECASE)
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)\.", re.IGNORECASE)
"""`con.exe-4711-....mmp` would be written to the console: Windows looks at a name up to its first dot."""


def printable(name: bytes) -> str:
    """Write a name for a person: what is not UTF-8, or acts instead of being seen, as its escape."""
    text = name.decode("utf-8", "backslashreplace")
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def make_file_name(name: bytes, pid: int | None, time_s: float) -> str:
    """Make the name of an output nobody named: `nginx-4711-20260131T120000Z.mmp`.

    A program to be started has no pid. The name is one that Windows takes as well: files travel.
    """
    stem = _EXE.sub("", name.decode("utf-8", "replace"))
    plain = _NOT_PLAIN.sub("_", stem).strip("._") or "process"
    plain = f"_{plain}" if _DEVICE.match(plain) else plain
    number = "" if pid is None else f"-{pid}"
    return f"{plain}{number}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(time_s))}.mmp"
