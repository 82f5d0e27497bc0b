"""Tests that measure time run while no other does, as pytest-xdist runs several at once."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["take_turn"]

_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")
_WORKER = os.environ.get("PYTEST_XDIST_WORKER")
_PATIENCE_S = 300
"""A worker that ended while it was alone leaves its wish behind."""


@contextmanager
def take_turn(*, alone: bool) -> Iterator[None]:
    """Wait until a test may run: beside others, or alone once those that run have ended."""
    if _RUN is None:
        yield
        return
    folder = Path(tempfile.gettempdir())
    wish = folder / f"mmp-tests-{_RUN}-alone-{_WORKER}"
    with (folder / f"mmp-tests-{_RUN}").open("a") as lock:
        if alone:
            wish.touch()
        else:
            end = time.monotonic() + _PATIENCE_S
            while any(folder.glob(f"mmp-tests-{_RUN}-alone-*")) and time.monotonic() < end:
                time.sleep(0.05)
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            yield
        finally:
            wish.unlink(missing_ok=True)
