"""The words and numbers that WinDbg prints, as the numbers that Windows has for them (winnt.h)."""

from __future__ import annotations

import re

__all__ = ["MEM_FREE", "MEM_RESERVE", "STATES", "TYPES", "parse_hex", "parse_protection"]

MEM_RESERVE = 0x2000
MEM_FREE = 0x10000
TYPES = {b"MEM_PRIVATE": 0x20000, b"MEM_MAPPED": 0x40000, b"MEM_IMAGE": 0x1000000}
STATES = {b"MEM_COMMIT": 0x1000, b"MEM_RESERVE": MEM_RESERVE, b"MEM_FREE": MEM_FREE}
_PROTECTIONS = {
    b"PAGE_NOACCESS": 0x01, b"PAGE_READONLY": 0x02, b"PAGE_READWRITE": 0x04, b"PAGE_WRITECOPY": 0x08,
    b"PAGE_EXECUTE": 0x10, b"PAGE_EXECUTE_READ": 0x20, b"PAGE_EXECUTE_READWRITE": 0x40,
    b"PAGE_EXECUTE_WRITECOPY": 0x80, b"PAGE_GUARD": 0x100, b"PAGE_NOCACHE": 0x200,
    b"PAGE_WRITECOMBINE": 0x400, b"PAGE_TARGETS_INVALID": 0x40000000, b"PAGE_ENCLAVE_UNVALIDATED": 0x20000000,
}  # fmt: skip
_HEX = re.compile(rb"[0-9a-fA-F]{1,8}(?:`?[0-9a-fA-F]{8})?")


def parse_hex(word: bytes) -> int | None:
    """Read a number of up to 64 bits, its halves parted by a backtick or not; None for any other word."""
    return int(word.replace(b"`", b""), 16) if _HEX.fullmatch(word) else None


def parse_protection(words: bytes) -> int | None:
    """Read names of PAGE_* with `|` or commas between them; None where one is unknown."""
    value = 0
    for name in words.replace(b"|", b" ").replace(b",", b" ").split():
        if name not in _PROTECTIONS:
            return None
        value |= _PROTECTIONS[name]
    return value
