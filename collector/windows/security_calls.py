"""What Windows tells of the user behind a process, and the one right that is asked for on request."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int32, c_uint16, c_uint32, c_void_p, sizeof

from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.calls import Calls, to_bytes
from mmpscope.collector.windows.errors import ERROR_NOT_ALL_ASSIGNED, Win32Error

__all__ = ["TOKEN_INTEGRITY", "TOKEN_USER", "SecurityCalls"]

TOKEN_USER, TOKEN_INTEGRITY = 1, 25
"""TOKEN_INFORMATION_CLASS of winnt.h."""
_TOKEN_ADJUST_PRIVILEGES, _TOKEN_QUERY = 0x20, 0x8
_SE_PRIVILEGE_ENABLED = 2
_LONGEST_SID = 68
_LONGEST_NAME = 512


class SecurityCalls(Calls):
    """Calls about tokens and accounts."""

    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[bytes, bytes | Win32Error] = {}

    @contextmanager
    def _open_token(self, process: int, access: int) -> Iterator[int]:
        token = c_void_p()
        call = "OpenProcessToken"
        self._call(call, c_void_p(process), c_uint32(access), byref(token), library=self._advapi)
        with self._closing(call, token.value) as handle:
            yield handle

    def get_sid(self, process: int, kind: int) -> bytes:
        """Give a security identifier of the token of a process: TOKEN_USER or TOKEN_INTEGRITY."""
        answer, size = (c_void_p * (2 + _LONGEST_SID // sizeof(c_void_p) + 1))(), c_uint32()
        with self._open_token(process, _TOKEN_QUERY) as token:
            self._call(
                "GetTokenInformation",
                c_void_p(token),
                c_int32(kind),
                byref(answer),
                c_uint32(sizeof(answer)),
                byref(size),
                library=self._advapi,
            )
        place = answer[0] or 0  # SID_AND_ATTRIBUTES, whose SID lies behind it
        return ctypes.string_at(place, self._advapi.GetLengthSid(c_void_p(place)))

    def look_up_account(self, sid: bytes) -> bytes:
        r"""Give the account of a security identifier, `DOMAIN\name`: asked once, as it may take a server.

        A refusal is kept as well: a server that is out of reach takes longest.
        """
        if sid not in self._accounts:
            try:
                self._accounts[sid] = self._look_up_account(sid)
            except Win32Error as error:
                self._accounts[sid] = error
        found = self._accounts[sid]
        if isinstance(found, Win32Error):
            raise found
        return found

    def _look_up_account(self, sid: bytes) -> bytes:
        name, domain = ((c_uint16 * _LONGEST_NAME)() for _ in range(2))
        sizes, kind = (c_uint32(_LONGEST_NAME), c_uint32(_LONGEST_NAME)), c_int32()
        self._call(
            "LookupAccountSidW",
            None,
            ctypes.c_char_p(sid),
            byref(name),
            byref(sizes[0]),
            byref(domain),
            byref(sizes[1]),
            byref(kind),
            library=self._advapi,
        )
        return b"\\".join(filter(None, (to_bytes(domain), to_bytes(name))))

    def enable_debug_privilege(self) -> None:
        """Enable SeDebugPrivilege for ourselves; Win32Error where our account does not hold it.

        AdjustTokenPrivileges succeeds all the same then, and says so by ERROR_NOT_ALL_ASSIGNED.
        """
        wanted = sdk.TOKEN_PRIVILEGES(PrivilegeCount=1)
        wanted.Privileges[0].Attributes = _SE_PRIVILEGE_ENABLED
        name, luid = ctypes.create_unicode_buffer("SeDebugPrivilege"), wanted.Privileges[0].Luid
        self._call("LookupPrivilegeValueW", None, name, byref(luid), library=self._advapi)
        own = int(self._kernel.GetCurrentProcess())
        with self._open_token(own, _TOKEN_ADJUST_PRIVILEGES | _TOKEN_QUERY) as token:
            call = "AdjustTokenPrivileges"
            ctypes.set_last_error(0)  # type: ignore[attr-defined]  # only on Windows
            self._call(call, c_void_p(token), 0, byref(wanted), c_uint32(0), None, None, library=self._advapi)
            error = self._fail(call)
        if error.code == ERROR_NOT_ALL_ASSIGNED:
            raise error
