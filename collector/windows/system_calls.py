"""What Windows tells of itself."""

from __future__ import annotations

import ctypes
import sys
from ctypes import byref, c_int32, c_uint16, c_uint32, c_uint64, sizeof

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_bytes, to_dict

__all__ = ["SystemCalls"]


class SystemCalls(Calls):
    """Calls about the whole system."""

    page_size: int
    granularity: int
    system_end: int

    def __init__(self) -> None:
        super().__init__()
        found = self._get_system_info()
        self.page_size = int(found.dwPageSize)
        self.granularity = int(found.dwAllocationGranularity)
        self.system_end = int(found.lpMaximumApplicationAddress) + 1

    def _get_system_info(self) -> sdk.SYSTEM_INFO:
        found = sdk.SYSTEM_INFO()
        self._kernel.GetSystemInfo(byref(found))
        return found

    def get_version(self) -> tuple[int, int, int, str]:
        """Give major, minor and build of Windows, and the name of its service pack."""
        found = sdk.OSVERSIONINFOW(dwOSVersionInfoSize=sizeof(sdk.OSVERSIONINFOW))
        self._call_nt("RtlGetVersion", byref(found))
        return (
            found.dwMajorVersion,
            found.dwMinorVersion,
            found.dwBuildNumber,
            to_bytes(found.szCSDVersion).decode("utf-8", "replace"),
        )

    def get_performance(self) -> dict[str, int]:
        """Give PERFORMANCE_INFORMATION by field: commit total and limit, in pages."""
        found = sdk.PERFORMANCE_INFORMATION(cb=sizeof(sdk.PERFORMANCE_INFORMATION))
        self._call("K32GetPerformanceInfo", byref(found), c_uint32(found.cb))
        return to_dict(found)

    def get_boot_time(self) -> int:
        """Give the time at which the system was started (FILETIME): SystemTimeOfDayInformation.

        Whoever sets the clock moves that time too; BootTimeBias is by how much, and is taken off again.
        """
        answer = (c_uint64 * 6)()
        self._call_nt("NtQuerySystemInformation", c_int32(3), byref(answer), c_uint32(sizeof(answer)), None)
        return int(answer[0] - answer[4])

    def get_large_page_minimum(self) -> int | None:
        """Give the size of a large page in bytes; None where the processor has none."""
        return int(self._kernel.GetLargePageMinimum()) or None

    def read_registry(self, path: str, name: str) -> str:
        """Read a text below HKEY_LOCAL_MACHINE; OSError where it is not there."""
        if sys.platform != "win32":
            raise OSError("there is no registry")
        import winreg

        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, access) as key:
            return str(winreg.QueryValueEx(key, name)[0])

    def list_drives(self) -> dict[bytes, bytes]:
        r"""Give the device behind each drive letter: `\Device\HarddiskVolume3` behind `C:`."""
        found, text = {}, (c_uint16 * 1024)()
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            drive = ctypes.create_unicode_buffer(f"{letter}:")
            if self._kernel.QueryDosDeviceW(drive, byref(text), c_uint32(len(text))):
                found[f"{letter}:".encode()] = to_bytes(text)
        return found
