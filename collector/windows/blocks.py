"""Environment blocks: where the stacks of a thread lie, and where the heaps of a process begin.

Offsets are those of winternl.h and of the symbols of ntdll; they have been the same from Windows XP on.
``read`` gives all the bytes that it is asked for, or raises OSError or ValueError.
"""

from __future__ import annotations

import struct
from typing import Callable, NamedTuple

from mmpscope.collector.windows.calls import to_wtf8

__all__ = [
    "HeapList",
    "Stack",
    "read_command_line",
    "read_heaps",
    "read_image_base",
    "read_peb_address",
    "read_stack",
]

Read = Callable[[int, int], bytes]
_MOST_HEAPS = 4096


class _Layout(NamedTuple):
    word: struct.Struct
    stack_base: int
    teb_self: int
    teb_peb: int
    deallocation_stack: int
    image_base: int
    parameters: int
    process_heap: int
    heap_count: int
    heaps: int
    command_line: int


_LAYOUTS = {
    64: _Layout(struct.Struct("<Q"), 0x08, 0x30, 0x60, 0x1478, 0x10, 0x20, 0x30, 0xE8, 0xF0, 0x70),
    32: _Layout(struct.Struct("<I"), 0x04, 0x18, 0x30, 0x0E0C, 0x08, 0x10, 0x18, 0x88, 0x90, 0x40),
}


class Stack(NamedTuple):
    """``start`` is DeallocationStack, the lowest address reserved; ``limit`` the lowest one committed."""

    start: int
    limit: int
    end: int


class HeapList(NamedTuple):
    """Addresses of heaps, the default heap first; ``is_whole`` tells if the list of heaps was there."""

    addresses: list[int]
    is_whole: bool


def _read_word(read: Read, address: int, layout: _Layout) -> int:
    [value] = layout.word.unpack(read(address, layout.word.size))
    return int(value)


def read_stack(read: Read, teb: int, bits: int) -> Stack:
    """Read the stack of a thread from its environment block; ValueError where that makes no sense."""
    layout = _LAYOUTS[bits]
    _check_teb(read, teb, layout)
    base = _read_word(read, teb + layout.stack_base, layout)
    limit = _read_word(read, teb + layout.stack_base + layout.word.size, layout)
    start = _read_word(read, teb + layout.deallocation_stack, layout)
    if not 0 < start <= limit <= base:
        raise ValueError(f"the stack in the block at 0x{teb:x} makes no sense")
    return Stack(start, limit, base)


def read_peb_address(read: Read, teb: int, bits: int) -> int:
    """Read where the environment block of the process of a thread lies; ValueError as `read_stack`."""
    layout = _LAYOUTS[bits]
    _check_teb(read, teb, layout)
    return _read_word(read, teb + layout.teb_peb, layout)


def _check_teb(read: Read, teb: int, layout: _Layout) -> None:
    """Refuse what is no block of a thread, or lies elsewhere on this Windows: a block holds its address."""
    if _read_word(read, teb + layout.teb_self, layout) != teb:
        raise ValueError(f"there is no thread environment block at 0x{teb:x}")


def read_image_base(read: Read, peb: int, bits: int) -> int:
    """Read where the program itself is loaded."""
    layout = _LAYOUTS[bits]
    return _read_word(read, peb + layout.image_base, layout)


def read_heaps(read: Read, peb: int, bits: int) -> HeapList:
    """Read the addresses of the heaps.

    Wine keeps no list of heaps: its NumberOfHeaps is 0, and only the default heap is known then.
    """
    layout = _LAYOUTS[bits]
    default = _read_word(read, peb + layout.process_heap, layout)
    count = min(int.from_bytes(read(peb + layout.heap_count, 4), "little"), _MOST_HEAPS)
    heaps = [default] if default else []
    if count:
        table = read(_read_word(read, peb + layout.heaps, layout), count * layout.word.size)
        listed = dict.fromkeys(heap for [heap] in layout.word.iter_unpack(table))
        heaps += [heap for heap in listed if heap and heap != default]
    return HeapList(heaps, bool(count))


def read_command_line(read: Read, peb: int, bits: int) -> bytes | None:
    """Read the command line as WTF-8; None where there is none."""
    layout = _LAYOUTS[bits]
    place = _read_word(read, peb + layout.parameters, layout) + layout.command_line
    length = int.from_bytes(read(place, 2), "little")
    buffer = _read_word(read, place + layout.word.size, layout)
    return to_wtf8(read(buffer, length)) if length and buffer else None
