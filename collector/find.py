"""From what the user typed to one process: a pid, a name, or the beginning of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Callable

from mmpscope.collector.base import ProcessRow
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.collector.ps import format_rows

__all__ = ["find_pid", "parse_pid"]

_MOST_DIGITS = 10
"""No system has longer pids; Python refuses to read a number of more than 4300 digits."""


def parse_pid(text: str) -> int | None:
    """Read a pid, None where ``text`` is no number; CollectError where no process can have it."""
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:
        shown = digits if len(digits) <= 2 * _MOST_DIGITS else digits[: 2 * _MOST_DIGITS] + "..."
        raise CollectError(f"there is no process {shown}: no pid is as long. `--ps` lists what runs.")
    return int(digits)


def find_pid(wanted: str, rows: Sequence[ProcessRow], own_pid: int | None) -> int:
    """Find the one process called ``wanted``: exactly, else the one whose name begins so.

    Names are the kernel's (comm, cut to 15 bytes) and that of the executable; we ourselves do not count.
    CollectError where nothing fits; UsageError, with a list to choose from, where several do.
    """
    name = os.fsencode(wanted)
    others = [row for row in rows if row.pid != own_pid]
    tests: list[Callable[[bytes], bool]] = [lambda found: found == name, lambda found: found.startswith(name)]
    for fits in tests:
        hits = [row for row in others if any(fits(found) for found in (row.name, row.executable) if found)]
        # A kernel thread or a zombie has no memory; it is only meant where nothing else is.
        hits = [row for row in hits if row.has_memory] or hits
        if len(hits) == 1:
            return hits[0].pid
        if hits:
            raise UsageError(f"{len(hits)} processes fit {wanted!r}. Give one by pid:\n{format_rows(hits)}")
    raise CollectError(f"no process is called {wanted!r}, and no name begins so. `--ps` lists what runs.")
