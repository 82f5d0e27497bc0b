"""Which instance of a process a snapshot shows, and whether two snapshots show the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.facts import get_map, get_number, show_fact
from mmpscope.formats.model import Fact

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "DIFFERENT_INSTANCES",
    "SAME_INSTANCE",
    "UNPROVEN",
    "Comparison",
    "Identity",
    "compare_instances",
    "identify",
    "is_later",
    "read_program",
]

SAME_INSTANCE = "same instance"
DIFFERENT_INSTANCES = "different instances"
UNPROVEN = "unproven"

_KERNELS = {"android": "linux"}
"""Systems that are called by another name than that of their kernel."""


@dataclass(frozen=True)
class Identity:
    """What tells one instance of a process from every other; None where the snapshot does not say.

    `start_time` is in clock ticks since boot (proc_pid_stat(5), starttime), on Windows in 100 ns since 1601
    (GetProcessTimes), `pid_namespace` an inode number, `os` the system by its kernel: linux for Android, too.
    """

    host: str | None
    boot: str | None
    pid_namespace: int | None
    pid: int | None
    start_time: int | None
    os: str | None = None


@dataclass(frozen=True)
class Comparison:
    """`verdict` is one of the three words above; `reason` says by what facts."""

    verdict: str
    reason: str


def identify(snapshot: LoadedSnapshot) -> Identity:
    """Read the identity of a process from its snapshot."""
    host, process = snapshot.capture.host, snapshot.process
    stat = process.get("stat")
    return Identity(
        host=_as_text(host.get("id")),
        boot=_as_text(host.get("boot_id")),
        pid_namespace=_as_number(process.get("pid_namespace")),
        pid=_as_number(process.get("pid")),
        start_time=_as_number(stat.get("starttime") if isinstance(stat, dict) else process.get("start_time")),
        os=_KERNELS.get(os, os) if (os := _as_text(host.get("os"))) else None,
    )


def _as_text(fact: Fact) -> str | None:
    return fact if isinstance(fact, str) and fact else None


def _as_number(fact: Fact) -> int | None:
    return fact if type(fact) is int else None


_DELETED = " (deleted)"
_UNKNOWN = "an unknown program"
"""What the kernel appends to the name of a program that was replaced while it ran."""
_NAMES = {
    "boot": "boot id",
    "pid_namespace": "pid namespace",
    "pid": "pid",
    "start_time": "start time",
}
"""What must be known and alike for two snapshots to be of one instance."""
_NAMELESS = ("windows",)
"""Systems that know no namespaces of pids: there boot, pid and start time are enough."""
_START = ("AT_ENTRY", "AT_PHDR", "AT_BASE", "AT_RANDOM")
"""Addresses in the auxiliary vector (getauxval(3)), which exec writes for the program that it starts."""


def compare_instances(a: LoadedSnapshot, b: LoadedSnapshot) -> Comparison:
    """Tell if two snapshots are of one process instance.

    One known difference proves two instances, that of the operating system too. Boot, pid namespace (but on
    Windows, which has none), pid and start time, all known and alike, prove one, unless it called exec, which
    replaces all memory and none of these. The host id decides only where no boot id does: a container and its
    host, under one kernel, have one boot id and may have two machine ids.
    """
    one, two = identify(a), identify(b)
    same_boot = one.boot is not None and one.boot == two.boot
    names = {"os": "operating system", **({} if same_boot else {"host": "host"}), **_NAMES}
    for field, name in names.items():
        left, right = getattr(one, field), getattr(two, field)
        if left is not None and right is not None and left != right:
            return Comparison(DIFFERENT_INSTANCES, f"{name} is {left} in a and {right} in b")
    left_out = "pid_namespace" if one.os in _NAMELESS else None
    needed = {field: name for field, name in _NAMES.items() if field != left_out}
    unknown = [name for field, name in needed.items() if None in (getattr(one, field), getattr(two, field))]
    if not unknown and _has_called_exec(a, b):
        one_path, two_path = (show_fact(side.process.get("exe")) for side in (a, b))
        told = f"{one_path or _UNKNOWN} in a and {two_path or _UNKNOWN} in b"
        told = f"{one_path}, again" if one_path and one_path == two_path else told
        return Comparison(DIFFERENT_INSTANCES, f"one process that called exec: {told}")
    if unknown:
        return Comparison(UNPROVEN, f"not in both snapshots: {', '.join(unknown)}")
    return Comparison(SAME_INSTANCE, f"{', '.join(needed.values())} are alike")


def read_program(snapshot: LoadedSnapshot) -> str | None:
    """Read which program a process runs: its file, else its name; None where neither is known."""
    path = show_fact(snapshot.process.get("exe"))
    return path.removesuffix(_DELETED) if path else show_fact(snapshot.process.get("name")) or None


def is_later(a: LoadedSnapshot, b: LoadedSnapshot) -> bool:
    """Tell if a was taken after b, by the monotonic clock of one boot; False where that cannot be told.

    Nor is it told of two programs: neither is the earlier state of the other.
    """
    programs = {read_program(a), read_program(b)} - {None}
    one, two = identify(a).boot, identify(b).boot
    clocks = [_as_number(side.moment.get("mono_ns")) for side in (a, b)]
    return len(programs) < 2 and one is not None and one == two and _exceeds(*clocks)


def _exceeds(one: int | None, two: int | None) -> bool:
    return one is not None and two is not None and one > two


def _has_called_exec(a: LoadedSnapshot, b: LoadedSnapshot) -> bool:
    """Tell if the addresses that the kernel hands to a program when it starts it are others."""
    one, two = (get_map(side.process, "auxv") for side in (a, b))
    pairs = [(get_number(one, name), get_number(two, name)) for name in _START]
    return any(left != right for left, right in pairs if left is not None and right is not None)
