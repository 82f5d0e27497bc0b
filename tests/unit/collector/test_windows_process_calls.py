"""What Windows tells of processes, threads and tokens; no handle of them stays open."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from mmpscope.collector.windows import process_calls
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.errors import Win32Error
from support.fake_libraries import FakeKernel, make_win32

OLD_WOW64 = pytest.mark.parametrize(
    ("own_bits", "is_wow64", "are_we_wow64", "expected"),
    [
        (64, True, False, (32, True)),
        (64, False, False, (64, False)),
        (32, True, True, (32, True)),
        (32, False, True, (64, False)),
        (32, False, False, (32, False)),
    ],
)


class _OldKernel(FakeKernel):
    """Windows before 10, which has only IsWow64Process; process 1 is ours, process 2 another."""

    def __init__(self, *wow64: int) -> None:
        super().__init__()
        self.wow64 = wow64

    def GetCurrentProcess(self) -> int:  # noqa: N802  # as in Win32
        return 1

    def IsWow64Process(self, process: Any, flag: Any) -> int:  # noqa: N802  # as in Win32
        flag._obj.value = process.value in self.wow64
        return 1


class _NewKernel(FakeKernel):
    """Windows 10: the machine of the process, and that of the system."""

    def __init__(self, machine: int, native: int) -> None:
        super().__init__()
        self.machines = machine, native

    def IsWow64Process2(self, process: Any, machine: Any, native: Any) -> int:  # noqa: N802  # as in Win32
        machine._obj.value, native._obj.value = self.machines
        return 1


@pytest.mark.parametrize(
    ("machine", "native", "expected"),
    [
        (0x014C, 0x8664, (32, True)),
        (0, 0x8664, (64, False)),
        (0, 0x014C, (32, False)),
        (0x01C4, 0xAA64, (32, True)),
        (0, 0xAA64, (64, False)),
    ],
)
def test_bitness_from_the_machines(
    monkeypatch: pytest.MonkeyPatch, machine: int, native: int, expected: tuple[int, bool]
) -> None:
    """x86 and ARM, of 32 and 64 bits; 0 means that the process is of the system's own kind."""
    assert make_win32(monkeypatch, _NewKernel(machine, native)).get_bits(2) == expected


@OLD_WOW64
def test_bitness_before_windows_10(
    monkeypatch: pytest.MonkeyPatch,
    own_bits: int,
    is_wow64: bool,
    are_we_wow64: bool,
    expected: tuple[int, bool],
) -> None:
    """Only WOW64 is told: the rest follows from what we ourselves are."""
    monkeypatch.setattr(process_calls, "_OWN_BITS", own_bits)
    wow64 = [process for process, flag in ((1, are_we_wow64), (2, is_wow64)) if flag]
    assert make_win32(monkeypatch, _OldKernel(*wow64)).get_bits(2) == expected


class _Threads(FakeKernel):
    """A thread 7 of process 4712; thread 8 cannot be opened."""

    def OpenThread(self, access: Any, inherit: int, tid: Any) -> int:  # noqa: N802  # as in Win32
        assert access.value == 0x0800
        if tid.value != 7:
            self.error = 87
            return 0
        return self.open()


class _Nt:
    """ntdll, which knows the block of that thread."""

    def NtQueryInformationThread(self, thread: Any, kind: Any, place: Any, size: Any, filled: Any) -> int:  # noqa: N802  # as in Win32
        place._obj.TebBaseAddress, place._obj.UniqueProcess = 0x2C_1000, 4712
        return 0


def test_a_thread_is_described_and_its_handle_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block, and no name where Windows has no names for threads."""
    kernel = _Threads()
    assert make_win32(monkeypatch, kernel, _Nt()).describe_thread(7, 4712) == (0x2C_1000, None)
    assert kernel.handles == set()


def test_a_thread_number_that_another_process_has_by_now_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the list and now the thread ended: its block would be read in the wrong process."""
    kernel = _Threads()
    win32 = make_win32(monkeypatch, kernel, _Nt())
    for tid, pid in ((7, 5000), (8, 4712)):
        with pytest.raises(Win32Error, match="OpenThread failed with 87"):
            win32.describe_thread(tid, pid)
    assert kernel.handles == set()


