"""The processes of one side of a diff: who they are and what they cost, read one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.process_schema import METRICS
from mmpscope.analysis.diffs.process_unread import explain_unread
from mmpscope.analysis.extent import find_extent
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import Identity, identify
from mmpscope.analysis.roles import Role, find_parent, read_role
from mmpscope.analysis.summary import sum_up

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Cost", "Member", "ProcessSide", "find_members", "keep_latest", "read_costs", "split_captures"]

_Moment = tuple[str | None, int | None]


@dataclass(frozen=True)
class Cost:
    """What a process costs: Total of its summary, what that leaves out, and why a figure is not known."""

    values: Mapping[str, int | None] = field(default_factory=dict)
    left_out: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """One process of a side. ``facts`` is its snapshot without tables, None where the side only lists it."""

    role: Role
    identity: Identity
    facts: LoadedSnapshot | None = None
    cost: Cost = Cost()

    @property
    def label(self) -> str | None:
        """File and number of its snapshot."""
        return None if self.facts is None else self.facts.label


@dataclass(frozen=True)
class ProcessSide:
    """The processes of which a side has a snapshot, and those that it only lists.

    ``is_listed``: it has a list of all processes, so that who is in neither did not run; ``reason`` says why
    some were not read.
    """

    members: list[Member]
    unread: list[Member]
    is_listed: bool
    reason: str | None
    inputs: tuple[str, ...] = ()


def strip(snapshot: LoadedSnapshot) -> LoadedSnapshot:
    """Return the facts of a snapshot alone: it keeps none of its tables."""
    raw = snapshot.unread().raw
    return snapshot.with_raw(replace(raw, tables={}))


def keep_latest(snapshots: Iterable[LoadedSnapshot]) -> list[LoadedSnapshot]:
    """Keep the last snapshot of each process instance; what does not tell its instance stays.

    Snapshots come back unread, in their order.
    """
    kept: dict[object, LoadedSnapshot] = {}
    for snapshot in snapshots:
        bare = strip(snapshot)
        identity = identify(bare)
        is_told = None not in (identity.boot or identity.host, identity.pid, identity.start_time)
        key: object = identity if is_told else snapshot.label
        kept.pop(key, None)
        kept[key] = snapshot.unread()
    return list(kept.values())


def split_captures(snapshots: Iterable[LoadedSnapshot]) -> tuple[list[LoadedSnapshot], list[LoadedSnapshot]]:
    """Return the snapshots of the first and the last capture of a file; no last ones of but one."""
    captures: dict[_Moment, list[LoadedSnapshot]] = {}
    for snapshot in snapshots:
        captures.setdefault(_find_capture(strip(snapshot)), []).append(snapshot.unread())
    found = list(captures.values())
    return found[0], found[-1] if len(found) > 1 else []


def _find_capture(snapshot: LoadedSnapshot) -> _Moment:
    capture = snapshot.capture
    return show_fact(capture.host.get("boot_id")), get_number(capture.moment, "time_ns")


def find_members(snapshots: Sequence[LoadedSnapshot]) -> ProcessSide:
    """Find out who the processes of some snapshots are, and who else ran; no figures are read yet."""
    bare = [strip(snapshot) for snapshot in snapshots]
    lists = {_find_capture(each): each for each in bare}
    listed = [member for each in lists.values() for member in _list_all(each)]
    names = {(m.identity.boot, m.identity.pid): m.role.name for m in listed}
    names |= {(identify(each).boot, identify(each).pid): show_fact(each.process.get("name")) for each in bare}
    members = [_read_member(each, names) for each in bare]
    read = {(m.identity.boot, m.identity.pid) for m in members}
    unread = {(m.identity.boot, m.identity.pid): m for m in listed if _key(m) not in read}
    reasons = [
        item.reason
        for each in lists.values()
        for item in each.capture.capability
        if item.item == "snapshots" and item.state != "ok" and item.reason
    ]
    is_listed = bool(lists) and all(each.processes.num_rows for each in lists.values())
    return ProcessSide(members, [*unread.values()], is_listed, reasons[-1] if reasons else None)


def _key(member: Member) -> tuple[str | None, int | None]:
    return member.identity.boot, member.identity.pid


def _read_member(
    snapshot: LoadedSnapshot, names: Mapping[tuple[str | None, int | None], str | None]
) -> Member:
    identity = identify(snapshot)
    parent = names.get((identity.boot, find_parent(snapshot.process)))
    role = read_role(snapshot.process, parent)
    if role.name is None:
        role = role._replace(name=_name_file(snapshot))
    return Member(role, identity, snapshot)


def _name_file(snapshot: LoadedSnapshot) -> str:
    """Name a process of which only a text of the kernel is there by its file; a pid is no name."""
    member = None if snapshot.entry is None else show_fact(snapshot.entry.info.get("member"))
    name = PurePath(member or snapshot.label.rpartition("#")[0]).name
    return "unknown process" if name.partition(".")[0].isdecimal() else name


def _list_all(snapshot: LoadedSnapshot) -> Iterator[Member]:
    """Yield the processes that ran beside a snapshot, by what a list tells of them.

    On Linux kernel threads and zombies have no RSS (proc_pid_status(5)): they have no memory to be read.
    """
    is_linux = snapshot.capture.host.get("os") == "linux"
    own, table = identify(snapshot), snapshot.processes
    names = {row["pid"]: row["name"] for row in table.select(["pid", "name"]).to_pylist()}
    for row in table.select(["pid", "ppid", "name", "starttime", "rss"]).to_pylist():
        if is_linux and row["rss"] is None:
            continue
        identity = replace(own, pid_namespace=None, pid=row["pid"], start_time=row["starttime"])
        yield Member(Role(row["name"], parent=names.get(row["ppid"])), identity)


def read_costs(side: ProcessSide, snapshots: Sequence[LoadedSnapshot]) -> ProcessSide:
    """Read what each process costs; the regions of one are let go before those of the next are read."""
    members = [
        replace(member, cost=_read_cost(each.unread()))
        for member, each in zip(side.members, snapshots, strict=True)
    ]
    reasons = explain_unread(side.reason, [member.identity.pid for member in side.unread])
    unread = [
        replace(member, cost=Cost(reasons=dict.fromkeys(METRICS, reason)))
        for member, reason in zip(side.unread, reasons, strict=True)
    ]
    return replace(side, members=members, unread=unread)


def _read_cost(snapshot: LoadedSnapshot) -> Cost:
    summary = sum_up(snapshot)
    [total] = summary.table.slice(0, 1).to_pylist()
    values = {name: total[name] for name in METRICS}
    left_out = {name: summary.left_out[name] for name in METRICS}
    lacking = [name for name in METRICS if values[name] is None or left_out[name]]
    return Cost(values, left_out, dict(_explain(snapshot, lacking, left_out)))


def _explain(
    snapshot: LoadedSnapshot, lacking: Sequence[str], left_out: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str]]:
    """Say why figures are not known: the extent of the source, its capability table, or what a sum lacks."""
    if not lacking:
        return
    extent = find_extent(snapshot).reason
    told = {row.item: row.reason or row.state for row in snapshot.stated_capability}
    for name in lacking:
        types = ", ".join(sorted(left_out[name]))
        yield (
            name,
            told.get(f"regions.{name}") or extent or (f"not all known: {types}" if types else "not known"),
        )
