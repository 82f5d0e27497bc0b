"""Stands in for `Win32`, the calls of Windows that the collector makes: its answers are made here.

Unless a name says RECORDED, answers are made up after Microsoft's documentation; none was seen on a real
Windows. It is stricter than Windows where that finds faults: a handle must be open and have the rights that a
call needs, and may be closed once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mmpscope.collector.windows.api import (
    PROCESS_QUERY_INFORMATION,
    PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_VM_READ,
    Win32,
)
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Allocation, Block, Heap, Module, Process, Region, Thread
from support.pe_image import make_image
from support.windows_blocks import make_peb, make_teb

__all__ = ["IMAGE", "RECORDED_REGIONS", "FakeProgram", "FakeWin32", "make_demo"]

ALL_RIGHTS = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_QUERY_INFORMATION | PROCESS_VM_READ
FREE, RESERVE, COMMIT = 0x10000, 0x2000, 0x1000
PRIVATE, MAPPED, IMAGE_TYPE = 0x20000, 0x40000, 0x1000000
IMAGE = 0x7FF6_1234_0000
PEB, TEB, STACK, HEAP, SECTION = 0x2C_0000, 0x2C_1000, 0x10_0000, 0x40_0000, 0x60_0000
SID_USER = bytes.fromhex("010500000000000515000000010000000200000003000000e9030000")
SID_MEDIUM = bytes.fromhex("010100000000001000200000")
TEXTS = {5: "Access is denied", 87: "The parameter is incorrect", 299: "Only part of a request was completed"}

# RECORDED under Wine 8.0 (64 bits): VirtualQueryEx on a program that had only just been started, free ranges
# left out; base, allocation base, allocation protection, size, state, protection, type.
RECORDED_REGIONS = [
    Region(0x20000, 0x20000, 0x4, 0x1000, 0x1000, 0x1, 0x20000),
    Region(0x21000, 0x20000, 0x4, 0x1000, 0x1000, 0x104, 0x20000),
    Region(0x22000, 0x20000, 0x4, 0x1FE000, 0x1000, 0x4, 0x20000),
    Region(0x220000, 0x220000, 0x4, 0x100000, 0x1000, 0x4, 0x20000),
    Region(0x320000, 0x320000, 0x2, 0x11000, 0x1000, 0x2, 0x40000),
    Region(0x340000, 0x340000, 0x4, 0x10000, 0x1000, 0x4, 0x20000),
    Region(0x350000, 0x340000, 0x4, 0x3F0000, 0x2000, 0x0, 0x20000),
    Region(0x67E00000, 0x67E00000, 0x4, 0x1E0000, 0x2000, 0x0, 0x20000),
    Region(0x67FE0000, 0x67E00000, 0x4, 0x20000, 0x1000, 0x4, 0x20000),
    Region(0x7FFE0000, 0x7FFE0000, 0x2, 0x1000, 0x1000, 0x2, 0x20000),
    Region(0x140000000, 0x140000000, 0x80, 0x1000, 0x1000, 0x2, 0x1000000),
    Region(0x140001000, 0x140000000, 0x80, 0x2000, 0x1000, 0x20, 0x1000000),
    Region(0x140003000, 0x140000000, 0x80, 0x1000, 0x1000, 0x8, 0x1000000),
    Region(0x140004000, 0x140000000, 0x80, 0x3000, 0x1000, 0x2, 0x1000000),
    Region(0x140007000, 0x140000000, 0x80, 0x4000, 0x1000, 0x8, 0x1000000),
    Region(0x14000B000, 0x140000000, 0x80, 0x1000, 0x1000, 0x2, 0x1000000),
]


@dataclass
class FakeProgram:
    """One process: what each call answers about it. ``refused`` maps a method to the code it fails with."""

    pid: int = 4712
    name: bytes = b"demo.exe"
    path: bytes | None = b"C:\\Program Files\\Demo\\demo.exe"
    started: int = 133_500_000_000_000_000
    bits: int = 64
    is_wow64: bool = False
    rights: int = ALL_RIGHTS
    is_running: bool = True
    regions: list[Region] = field(default_factory=list)
    files: dict[int, bytes] = field(default_factory=dict)
    pages: dict[int, int] = field(default_factory=dict)
    memory: dict[int, bytes] = field(default_factory=dict)
    threads: dict[int, tuple[int, bytes | None]] = field(default_factory=dict)
    modules: list[Module] = field(default_factory=list)
    heaps: list[Heap] = field(default_factory=list)
    blocks: dict[int, list[Block]] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    peb: int = PEB
    wow64_peb: int = 0
    command_line: bytes = b'"C:\\Program Files\\Demo\\demo.exe" --fast'
    in_job: bool = False
    refused: dict[str, int] = field(default_factory=dict)


def make_demo() -> FakeProgram:
    """Make a 64-bit program: an image far up (F39), stack, heap, a section of the page file, a mapped file.

    What Wine does not show is here: of the image's data, which is copy-on-write, one page was written and is
    0x4, another is not resident and still shared with the file (AbsentShared).
    """
    private, image = (PRIVATE, COMMIT), (IMAGE_TYPE, COMMIT)
    regions = [
        _region(STACK, STACK, 0x4, 0xFC000, 0, (PRIVATE, RESERVE)),
        _region(STACK + 0xFC000, STACK, 0x4, 0x1000, 0x104, private),
        _region(STACK + 0xFD000, STACK, 0x4, 0x3000, 0x4, private),
        _region(PEB, PEB, 0x4, 0x3000, 0x4, private),
        _region(HEAP, HEAP, 0x4, 0x2000, 0x4, private),
        _region(SECTION, SECTION, 0x4, 0x1000, 0x4, (MAPPED, COMMIT)),
        _region(0x70_0000, 0x70_0000, 0x2, 0x1000, 0x2, (MAPPED, COMMIT)),
        _region(IMAGE, IMAGE, 0x80, 0x1000, 0x2, image),
        _region(IMAGE + 0x1000, IMAGE, 0x80, 0x1000, 0x20, image),
        _region(IMAGE + 0x2000, IMAGE, 0x80, 0x2000, 0x2, image),
        _region(IMAGE + 0x4000, IMAGE, 0x80, 0x1000, 0x4, image),
    ]
    mapped = b"\\Device\\HarddiskVolume3\\Program Files\\Demo\\"
    own, shared, absent_shared = 0x1, 0x8001 | 3 << 1, 0x8000
    return FakeProgram(
        regions=regions,
        files={IMAGE: mapped + b"demo.exe", 0x70_0000: mapped + b"table.bin"},
        pages={
            STACK + 0xFD000: own,
            HEAP: own | 1 << 22,
            SECTION: 0x8001 | 1 << 1,
            IMAGE: shared,
            IMAGE + 0x1000: shared,
            IMAGE + 0x2000: absent_shared,
            IMAGE + 0x3000: absent_shared,
            IMAGE + 0x4000: own,
        },
        memory={
            PEB: make_peb(64, PEB, image=IMAGE, heaps=[HEAP, 0x41_0000], command_line="demo --from-peb"),
            TEB: make_teb(64, TEB, stack=(STACK, STACK + 0xFD000, STACK + 0x100000), peb=PEB),
            IMAGE: make_image(),
        },
        threads={4800: (TEB, "wörker".encode())},
        modules=[Module(IMAGE, 0x5000, b"demo.exe", b"C:\\Program Files\\Demo\\demo.exe")],
        heaps=[Heap(HEAP, 1), Heap(0x41_0000, 0)],
        blocks={HEAP: [Block(16, 1), Block(24, 1), Block(4096, 2)], 0x41_0000: [Block(0, 2)]},
        allocations={
            STACK: Allocation(STACK, 0x100000, 1, 0x4000),
            IMAGE: Allocation(IMAGE, 0x5000, 4, 0x1000),
        },
    )


def _region(
    base: int, allocation: int, allocation_protect: int, size: int, protect: int, kind: tuple[int, int]
) -> Region:
    return Region(base, allocation, allocation_protect, size, kind[1], protect, kind[0])


class FakeWin32(Win32):
    """A system of ``programs``; ``handles`` are those open now, ``opened`` the rights asked for, in order.

    ``on_query`` is called before each question for a region: something may happen meanwhile.
    """

    def __init__(self, *programs: FakeProgram, own_pid: int = 999_996) -> None:
        self.programs = {program.pid: program for program in programs}
        self.page_size, self.granularity, self.system_end = 0x1000, 0x10000, 0x7FFF_FFFF_0000
        self.handles: dict[int, tuple[FakeProgram, int]] = {}
        self.opened: list[int] = []
        self.refused: dict[str, int] = {}
        self.asked: list[str] = []
        self.page_calls: list[int] = []
        self.on_query: Callable[[int], None] = lambda address: None
        self._own_pid = own_pid

    def _find(self, method: str, handle: int, needed: int) -> FakeProgram:
        self._pass(method)
        assert handle in self.handles, f"{method} on a handle that is not open"
        program, access = self.handles[handle]
        if access & needed == 0:
            raise self._error(method, 5)
        if method in program.refused:
            raise self._error(method, program.refused[method])
        return program

    def _find_pid(self, method: str, pid: int) -> FakeProgram:
        self._pass(method)
        if pid not in self.programs:
            raise self._error(method, 87)
        if method in self.programs[pid].refused:
            raise self._error(method, self.programs[pid].refused[method])
        return self.programs[pid]

    def _pass(self, method: str) -> None:
        self.asked.append(method)
        if method in self.refused:
            raise self._error(method, self.refused[method])

    def _error(self, method: str, code: int) -> Win32Error:
        function = {"open_process": "OpenProcess"}.get(method, method)
        return Win32Error(function, code, TEXTS.get(code, "no text"))

    # Handles.

    def open_process(self, pid: int, access: int) -> int:
        """Open as Windows does, which is blind to the last two bits of a pid."""
        self.opened.append(access)
        program = self.programs.get(pid & ~3)
        if program is None:
            raise self._error("open_process", 87)
        if access & ~program.rights:
            raise self._error("open_process", 5)
        if "open_process" in program.refused:
            raise self._error("open_process", program.refused["open_process"])
        handle = 0x100 + 4 * len(self.opened)
        self.handles[handle] = program, access
        return handle

    def close(self, handle: int) -> None:
        """Close once."""
        assert handle in self.handles, "closed twice"
        del self.handles[handle]

    def own_pid(self) -> int:
        """Give the pid that is taken for ours."""
        return self._own_pid

    def count_own_handles(self) -> int:
        """Count what is open."""
        return len(self.handles)

    def is_running(self, handle: int) -> bool:
        """Tell whether the program still runs."""
        return self.handles[handle][0].is_running

    # Toolhelp.

    def list_processes(self) -> list[Process]:
        """List the idle process, and the programs."""
        self._pass("list_processes")
        found = [Process(p.pid, 4, len(p.threads), p.name) for p in self.programs.values()]
        return [Process(0, 0, 2, b"[System Process]"), Process(4, 0, 90, b"System"), *found]

    def list_threads(self) -> list[Thread]:
        """List the threads of all programs."""
        self._pass("list_threads")
        return [Thread(tid, p.pid, 8) for p in self.programs.values() for tid in p.threads]

    def list_modules(self, pid: int) -> list[Module]:
        """List the modules of a program."""
        return self._find_pid("list_modules", pid).modules

    def list_heaps(self, pid: int) -> list[Heap]:
        """List the heaps of a program."""
        return self._find_pid("list_heaps", pid).heaps

    def walk_blocks(self, pid: int, heap: int) -> Iterator[Block]:
        """Give the blocks of a heap."""
        yield from self._find_pid("walk_blocks", pid).blocks[heap]

    # Memory.

    def make_region_query(self, process: int) -> Callable[[int], Region]:
        """Answer with the region at an address, or the free range there."""
        program = self._find("make_region_query", process, ALL_RIGHTS)

        def query(address: int) -> Region:
            self.on_query(address)
            self._find("query_region", process, PROCESS_QUERY_INFORMATION)
            if not program.is_running:
                raise self._error("query_region", 5)
            if address >= self.system_end:
                raise self._error("query_region", 87)
            above = [region for region in program.regions if region.base + region.size > address]
            if above and above[0].base <= address:
                return above[0]
            return Region(address, 0, 0, (above[0].base if above else self.system_end) - address, FREE, 1, 0)

        return query

    def query_allocation(self, process: int, address: int) -> Allocation:
        """Answer for the allocations that are known."""
        program = self._find("query_allocation", process, PROCESS_QUERY_INFORMATION)
        if address not in program.allocations:
            raise self._error("query_allocation", 487)
        return program.allocations[address]

    def get_mapped_name(self, process: int, address: int) -> bytes:
        """Give the device path at the beginning of an allocation."""
        program = self._find("get_mapped_name", process, PROCESS_QUERY_INFORMATION)
        if address not in program.files:
            raise self._error("get_mapped_name", 1006)
        return program.files[address]

    def query_working_set(self, process: int, addresses: array[int]) -> array[int]:
        """Give the attributes of pages."""
        program = self._find("query_working_set", process, PROCESS_QUERY_INFORMATION)
        self.page_calls.append(len(addresses))
        return array("Q", [program.pages.get(address, 0) for address in addresses])

    def read_memory(self, process: int, address: int, size: int) -> bytes:
        """Read what is there of a range, and fail with ERROR_PARTIAL_COPY where nothing is."""
        program = self._find("read_memory", process, PROCESS_VM_READ)
        for base, data in program.memory.items():
            if base <= address < base + len(data):
                return data[address - base : address - base + size]
        raise self._error("read_memory", 299)

    # Processes and threads.

    def find_peb(self, process: int) -> int:
        """Give the address of the environment block."""
        return self._find("find_peb", process, ALL_RIGHTS).peb

    def find_wow64_peb(self, process: int) -> int:
        """Give the address of the 32-bit environment block."""
        return self._find("find_wow64_peb", process, ALL_RIGHTS).wow64_peb

    def get_command_line(self, process: int) -> bytes:
        """Give the command line."""
        return self._find("get_command_line", process, ALL_RIGHTS).command_line

    def describe_thread(self, tid: int, pid: int) -> tuple[int, bytes | None]:
        """Give the block and the name of a thread."""
        threads = self._find_pid("describe_thread", pid).threads
        if tid not in threads:
            raise self._error("describe_thread", 87)
        return threads[tid]

    def get_image_path(self, process: int) -> bytes:
        """Give the path of the program."""
        path = self._find("get_image_path", process, ALL_RIGHTS).path
        if path is None:
            raise self._error("get_image_path", 31)
        return path

    def get_times(self, process: int) -> tuple[int, int, int]:
        """Give start and used times."""
        return self._find("get_times", process, ALL_RIGHTS).started, 20, 30

    def get_counters(self, process: int) -> dict[str, int]:
        """Give three of the counters."""
        self._find("get_counters", process, ALL_RIGHTS)
        return {"WorkingSetSize": 0x6000, "PrivateUsage": 0x8000, "PagefileUsage": 0x8000}

    def get_pid(self, process: int) -> int:
        """Give the true pid."""
        return self._find("get_pid", process, ALL_RIGHTS).pid

    def get_session(self, pid: int) -> int:
        """Give session 1."""
        self._find_pid("get_session", pid)
        return 1

    def get_priority_class(self, process: int) -> int:
        """Give NORMAL_PRIORITY_CLASS."""
        self._find("get_priority_class", process, ALL_RIGHTS)
        return 0x20

    def get_bits(self, process: int) -> tuple[int, bool]:
        """Give the bitness."""
        program = self._find("get_bits", process, ALL_RIGHTS)
        return program.bits, program.is_wow64

    # Users, jobs, the system.

    def get_sid(self, process: int, kind: int) -> bytes:
        """Give S-1-5-21-1-2-3-1001, or the level medium."""
        self._find("get_sid", process, ALL_RIGHTS)
        return SID_USER if kind == 1 else SID_MEDIUM

    def look_up_account(self, sid: bytes) -> bytes:
        """Give an account."""
        self._pass("look_up_account")
        return b"DESK\\ann"

    def enable_debug_privilege(self) -> None:
        """Do nothing, unless refused."""
        self._pass("enable_debug_privilege")

    def is_in_job(self, process: int) -> bool:
        """Tell whether the program is in a job."""
        return self._find("is_in_job", process, ALL_RIGHTS).in_job

    def get_own_job_limits(self) -> dict[str, int]:
        """Give a limit of 1 GiB a process."""
        self._pass("get_own_job_limits")
        return {"LimitFlags": 0x100, "ProcessMemoryLimit": 1 << 30}

    def get_version(self) -> tuple[int, int, int, str]:
        """Give Windows 10 22H2."""
        return 10, 0, 19045, ""

    def get_performance(self) -> dict[str, int]:
        """Give three fields."""
        self._pass("get_performance")
        return {"CommitTotal": 1000, "CommitLimit": 4000, "PageSize": 0x1000, "ProcessCount": 90}

    def get_boot_time(self) -> int:
        """Give a time."""
        return 133_400_000_000_000_000

    def get_large_page_minimum(self) -> int | None:
        """Give 2 MiB."""
        return 2 << 20

    def read_registry(self, path: str, name: str) -> str:
        """Give the two texts that are asked for."""
        self._pass("read_registry")
        return {"ProductName": "Windows 10 Pro", "MachineGuid": "0123-4567"}[name]

    def list_drives(self) -> dict[bytes, bytes]:
        """Give one drive."""
        return {b"C:": b"\\Device\\HarddiskVolume3"}
