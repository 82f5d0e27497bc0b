"""Between the collector and the libraries of Windows: structures, lists of Toolhelp, texts, errors."""

from __future__ import annotations

import ctypes
import inspect
import struct
from array import array
from typing import Any

import pytest
from mmpscope.collector.windows import structures as sdk
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.calls import Calls, to_wtf8
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.memory import REGION_LAYOUT
from mmpscope.collector.windows.names import to_drive_path
from mmpscope.collector.windows.rows import Allocation, Block, Heap, Module, Process, Region
from support.fake_libraries import FakeKernel, make_win32
from support.fake_win32 import FakeWin32

IS_64 = ctypes.sizeof(ctypes.c_void_p) == 8
# sizeof() of the Windows SDK for x64 and x86; ntdll's structures by winternl.h and the symbols of ntdll.
SIZES = {
    "MEMORY_BASIC_INFORMATION": (48, 28),
    "MEMORY_REGION_INFORMATION": (48, 28),
    "PROCESSENTRY32W": (568, 556),
    "THREADENTRY32": (28, 28),
    "MODULEENTRY32W": (1080, 1064),
    "HEAPLIST32": (32, 16),
    "HEAPENTRY32": (56, 36),
    "SYSTEM_INFO": (48, 36),
    "OSVERSIONINFOW": (276, 276),
    "PROCESS_MEMORY_COUNTERS_EX": (80, 44),
    "PERFORMANCE_INFORMATION": (104, 56),
    "PROCESS_BASIC_INFORMATION": (48, 24),
    "THREAD_BASIC_INFORMATION": (48, 28),
    "UNICODE_STRING": (16, 8),
    "JOBOBJECT_EXTENDED_LIMIT_INFORMATION": (144, 112),
    "LUID_AND_ATTRIBUTES": (12, 12),
    "TOKEN_PRIVILEGES": (16, 16),
}


@pytest.mark.parametrize("name", sdk.__all__)
def test_structures_have_the_sizes_of_the_sdk(name: str) -> None:
    """A structure of the wrong size gives garbage, not an error (F37)."""
    assert ctypes.sizeof(getattr(sdk, name)) == SIZES[name][0 if IS_64 else 1]


def test_the_two_layouts_of_a_region_agree() -> None:
    """What is unpacked at once is what the seven fields of the structure would give."""
    found = sdk.MEMORY_BASIC_INFORMATION(
        0x7FF612340000, 0x7FF612340000, 0x80, 7, 0x5000, 0x1000, 0x20, 0x1000000
    )
    assert REGION_LAYOUT.size == ctypes.sizeof(found)
    fields = [getattr(found, name) for name, *_ in found._fields_ if name != "PartitionId"]
    assert list(REGION_LAYOUT.unpack_from(found)) == fields


def test_the_stand_in_answers_every_call_itself() -> None:
    """A method that the fake leaves out would reach for libraries that are not there."""
    public = {
        name
        for name, _ in inspect.getmembers(Win32, inspect.isfunction)
        if not name.startswith("_") and name != "query_process"
    }
    assert public <= vars(FakeWin32).keys()


def test_calls_are_refused_where_there_is_no_windows() -> None:
    """One sentence in place of an AttributeError of ctypes."""
    with pytest.raises(OSError, match="Win32 cannot be called on linux"):
        Calls()


def test_lists_of_toolhelp_are_read_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row with its dwSize set anew, as some fill in less; the handle is closed."""
    kernel = FakeKernel()
    kernel.rows = [
        {"th32ProcessID": 8, "th32ParentProcessID": 4, "cntThreads": 3, "szExeFile": "a.exe", "dwSize": 1},
        {"th32ProcessID": 12, "th32ParentProcessID": 8, "cntThreads": 1, "szExeFile": "longer.exe"},
        {"th32ProcessID": 16, "th32ParentProcessID": 8, "cntThreads": 1, "szExeFile": "b\ud800"},
    ]
    found = make_win32(monkeypatch, kernel).list_processes()
    assert found == [
        Process(8, 4, 3, b"a.exe"),
        Process(12, 8, 1, b"longer.exe"),
        Process(16, 8, 1, b"b\xed\xa0\x80"),
    ]
    assert set(kernel.sizes) == {ctypes.sizeof(sdk.PROCESSENTRY32W)}
    assert kernel.handles == set()


def test_modules_far_up_keep_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """F39: a base above 32 bits; a path of 259 units fills its field to the last but one."""
    kernel = FakeKernel()
    path = "C:\\" + "d" * 256
    row = {"modBaseAddr": 0x7FF612340000, "modBaseSize": 0x5000, "szModule": "a.dll", "szExePath": path}
    kernel.rows = [row]
    [module] = make_win32(monkeypatch, kernel).list_modules(4712)
    assert module == Module(0x7FF612340000, 0x5000, b"a.dll", path.encode())


def test_f41_bad_length_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a program is being loaded Toolhelp says 24: three times, and then it has the list."""
    kernel = FakeKernel()
    kernel.refusals, kernel.rows = [24, 24, 24], [{"th32HeapID": 0x50000, "dwFlags": 1}]
    assert make_win32(monkeypatch, kernel).list_heaps(4712) == [Heap(0x50000, 1)]
    assert len(kernel.asked) == 4
    assert kernel.handles == set()


