"""The limits besides holes that a new allocation can meet on Windows: of commit, and of the job it runs in.

The request is taken for what malloc and most programs ask for: private memory, reserved and committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mmpscope.analysis.facts import get_map, get_number
from mmpscope.analysis.fit_limits import CANNOT_TELL, DOES_NOT_FIT, FITS, Check, choose_binding
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.formats.model import Facts

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["check_windows_limits"]

_COMMIT, _JOB = "commit limit", "job"
_PROCESS_MEMORY, _JOB_MEMORY = 0x100, 0x200
"""JOB_OBJECT_LIMIT_PROCESS_MEMORY and JOB_OBJECT_LIMIT_JOB_MEMORY (winnt.h)."""


def check_windows_limits(snapshot: LoadedSnapshot, size: int) -> Iterator[Check]:
    """Check a request of `size` bytes against every limit but the holes."""
    yield _check_commit(get_map(snapshot.capture.system, "performance"), size)
    yield _check_job(snapshot, size)


def _check_commit(performance: Facts, size: int) -> Check:
    """Weigh what the whole system may commit beyond what it has (GetPerformanceInfo).

    CommitLimit is what there is without extending the paging file: where that can grow, Windows lets a
    request wait until it has. How far it can is not told.
    """
    limit, used = (get_number(performance, name) for name in ("CommitLimit", "CommitTotal"))
    if limit is None or used is None:
        return Check(_COMMIT, CANNOT_TELL, None, "CommitLimit and CommitTotal are not in the snapshot")
    available = max(0, limit - used)
    told = f"CommitLimit {show_size(limit)}, CommitTotal {show_size(used)}"
    if size <= available:
        return Check(_COMMIT, FITS, available, told)
    told += f": {show_size(available)} are left, and whether the paging file can grow is not known"
    return Check(_COMMIT, CANNOT_TELL, available, told)


def _check_job(snapshot: LoadedSnapshot, size: int) -> Check:
    """Weigh the limits of the job that the process is in: on its own commit, and on that of all in it."""
    job = get_map(snapshot.process, "job")
    if job.get("in_job") is False:
        return Check(_JOB, FITS, None, "in no job")
    limits = get_map(job, "limits")
    flags = get_number(limits, "LimitFlags")
    if flags is None:
        return Check(_JOB, CANNOT_TELL, None, _find_why_no_job(snapshot))
    used = _find_commit(snapshot.process)
    checks = []
    if flags & _PROCESS_MEMORY:
        checks.append(_weigh(get_number(limits, "ProcessMemoryLimit"), used, size))
    if flags & _JOB_MEMORY:
        checks.append(_weigh_together(get_number(limits, "JobMemoryLimit"), used, size))
    return choose_binding(checks, Check(_JOB, FITS, None, "no limit of memory"))


def _find_why_no_job(snapshot: LoadedSnapshot) -> str:
    items = ("job", "job.limits")
    stated = (item.reason for item in snapshot.raw.capability if item.item in items and item.reason)
    reason = next(stated, None)
    return "limits of a job are not in the snapshot" + (f": {reason}" if reason else "")


def _find_commit(process: Facts) -> int | None:
    """Return the commit of the process: Windows 7 has it in PrivateUsage alone, Wine 8 in PagefileUsage."""
    counters = get_map(process, "memory_counters")
    return max(get_number(counters, name) or 0 for name in ("PrivateUsage", "PagefileUsage")) or None


def _weigh(limit: int | None, used: int | None, size: int) -> Check:
    if limit is None or used is None:
        return Check(_JOB, CANNOT_TELL, None, "its limit or the commit of the process is not in the snapshot")
    available = max(0, limit - used)
    told = f"limit {show_size(limit)} for each process, of which {show_size(used)} are committed"
    return Check(_JOB, FITS if size <= available else DOES_NOT_FIT, available, told)


def _weigh_together(limit: int | None, used: int | None, size: int) -> Check:
    """Judge a limit on all processes together: what the others have committed is not known."""
    if limit is None:
        return Check(_JOB, CANNOT_TELL, None, "its limit is not in the snapshot")
    available = max(0, limit - (used or 0))
    told = f"limit {show_size(limit)} for all processes of the job"
    if size > available:
        return Check(_JOB, DOES_NOT_FIT, available, told)
    return Check(_JOB, CANNOT_TELL, available, f"{told}; what the others have committed is not known")
