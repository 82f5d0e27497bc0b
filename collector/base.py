"""What a collector of any operating system offers, and the options that it takes.

The command line, the series and `mmp ps` know only these; `mmpscope.collector.linux` is one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mmpscope.collector.cost import Cost
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.formats.model import Capture, Snapshot

__all__ = ["Collector", "Options", "ProcessRow", "Target", "open_collector"]


@dataclass(frozen=True)
class Options:
    """What to collect, and how much of a customer's machine to ask for it."""

    light: bool = False
    """Mappings and the process' own totals only; counters make the kernel walk every page table."""
    full: bool = False
    """Collect the counters of huge processes too."""
    max_regions: int = 200_000
    """Mappings beyond which a snapshot becomes a light one."""
    max_resident: int = 128 << 30
    """Resident bytes beyond which a snapshot becomes a light one: a walk of some seconds."""
    processes: bool = True
    """List the other processes."""
    command_lines: bool = False
    """List the other processes' command lines too; they may hold what is nobody else's business."""
    budget_s: float | None = None
    """Linux: what a snapshot may take; a source that takes longer by estimate is left out."""
    freeze: bool = False
    """Linux: hold every thread while the process is read, so that all facts are of one moment."""
    freeze_limit_s: float = 5.0
    """Seconds after which a process that is held is let go, whatever we are doing."""
    every_process: bool = False
    """The snapshots are of all processes at one moment: the lists of the system are taken once for all."""
    on_cost: Callable[[Cost], None] | None = field(default=None, compare=False)
    """Linux: told what the counters will cost before they are read."""
    debug_privilege: bool = False
    """Windows: enable SeDebugPrivilege, with which an administrator sees the processes of others."""
    heap_blocks: bool = False
    """Windows: walk the blocks of the heaps, which takes long, and has the process itself look at them."""
    heap_max_blocks: int = 100_000
    """Blocks of all heaps together beyond which that walk ends."""
    heap_max_s: float = 10.0
    """Seconds after which it ends."""


@dataclass(frozen=True)
class ProcessRow:
    """One running process; None where the system does not say. Sizes in bytes.

    ``starttime`` in the system's own unit (Linux: clock ticks after boot); ``private`` is what costs little
    to ask (Linux: RssAnon + VmSwap); ``has_memory`` is false for kernel threads and zombies.
    """

    pid: int
    ppid: int | None
    name: bytes
    uid: int | None
    user: str | None
    threads: int | None
    rss: int | None
    private: int | None
    starttime: int | None
    elf_class: int | None
    cmdline: bytes | None
    executable: bytes | None
    has_memory: bool


class Target(Protocol):
    """One process, held so that no other can take its place."""

    pid: int
    name: bytes
    notices: list[str]
    """What the user should hear, one sentence each; the caller empties it."""

    def take_snapshot(self, capture: Capture) -> Snapshot:
        """Collect one snapshot; ProcessGoneError where it ended, CollectError where it cannot be read."""
        ...

    def check_access(self) -> None:
        """Raise CollectError where a snapshot would be refused; costs next to nothing."""
        ...

    def estimate_cost(self) -> Cost | None:
        """Estimate what the counters will cost; None where they are not read, or a budget bounds that."""
        ...

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        ...

    def exit_handle(self) -> int | None:
        """Give a descriptor or handle that tells when the process ends, None where there is none."""
        ...

    def close(self) -> None:
        """Let go of the process."""
        ...


class Collector(Protocol):
    """One running system."""

    def list_processes(self) -> list[ProcessRow]:
        """List what runs, by pid."""
        ...

    def own_pid(self) -> int | None:
        """Tell our own pid, as this system counts it; None where we do not run in it."""
        ...

    def open_target(self, pid: int, starttime: int | None = None) -> Target:
        """Hold on to one process; CollectError where there is none, or it has no address space.

        ``starttime`` is that of a `ProcessRow`: ProcessGoneError where the pid is another process' by now.
        """
        ...

    def take_capture(self, processes: Sequence[ProcessRow] | None = None) -> Capture:
        """Collect what holds for the whole system now; ``processes`` is the list of them, if it was made."""
        ...


def open_collector(options: Options, root: str | None = None) -> Collector:
    """Give the collector of this operating system; ``root`` is another place of its proc file system.

    CollectError where there is none for it, or the root cannot be read; UsageError for an option of another
    system.
    """
    if sys.platform == "win32":
        if root is not None:
            raise CollectError("there is no proc file system on Windows. Leave --proc out.")
        if options.freeze:
            raise UsageError("there is no ptrace on Windows. Leave --freeze out.")
        if options.budget_s is not None:
            raise UsageError("what sources cost is known on Linux only. Leave --budget out.")
        from mmpscope.collector.windows.collector import WindowsCollector

        return WindowsCollector(options)
    if sys.platform != "linux":
        raise CollectError(
            f"there is no collector for {sys.platform} yet. Linux and Windows are what can be collected from."
        )
    _refuse_windows_options(options)
    from mmpscope.collector.linux.collector import LinuxCollector  # what other systems cannot import

    return LinuxCollector(options, root or "/proc")


def _refuse_windows_options(options: Options) -> None:
    if options.debug_privilege:
        raise UsageError("there is no SeDebugPrivilege on Linux. Leave --debug-privilege out.")
    if options.heap_blocks:
        raise UsageError("Linux does not list the blocks of heaps. Leave --heap-blocks out.")
