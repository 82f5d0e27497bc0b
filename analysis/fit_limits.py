"""The limits besides holes that a new mapping can meet, one function each: rules of the Linux kernel.

The request is taken for what malloc and most programs ask for: private, writable, anonymous memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.extent import find_extent
from mmpscope.analysis.facts import as_number, get_list, get_map, get_number, show_fact
from mmpscope.analysis.mapping_count import TOLERANCE, count_mappings
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.formats.model import Fact, Facts

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["CANNOT_TELL", "DOES_NOT_FIT", "FITS", "Check", "check_limits"]

FITS = "fits"
DOES_NOT_FIT = "does not fit"
CANNOT_TELL = "cannot tell"

_ORDER = (DOES_NOT_FIT, CANNOT_TELL, FITS)
_MOST = 2**64 - 1
_GUESS_OVERCOMMIT, _ALWAYS_OVERCOMMIT, _NEVER_OVERCOMMIT = 0, 1, 2


@dataclass(frozen=True)
class Check:
    """What one check says of a request.

    `available`: the largest request, in bytes, that would pass; None where that is unlimited or unknown.
    """

    name: str
    outcome: str
    available: int | None
    reason: str


def check_limits(snapshot: LoadedSnapshot, size: int) -> Iterator[Check]:
    """Check a request of `size` bytes against every limit but the holes, in the order of the kernel."""
    yield _check_mapping_count(snapshot)
    for name, limit, used in (
        ("RLIMIT_AS", "Max address space", "VmSize"),
        ("RLIMIT_DATA", "Max data size", "VmData"),
    ):
        yield _check_rlimit(snapshot.process, name, (limit, used), size)
    yield _check_commit(snapshot.capture.system, size)
    yield _check_cgroup(snapshot, size)


def _check_mapping_count(snapshot: LoadedSnapshot) -> Check:
    """Apply vm.max_map_count: mmap fails once the count is above it (mm/mmap.c, do_mmap)."""
    name, count = "mapping count", count_mappings(snapshot)
    if count.limit is None:
        return Check(name, CANNOT_TELL, None, "vm.max_map_count is not in the snapshot")
    if count.count is None:
        return Check(name, CANNOT_TELL, None, find_extent(snapshot).reason or "the mappings are not known")
    reason = f"{count.count:,} mappings (within {TOLERANCE}), vm.max_map_count {count.limit:,}"
    if count.count - TOLERANCE > count.limit:
        return Check(name, DOES_NOT_FIT, 0, reason)
    if count.count + TOLERANCE > count.limit:
        return Check(name, CANNOT_TELL, None, f"{reason}: too close to call")
    return Check(name, FITS, None, reason)


def _check_rlimit(process: Facts, name: str, keys: tuple[str, str], size: int) -> Check:
    """The kernel refuses what would raise the sum above the soft limit (mm/mmap.c, may_expand_vm).

    RLIMIT_AS counts all mappings (VmSize); RLIMIT_DATA the private writable ones (VmData, since Linux 4.7).
    """
    stated = get_list(get_map(process, "limits"), keys[0])
    if stated and stated[0] is None:
        return Check(name, FITS, None, "unlimited")
    limit = as_number(stated[0]) if stated else None
    used = get_number(get_map(process, "status"), keys[1])
    if limit is None:
        return Check(name, CANNOT_TELL, None, f'"{keys[0]}" is not in the snapshot')
    told = f"limit {show_size(limit)}"
    if used is None:
        return Check(name, CANNOT_TELL, None, f"{told}; {keys[1]} is not in the snapshot")
    return _weigh(name, size, limit - used, f"{told}, {keys[1]} {show_size(used)}")


def _weigh(name: str, size: int, available: int, reason: str) -> Check:
    available = min(max(0, available), _MOST)
    return Check(name, FITS if size <= available else DOES_NOT_FIT, available, reason)


def _check_commit(system: Facts, size: int) -> Check:
    """Apply vm.overcommit_memory (mm/util.c, __vm_enough_memory).

    1 allows everything. 2 allows CommitLimit in all. 0 refuses only what is above all RAM and swap there is,
    whatever is in use: that is no limit of what is committed, and has another name.
    """
    mode, meminfo = get_number(system, "overcommit_memory"), get_map(system, "meminfo")
    name = "overcommit rule" if mode in (_GUESS_OVERCOMMIT, _ALWAYS_OVERCOMMIT) else "commit limit"
    if mode is None:
        return Check(name, CANNOT_TELL, None, "vm.overcommit_memory is not in the snapshot")
    if mode == _ALWAYS_OVERCOMMIT:
        return Check(name, FITS, None, "vm.overcommit_memory is 1: everything is allowed")
    names = ("CommitLimit", "Committed_AS") if mode == _NEVER_OVERCOMMIT else ("MemTotal", "SwapTotal")
    first, second = (get_number(meminfo, name) for name in names)
    if first is None or second is None:
        return Check(name, CANNOT_TELL, None, f"{' or '.join(names)} is not in the snapshot")
    told = f"vm.overcommit_memory is {mode}: {names[0]} {show_size(first)}, {names[1]} {show_size(second)}"
    return _weigh(name, size, first - second if mode == _NEVER_OVERCOMMIT else first + second, told)


def _check_cgroup(snapshot: LoadedSnapshot, size: int) -> Check:
    """Weigh the limit and the usage of each level up to the root; they bind when the memory is touched.

    Page cache of the process's own level is given up first, so it counts as available. Of the levels above
    only the usage is known: what fits below their limit, but not beside that usage, cannot be judged.
    """
    cgroup = snapshot.process.get("cgroup")
    if not isinstance(cgroup, dict) or not isinstance(cgroup.get("levels"), list):
        return _judge_without_cgroup(snapshot)
    checks = [
        _check_level(level, _read_cache(cgroup) if depth == 0 else None, size)
        for depth, level in enumerate(cgroup["levels"])
    ]
    return choose_binding(checks, Check("cgroup", FITS, None, "no level has a limit"))


def _judge_without_cgroup(snapshot: LoadedSnapshot) -> Check:
    """Tell a process in no memory cgroup, which has no limit, from one whose cgroup was not read."""
    stated = [item for item in snapshot.raw.capability if item.item == "cgroup"]
    if stated and stated[0].state == "not applicable":
        return Check("cgroup", FITS, None, stated[0].reason or "in no memory cgroup")
    reason = f": {stated[0].reason}" if stated and stated[0].reason else ""
    return Check("cgroup", CANNOT_TELL, None, f"the memory cgroup is not in the snapshot{reason}")


def _read_cache(cgroup: Facts) -> int:
    """Return the page cache of a cgroup and of all below it, which version 1 calls the total."""
    stat, prefix = get_map(cgroup, "memory.stat"), "total_" if cgroup.get("version") == 1 else ""
    parts = (get_number(stat, f"{prefix}{kind}_file") for kind in ("active", "inactive"))
    return sum(part or 0 for part in parts)


def _check_level(level: Fact, cache: int | None, size: int) -> Check:
    facts = level if isinstance(level, dict) else {"limit": "not known"}
    where = show_fact(facts.get("path")) or "a level without a name"
    limit, usage = get_number(facts, "limit"), get_number(facts, "usage")
    if facts.get("limit") is None:
        return Check("cgroup", FITS, None, f"no limit at {where}")
    if limit is None or usage is None:
        return Check("cgroup", CANNOT_TELL, None, f"the usage of {where} is not in the snapshot")
    told = f"limit {show_size(limit)}, usage {show_size(usage)} at {where}"
    if cache is not None:
        told += f", of which {show_size(cache)} are page cache; it binds when the memory is touched"
        return _weigh("cgroup", size, limit - usage + min(cache, usage), told)
    if limit - usage < size <= limit:
        told += "; how much of it can be given up is not known"
        return Check("cgroup", CANNOT_TELL, max(0, limit - usage), told)
    return _weigh("cgroup", size, limit - usage, f"{told}; it binds when the memory is touched")


def choose_binding(checks: Sequence[Check], otherwise: Check) -> Check:
    """Return the check that decides: a failed one before an open one, then the one with the least available.

    Checks that pass without a limit decide nothing; if there are no others, `otherwise` is returned.
    """
    deciding = [check for check in checks if check.outcome != FITS or check.available is not None]
    return min(
        deciding,
        key=lambda check: (
            _ORDER.index(check.outcome),
            _MOST if check.available is None else check.available,
        ),
        default=otherwise,
    )
