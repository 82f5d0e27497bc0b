"""Text that a tool printed and a person saved: reading it whole, or its head, and walking its lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from mmpscope.formats.proc.source_text import normalize
from mmpscope.formats.whole import read_whole

__all__ = ["normalize_head", "read_text", "walk_lines"]


def read_text(stream: BinaryIO) -> bytes:
    """Read a whole text, UTF-16 and odd line ends taken off; LimitError where it is too large."""
    return normalize(read_whole(stream)).text


def normalize_head(head: bytes) -> bytes:
    """Normalize the first bytes of a file, which may end within a character; binary content is no text."""
    text = normalize(head[: len(head) // 4 * 4] or head).text
    return b"" if b"\0" in text else text


def walk_lines(text: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield number (from 1, in the whole text) and content of each line of a part of a text."""
    end = len(text) if end is None else end
    number = text.count(b"\n", 0, start) + 1
    while start < end:
        stop = text.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield number, text[start:stop]
        start, number = stop + 1, number + 1
