"""How far long work has come, on a terminal: a line on stderr that rewrites itself and is gone at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mmpscope.analysis.options import Manner
from mmpscope.analysis.output import STDOUT

__all__ = ["follow"]

_PATIENCE_S = 1.0
"""Work that is done sooner needs no line."""
_PAUSE_S = 0.1
_CLEAR = "\r\x1b[K"

Item = TypeVar("Item")


def follow(
    items: Iterable[Item],
    manner: Manner,
    output: str,
    what: str = "snapshots",
    weigh: Callable[[Item], int] = lambda _: 1,
) -> Iterator[Item]:
    """Pass items on, telling how many; nothing is told where the answer itself goes to a terminal.

    ``weigh`` tells how many of ``what`` an item stands for.
    """
    is_wanted = sys.stderr.isatty() and not (manner.quiet or manner.no_progress)
    if not is_wanted or (output == STDOUT and sys.stdout.isatty()):
        yield from items
        return
    due = time.monotonic() + _PATIENCE_S
    count = 0
    try:
        for item in items:
            if time.monotonic() >= due:
                print(f"{_CLEAR}{what} done: {count:,}", end="", file=sys.stderr, flush=True)
                due = time.monotonic() + _PAUSE_S
            yield item
            count += weigh(item)
    finally:
        print(end=_CLEAR, file=sys.stderr, flush=True)
