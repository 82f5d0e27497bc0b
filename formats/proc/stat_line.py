"""Lines of `/proc/PID/stat`, under the names of proc_pid_stat(5), and of `/proc/PID/task/TID/syscall`."""

from __future__ import annotations

from typing import NamedTuple

from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import to_fact

__all__ = ["PF_KTHREAD", "Registers", "Stat", "describe_stat", "parse_registers", "parse_stat"]

PF_KTHREAD = 0x00200000
"""Bit of `flags` that marks a kernel thread (linux/sched.h)."""

_FIELDS = [
    "ppid",
    "pgrp",
    "session",
    "tty_nr",
    "tpgid",
    "flags",
    "minflt",
    "cminflt",
    "majflt",
    "cmajflt",
    "utime",
    "stime",
    "cutime",
    "cstime",
    "priority",
    "nice",
    "num_threads",
    "itrealvalue",
    "starttime",
    "vsize",
    "rss",
    "rsslim",
    "startcode",
    "endcode",
    "startstack",
    "kstkesp",
    "kstkeip",
    "signal",
    "blocked",
    "sigignore",
    "sigcatch",
    "wchan",
    "nswap",
    "cnswap",
    "exit_signal",
    "processor",
    "rt_priority",
    "policy",
    "delayacct_blkio_ticks",
    "guest_time",
    "cguest_time",
    "start_data",
    "end_data",
    "start_brk",
    "arg_start",
    "arg_end",
    "env_start",
    "env_end",
    "exit_code",
]


class Stat(NamedTuple):
    """One line; ``numbers`` holds the fields behind ``state`` by name: rss in pages, times in clock ticks."""

    pid: int
    comm: bytes
    state: bytes
    numbers: Facts

    @property
    def starttime(self) -> int:
        """When the process or thread began, in clock ticks after boot."""
        return int(self.numbers["starttime"])

    @property
    def is_kernel_thread(self) -> bool:
        """Whether this is part of the kernel, which has no address space of its own."""
        return bool(self.numbers["flags"] & PF_KTHREAD)


class Registers(NamedTuple):
    """Stack and instruction pointer of a blocked thread."""

    sp: int
    ip: int


def parse_stat(data: bytes) -> Stat:
    """Parse one line; ValueError where it is not of this form.

    The name ends at the last bracket: it is not escaped, and may be `a) b (c` (set by prctl).
    """
    before, _, after = data.rpartition(b")")
    pid, bracket, comm = before.partition(b"(")
    state, *values = after.split() or [b""]
    numbers: Facts = dict(zip(_FIELDS, map(int, values)))
    if not bracket or "starttime" not in numbers:
        raise ValueError("this is not a stat line of a process")
    return Stat(int(pid), comm, state, numbers)


def describe_stat(stat: Stat) -> Facts:
    """Give a stat line under the names of proc_pid_stat(5)."""
    return {"comm": to_fact(stat.comm), "state": to_fact(stat.state), **stat.numbers}


def parse_registers(data: bytes) -> Registers | None:
    """Parse a `syscall` line: `nr arg0 .. arg5 sp ip`, `-1 sp ip`, or None for `running`.

    ValueError where it is none of these.
    """
    fields = data.split()
    if fields == [b"running"]:
        return None
    if len(fields) < 3:
        raise ValueError("this is not a syscall line")
    return Registers(int(fields[-2], 16), int(fields[-1], 16))
