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
        yield _read_rlimit(process)
        yield _read_commit(capture.system)
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


def _read_rlimit(process: Facts) -> Limit:
    name, used = "RLIMIT_AS", get_number(get_map(process, "status"), "VmSize")
    stated = get_list(get_map(process, "limits"), "Max address space")
    if stated and stated[0] is None:
        return Limit(name, used, None, _BYTES, "unlimited")
    maximum = as_number(stated[0]) if stated else None
    reason = None if maximum is not None else '"Max address space" is not in the snapshot'
    return Limit(name, used, maximum, _BYTES, reason)


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
