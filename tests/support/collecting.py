"""Runs `mmp-collect` as a user would, and reads what it wrote."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mmpscope.formats.mmp.reader import open_file
from mmpscope.formats.model import Snapshot

__all__ = ["collect", "read_notes", "read_snapshots", "run_sleeper", "start_collect", "wait_until"]

_COMMAND = [sys.executable, "-m", "mmpscope.collector"]
_PATIENCE_S = 30


def collect(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `mmp-collect` to its end."""
    command = [*_COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=_PATIENCE_S, check=False)


class _Started(subprocess.Popen[str]):
    """A collector that a failed test ends: it would be waited for, for ever."""

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)  # type: ignore[arg-type]  # handed on as they came


def start_collect(*arguments: object) -> subprocess.Popen[str]:
    """Start `mmp-collect`; what it says comes through pipes."""
    command = [*_COMMAND, *map(str, arguments)]
    return _Started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def run_sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Run a small program that does nothing, and end it afterwards."""
    process = subprocess.Popen(["sleep", "1000"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def read_snapshots(path: Path, *, partial: bool = False) -> list[Snapshot]:
    """Read every snapshot of a file."""
    with open_file(path, partial=partial) as source:
        return [source.read(entry.index) for entry in source.entries]


def read_notes(path: Path) -> list[str]:
    """Read the notes of a file that was closed."""
    with open_file(path) as source:
        assert source.closed
        return source.read_notes()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process is about to do; TimeoutError where it does not."""
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen")
        time.sleep(0.01)
