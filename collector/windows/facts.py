"""Facts about one process: what it is, who runs it, what limits it."""

from __future__ import annotations

import ntpath
from collections.abc import Sequence
from functools import partial
from typing import Callable

from mmpscope.collector.recorder import Recorder
from mmpscope.collector.windows.api import Win32
from mmpscope.collector.windows.held import Held
from mmpscope.collector.windows.security_calls import TOKEN_INTEGRITY, TOKEN_USER
from mmpscope.collector.windows.sids import format_sid, read_last_part
from mmpscope.collector.windows.tables import ModuleRow
from mmpscope.formats.model import Fact, Facts
from mmpscope.formats.proc.facts import to_fact

__all__ = ["find_runtimes", "read_facts"]

_RUNTIMES = (b"clr.dll", b"coreclr.dll", b"mscorwks.dll")
""".NET Framework 4, .NET (Core), and .NET Framework 2 and 3.5."""
_NO_WAY_TO_JOB = "Windows gives the limits of a job to the processes in it only"


def read_facts(win32: Win32, held: Held, recorder: Recorder) -> Facts:
    r"""Read what the system tells of a process; what cannot be had is absent, with its reason noted.

    pid, bits, wow64, page_size, exe, name, times (start as FILETIME, kernel and user in 100 ns), start_time,
    memory_counters (bytes), sid, user (`DOMAIN\name`), integrity (the last part of its SID), session,
    priority_class, job.
    """
    process: Facts = {
        "pid": held.pid,
        "bits": held.bits,
        "wow64": held.is_wow64,
        "page_size": win32.page_size,
    }
    handle = held.handle
    readers: dict[str, Callable[[], Fact]] = {
        "exe": lambda: to_fact(win32.get_image_path(handle)),
        "times": lambda: dict(zip(("start", "kernel", "user"), win32.get_times(handle))),
        "memory_counters": partial(win32.get_counters, handle),
        "sid": lambda: format_sid(win32.get_sid(handle, TOKEN_USER)),
        "user": lambda: to_fact(win32.look_up_account(win32.get_sid(handle, TOKEN_USER))),
        "integrity": lambda: read_last_part(win32.get_sid(handle, TOKEN_INTEGRITY)),
        "session": partial(win32.get_session, held.pid),
        "priority_class": partial(win32.get_priority_class, handle),
        "job": partial(_read_job, win32, held, recorder),
    }
    process.update(recorder.gather(readers))
    if "times" in process:
        process["start_time"] = process["times"]["start"]
    return process


def _read_job(win32: Win32, held: Held, recorder: Recorder) -> Facts:
    """Tell whether a process is in a job, and our own job's limits."""
    is_in_job = win32.is_in_job(held.handle)
    if not is_in_job:
        return {"in_job": False}
    limits = None
    if held.pid == win32.own_pid():
        limits = recorder.attempt("job.limits", win32.get_own_job_limits)
    else:
        recorder.miss("job.limits", "unavailable", None, _NO_WAY_TO_JOB)
    return {"in_job": True} if limits is None else {"in_job": True, "limits": limits}


def find_runtimes(modules: Sequence[ModuleRow]) -> list[Facts]:
    """Find the runtimes of .NET among the modules: name, base and version (None where it is not known)."""
    return [
        {
            "name": name.decode(),
            "base": row.base,
            "version": None if row.image is None else row.image.file_version,
        }
        for row in modules
        if (name := ntpath.basename(row.path).lower()) in _RUNTIMES
    ]
