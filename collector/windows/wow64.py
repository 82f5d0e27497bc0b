"""32-bit programs on 64-bit Windows: where their own environment blocks lie beside the 64-bit ones."""

from __future__ import annotations

from functools import partial

from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.errors import Win32Error

__all__ = ["TEB32_AT", "find_peb32"]

TEB32_AT = 0x2000
"""The 32-bit block of a thread lies two pages above the 64-bit one (TEB.WowTebOffset on Windows 10)."""
_PEB_OF_TEB32 = 0x30
_LOWEST_ADDRESS = 0x10000


def find_peb32(win32: Win32, pid: int, handle: int) -> int:
    """Give the address of the 32-bit process environment block; Win32Error where it cannot be had.

    Windows tells it by ProcessWow64Information. Wine says 1 there, for yes: then a thread's block tells it.
    """
    told = win32.find_wow64_peb(handle)
    if told >= _LOWEST_ADDRESS:
        return told
    read, refusal = partial(win32.read_memory, handle), None
    for thread in win32.list_threads():
        if thread.pid == pid:
            try:
                place = win32.find_teb(thread.tid) + TEB32_AT + _PEB_OF_TEB32
                return int.from_bytes(read(place, 4), "little")
            except Win32Error as error:
                refusal = error
    raise refusal or Win32Error("NtQueryInformationProcess", 87, "no 32-bit environment block is known")