def test_f41_bad_length_for_ever_is_an_error_after_some_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The retry is bounded, and what comes out is the code, not an empty list."""
    kernel = FakeKernel()
    kernel.refusals = [24] * 1000
    with pytest.raises(Win32Error, match="CreateToolhelp32Snapshot failed with 24") as caught:
        make_win32(monkeypatch, kernel).list_modules(4712)
    assert (caught.value.code, len(kernel.asked)) == (24, 10)


def test_f41_another_bitness_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """299 does not get better by asking again."""
    kernel = FakeKernel()
    kernel.refusals = [299, 299]
    with pytest.raises(Win32Error, match="failed with 299"):
        make_win32(monkeypatch, kernel).list_modules(4712)
    assert len(kernel.asked) == 1


def test_a_list_that_breaks_off_is_an_error_and_closes_its_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only ERROR_NO_MORE_FILES (18) is an end: half a list is not taken for a whole one."""
    kernel = FakeKernel()
    kernel.end, kernel.rows = 8, [{"th32ThreadID": 1}]
    with pytest.raises(Win32Error, match="Thread32Next failed with 8"):
        make_win32(monkeypatch, kernel).list_threads()
    assert kernel.handles == set()


def test_f42_blocks_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops asking ends the walk: nothing is read ahead."""
    kernel = FakeKernel()
    kernel.rows = [{"dwBlockSize": 16 * number, "dwFlags": 1} for number in range(1000)]
    blocks = make_win32(monkeypatch, kernel).walk_blocks(4712, 0x50000)
    assert [next(blocks), next(blocks)] == [Block(0, 1), Block(16, 1)]
    assert len(kernel.sizes) == 2
    assert len(list(blocks)) == 998


class _Memory(FakeKernel):
    """A process whose regions, names and pages are made up."""

    def VirtualQueryEx(self, process: int, address: int, place: Any, size: int) -> int:  # noqa: N802  # as in Win32
        assert size == ctypes.sizeof(sdk.MEMORY_BASIC_INFORMATION)
        if address >= 0x7FFF_FFFF_0000:
            self.error = 87
            return 0
        found = place._obj
        found.BaseAddress, found.RegionSize, found.State, found.Type = address, 0x1000, 0x1000, 0x20000
        return size

    def K32GetMappedFileNameW(self, process: Any, address: Any, place: Any, size: Any) -> int:  # noqa: N802  # as in Win32
        end = "\0" if address.value == 0x2000 else ""
        units = f"\\Device\\HarddiskVolume3\\né{end}".encode("utf-16-le")
        ctypes.memmove(place._obj, units, len(units))
        return len(units) // 2

    def K32QueryWorkingSetEx(self, process: Any, place: Any, size: Any) -> int:  # noqa: N802  # as in Win32
        pairs = (ctypes.c_size_t * (size.value // ctypes.sizeof(ctypes.c_size_t))).from_address(place.value)
        for at in range(0, len(pairs), 2):
            pairs[at + 1] = pairs[at] >> 12 | 1
        return 1

    def ReadProcessMemory(self, process: Any, address: Any, buffer: Any, size: Any, done: Any) -> int:  # noqa: N802  # as in Win32
        there = max(0, min(size.value, 0x2000 - address.value))
        done._obj.value = there
        ctypes.memmove(buffer, b"x" * there, there)
        self.error = 299
        return int(there == size.value)


class _Nt:
    """ntdll, which fills in as much of MEMORY_REGION_INFORMATION as a version of Windows knows."""

    def __init__(self, known: int, status: int = 0) -> None:
        self.known = known
        self.status = status

    def NtQueryVirtualMemory(  # noqa: N802  # as in Win32
        self, process: Any, address: Any, kind: Any, place: Any, size: Any, filled: Any
    ) -> int:
        word = "Q" if IS_64 else "I"
        data = struct.pack(f"={word}II2{word}", address.value, 4, 1, 0x30000, 0x4000)[: self.known]
        ctypes.memmove(place, data, len(data))
        filled._obj.value = self.known
        return self.status

    def RtlNtStatusToDosError(self, status: Any) -> int:  # noqa: N802  # as in Win32
        return 87


def test_memory_calls_give_plain_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions, names as WTF-8, attributes of pages without the addresses."""
    win32 = make_win32(monkeypatch, _Memory())
    assert win32.make_region_query(8)(0x7FF612340000) == Region(
        0x7FF612340000, 0, 0, 0x1000, 0x1000, 0, 0x20000
    )
    with pytest.raises(Win32Error, match="VirtualQueryEx failed with 87"):
        win32.make_region_query(8)(0x7FFF_FFFF_0000)
    for address in (0x1000, 0x2000):  # of the second one the system counts the NUL as well
        assert win32.get_mapped_name(8, address) == "\\Device\\HarddiskVolume3\\né".encode()
    assert list(win32.query_working_set(8, array("Q", [0x2000, 0x3000]))) == [3, 3]


