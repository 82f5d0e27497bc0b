"""The calls of Windows that the collector makes, each as a method that returns plain values.

This is the only place where the system is called; tests put a stand-in with the same methods in its place.
Every handle comes from a context manager, so none outlives its use. A call that fails raises `Win32Error`.
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int32, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any, NamedTuple

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.errors import ERROR_NO_MORE_FILES, Win32Error

__all__ = [
    "PROCESS_QUERY_INFORMATION",
    "PROCESS_QUERY_LIMITED_INFORMATION",
    "PROCESS_VM_READ",
    "Heap",
    "Module",
    "Process",
    "Region",
    "Thread",
    "Win32",
]

PROCESS_VM_READ = 0x0010
PROCESS_QUERY_INFORMATION = 0x0400
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
_SYNCHRONIZE = 0x0010_0000
_THREAD_QUERY_LIMITED_INFORMATION = 0x0800
_SNAPHEAPLIST, _SNAPPROCESS, _SNAPTHREAD, _SNAPMODULE, _SNAPMODULE32 = 1, 2, 4, 8, 16
_INVALID_HANDLE = c_size_t(-1).value
_LONGEST_PATH = 32768
_WAIT_OBJECT_0 = 0
_TOKEN_QUERY = 0x0008


class Region(NamedTuple):
    """One answer of VirtualQueryEx: MEMORY_BASIC_INFORMATION without its padding."""

    base: int
    allocation_base: int
    allocation_protect: int
    size: int
    state: int
    protect: int
    type: int


class Process(NamedTuple):
    """One row of the process list of Toolhelp."""

    pid: int
    ppid: int
    threads: int
    name: bytes


class Thread(NamedTuple):
    """One row of the thread list of Toolhelp."""

    tid: int
    pid: int
    priority: int


class Module(NamedTuple):
    """One row of the module list of Toolhelp."""

    base: int
    size: int
    name: bytes
    path: bytes


class Heap(NamedTuple):
    """One row of the heap list of Toolhelp; the id is the heap's address."""

    id: int
    flags: int


