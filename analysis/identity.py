"""Which instance of a process a snapshot shows, and whether two snapshots show the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
]

SAME_INSTANCE = "same instance"
DIFFERENT_INSTANCES = "different instances"
UNPROVEN = "unproven"


@dataclass(frozen=True)
class Identity:
    """What tells one instance of a process from every other; None where the snapshot does not say.

    `start_time` is in clock ticks since boot (proc_pid_stat(5), starttime), `pid_namespace` an inode number.
    """

    host: str | None
    boot: str | None
    pid_namespace: int | None
    pid: int | None
    start_time: int | None


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
        start_time=_as_number(stat.get("starttime") if isinstance(stat, dict) else None),
    )


def _as_text(fact: Fact) -> str | None:
    return fact if isinstance(fact, str) and fact else None


def _as_number(fact: Fact) -> int | None:
    return fact if type(fact) is int else None


_NAMES = {
    "boot": "boot id",
    "pid_namespace": "pid namespace",
    "pid": "pid",
    "start_time": "start time",
}
"""What must be known and alike for two snapshots to be of one instance."""


def compare_instances(a: LoadedSnapshot, b: LoadedSnapshot) -> Comparison:
    """Tell if two snapshots are of one process instance.

    One known difference proves two instances. Boot, pid namespace, pid and start time, all known and alike,
    prove one. The host id decides only where no boot id does: a container and its host, under one kernel,
    have one boot id and may have two machine ids.
    """
    one, two = identify(a), identify(b)
    same_boot = one.boot is not None and one.boot == two.boot
    names = _NAMES if same_boot else {"host": "host", **_NAMES}
    for field, name in names.items():
        left, right = getattr(one, field), getattr(two, field)
        if left is not None and right is not None and left != right:
            return Comparison(DIFFERENT_INSTANCES, f"{name} is {left} in a and {right} in b")
    unknown = [name for field, name in _NAMES.items() if None in (getattr(one, field), getattr(two, field))]
    if unknown:
        return Comparison(UNPROVEN, f"not in both snapshots: {', '.join(unknown)}")
    return Comparison(SAME_INSTANCE, f"{', '.join(_NAMES.values())} are alike")
