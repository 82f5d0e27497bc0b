"""What holds for the whole Windows system at one moment: host, version, commit limit, processes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Callable, TypeVar

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.rows import tabulate
from mmpscope.collector.windows.api import PROCESS_QUERY_LIMITED_INFORMATION, Win32
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Process
from mmpscope.collector.windows.running import Running
from mmpscope.collector.windows.security_calls import TOKEN_USER
from mmpscope.formats.model import Capture, Facts, Table

__all__ = ["list_processes", "read_capture"]

T = TypeVar("T")
_HOST_SALT = b"mmpscope host id 1\0"
_IDLE, _KERNEL = 0, 4
_COUNTS = ("HandleCount", "ProcessCount", "ThreadCount")


def read_capture(win32: Win32, options: Options, list_rows: Callable[[], Sequence[ProcessRow]]) -> Capture:
    """Read a capture; what cannot be had is absent, with its reason in the capability list.

    host: id, hostname, os, os_release, kernel, machine, page_size, allocation_granularity,
    large_page_minimum, boot_id. system: performance (bytes). moment: time_ns, mono_ns, cost. tables:
    processes; of the threads of the whole system only their number, process by process, is kept there.
    """
    recorder = Recorder()
    moment = {"time_ns": time.time_ns(), "mono_ns": time.monotonic_ns(), "cost": recorder.cost}
    host: Facts = {
        "os": "windows",
        "machine": os.environ.get("PROCESSOR_ARCHITEW6432") or os.environ.get("PROCESSOR_ARCHITECTURE"),
        "page_size": win32.page_size,
        "allocation_granularity": win32.granularity,
    }
    host.update(
        recorder.gather(
            {
                "hostname": lambda: os.environ.get("COMPUTERNAME"),
                "kernel": lambda: ".".join(map(str, win32.get_version()[:3])),
                "os_release": partial(_read_product, win32),
                "boot_id": partial(_read_boot, win32),
                "id": partial(_read_host_id, win32),
                "large_page_minimum": win32.get_large_page_minimum,
            }
        )
    )
    system = recorder.gather({"performance": partial(_read_performance, win32)})
    tables: dict[str, Table] = {}
    if options.processes:
        rows = recorder.attempt("processes", list_rows)
        if rows is not None:
            tables["processes"] = tabulate(rows)
        if not options.command_lines:
            recorder.miss("processes.cmdline", "skipped", None, "not asked for")
    else:
        recorder.miss("processes", "skipped", None, "not asked for")
    return Capture(host, system, moment, tables, recorder.capability)


def _read_product(win32: Win32) -> str:
    """Read the name of the product, `Windows 10 Pro`: Windows 11 says the same, only its build tells."""
    return win32.read_registry(r"SOFTWARE\Microsoft\Windows NT\CurrentVersion", "ProductName")


def _read_boot(win32: Win32) -> str:
    """Name this run of the system by the time at which it was started, as the kernel keeps it."""
    return f"started {win32.get_boot_time()}"


def _read_performance(win32: Win32) -> Facts:
    """Give PERFORMANCE_INFORMATION with its pages turned into bytes."""
    found = win32.get_performance()
    page = found.pop("PageSize")
    return {name: value if name in _COUNTS else value * page for name, value in found.items()}


def _read_host_id(win32: Win32) -> str:
    """Hash the MachineGuid, which Windows makes when it is set up."""
    guid = win32.read_registry(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")
    return hashlib.sha256(_HOST_SALT + guid.lower().encode()).hexdigest()


def list_processes(win32: Win32, running: Running, *, command_lines: bool = False) -> list[ProcessRow]:
    """List what runs, by pid; the process of the idle time is none. A protected one has only its name."""
    found = sorted(process for process in running.list_processes() if process.pid != _IDLE)
    return [_read_row(win32, process, command_lines=command_lines) for process in found]


def _read_row(win32: Win32, process: Process, *, command_lines: bool) -> ProcessRow:
    """Read what a handle of the least rights gives; the list has the name of a process that has none."""
    facts: Facts = {}
    handle = _try(partial(win32.open_process, process.pid, PROCESS_QUERY_LIMITED_INFORMATION))
    if handle is not None:
        try:
            facts = _read_row_facts(win32, handle, command_lines=command_lines)
        finally:
            win32.close(handle)
    return ProcessRow(
        pid=process.pid,
        ppid=process.ppid,
        name=process.name,
        uid=None,
        user=facts.get("user"),
        threads=process.threads,
        rss=facts.get("rss"),
        private=facts.get("private"),
        starttime=facts.get("starttime"),
        elf_class=facts.get("bits"),
        cmdline=facts.get("cmdline"),
        executable=None,
        has_memory=process.pid != _KERNEL and process.threads > 0,
    )


def _read_row_facts(win32: Win32, handle: int, *, command_lines: bool) -> Facts:
    """Read each fact that the system gives; what it refuses, or a process that ended meanwhile, is None."""
    counters = _try(partial(win32.get_counters, handle)) or {}
    times, bits = _try(partial(win32.get_times, handle)), _try(partial(win32.get_bits, handle))
    account = _try(lambda: win32.look_up_account(win32.get_sid(handle, TOKEN_USER)))
    return {
        "user": account and account.decode("utf-8", "replace"),
        "rss": counters.get("WorkingSetSize"),
        "private": counters.get("PrivateUsage") or None,  # Wine says 0
        "starttime": times and times[0],
        "bits": bits and bits[0],
        "cmdline": _try(partial(win32.get_command_line, handle)) if command_lines else None,
    }


def _try(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except Win32Error:
        return None
