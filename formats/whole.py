"""Reading a file whole, as readers of text do, without asking for more memory than it has bytes."""

from __future__ import annotations

import os
from typing import BinaryIO

from mmpscope.formats.errors import LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS

__all__ = ["measure_stream", "read_whole"]


def read_whole(stream: BinaryIO, most: int = DEFAULT_LIMITS.table_raw_bytes) -> bytes:
    """Read from the place of a seekable stream to its end; LimitError for more than ``most`` bytes.

    Not `read(most + 1)`: Python sets a gigabyte aside for it, however small the file.
    """
    start = stream.tell()
    size = stream.seek(0, os.SEEK_END) - start
    if size > most:
        raise LimitError(f"a text of {size:,} bytes; {most >> 20:,} MiB is the limit")
    stream.seek(start)
    return stream.read(size)


def measure_stream(stream: BinaryIO) -> int:
    """Measure a seekable stream, which is at its start then; 0 for a file of /proc, which tells no size."""
    try:
        size = stream.seek(0, os.SEEK_END)
    except OSError:  # lseek(2): EINVAL of /proc/PID/smaps, which has no end to go to
        size = 0
    stream.seek(0)
    return size
