"""A process that is held open, and whose memory is read through its handle."""

from __future__ import annotations

from ctypes import c_void_p, sizeof
from typing import NamedTuple

from mmpscope.collector.windows.api import Win32

__all__ = ["OWN_BITS", "Held", "read_whole"]

OWN_BITS = 8 * sizeof(c_void_p)


class Held(NamedTuple):
    """A process: its handle, its bitness, and whether it is a 32-bit one on 64-bit Windows (WOW64)."""

    pid: int
    handle: int
    bits: int
    is_wow64: bool

    @property
    def has_blocks_of_both(self) -> bool:
        """Whether what the system tells us of are its 64-bit environment blocks, beside its own."""
        return self.bits < OWN_BITS


def read_whole(win32: Win32, handle: int, address: int, size: int) -> bytes:
    """Read all of a range; ValueError where only a part of it is there, Win32Error where nothing is."""
    data = win32.read_memory(handle, address, size)
    if len(data) < size:
        raise ValueError(f"only {len(data)} of {size} bytes could be read at 0x{address:x}")
    return data
