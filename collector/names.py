"""Names of processes are data from strangers: made harmless for a terminal, and for a file name."""

from __future__ import annotations

import re
import time

__all__ = ["make_file_name", "printable"]

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._+-]+")


def printable(name: bytes) -> str:
    """Write a name for a person: what is not UTF-8, or acts instead of being seen, as its escape."""
    text = name.decode("utf-8", "backslashreplace")
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def make_file_name(name: bytes, pid: int | None, time_s: float) -> str:
    """Make the name of an output nobody named: `nginx-4711-20260131T120000Z.mmp`.

    A program to be started has no pid.
    """
    plain = _NOT_PLAIN.sub("_", name.decode("utf-8", "replace")).strip("._") or "process"
    number = "" if pid is None else f"-{pid}"
    return f"{plain}{number}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(time_s))}.mmp"
