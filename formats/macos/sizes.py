"""Sizes as macOS prints them: rounded, in K, M, G or T of 1024, and in bytes where no unit stands."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["SIZE", "Rounded", "parse_size"]

SIZE = rb"\d{1,19}(?:\.\d{1,3})?(?:[KMGT]B?)?"
"""One size; format 2.0 writes KB in some places."""
_SIZE = re.compile(rb"(\d{1,19})(?:\.(\d{1,3}))?([KMGT]?)B?")
_UNITS = {b"": 1, b"K": 1 << 10, b"M": 1 << 20, b"G": 1 << 30, b"T": 1 << 40}
_SPACE = 1 << 64


class Rounded(NamedTuple):
    """``value`` in bytes, and by how much it may be off: one of its last printed digit."""

    value: int
    error: int


def parse_size(text: bytes) -> Rounded | None:
    """Parse a size exactly; None where it is none, or is no number of 64 bits."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    whole, decimals, unit = match[1], match[2] or b"", _UNITS[match[3]]
    scale = 10 ** len(decimals)
    value = int(whole + decimals) * unit // scale
    return Rounded(value, max(1, unit // scale) if unit > 1 else 0) if value < _SPACE else None
