"""The memory of a process: its regions, their files and pages, and what is in them."""

from __future__ import annotations

import ctypes
import struct
from array import array
from ctypes import byref, c_int32, c_size_t, c_uint16, c_uint32, c_void_p, sizeof
from typing import Callable

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_wtf8
from mmpscope.collector.windows.errors import ERROR_PARTIAL_COPY, Win32Error
from mmpscope.collector.windows.rows import Allocation, Region

__all__ = ["REGION_LAYOUT", "MemoryCalls"]

_LONGEST_PATH = 32768
_WORD = sizeof(c_void_p)
REGION_LAYOUT = struct.Struct("=QQI4xQIII4x" if _WORD == 8 else "=7I")
"""MEMORY_BASIC_INFORMATION once more, less PartitionId: one call unpacks what seven fields would cost."""
_REGION_INFORMATION = 3


class MemoryCalls(Calls):
    """Calls that take a process and an address."""

    def make_region_query(self, process: int) -> Callable[[int], Region]:
        """Give a function that asks for the region at an address; it raises Win32Error beyond the last one.

        It is called for each of maybe 100,000 regions: what can be made ready is made here.
        """
        found = sdk.MEMORY_BASIC_INFORMATION()
        place, size, ask = byref(found), sizeof(found), self._kernel.VirtualQueryEx
        unpack, make = REGION_LAYOUT.unpack_from, Region._make

        def query(address: int) -> Region:
            if not ask(process, address, place, size):
                raise self._fail("VirtualQueryEx")
            return make(unpack(found))

        return query

    def query_allocation(self, process: int, address: int) -> Allocation:
        """Ask for the allocation that an address is in (Windows Vista; the commit came later)."""
        found, filled = sdk.MEMORY_REGION_INFORMATION(), c_size_t()
        self._call_nt(
            "NtQueryVirtualMemory",
            c_void_p(process),
            c_void_p(address),
            c_int32(_REGION_INFORMATION),
            byref(found),
            c_size_t(sizeof(found)),
            byref(filled),
        )
        field = sdk.MEMORY_REGION_INFORMATION.CommitSize
        commit = found.CommitSize if filled.value >= field.offset + field.size else None
        return Allocation(found.AllocationBase, found.RegionSize, found.RegionType, commit)

    def get_mapped_name(self, process: int, address: int) -> bytes:
        """Give the device path of the file that is mapped at an address, as WTF-8.

        Wine counts the NUL behind one of its own files (l_intl.nls) as a part of the name.
        """
        text = (c_uint16 * _LONGEST_PATH)()
        length = self._call(
            "K32GetMappedFileNameW", c_void_p(process), c_void_p(address), byref(text), c_uint32(len(text))
        )
        return to_wtf8(ctypes.string_at(text, 2 * length)).rstrip(b"\0")

    def query_working_set(self, process: int, addresses: array[int]) -> array[int]:
        """Give the attributes of pages (PSAPI_WORKING_SET_EX_BLOCK), one call for all of the addresses.

        What the system has written beside them, the addresses, is left out.
        """
        pairs = array("Q" if _WORD == 8 else "L", bytes(2 * _WORD * len(addresses)))
        pairs[::2] = array(pairs.typecode, addresses)
        place, _ = pairs.buffer_info()
        self._call(
            "K32QueryWorkingSetEx", c_void_p(process), c_void_p(place), c_uint32(2 * _WORD * len(addresses))
        )
        return pairs[1::2]

    def read_memory(self, process: int, address: int, size: int) -> bytes:
        """Read bytes of a process; fewer than ``size`` where the rest is not there (ERROR_PARTIAL_COPY)."""
        buffer, done = ctypes.create_string_buffer(size), c_size_t()
        try:
            self._call(
                "ReadProcessMemory", c_void_p(process), c_void_p(address), buffer, c_size_t(size), byref(done)
            )
        except Win32Error as error:
            if error.code != ERROR_PARTIAL_COPY or not done.value:
                raise
        return buffer.raw[: done.value]
