"""What Windows tells of one process and of its threads."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_bytes, to_dict, to_wtf8
from mmpscope.collector.windows.errors import ERROR_INVALID_PARAMETER

__all__ = ["ProcessCalls"]

_LONGEST_PATH = 32768
_THREAD_QUERY_LIMITED_INFORMATION = 0x0800
_COMMAND_LINE = 60
_OWN_BITS = 8 * sizeof(c_void_p)
_MACHINES_32 = (0x014C, 0x01C4)
"""IMAGE_FILE_MACHINE_I386 and ARMNT."""


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
        self.query_process(process, _COMMAND_LINE, buffer)
        length = sdk.UNICODE_STRING.from_buffer(buffer).Length
        start = sizeof(sdk.UNICODE_STRING)
        return to_wtf8(buffer.raw[start : start + length])

    def describe_thread(self, tid: int, pid: int) -> tuple[int, bytes | None]:
        """Give the address of the environment block of a thread, and its name.

        Win32Error where it cannot be opened, ended, or its number belongs to a thread of another process.
        """
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
            if answer.UniqueProcess != pid:
                raise self._fail("OpenThread", ERROR_INVALID_PARAMETER)
            return int(answer.TebBaseAddress or 0), self._get_thread_name(thread)

    def _get_thread_name(self, thread: int) -> bytes | None:
        """Give the name that SetThreadDescription (Windows 10 1607) has given a thread; None without one."""
        text = c_void_p()
        if not hasattr(self._kernel, "GetThreadDescription"):
            return None
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

    def get_pid(self, process: int) -> int:
        """Give the number of a process: OpenProcess takes 4713 for 4712 as well, being blind to two bits."""
        return int(self._call("GetProcessId", c_void_p(process)))

    def get_session(self, pid: int) -> int:
        """Give the session that a process runs in; that of services is 0."""
        answer = c_uint32()
        self._call("ProcessIdToSessionId", c_uint32(pid), byref(answer))
        return answer.value

    def get_priority_class(self, process: int) -> int:
        """Give the priority class, NORMAL_PRIORITY_CLASS (0x20) and so on."""
        return int(self._call("GetPriorityClass", c_void_p(process)))

    def get_bits(self, process: int) -> tuple[int, bool]:
        """Tell 32 or 64 bits, and if it is a 32-bit process on 64-bit Windows (WOW64).

        IsWow64Process2 gives IMAGE_FILE_MACHINE_* of the process, 0 where it is that of the system. Windows
        before 10 has only IsWow64Process: the rest follows from what we ourselves are then.
        """
        if not hasattr(self._kernel, "IsWow64Process2"):
            if self._is_wow64(process):
                return 32, True
            own = c_void_p(self._kernel.GetCurrentProcess())
            return (64 if _OWN_BITS == 64 or self._is_wow64(own.value or 0) else 32), False
        machine, native = c_uint16(), c_uint16()
        self._call("IsWow64Process2", c_void_p(process), byref(machine), byref(native))
        if machine.value:
            return 32, True
        return (32 if native.value in _MACHINES_32 else 64), False

    def _is_wow64(self, process: int) -> bool:
        flag = c_int32()
        self._call("IsWow64Process", c_void_p(process), byref(flag))
        return bool(flag.value)
