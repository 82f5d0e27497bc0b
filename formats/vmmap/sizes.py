"""Numbers as VMMap prints them: whole K, in groups of digits as the user's locale has them.

A size has no fraction, so every separator is one of thousands, also `.` and `,`: 1.234 is 1,234 K in German.
What is not grouped as a locale would do it is refused, for a guess could be wrong by a factor of a thousand.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["IN_GROUPS", "parse_address", "parse_count", "parse_kib"]

_THREES = r"\d{1,3}(?P<separator>[.,'\u2019 \u00a0\u202f])\d{3}(?:(?P=separator)\d{3})*"
_INDIAN = r"\d{1,2}(?:,\d{2})+,\d{3}"
IN_GROUPS = re.compile(f"{_INDIAN}|{_THREES}", re.ASCII)
"""Groups of three digits, or as in India of two and the last of three (12,34,567)."""
_REST = re.compile(r"\D+", re.ASCII)
_ADDRESS = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{1,16})")
_KIB = 1024
_LARGEST = (1 << 64) - 1
_MOST_DIGITS = len(str(_LARGEST))


@lru_cache(maxsize=1 << 16)  # most sizes repeat
def parse_kib(text: str) -> int | None:
    """Return the bytes of a size in K; nothing at all is 0, None for what is no such number."""
    text = text.strip()
    number = parse_count(text.removesuffix("K").rstrip())
    return None if number is None or number * _KIB > _LARGEST else number * _KIB


def parse_count(text: str) -> int | None:
    """Return a plain number in groups; nothing at all is 0, None for what is no such number."""
    text = text.strip()
    if not text:
        return 0
    if IN_GROUPS.fullmatch(text) is not None:
        text = _REST.sub("", text)
    elif not (text.isascii() and text.isdigit()):
        return None
    return int(text) if len(text) <= _MOST_DIGITS and int(text) <= _LARGEST else None


def parse_address(text: str) -> int | None:
    """Return a hexadecimal address; None for anything else."""
    match = _ADDRESS.fullmatch(text.strip())
    return None if match is None else int(match[1], 16)
