"""Work for worker processes that a test hands out: importable, so that a started process finds it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mmpscope.analysis.loading import InputFile

__all__ = ["name_files", "name_or_die", "raise_fault", "tell_process"]


def name_files(files: Sequence[InputFile]) -> list[str]:
    """Return the names of the files."""
    return [Path(file.path).name for file in files]


def name_or_die(files: Sequence[InputFile]) -> list[str]:
    """Return the names of the files; one called `killer` ends the process as the kernel would."""
    if any("killer" in file.path for file in files):
        os._exit(9)
    return name_files(files)


def raise_fault(files: Sequence[InputFile]) -> list[str]:
    """Raise what no work is meant to raise."""
    raise RuntimeError(f"a fault with {len(files)} files")


def tell_process(files: Sequence[InputFile]) -> tuple[int, int]:
    """Return the process that this runs in, and how many threads Arrow has there."""
    import pyarrow as pa

    return os.getpid(), pa.cpu_count()
