"""Looks at a `.mmp` file that somebody else is writing: how many whole snapshots it has by now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from mmpscope.formats.errors import TruncatedError
from mmpscope.formats.mmp.lock import is_locked
from mmpscope.formats.mmp.reader import open_file

__all__ = ["TORN", "count_whole", "watch_file"]

TORN = -1
"""In place of a number: the writer is gone, and its last frame is unfinished."""

_LOOK_S = 0.2
_GRACE_S = 2.0
"""So long nothing must have been written before it is asked whether there is a writer at all."""
_SILENCE_S = 10.0
"""So long nothing was written when that is told for the first time; then after twice as long, and so on."""


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


def watch_file(path: str, pause_s: float, tell: Callable[[str], None]) -> Iterator[int]:
    """Yield the number of whole snapshots each time that it has grown, until the writer closes the file.

    Or until the writer is gone, which ``tell`` is told; where that cannot be told, as another machine writes,
    ``tell`` hears for how long nothing was written. One that went amid a frame has TORN yielded at last:
    whoever reads the file then hears what is lost. At least ``pause_s`` lie between two looks that
    yield, and as long as the caller took for the last one.
    """
    counted, count, is_closed = -1, -1, False
    silence = _Silence(path)
    while not is_closed:
        seen = Path(path).stat().st_size
        found = count_whole(path) if seen != counted else None
        if found is None:
            if silence.is_final(seen, tell):
                yield from _take_leave(path, count, tell)
                return
            time.sleep(_LOOK_S)
            continue
        counted, (known, is_closed) = seen, found
        if known != count:
            count, start = known, time.monotonic()
            yield count
            if not is_closed:
                time.sleep(max(pause_s, time.monotonic() - start))


class _Silence:
    """How long nothing was written to a file, and what that means."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._size = -1
        self._start = 0.0
        self._ask_at = self._tell_at = 0.0

    def is_final(self, size: int, tell: Callable[[str], None]) -> bool:
        """Whether nothing more is to come, as nobody has the lock that a writer keeps to its end."""
        now = time.monotonic()
        if size != self._size:
            self._size, self._start, self._ask_at, self._tell_at = size, now, _GRACE_S, _SILENCE_S
        passed_s = now - self._start
        if passed_s < self._ask_at:
            return False
        self._ask_at = passed_s + _GRACE_S
        is_written = is_locked(self._path)
        if is_written is None and passed_s >= self._tell_at:
            self._tell_at *= 2
            tell(
                f"{self._path}: nothing was written for {passed_s:.0f} s, and whether somebody still writes "
                "cannot be told from here. Ctrl-C ends this"
            )
        return is_written is False


def _take_leave(path: str, count: int, tell: Callable[[str], None]) -> Iterator[int]:
    """Look once more: the file may have been closed, or have grown, just before its writer let go of it."""
    found = count_whole(path)
    if found is not None and found[0] != count:
        yield found[0]
    if found is None or not found[1]:
        tell(f"{path}: its writer is gone, and has not finished it")
    if found is None:
        yield TORN