def test_a_partial_copy_gives_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """299 with some bytes done is a short answer; with none it is an error."""
    win32 = make_win32(monkeypatch, _Memory())
    assert win32.read_memory(8, 0x1000, 0x1000) == b"x" * 0x1000
    assert win32.read_memory(8, 0x1FF0, 0x100) == b"x" * 0x10
    with pytest.raises(Win32Error, match="ReadProcessMemory failed with 299"):
        win32.read_memory(8, 0x2000, 0x10)


def test_f44_what_a_version_of_windows_does_not_fill_in_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows 7 knows no commit of an allocation, later versions more than we ask for."""
    whole = 32 if IS_64 else 20
    for known, commit in ((whole, 0x4000), (whole - ctypes.sizeof(ctypes.c_void_p), None)):
        win32 = make_win32(monkeypatch, FakeKernel(), _Nt(known))
        assert win32.query_allocation(8, 0x10000) == Allocation(0x10000, 0x30000, 1, commit)
    with pytest.raises(Win32Error, match="NtQueryVirtualMemory failed with 87"):
        make_win32(monkeypatch, FakeKernel(), _Nt(0, -0x3FFFFFFD)).query_allocation(8, 0x10000)


@pytest.mark.parametrize(
    ("units", "name"),
    [
        ("a\ud83d\ude00", b"a\xf0\x9f\x98\x80"),
        ("a\ud83d", b"a\xed\xa0\xbd"),
        ("\ude00\ud83d", b"\xed\xb8\x80\xed\xa0\xbd"),
    ],
)
def test_utf_16_becomes_wtf_8(units: str, name: bytes) -> None:
    """Pairs are one character of four bytes, lone surrogates stay alone, in three."""
    assert to_wtf8(units.encode("utf-16-le", "surrogatepass")) == name


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"\\Device\\HarddiskVolume3\\a\\b.dll", b"C:\\a\\b.dll"),
        (b"\\Device\\HarddiskVolume33\\a", b"\\Device\\HarddiskVolume33\\a"),
        (b"\\Device\\Mup\\server\\share\\a", b"\\\\server\\share\\a"),
        (b"\\??\\Z:\\tmp\\a", b"Z:\\tmp\\a"),
        (b"C:\\windows\\system32\\l_intl.nls\0", b"C:\\windows\\system32\\l_intl.nls"),
    ],
)
def test_device_paths_get_the_letter_that_people_know(path: bytes, shown: bytes) -> None:
    """A longer number is another device; shares, and the names that Wine gives (RECORDED: the last two)."""
    assert to_drive_path(path, {b"C:": b"\\Device\\HarddiskVolume3"}) == shown


def test_an_error_keeps_function_code_and_text() -> None:
    """GetLastError's code is the number of the capability table, never one of the C library."""
    error = Win32Error("OpenProcess", 5, "Access is denied.")
    assert (error.errno, error.code, str(error)) == (5, 5, "OpenProcess failed with 5 (Access is denied)")
