"""Looks at a `.mmp` file that somebody else is writing: how many whole snapshots it has by now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from mmpscope.formats.errors import TruncatedError
from mmpscope.formats.mmp.reader import open_file

__all__ = ["count_whole", "watch_file"]

_LOOK_S = 0.2


def count_whole(path: str) -> tuple[int, bool] | None:
    """Return how many snapshots are whole, and whether the writer has closed the file.

    None where the last frame is unfinished: a reader sees a long write in parts. FormatError where the file
    is damaged, or none of ours.
    """
    try:
        with closing(open_file(path)) as source:
            return len(source.entries), source.closed
    except TruncatedError:
        return None


def watch_file(path: str, pause_s: float) -> Iterator[int]:
    """Yield the number of whole snapshots each time that it has grown, until the writer closes the file.

    At least ``pause_s`` lie between two looks that yield, and as long as the caller took for the last one.
    """
    size, count, is_closed = -1, -1, False
    while not is_closed:
        seen = Path(path).stat().st_size
        found = count_whole(path) if seen != size else None
        if found is None:
            time.sleep(_LOOK_S)
            continue
        size, (known, is_closed) = seen, found
        if known != count:
            count, start = known, time.monotonic()
            yield count
            if not is_closed:
                time.sleep(max(pause_s, time.monotonic() - start))
