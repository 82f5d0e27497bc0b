"""Names made harmless for a terminal or a cell of text: data from strangers, shown and never obeyed.

JSON and Parquet keep names as they are; nothing here is for them.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["measure_width", "show_name", "shorten_middle"]

_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters: ANSI sequences begin here
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks: "gpj.exe" can read "exe.jpg"
    "\u00ad\u200b-\u200d\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # shapeless
    "\ud800-\udfff"  # half characters: bytes of a file name that are no UTF-8
    "\U000e0000-\U000e0fff"  # tags: text that no font shows
    "]"
)


def show_name(text: str) -> str:
    r"""Write every character that acts instead of being seen as its escape, as in ``\x1b`` or ``\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda hit: _escape(ord(hit[0])), text)


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # how Python carries a byte that is no UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def measure_width(text: str) -> int:
    """Count the terminal columns of a shown text: wide characters take two, combining ones none (UAX #11)."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten_middle(text: str, width: int, mark: str = "…") -> str:
    """Cut the middle out so that the text fits ``width`` columns; both ends of a path tell more than its
    middle.

    The end gets more than the start: it holds the file's name. Of a path, all of the name stays if it can,
    else its two ends: many a library of Python ends in the same 25 characters.
    """
    if measure_width(text) <= width:
        return text
    room = max(width - len(mark), 0)
    end = room - room // 3
    if text.startswith("/"):
        name = text[text.rindex("/") + 1 :]
        if measure_width(name) >= room > 0:
            return f"{mark}/{shorten_middle(name, room - 1, mark)}"
        end = max(end, measure_width(name) + 1)
    tail = _take(text[::-1], end)[::-1]
    return _take(text, room - measure_width(tail)) + mark[:width] + tail


def _take(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:index]
    return text
