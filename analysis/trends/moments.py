"""When a snapshot was taken, and of which instance of which process; no table is read for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import Identity, identify

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Moment", "list_unknown", "name_instance", "read_moment", "read_row"]

_NEEDED = {
    "boot": "boot id",
    "pid_namespace": "pid namespace",
    "pid": "pid",
    "start_time": "start time",
}
_WINDOWS = "windows"


@dataclass(frozen=True)
class Moment:
    """One snapshot without its memory; None where it does not say.

    ``label`` is file and number, as in ``run.mmp#3``, ``time_ns`` wall time since 1970, ``mono_ns`` time by
    the monotonic clock of its boot.
    """

    label: str
    identity: Identity
    name: str | None = None
    exe: str | None = None
    hostname: str | None = None
    time_ns: int | None = None
    mono_ns: int | None = None


def read_moment(snapshot: LoadedSnapshot) -> Moment:
    """Read when and of what a snapshot is; FormatError where its bytes are damaged."""
    return Moment(
        snapshot.label,
        identify(snapshot),
        show_fact(snapshot.process.get("name")),
        show_fact(snapshot.process.get("exe")),
        show_fact(snapshot.capture.host.get("hostname")),
        get_number(snapshot.moment, "time_ns"),
        get_number(snapshot.moment, "mono_ns"),
    )


def read_row(row: Mapping[str, Any]) -> Moment:
    """Read the same from a row of measures.schema.CAPTURES, as a dataset keeps it."""
    keys = ("host_id", "boot_id", "pid_namespace", "pid", "start_time", "os")
    rest = ("name", "exe", "hostname", "time_ns", "mono_ns")
    return Moment(row["input"], Identity(*(row[key] for key in keys)), *(row[key] for key in rest))


def list_unknown(moment: Moment) -> list[str]:
    """List what is not known of the facts that prove an instance; Windows has no namespaces of pids."""
    identity = moment.identity
    left_out = "pid_namespace" if identity.os == _WINDOWS else None
    return [name for field, name in _NEEDED.items() if field != left_out and getattr(identity, field) is None]


def name_instance(moment: Moment) -> tuple[object, ...]:
    """Return what the snapshots of one instance share, and those of no two do.

    Without proof it is every fact there is, the name of the process among them; of a process of which neither
    name nor pid is known, the file.
    """
    identity = moment.identity
    facts = (identity.boot, identity.pid_namespace, identity.pid, identity.start_time)
    if not list_unknown(moment):
        return ("proven", *facts)
    is_nameless = moment.name is None and moment.exe is None and identity.pid is None
    file = moment.label.rpartition("#")[0] if is_nameless else None
    return ("unproven", *facts, identity.host, moment.name, moment.exe, file)
