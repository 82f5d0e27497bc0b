"""What Windows tells of one process and of its threads."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_bytes, to_dict

__all__ = ["ProcessCalls"]

_LONGEST_PATH = 32768
_THREAD_QUERY_LIMITED_INFORMATION = 0x0800


class ProcessCalls(Calls):
    """Calls that take a process or a thread."""

    def query_process(self, process: int, kind: int, answer: Any) -> Any:
        """Fill in a structure by NtQueryInformationProcess."""
        self._call_nt(
            "NtQueryInformationProcess",
            c_void_p(process),
            c_int32(kind),
            byref(answer),
            c_uint32(sizeof(answer)),
            None,
        )
        return answer

    def find_peb(self, process: int) -> int:
        """Give the address of the process environment block of our own bitness."""
        return int(self.query_process(process, 0, sdk.PROCESS_BASIC_INFORMATION()).PebBaseAddress)

    def find_wow64_peb(self, process: int) -> int:
        """Give the address of the 32-bit process environment block under WOW64, 0 where there is none."""
        return int(self.query_process(process, 26, c_size_t()).value)

    def get_command_line(self, process: int) -> bytes:
        """Give the command line (ProcessCommandLineInformation, Windows 8.1), as WTF-8."""
        buffer = ctypes.create_string_buffer(sizeof(sdk.UNICODE_STRING) + 65536)
        self.query_process(process, 60, buffer)
        length = sdk.UNICODE_STRING.from_buffer(buffer).Length
        start = sizeof(sdk.UNICODE_STRING)
        return (
            buffer.raw[start : start + length]
            .decode("utf-16-le", "surrogatepass")
            .encode("utf-8", "surrogatepass")
        )

    def find_teb(self, tid: int) -> int:
        """Give the address of the thread environment block of a thread."""
        handle = self._kernel.OpenThread(c_uint32(_THREAD_QUERY_LIMITED_INFORMATION), 0, c_uint32(tid))
        answer = sdk.THREAD_BASIC_INFORMATION()
        with self._closing("OpenThread", handle) as thread:
            self._call_nt(
                "NtQueryInformationThread",
                c_void_p(thread),
                c_int32(0),
                byref(answer),
                c_uint32(sizeof(answer)),
                None,
            )
        return int(answer.TebBaseAddress or 0)

    def get_thread_name(self, tid: int) -> bytes | None:
        """Give the name that SetThreadDescription (Windows 10 1607) has given a thread; None without one."""
        if not hasattr(self._kernel, "GetThreadDescription"):
            return None
        handle = self._kernel.OpenThread(c_uint32(_THREAD_QUERY_LIMITED_INFORMATION), 0, c_uint32(tid))
        if not handle:
            return None
        text = c_void_p()
        with self._closing("OpenThread", handle) as thread:
            if self._kernel.GetThreadDescription(c_void_p(thread), byref(text)) < 0 or not text.value:
                return None
        try:
            return ctypes.wstring_at(text.value).encode("utf-8", "surrogatepass") or None
        finally:
            self._kernel.LocalFree(text)

    def get_image_path(self, process: int) -> bytes:
        """Give the path of the program, as WTF-8."""
        text, length = (c_uint16 * _LONGEST_PATH)(), c_uint32(_LONGEST_PATH)
        self._call("QueryFullProcessImageNameW", c_void_p(process), c_uint32(0), byref(text), byref(length))
        return to_bytes(text)

    def get_times(self, process: int) -> tuple[int, int, int]:
        """Give start (FILETIME), and the time in the kernel and in the program (100 ns each)."""
        start, end, kernel, user = (c_uint64() for _ in range(4))
        self._call("GetProcessTimes", c_void_p(process), byref(start), byref(end), byref(kernel), byref(user))
        return start.value, kernel.value, user.value

    def get_counters(self, process: int) -> dict[str, int]:
        """Give PROCESS_MEMORY_COUNTERS_EX by field, in bytes."""
        found = sdk.PROCESS_MEMORY_COUNTERS_EX(cb=sizeof(sdk.PROCESS_MEMORY_COUNTERS_EX))
        self._call("K32GetProcessMemoryInfo", c_void_p(process), byref(found), c_uint32(found.cb))
        return to_dict(found)

    def get_machines(self, process: int) -> tuple[int, int]:
        """Give IMAGE_FILE_MACHINE_* of the process (0: that of the system) and of the system.

        Windows before 10 has only IsWow64Process: there the answer is made from our own bitness.
        """
        if not hasattr(self._kernel, "IsWow64Process2"):
            flag = c_int32()
            self._call("IsWow64Process", c_void_p(process), byref(flag))
            return (0x014C if flag.value else 0), 0
        own, native = c_uint16(), c_uint16()
        self._call("IsWow64Process2", c_void_p(process), byref(own), byref(native))
        return own.value, native.value
