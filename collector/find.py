"""From what the user typed to one process: a pid, a name, or the beginning of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Callable

from mmpscope.collector.base import ProcessRow
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.collector.ps import format_rows

__all__ = ["find_process", "parse_pid"]

_EXE = ".exe"
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


def find_process(
    wanted: str,
    rows: Sequence[ProcessRow],
    own_pid: int | None,
    *,
    is_windows: bool = sys.platform == "win32",
) -> ProcessRow:
    """Find the one process called ``wanted``: exactly, else the one whose name begins so.

    Names are the kernel's (on Linux comm, cut to 15 bytes) and that of the executable; we ourselves do not
    count. On Windows `.exe` may be left out, and capital letters do not matter. CollectError where nothing
    fits; UsageError, with a list to choose from, where several do.
    """
    fold = _fold_name if is_windows else bytes
    name = fold(os.fsencode(wanted))
    others = [row for row in rows if row.pid != own_pid]
    tests: list[Callable[[bytes], bool]] = [lambda found: found == name, lambda found: found.startswith(name)]
    for fits in tests:
        hits = [
            row for row in others if any(fits(fold(found)) for found in (row.name, row.executable) if found)
        ]
        # A kernel thread or a zombie has no memory; it is only meant where nothing else is.
        hits = [row for row in hits if row.has_memory] or hits
        if len(hits) == 1:
            return hits[0]
        if hits:
            raise UsageError(f"{len(hits)} processes fit {wanted!r}. Give one by pid:\n{format_rows(hits)}")
    raise CollectError(f"no process is called {wanted!r}, and no name begins so. `--ps` lists what runs.")


def _fold_name(name: bytes) -> bytes:
    """Make equal what Windows takes for the same program: `Notepad.exe`, `notepad`."""
    folded = name.decode("utf-8", "surrogatepass").lower()
    return folded[: -len(_EXE) if folded.endswith(_EXE) else None].encode("utf-8", "surrogatepass")
