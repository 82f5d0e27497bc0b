"""Environment blocks of threads and processes, made after winternl.h; shares no offsets with the reader."""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["make_peb", "make_teb"]

_HEAPS_AT, _PARAMETERS_AT, _TEXT_AT = 0x400, 0x600, 0x800


def make_teb(bits: int, at: int, *, stack: tuple[int, int, int], peb: int) -> bytes:
    """Make the block of a thread at ``at``; ``stack`` is DeallocationStack, StackLimit, StackBase."""
    start, limit, end = stack
    if bits == 64:
        values = {0x08: end, 0x10: limit, 0x30: at, 0x60: peb, 0x1478: start}
    else:
        values = {0x04: end, 0x08: limit, 0x18: at, 0x30: peb, 0x0E0C: start}
    return _make(0x1800 if bits == 64 else 0x1000, bits, values)


def make_peb(bits: int, at: int, *, image: int, heaps: Sequence[int], command_line: str | None) -> bytes:
    """Make the block of a process at ``at``, with its list of heaps and its parameters behind it."""
    text = b"" if command_line is None else command_line.encode("utf-16-le", "surrogatepass")
    default = heaps[0] if heaps else 0
    if bits == 64:
        values = {0x10: image, 0x20: at + _PARAMETERS_AT, 0x30: default, 0xF0: at + _HEAPS_AT}
        count, line = 0xE8, 0x70
    else:
        values = {0x08: image, 0x10: at + _PARAMETERS_AT, 0x18: default, 0x90: at + _HEAPS_AT}
        count, line = 0x88, 0x40
    word = bits // 8
    values.update({_HEAPS_AT + word * number: heap for number, heap in enumerate(heaps)})
    values[_PARAMETERS_AT + line + word] = at + _TEXT_AT if text else 0
    block = bytearray(_make(0x1000, bits, values))
    struct.pack_into("<I", block, count, len(heaps))
    struct.pack_into("<HH", block, _PARAMETERS_AT + line, len(text), len(text) + 2)
    block[_TEXT_AT : _TEXT_AT + len(text)] = text
    return bytes(block)


def _make(size: int, bits: int, values: dict[int, int]) -> bytes:
    block = bytearray(size)
    for place, value in values.items():
        struct.pack_into("<Q" if bits == 64 else "<I", block, place, value)
    return bytes(block)
