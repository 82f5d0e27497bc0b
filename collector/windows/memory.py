"""The memory of a process: its regions, their files and pages, and what is in them."""

from __future__ import annotations

import ctypes
from array import array
from ctypes import byref, c_size_t, c_uint16, c_uint32, c_void_p, sizeof

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_bytes
from mmpscope.collector.windows.rows import Region

__all__ = ["MemoryCalls"]

_LONGEST_PATH = 32768


class MemoryCalls(Calls):
    """Calls that take a process and an address."""

    def query_region(self, process: int, address: int) -> Region:
        """Ask for the region at an address; Win32Error beyond the last one."""
        found = sdk.MEMORY_BASIC_INFORMATION()
        if not self._kernel.VirtualQueryEx(process, address, byref(found), sizeof(found)):
            raise self._fail("VirtualQueryEx")
        return Region(
            found.BaseAddress,
            found.AllocationBase,
            found.AllocationProtect,
            found.RegionSize,
            found.State,
            found.Protect,
            found.Type,
        )

    def get_mapped_name(self, process: int, address: int) -> bytes:
        """Give the device path of the file that is mapped at an address, as WTF-8."""
        text = (c_uint16 * _LONGEST_PATH)()
        self._call(
            "K32GetMappedFileNameW", c_void_p(process), c_void_p(address), byref(text), c_uint32(len(text))
        )
        return to_bytes(text)

    def query_working_set(self, process: int, addresses: array[int]) -> array[int]:
        """Give the attributes of pages (PSAPI_WORKING_SET_EX_BLOCK), one call for all of the addresses.

        What the system has written beside them, the addresses, is left out.
        """
        word = sizeof(c_void_p)
        pairs = array("Q" if word == 8 else "L", bytes(2 * word * len(addresses)))
        pairs[::2] = array(pairs.typecode, addresses)
        place, _ = pairs.buffer_info()
        self._call(
            "K32QueryWorkingSetEx", c_void_p(process), c_void_p(place), c_uint32(2 * word * len(addresses))
        )
        return pairs[1::2]

    def read_memory(self, process: int, address: int, size: int) -> bytes:
        """Read bytes of a process."""
        buffer, done = ctypes.create_string_buffer(size), c_size_t()
        self._call(
            "ReadProcessMemory", c_void_p(process), c_void_p(address), buffer, c_size_t(size), byref(done)
        )
        return buffer.raw[: done.value]
