"""Where results go: standard output, or a file that appears whole or not at all.

Knows nothing of what is written.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mmpscope.formats.errors import OutputError, OutputExistsError
from mmpscope.formats.mmp.output import OutputFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["STDOUT", "check_output", "open_output"]

STDOUT = "-"


def check_output(path: str, *, force: bool) -> None:
    """Refuse an output that exists before any work is spent on it.

    Raises OutputExistsError without ``force``, OutputError where the path is a folder.
    """
    if path == STDOUT:
        return
    if Path(path).is_dir():
        raise OutputError(f"{path} is a folder. Name a file in it.")
    if Path(path).is_file() and not force:
        raise OutputExistsError(f"{path} exists. Use --force to replace it, or name another file.")


@contextmanager
def open_output(path: str, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open an output for bytes; what stood there before stays untouched until all is written.

    Raises as `check_output`, and OutputError where the system refuses. A device or pipe holds nothing that
    could be lost: it is written to as it is.
    """
    check_output(path, force=force)
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif Path(path).exists() and not Path(path).is_file():
        with Path(path).open("wb") as device:
            yield device
    else:
        with closing(OutputFile.create(path, force=force)) as output:
            with io.BufferedWriter(_Stream(output), 1 << 20) as stream:
                yield stream
            output.publish()


class _Stream(io.RawIOBase):
    """An `OutputFile` as Python's own writers want it."""

    def __init__(self, output: OutputFile) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        block = bytes(data)
        self._output.write(block)
        return len(block)

    def tell(self) -> int:
        return self._output.size
