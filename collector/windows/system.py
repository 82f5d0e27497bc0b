"""What holds for the whole Windows system at one moment: host, version, commit limit, processes."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import partial

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.rows import tabulate
from mmpscope.collector.windows.api import PROCESS_QUERY_LIMITED_INFORMATION, Win32
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.formats.model import Capture, Facts, Table

__all__ = ["list_processes", "read_capture"]

_HOST_SALT = b"mmpscope host id 1\0"
_IDLE = 0
_I386 = 0x014C


def read_capture(win32: Win32, options: Options) -> Capture:
    """Read a capture; what cannot be had is absent, with its reason in the capability list.

    host: id, hostname, os, kernel, machine, page_size, allocation_granularity, boot_id. system:
    performance (bytes). moment: time_ns, mono_ns, cost. tables: processes.
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
                "boot_id": partial(_read_boot, win32),
                "id": _read_host_id,
            }
        )
    )
    system = recorder.gather({"performance": partial(_read_performance, win32)})
    tables: dict[str, Table] = {}
    if options.processes:
        rows = recorder.attempt("processes", partial(list_processes, win32))
        if rows is not None:
            tables["processes"] = tabulate(rows)
    else:
        recorder.miss("processes", "skipped", None, "not asked for")
    return Capture(host, system, moment, tables, recorder.capability)


def _read_boot(win32: Win32) -> str:
    """Name this run of the system by the time at which it was started, as the kernel keeps it."""
    return f"started {win32.get_boot_time()}"


def _read_performance(win32: Win32) -> Facts:
    """Give PERFORMANCE_INFORMATION with its pages turned into bytes."""
    found = win32.get_performance()
    page = found.pop("PageSize")
    counts = ("HandleCount", "ProcessCount", "ThreadCount")
    return {name: value if name in counts else value * page for name, value in found.items()}


def _read_host_id() -> str:
    """Hash the MachineGuid, which Windows makes when it is set up."""
    if sys.platform != "win32":
        raise ValueError("there is no registry")
    import winreg

    key = winreg.OpenKey(
        winreg.HKEY_LOCAL_MACHINE,
        r"SOFTWARE\Microsoft\Cryptography",
        0,
        winreg.KEY_READ | winreg.KEY_WOW64_64KEY,
    )
    with key:
        guid, _ = winreg.QueryValueEx(key, "MachineGuid")
    return hashlib.sha256(_HOST_SALT + str(guid).lower().encode()).hexdigest()


def list_processes(win32: Win32) -> list[ProcessRow]:
    """List what runs, by pid; the process of the idle time is none."""
    rows = [process for process in win32.list_processes() if process.pid != _IDLE]
    return sorted(
        (_read_row(win32, row.pid, row.ppid, row.threads, row.name) for row in rows), key=lambda r: r.pid
    )


def _read_row(win32: Win32, pid: int, ppid: int, threads: int, name: bytes) -> ProcessRow:
    rss = private = start = bits = None
    try:
        handle = win32.open_process(pid, PROCESS_QUERY_LIMITED_INFORMATION)
    except Win32Error:
        handle = None  # a protected process: the list has its name all the same
    if handle is not None:
        try:
            counters = win32.get_counters(handle)
            rss, private = counters["WorkingSetSize"], counters["PrivateUsage"] or None
            start = win32.get_times(handle)[0]
            machine, native = win32.get_machines(handle)
            bits = 32 if machine == _I386 or (not native and sys.maxsize < 1 << 32) else 64
        except Win32Error:
            pass  # it ended meanwhile, or refuses: what is known so far stands
        finally:
            win32.close(handle)
    return ProcessRow(
        pid=pid,
        ppid=ppid,
        name=name,
        uid=None,
        user=None,
        threads=threads,
        rss=rss,
        private=private,
        starttime=start,
        elf_class=bits,
        cmdline=None,
        executable=None,
        has_memory=rss is not None,
    )
