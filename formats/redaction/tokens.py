"""Tokens: what a name becomes under a key, the same for the same name and no other (HMAC-SHA-256, RFC 2104).

Nothing here knows which names are safe.
"""

from __future__ import annotations

import hashlib
import hmac

__all__ = ["Tokens"]

_LETTERS = "bcdfghjklmnpqstwz"
"""No vowels, so that no words appear; no digits, since analysis takes those for versions and ports; no r, v
and x, which mean something before a digit or behind a hyphen (v2, 0x10, options of perl)."""
_LENGTH = 11
_DIGITS = 12
_MOST_KEPT = 1 << 16
_NUMBER_BITS = 47


class Tokens:
    """What names become under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._names: dict[str, str] = {}

    def make_name(self, text: str) -> str:
        """Return eleven letters for a text: of 34 million million, so that two hardly get the same."""
        known = self._names.get(text)
        if known is None:
            if len(self._names) >= _MOST_KEPT:
                self._names.clear()
            number = self._hash("name", text)
            letters = []
            for _ in range(_LENGTH):
                number, place = divmod(number, len(_LETTERS))
                letters.append(_LETTERS[place])
            known = self._names[text] = "".join(letters)
        return known

    def make_digits(self, text: str) -> str:
        """Return twelve digits for a text, to tell names that differ in their numbers alone."""
        return f"{self._hash('digits', text) % 10**_DIGITS:0{_DIGITS}d}"

    def make_number(self, number: int) -> int:
        """Return a number of 48 bits for a number that identifies something."""
        return (1 << _NUMBER_BITS) + (self._hash("number", str(number)) & ((1 << _NUMBER_BITS) - 1))

    def make_hex(self, text: str, length: int) -> str:
        """Return ``length`` hex digits, 64 at most, for an id that is written in hex."""
        return f"{self._hash('hex', text):064x}"[: max(1, min(length, 64))]

    def choose(self, use: str, text: str, count: int) -> int:
        """Choose a number from 0 up to, not including, ``count``, for a use and a text."""
        return self._hash(use, text) % count

    def _hash(self, use: str, text: str) -> int:
        data = f"{use}\0{text}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.new(self._key, data, hashlib.sha256).digest(), "big")