class _Security:
    """advapi32, whose tokens are of the user S-1-5-18; ``error`` is what AdjustTokenPrivileges leaves."""

    SID = bytes.fromhex("0101000000000005 12000000")

    def __init__(self, kernel: FakeKernel, error: int = 0) -> None:
        self.kernel = kernel
        self.error = error
        self.looked_up = 0
        self.keep = ctypes.create_string_buffer(self.SID, len(self.SID))

    def OpenProcessToken(self, process: Any, access: Any, token: Any) -> int:  # noqa: N802  # as in Win32
        self.kernel.asked.append("OpenProcessToken")
        token._obj.value = self.kernel.open()
        return 1

    def GetTokenInformation(  # noqa: N802  # as in Win32
        self, token: Any, kind: Any, answer: Any, size: Any, filled: Any
    ) -> int:
        answer._obj[0] = ctypes.addressof(self.keep)
        return 1

    def GetLengthSid(self, sid: Any) -> int:  # noqa: N802  # as in Win32
        return len(self.SID)

    def LookupAccountSidW(self, *arguments: Any) -> int:  # noqa: N802  # as in Win32
        self.looked_up += 1
        for place, text in ((arguments[2], "SYSTEM"), (arguments[4], "NT AUTHORITY")):
            ctypes.memmove(place, text.encode("utf-16-le"), 2 * len(text))
        return 1

    def LookupPrivilegeValueW(self, system: Any, name: Any, luid: Any) -> int:  # noqa: N802  # as in Win32
        return int(name.value == "SeDebugPrivilege")

    def AdjustTokenPrivileges(self, token: Any, *rest: Any) -> int:  # noqa: N802  # as in Win32
        self.kernel.error = self.error
        return 1


def _make_secure(monkeypatch: pytest.MonkeyPatch, error: int = 0) -> tuple[Win32, FakeKernel, _Security]:
    kernel = _OldKernel()
    win32, security = make_win32(monkeypatch, kernel), _Security(kernel, error)
    monkeypatch.setattr(ctypes, "set_last_error", lambda code: None, raising=False)
    win32._advapi, win32._accounts = security, {}
    return win32, kernel, security


def test_an_account_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may be behind the question: 300 processes of one user ask it once. No token stays open."""
    win32, kernel, security = _make_secure(monkeypatch)
    for _ in range(3):
        sid = win32.get_sid(2, 1)
        assert (sid, win32.look_up_account(sid)) == (security.SID, b"NT AUTHORITY\\SYSTEM")
    assert (security.looked_up, kernel.handles) == (1, set())


def test_an_account_that_nobody_knows_is_asked_for_once_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of a domain that is out of reach keeps one question waiting, not one a process."""
    win32, kernel, security = _make_secure(monkeypatch)

    def refuse(*arguments: Any) -> int:
        security.looked_up += 1
        kernel.error = 1332
        return 0

    monkeypatch.setattr(security, "LookupAccountSidW", refuse)
    for _ in range(3):
        with pytest.raises(Win32Error, match="LookupAccountSidW failed with 1332"):
            win32.look_up_account(security.SID)
    assert security.looked_up == 1


def test_a_privilege_that_is_not_held_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """AdjustTokenPrivileges returns success and says 1300; both times the token is closed."""
    win32, kernel, _ = _make_secure(monkeypatch)
    win32.enable_debug_privilege()
    assert kernel.handles == set()
    win32, kernel, _ = _make_secure(monkeypatch, 1300)
    with pytest.raises(Win32Error, match="AdjustTokenPrivileges failed with 1300"):
        win32.enable_debug_privilege()
    assert kernel.handles == set()
