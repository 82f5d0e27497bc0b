"""Plain rows that calls of Windows answer with."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Allocation", "Block", "Heap", "Module", "Process", "Region", "Thread"]


class Region(NamedTuple):
    """One answer of VirtualQueryEx: MEMORY_BASIC_INFORMATION without its padding."""

    base: int
    allocation_base: int
    allocation_protect: int
    size: int
    state: int
    protect: int
    type: int


class Allocation(NamedTuple):
    """One answer of NtQueryVirtualMemory, class 3; the commit is None where the system does not tell it."""

    base: int
    size: int
    type: int
    commit: int | None


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


class Block(NamedTuple):
    """One block of a heap; the flags are LF32_FIXED 1, LF32_FREE 2, LF32_MOVEABLE 4."""

    size: int
    flags: int
