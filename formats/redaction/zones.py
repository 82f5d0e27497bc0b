"""Where systems put the memory of a process, in zones that each have a randomness of their own.

Borders come from the system and the size of its address space alone, never from the regions of a snapshot, so
that a series is cut alike from its first snapshot to its last. docs/privacy.md explains the table.

Linux: mmap_base() leaves below the stack as much as it may move, and 128 MiB at least (arch/x86/mm/mmap.c,
mm/util.c); programs begin at two thirds of the space (ELF_ET_DYN_BASE, asm/elf.h); both move by up to an
eighth of it (ARCH_MMAP_RND_BITS_MAX). V8 asks for addresses of 46 bits (base/platform/platform-posix.cc), Go
for 0xc000000000 (runtime/malloc.go), a JVM below 32 GiB. Windows: high entropy ASLR moves heaps and stacks by
24 bits, libraries within the uppermost 32 GiB, and these alike in all processes of a boot (M. Miller and
K. Johnson, "Exploit Mitigation Improvements in Windows 8", 2012).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Zone", "choose_linux_space", "choose_windows_space", "cut_linux", "cut_windows"]

_MIB, _GIB = 1 << 20, 1 << 30
_HUGE = 2 * _MIB
"""What most processors map at once: transparent huge pages stay where such pages can be."""
_ARENA = 64 * _MIB
"""What glibc aligns its arenas to (HEAP_MAX_SIZE), by which they are known where they have no names."""
_PARTS = 128
_LOW_END = 0x1C0 << 32
"""Up to here Go has its first arena; a JVM's heap of compressed pointers is below as well."""
_FOUR_GIB = 4 * _GIB
_LIBRARIES = 32 * _GIB
_LINUX_SPACES = tuple(1 << bits for bits in (38, 39, 42, 46, 47, 48))
_WINDOWS_SPACES = (1 << 43, 1 << 47)
_SMALL_SPACE = 1 << 46
_X86_SPACE = 1 << 47
_X86, _ARM = ("x86_64", "amd64"), ("aarch64", "arm64")


class Zone(NamedTuple):
    """Addresses from ``start`` up to ``end``, which move together by ``least`` up to, but not by, ``most``.

    The distance is a multiple of ``unit``, and negative downwards; without one the zone stays. Regions lie
    below ``end``; from there up to the next zone is room that this one and the next may move into. All
    processes of a boot have ``is_shared`` zones at the same place.
    """

    name: str
    start: int
    end: int
    least: int = 0
    most: int = 0
    unit: int = 0
    is_shared: bool = False


def choose_linux_space(end: int, machine: str) -> int:
    """Choose the size of the space that ends at or behind ``end``.

    Linux puts nothing above 47 bits on x86-64, and above 48 on arm64, unless it is asked for such an address.
    """
    if machine in _X86:
        return _X86_SPACE
    largest = _LINUX_SPACES[-1] if machine in _ARM or end == _LINUX_SPACES[-1] else _X86_SPACE
    return next((space for space in _LINUX_SPACES if end <= space <= largest), largest)


def choose_windows_space(end: int) -> int:
    """Choose the size of the space that ends at or behind ``end``: 8 TiB, or 128 TiB since Windows 8.1."""
    return next((space for space in _WINDOWS_SPACES if end <= space), _WINDOWS_SPACES[-1])


def cut_linux(space: int, end: int, machine: str) -> list[Zone]:
    """Cut a space of Linux, as `choose_linux_space` gives it, into zones in address order.

    ``end`` is where addresses of the process end within it.
    """
    part = space // _PARTS
    # STACK_RND_MASK: 22 bits of pages on x86-64, 18 of 4 KiB elsewhere (asm/elf.h).
    by_stack = 16 * _GIB if machine in _X86 or (not machine and space == _X86_SPACE) else _GIB
    stack = space - by_stack - 120 * _MIB
    if space < _SMALL_SPACE:
        low = [Zone("low", 0, 82 * part)]
    else:
        low = [
            Zone("low", 0, _LOW_END),
            Zone("asked for", _LOW_END, 80 * part, _ARENA, 2 * part, _ARENA),
        ]
    zones = [
        *low,
        Zone("program", 84 * part, 103 * part, _HUGE, 2 * part, _HUGE),
        Zone("mappings", 107 * part, stack, -2 * part, -by_stack, _ARENA),
        Zone("stack", stack, space, -by_stack, 0, _HUGE),
    ]
    return _end(zones, end)


def cut_windows(space: int, end: int) -> list[Zone]:
    """Cut a space of Windows in the same way."""
    part, libraries = space // _PARTS, space - _LIBRARIES
    zones = [
        Zone("low", 0, _FOUR_GIB),
        Zone("bottom up", _FOUR_GIB, 92 * part, _HUGE, 4 * part, _HUGE),
        Zone("top down", 104 * part, libraries, -4 * part, -_LIBRARIES, _HUGE),
        Zone("libraries", libraries, space, -_LIBRARIES, 0, _HUGE, is_shared=True),
    ]
    return _end(zones, end)


def _end(zones: list[Zone], end: int) -> list[Zone]:
    """End the last zone where the addresses of a process do, and add what is beyond."""
    *others, last = zones
    end = end if last.start < end < last.end else last.end
    return [*others, last._replace(end=end), Zone("beyond", end, 1 << 64)]
