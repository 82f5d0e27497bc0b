"""Environment blocks: where the stacks of a thread lie, and where the heaps of a process begin.

Offsets are those of winternl.h and of the symbols of ntdll; they have been the same from Windows XP on.
"""

from __future__ import annotations

import struct
from typing import Callable, NamedTuple

__all__ = ["PEB_SIZE", "Peb", "Stack", "read_peb", "read_stack"]

Read = Callable[[int, int], bytes]
PEB_SIZE = 0x1000
_MOST_HEAPS = 4096


class _Layout(NamedTuple):
    word: str
    stack_base: int
    deallocation_stack: int
    image_base: int
    parameters: int
    process_heap: int
    heap_count: int
    heaps: int
    command_line: int


_LAYOUTS = {
    64: _Layout("Q", 0x08, 0x1478, 0x10, 0x20, 0x30, 0xE8, 0xF0, 0x70),
    32: _Layout("I", 0x04, 0x0E0C, 0x08, 0x10, 0x18, 0x88, 0x90, 0x40),
}


class Stack(NamedTuple):
    """``start`` is DeallocationStack, the lowest address reserved; ``limit`` the lowest one committed."""

    start: int
    limit: int
    end: int


class Peb(NamedTuple):
    """``heaps`` are addresses, the default heap first; ``has_list`` tells if the list of heaps was there."""

    image_base: int
    heaps: list[int]
    has_list: bool
    command_line: bytes | None


def read_stack(read: Read, teb: int, bits: int) -> Stack:
    """Read the stack of a thread from its environment block; ValueError where it makes no sense."""
    layout = _LAYOUTS[bits]
    size = struct.calcsize(layout.word)
    base, limit = struct.unpack(f"<2{layout.word}", read(teb + layout.stack_base, 2 * size))
    [start] = struct.unpack(f"<{layout.word}", read(teb + layout.deallocation_stack, size))
    if not 0 < start <= limit <= base:
        raise ValueError(f"the stack in the block at 0x{teb:x} makes no sense")
    return Stack(start, limit, base)


def read_peb(read: Read, peb: int, bits: int) -> Peb:
    """Read what is wanted of a process environment block.

    Wine keeps no list of heaps: its NumberOfHeaps is 0, and only the default heap is known then.
    """
    layout = _LAYOUTS[bits]

    def word(address: int) -> int:
        [value] = struct.unpack(f"<{layout.word}", read(address, struct.calcsize(layout.word)))
        return int(value)

    default = word(peb + layout.process_heap)
    count = min(int.from_bytes(read(peb + layout.heap_count, 4), "little"), _MOST_HEAPS)
    heaps = [default] if default else []
    if count:
        size = struct.calcsize(layout.word)
        listed = struct.unpack(f"<{count}{layout.word}", read(word(peb + layout.heaps), count * size))
        heaps += [heap for heap in dict.fromkeys(listed) if heap and heap != default]
    return Peb(word(peb + layout.image_base), heaps, bool(count), _read_command_line(read, word, peb, layout))


def _read_command_line(read: Read, word: Callable[[int], int], peb: int, layout: _Layout) -> bytes | None:
    place = word(peb + layout.parameters) + layout.command_line
    length = int.from_bytes(read(place, 2), "little")
    buffer = word(place + struct.calcsize(layout.word))
    if not length or not buffer:
        return None
    return read(buffer, length).decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass")
