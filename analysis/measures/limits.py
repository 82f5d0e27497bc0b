"""The limits that a process can run into as it grows, and what counts against each.

What a request would meet now is told by fit_limits.py; here are the two numbers behind it, for a series.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.facts import as_number, get_list, get_map, get_number, show_fact
from mmpscope.analysis.mapping_count import MappingCount
from mmpscope.analysis.space import is_like_linux, is_windows
from mmpscope.formats.model import Facts

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Limit", "list_limits"]

_BYTES, _MAPPINGS = "bytes", "mappings"
_NEVER_OVERCOMMIT = 2
_FRESH_NS = 10**9
"""How long what is said of a whole system holds for a snapshot."""


class Limit(NamedTuple):
    """One row of schema.LIMITS but for its snapshot."""

    limit: str
    used: int | None
    maximum: int | None
    unit: str
    reason: str | None


def list_limits(snapshot: LoadedSnapshot, mapped: int | None, count: MappingCount) -> Iterator[Limit]:
    """Yield the limits of its system; ``mapped`` are the bytes of its usable range that are not free."""
    capture, process = snapshot.capture, snapshot.process
    if is_like_linux(capture):
        yield _read_cgroup(process)
        yield _read_rlimit(process, "RLIMIT_AS", "Max address space", "VmSize")
        yield _read_rlimit(process, "RLIMIT_DATA", "Max data size", "VmData")
        yield _read_memory(process, capture.system)
        yield _doubt_age(_read_commit(capture.system), snapshot)
    elif is_windows(capture):
        yield _read_windows_commit(get_map(capture.system, "performance"))
    yield _measure_space(snapshot, mapped)
    if count.applies:
        reason = None if count.limit is not None else "vm.max_map_count is not in the snapshot"
        yield Limit("mapping count", count.count, count.limit, _MAPPINGS, reason)


def _read_cgroup(process: Facts) -> Limit:
    """Take the level of the cgroup, of all up to the root, that has the least left."""
    name, levels = "cgroup memory", get_list(get_map(process, "cgroup"), "levels")
    known = [level for level in levels if isinstance(level, dict) and get_number(level, "usage") is not None]
    limited = [level for level in known if get_number(level, "limit") is not None]
    if limited:
        level = min(
            limited, key=lambda each: (get_number(each, "limit") or 0) - (get_number(each, "usage") or 0)
        )
        maximum, used = get_number(level, "limit"), get_number(level, "usage")
        return Limit(name, used, maximum, _BYTES, show_fact(level.get("path")))
    if not levels:
        return Limit(name, None, None, _BYTES, "the memory cgroup is not in the snapshot")
    return Limit(name, get_number(known[0], "usage") if known else None, None, _BYTES, "no level has a limit")


def _read_rlimit(process: Facts, name: str, key: str, counted: str) -> Limit:
    """Read a limit of getrlimit(2) and what the kernel holds against it (mm/mmap.c, may_expand_vm)."""
    used = get_number(get_map(process, "status"), counted)
    stated = get_list(get_map(process, "limits"), key)
    if stated and stated[0] is None:
        return Limit(name, used, None, _BYTES, "unlimited")
    maximum = as_number(stated[0]) if stated else None
    reason = None if maximum is not None else f'"{key}" is not in the snapshot'
    return Limit(name, used, maximum, _BYTES, reason)


def _read_memory(process: Facts, system: Facts) -> Limit:
    """Hold what a process has in memory and swap against all there is: the latest end of any growth.

    proc_meminfo(5), proc_pid_status(5). Others use it, too, and what they use may not be known.
    """
    name, meminfo, status = "memory and swap", get_map(system, "meminfo"), get_map(process, "status")
    resident, swapped = get_number(status, "VmRSS"), get_number(status, "VmSwap")
    used = None if resident is None else resident + (swapped or 0)
    memory, swap = get_number(meminfo, "MemTotal"), get_number(meminfo, "SwapTotal")
    if memory is None:
        return Limit(name, used, None, _BYTES, "MemTotal is not in the snapshot")
    return Limit(name, used, memory + (swap or 0), _BYTES, "of the whole machine, which others use, too")


def _doubt_age(limit: Limit, snapshot: LoadedSnapshot) -> Limit:
    """Leave out what a system used some time before the snapshot: a series reads that once, as it begins."""
    read, taken = (get_number(moment, "time_ns") for moment in (snapshot.capture.moment, snapshot.moment))
    if read is None or taken is None or taken - read <= _FRESH_NS:
        return limit
    told = f"what is used was read {(taken - read) // 10**9:,} s before"
    return limit._replace(used=None, reason=f"{limit.reason}; {told}" if limit.reason else told)


def _read_commit(system: Facts) -> Limit:
    """CommitLimit binds only where vm.overcommit_memory is 2 (mm/util.c, __vm_enough_memory)."""
    name, meminfo, mode = "commit limit", get_map(system, "meminfo"), get_number(system, "overcommit_memory")
    used, maximum = get_number(meminfo, "Committed_AS"), get_number(meminfo, "CommitLimit")
    if mode == _NEVER_OVERCOMMIT:
        return Limit(name, used, maximum, _BYTES, None)
    told = "not in the snapshot" if mode is None else f"{mode}, so that nothing holds to CommitLimit"
    return Limit(name, used, None, _BYTES, f"vm.overcommit_memory is {told}")


def _read_windows_commit(performance: Facts) -> Limit:
    used, maximum = get_number(performance, "CommitTotal"), get_number(performance, "CommitLimit")
    reason = None if maximum is not None else "CommitLimit is not in the snapshot"
    return Limit("commit limit", used, maximum, _BYTES, reason)


def _measure_space(snapshot: LoadedSnapshot, mapped: int | None) -> Limit:
    if mapped is None:
        return Limit("address space", None, None, _BYTES, "not all regions are known")
    low, high, source = snapshot.usable_range
    return Limit("address space", mapped, high - low, _BYTES, source)
