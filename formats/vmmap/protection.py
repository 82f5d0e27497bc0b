"""PAGE_* protections in the words of VMMap, both ways ("Memory Protection Constants" of memoryapi.h).

Nothing is lost on the way: bits that have no word are written in hex.
"""

from __future__ import annotations

import re

__all__ = [
    "COPY_ON_WRITE",
    "EXECUTABLE",
    "PAGE_GUARD",
    "PAGE_NOACCESS",
    "PROTECTION",
    "WRITABLE",
    "name_protection",
    "read_protection",
]

PAGE_NOACCESS = 0x01
PAGE_GUARD = 0x100

_RESERVED = "Reserved"
_RIGHTS = {
    0x01: "No access",
    0x02: "Read",
    0x04: "Read/Write",
    0x08: "Copy on write",
    0x10: "Execute",
    0x20: "Execute/Read",
    0x40: "Execute/Read/Write",
    0x80: "Execute/Copy on Write",
}
"""VMMap's own spelling, capitals included: one of these bits is set where memory is committed."""
_MODIFIERS = {PAGE_GUARD: "Guard", 0x200: "NoCache", 0x400: "WriteCombine"}

WRITABLE = 0x04 | 0x40
COPY_ON_WRITE = 0x08 | 0x80
EXECUTABLE = 0x10 | 0x20 | 0x40 | 0x80
"""Masks over the bits of a protection."""

_MOST_MODIFIERS = len(_MODIFIERS) + 1
"""Each once, and the bits that have no word."""
_HEX = re.compile(r"0x[0-9a-f]{1,8}")

_NUMBERS = {text.casefold(): bit for bit, text in {**_RIGHTS, **_MODIFIERS}.items()}

PROTECTION = re.compile(
    "(?:{})(?:/(?:{}))*".format(
        "|".join(sorted([_RESERVED, *_RIGHTS.values()], key=len)[::-1]), "Guard|No ?Cache|Write ?Combine"
    ),
    re.IGNORECASE,
)
"""The words at the start of a text, also where something else follows without a blank."""


def name_protection(value: int) -> str:
    """Write a protection as VMMap does, as in ``Read/Write/Guard``; 0 is ``Reserved``."""
    if not value:
        return _RESERVED
    words = [text for bit, text in {**_RIGHTS, **_MODIFIERS}.items() if value & bit]
    rest = value & ~sum({**_RIGHTS, **_MODIFIERS})
    return "/".join([*words, *([f"{rest:#x}"] if rest else [])])


def read_protection(text: str) -> int | None:
    """Read a protection in VMMap's words, capitals or not; None where a word is unknown."""
    text = text.strip()
    if text.casefold() == _RESERVED.casefold():
        return 0
    for count in range(min(text.count("/"), _MOST_MODIFIERS) + 1):
        rights, *modifiers = _split(text, count)
        numbers = [_read_word(word) for word in (rights, *modifiers)]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers):
            return sum(known)
    return None


def _split(text: str, count: int) -> list[str]:
    """Cut the last ``count`` words off: the words for rights hold slashes themselves."""
    return text.rsplit("/", count) if count else [text]


def _read_word(word: str) -> int | None:
    if _HEX.fullmatch(word):
        return int(word, 16)
    return _NUMBERS.get(word.casefold()) or _NUMBERS.get(word.casefold().replace(" ", ""))
