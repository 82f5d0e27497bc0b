"""The text of a file that VMMap or a spreadsheet saved: which encoding it has, and its lines one by one.

VMMap writes a list in the ANSI code page of its user and ends each line with CR CR LF; editors and Excel turn
that into anything else.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from mmpscope.formats.errors import LimitError

__all__ = ["MOST_LINE", "decode_head", "find_mark", "is_utf8", "read_lines"]

_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ANSI = "cp1252"
_CHUNK_BYTES = 1 << 20
MOST_LINE = 1 << 16
"""Characters of a line: twice the longest path of Windows."""


def find_mark(head: bytes) -> tuple[str, int]:
    """Tell UTF-16 (by mark or zeros) from anything else, taken for UTF-8; and the length of a mark."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding, len(mark)
    if len(head) > 1 and 0 in head[:2] and head[0] != head[1]:
        return ("utf-16-be" if head[0] == 0 else "utf-16-le"), 0
    return "utf-8", 0


def is_utf8(stream: BinaryIO) -> bool:
    """Whether all of a stream is UTF-8 as far as it goes; the stream is left at its start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    stream.seek(0)
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    finally:
        stream.seek(0)
    return True


def decode_head(head: bytes) -> str:
    """Decode the first bytes of a file as far as needed to tell what it is."""
    encoding, length = find_mark(head)
    return head[length:].decode(encoding, "replace")


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, str, bool]]:
    """Yield number, text and whether it ended, of each line; LimitError for one that is too long.

    What is no UTF-8 is read as Windows-1252; a byte that even that does not have is shown as ``\\x81``.
    """
    encoding, length = find_mark(stream.read(4))
    if encoding == "utf-8" and not is_utf8(stream):
        encoding = _ANSI
    stream.seek(length)
    text = io.TextIOWrapper(stream, encoding, "backslashreplace", newline="\n")
    try:
        number = 0
        while line := text.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise LimitError(f"line {number} has more than {MOST_LINE:,} characters")
            yield number, line.rstrip("\r\n"), line.endswith("\n")
    finally:
        if not stream.closed:  # by whoever gave up before the end
            text.detach()  # else it would close the stream, which is not ours