class Win32:
    """The system we run on; only on Windows."""

    page_size: int
    granularity: int

    def __init__(self) -> None:
        if sys.platform != "win32":
            raise OSError(f"Win32 cannot be called on {sys.platform}")
        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        self._nt = ctypes.WinDLL("ntdll", use_last_error=True)
        self._advapi = ctypes.WinDLL("advapi32", use_last_error=True)
        self._declare()
        self.system = self._get_system_info()
        self.page_size = int(self.system.dwPageSize)
        self.granularity = int(self.system.dwAllocationGranularity)
        self.system_end = int(self.system.lpMaximumApplicationAddress) + 1

    def _declare(self) -> None:
        """Tell ctypes what is a handle or an address: an int argument would be cut to 32 bits."""
        for name in (
            "OpenProcess",
            "OpenThread",
            "GetCurrentProcess",
            "CreateToolhelp32Snapshot",
        ):
            getattr(self._kernel, name).restype = c_void_p
        self._kernel.VirtualQueryEx.restype = c_size_t
        self._kernel.VirtualQueryEx.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t]

    # Errors and handles.

    def _fail(self, function: str, code: int | None = None) -> Win32Error:
        number = ctypes.get_last_error() if code is None else code  # type: ignore[attr-defined]
        return Win32Error(function, number, ctypes.FormatError(number).strip())  # type: ignore[attr-defined]

    def _call(self, function: str, *arguments: Any, library: Any = None) -> Any:
        result = getattr(library or self._kernel, function)(*arguments)
        if not result:
            raise self._fail(function)
        return result

    def _call_nt(self, function: str, *arguments: Any) -> None:
        """Call a function that returns an NTSTATUS."""
        status = getattr(self._nt, function)(*arguments) & 0xFFFF_FFFF
        if status >= 0x8000_0000:
            code = self._nt.RtlNtStatusToDosError(c_uint32(status))
            raise self._fail(function, code)

    @contextmanager
    def _closing(self, function: str, handle: int | None) -> Iterator[int]:
        if not handle or handle == _INVALID_HANDLE:
            raise self._fail(function)
        try:
            yield handle
        finally:
            self._kernel.CloseHandle(c_void_p(handle))

    def open_process(self, pid: int, access: int) -> int:
        """Open a process; the caller closes the handle by `close`.

        For ourselves it is the pseudo handle: Wine answers QueryWorkingSetEx for no other.
        """
        if pid == self.own_pid():
            return int(self._kernel.GetCurrentProcess())
        handle: int | None = self._kernel.OpenProcess(c_uint32(access | _SYNCHRONIZE), 0, c_uint32(pid))
        if not handle:
            raise self._fail("OpenProcess")
        return handle

    def close(self, handle: int) -> None:
        """Close a handle."""
        self._kernel.CloseHandle(c_void_p(handle))

    def own_pid(self) -> int:
        """Give our own process id."""
        return int(self._kernel.GetCurrentProcessId())

    def count_own_handles(self) -> int:
        """Count the handles that we ourselves have open."""
        count = c_uint32()
        self._call("GetProcessHandleCount", c_void_p(self._kernel.GetCurrentProcess()), byref(count))
        return count.value

    def is_running(self, handle: int) -> bool:
        """Tell if a process has not ended: its handle is signalled then."""
        return bool(self._kernel.WaitForSingleObject(c_void_p(handle), 0) != _WAIT_OBJECT_0)

    # The lists of Toolhelp.

    def list_processes(self) -> list[Process]:
        """List the processes of the system."""
        return [
            Process(row.th32ProcessID, row.th32ParentProcessID, row.cntThreads, _to_bytes(row.szExeFile))
            for row in self._list(_SNAPPROCESS, 0, "Process32FirstW", "Process32NextW", sdk.PROCESSENTRY32W)
        ]

    def list_threads(self) -> list[Thread]:
        """List the threads of the system: Toolhelp does not list those of one process."""
        return [
            Thread(row.th32ThreadID, row.th32OwnerProcessID, row.tpBasePri)
            for row in self._list(_SNAPTHREAD, 0, "Thread32First", "Thread32Next", sdk.THREADENTRY32)
        ]

    def list_modules(self, pid: int) -> list[Module]:
        """List the modules of a process, its 32-bit ones too."""
        flags = _SNAPMODULE | _SNAPMODULE32
        return [
            Module(row.modBaseAddr or 0, row.modBaseSize, _to_bytes(row.szModule), _to_bytes(row.szExePath))
            for row in self._list(flags, pid, "Module32FirstW", "Module32NextW", sdk.MODULEENTRY32W)
        ]

    def list_heaps(self, pid: int) -> list[Heap]:
        """List the heaps of a process, not their blocks."""
        rows = self._list(_SNAPHEAPLIST, pid, "Heap32ListFirst", "Heap32ListNext", sdk.HEAPLIST32)
        return [Heap(row.th32HeapID, row.dwFlags) for row in rows]

    def _list(self, flags: int, pid: int, first: str, following: str, row_type: Any) -> Iterator[Any]:
        snapshot = self._kernel.CreateToolhelp32Snapshot(c_uint32(flags), c_uint32(pid))
        with self._closing("CreateToolhelp32Snapshot", snapshot) as handle:
            row = row_type(dwSize=sizeof(row_type))
            more = getattr(self._kernel, first)(c_void_p(handle), byref(row))
            while more:
                yield row
                row.dwSize = sizeof(row_type)
                more = getattr(self._kernel, following)(c_void_p(handle), byref(row))
            error = self._fail(following)
            if error.code not in (0, ERROR_NO_MORE_FILES):
                raise error

    # Memory.

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
        return _to_bytes(text)

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

    # One process and its threads.

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
        return _to_bytes(text)

    def get_times(self, process: int) -> tuple[int, int, int]:
        """Give start (FILETIME), and the time in the kernel and in the program (100 ns each)."""
        start, end, kernel, user = (c_uint64() for _ in range(4))
        self._call("GetProcessTimes", c_void_p(process), byref(start), byref(end), byref(kernel), byref(user))
        return start.value, kernel.value, user.value

    def get_counters(self, process: int) -> dict[str, int]:
        """Give PROCESS_MEMORY_COUNTERS_EX by field, in bytes."""
        found = sdk.PROCESS_MEMORY_COUNTERS_EX(cb=sizeof(sdk.PROCESS_MEMORY_COUNTERS_EX))
        self._call("K32GetProcessMemoryInfo", c_void_p(process), byref(found), c_uint32(found.cb))
        return _to_dict(found)

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

    # The whole system.

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
            _to_bytes(found.szCSDVersion).decode("utf-8", "replace"),
        )

    def get_performance(self) -> dict[str, int]:
        """Give PERFORMANCE_INFORMATION by field: commit total and limit, in pages."""
        found = sdk.PERFORMANCE_INFORMATION(cb=sizeof(sdk.PERFORMANCE_INFORMATION))
        self._call("K32GetPerformanceInfo", byref(found), c_uint32(found.cb))
        return _to_dict(found)

    def get_boot_time(self) -> int:
        """Give the time at which the system was started (FILETIME): SystemTimeOfDayInformation."""
        answer = (c_uint64 * 6)()
        self._call_nt("NtQuerySystemInformation", c_int32(3), byref(answer), c_uint32(sizeof(answer)), None)
        return int(answer[0])

    def list_drives(self) -> dict[bytes, bytes]:
        r"""Give the device behind each drive letter: `\Device\HarddiskVolume3` behind `C:`."""
        found, text = {}, (c_uint16 * 1024)()
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            drive = ctypes.create_unicode_buffer(f"{letter}:")
            if self._kernel.QueryDosDeviceW(drive, byref(text), c_uint32(len(text))):
                found[f"{letter}:".encode()] = _to_bytes(text)
        return found


def _to_bytes(units: Any) -> bytes:
    """Turn UTF-16 up to its NUL into WTF-8: a lone surrogate, which Windows lets names have, survives."""
    data = bytes(units)
    end = next((at for at in range(0, len(data), 2) if data[at : at + 2] == b"\0\0"), len(data))
    return data[:end].decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass")


def _to_dict(structure: Any) -> dict[str, int]:
    return {name: getattr(structure, name) for name, *_ in structure._fields_ if name != "cb"}
