"""A disk that is full when a dataset writes its nth file."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.analysis.datasets import writing
from mmpscope.formats.errors import OutputError

__all__ = ["fill_disk"]


def fill_disk(patched: pytest.MonkeyPatch, at: int) -> None:
    """Let the write of that number fail as on a full disk."""
    write, calls = writing._write, iter(range(1, 100))

    def fail(path: Path, data: bytes) -> None:
        if next(calls) == at:
            raise OutputError(f"{path}: it cannot be written (No space left on device).")
        write(path, data)

    patched.setattr(writing, "_write", fail)
