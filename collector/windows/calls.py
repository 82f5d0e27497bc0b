"""How a function of Windows is called: failures become errors, handles are closed, text becomes bytes."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_size_t, c_uint32, c_void_p
from typing import Any

from mmpscope.collector.windows.errors import Win32Error

__all__ = ["INVALID_HANDLE", "Calls", "to_bytes", "to_dict", "to_wtf8"]

INVALID_HANDLE = c_size_t(-1).value
_SYNCHRONIZE = 0x0010_0000
_WAIT_OBJECT_0 = 0


class Calls:
    """The libraries, and handles of processes; only on Windows."""

    _kernel: Any
    _nt: Any
    _advapi: Any

    def __init__(self) -> None:
        if sys.platform != "win32":
            raise OSError(f"Win32 cannot be called on {sys.platform}")
        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        self._nt = ctypes.WinDLL("ntdll", use_last_error=True)
        self._advapi = ctypes.WinDLL("advapi32", use_last_error=True)
        self._declare()

    def _declare(self) -> None:
        """Tell ctypes what is a handle or an address: an int argument would be cut to 32 bits."""
        for name in (
            "OpenProcess",
            "OpenThread",
            "GetCurrentProcess",
            "CreateToolhelp32Snapshot",
        ):
            getattr(self._kernel, name).restype = c_void_p
        self._kernel.GetLargePageMinimum.restype = c_size_t
        self._kernel.VirtualQueryEx.restype = c_size_t
        self._kernel.VirtualQueryEx.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t]

    # Errors and handles.

    def _fail(self, function: str, code: int | None = None) -> Win32Error:
        number = ctypes.get_last_error() if code is None else code  # type: ignore[attr-defined]  # on Windows alone
        return Win32Error(function, number, ctypes.FormatError(number).strip())  # type: ignore[attr-defined]  # on Windows alone

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
        if not handle or handle == INVALID_HANDLE:
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


def to_bytes(units: Any) -> bytes:
    """Turn an array of UTF-16 up to its NUL into WTF-8."""
    return to_wtf8(bytes(units)).partition(b"\0")[0]


def to_wtf8(data: bytes) -> bytes:
    """Turn UTF-16 into WTF-8: a lone surrogate, which Windows lets names have, survives."""
    return data.decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass")


def to_dict(structure: Any) -> dict[str, int]:
    """Give the fields of a structure by name, but for its size."""
    return {name: getattr(structure, name) for name, *_ in structure._fields_ if name != "cb"}
