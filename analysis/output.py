"""Where results go: standard output, or a file that appears whole or not at all.

Knows nothing of what is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mmpscope.formats.errors import OutputError, OutputExistsError

__all__ = ["STDOUT", "check_output", "open_output"]

STDOUT = "-"


def check_output(path: str, *, force: bool) -> None:
    """Refuse an output that exists, before any work is spent on it.

    Raises OutputExistsError without ``force``, OutputError where the path is a folder. Devices and pipes hold
    nothing that could be lost: they are written to as they are.
    """
    if path == STDOUT:
        return
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{path} is a folder. Name a file in it")
    if target.is_file() and not force:
        raise OutputExistsError(f"{path} exists. Give another name, or --force to replace it")


@contextmanager
def open_output(path: str, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open an output for bytes; a file is written under a temporary name and renamed once it is whole.

    What stood there before stays untouched until then, whatever happens. Raises as `check_output`, and OutputError
    where the system refuses.
    """
    check_output(path, force=force)
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    in_place = target.exists() and not target.is_file()
    temporary = target if in_place else target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            yield stream
        if not in_place:
            temporary.replace(target)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}. Name another place with -o") from error
    finally:
        if not in_place:
            temporary.unlink(missing_ok=True)
