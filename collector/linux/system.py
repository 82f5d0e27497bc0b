"""What holds for the whole system at one moment: host, kernel, settings and figures of memory, processes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from mmpscope.collector.base import Options, ProcessRow
from mmpscope.collector.linux.processes import list_processes
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import Recorder
from mmpscope.collector.rows import tabulate
from mmpscope.formats.model import Capture, Fact, Facts, Table
from mmpscope.formats.proc.facts import parse_counters, parse_os_release, to_fact

__all__ = ["read_capture"]

_HOST_SALT = b"mmpscope host id 1\0"
"""Hashed before the machine id, which machine-id(5) asks not to give away as it is."""
_MACHINE_ID = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")


def read_capture(root: ProcDir, options: Options, processes: Sequence[ProcessRow] | None = None) -> Capture:
    """Read a capture; what cannot be had is absent, with its reason in the capability list.

    host: id, hostname, os, kernel, version, machine, os_release, boot_id, page_size, clk_tck. system: meminfo
    and settings of `/proc/sys/vm`. moment: time_ns, mono_ns, cost (ns a source). tables: processes.
    """
    recorder = Recorder()
    moment = {"time_ns": time.time_ns(), "mono_ns": time.monotonic_ns(), "cost": recorder.cost}
    host, system = _read_host(root, recorder), _read_system(root, recorder)
    tables: dict[str, Table] = {}
    if options.processes:
        listing = partial(list_processes, root, command_lines=options.command_lines)
        rows = recorder.attempt("processes", listing) if processes is None else processes
        if rows is not None:
            tables["processes"] = tabulate(rows)
        if not options.command_lines:
            recorder.miss("processes.cmdline", "skipped", None, "not asked for")
    else:
        recorder.miss("processes", "skipped", None, "not asked for")
    return Capture(host, system, moment, tables, recorder.capability)


def _read_host(root: ProcDir, recorder: Recorder) -> Facts:
    kernel = partial(_read_text, root, "sys/kernel")
    known: Facts = {
        "os": "linux",
        "machine": os.uname().machine,
        "page_size": os.sysconf("SC_PAGE_SIZE"),
        "clk_tck": os.sysconf("SC_CLK_TCK"),
    }
    asked = recorder.gather(
        {
            "id": _read_host_id,
            "hostname": partial(kernel, "hostname"),
            "kernel": partial(kernel, "osrelease"),
            "version": partial(kernel, "version"),
            "boot_id": partial(kernel, "random/boot_id"),
            "os_release": _read_os_release,
        }
    )
    return {**known, **asked}


def _read_system(root: ProcDir, recorder: Recorder) -> Facts:
    setting = partial(_read_number, root, "sys/vm")
    names = ("max_map_count", "mmap_min_addr", "overcommit_memory", "overcommit_ratio", "overcommit_kbytes")
    return recorder.gather(
        {
            "meminfo": lambda: parse_counters(root.read("meminfo")),
            **{name: partial(setting, name) for name in names},
        }
    )


def _read_text(root: ProcDir, directory: str, name: str) -> Fact:
    return to_fact(root.read(f"{directory}/{name}").strip())


def _read_number(root: ProcDir, directory: str, name: str) -> int:
    return int(root.read(f"{directory}/{name}"))


def _read_host_id() -> str:
    machine_id = _read_first(_MACHINE_ID).strip()
    if not machine_id:  # an image that has not been booted yet has an empty one
        raise ValueError(f"{_MACHINE_ID[0]} is empty")
    return hashlib.sha256(_HOST_SALT + machine_id).hexdigest()


def _read_os_release() -> Fact:
    name = parse_os_release(_read_first(_OS_RELEASE))
    if name is None:
        raise ValueError("it names no PRETTY_NAME")
    return name


def _read_first(paths: Sequence[str]) -> bytes:
    """Read the first file that is there; OSError of the last where none is."""
    for path in paths[:-1]:
        with suppress(OSError):
            return Path(path).read_bytes()
    return Path(paths[-1]).read_bytes()
