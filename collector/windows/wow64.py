"""32-bit programs on 64-bit Windows: where their own environment blocks lie beside the 64-bit ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.blocks import read_peb_address
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.held import Held, read_whole
from mmpscope.collector.windows.rows import Thread

__all__ = ["TEB32_AT", "find_peb32"]

TEB32_AT = 0x2000
"""The 32-bit block of a thread lies two pages above the 64-bit one (TEB.WowTebOffset on Windows 10)."""
_LOWEST_ADDRESS = 0x10000


def find_peb32(win32: Win32, held: Held, threads: Sequence[Thread]) -> int:
    """Give the address of the 32-bit process environment block; Win32Error or ValueError where it is unknown.

    Windows tells it by ProcessWow64Information. Wine says 1 there, for yes: then a thread's block tells it.
    """
    told = win32.find_wow64_peb(held.handle)
    if told >= _LOWEST_ADDRESS:
        return told
    read = partial(read_whole, win32, held.handle)
    refusal: Win32Error | ValueError = ValueError("no 32-bit environment block is known")
    for thread in threads:
        try:
            teb, _ = win32.describe_thread(thread.tid, held.pid)
            return read_peb_address(read, teb + TEB32_AT, 32)
        except (Win32Error, ValueError) as error:
            refusal = error
    raise refusal
