"""Whether inputs are of several processes, and which of them a diff is about: all, or one on both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.diffs.process_matching import RoleMatch, match_processes
from mmpscope.analysis.diffs.process_sides import Member, find_members, keep_latest, split_captures
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.facts import get_number
from mmpscope.analysis.identity import identify

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["ProcessSets", "choose_partner", "choose_process", "find_sets", "has_several"]

_NAMED = 3
_CHOSEN = re.compile(r"#-?\d+$")


class ProcessSets(NamedTuple):
    """One snapshot of each process, before and after, and what to call the two sides."""

    a: list[LoadedSnapshot]
    b: list[LoadedSnapshot]
    names: tuple[str, str]

    def put_in_order(self) -> ProcessSets | None:
        """Return the sets the other way round where b was taken before a, by the clock of one boot."""
        a, b = ([_read_clock(each.unread()) for each in side] for side in (self.a, self.b))
        boots = {boot for boot, _ in (*a, *b)}
        if len(boots) > 1 or None in boots or None in {clock for _, clock in (*a, *b)}:
            return None
        is_later = min(clock or 0 for _, clock in a) > max(clock or 0 for _, clock in b)
        return ProcessSets(self.b, self.a, (self.names[1], self.names[0])) if is_later else None


def _read_clock(snapshot: LoadedSnapshot) -> tuple[str | None, int | None]:
    return identify(snapshot).boot, get_number(snapshot.moment, "mono_ns")


def find_sets(inputs: Sequence[str], sides: Sequence[list[LoadedSnapshot]]) -> ProcessSets | None:
    """Return the two sets of processes that inputs stand for; None where each input is of one process.

    Of two inputs, each is a side, with the last snapshot of each process. Of one file, the first and the last
    capture are the sides. Raises UsageError for one file of one capture, and for three inputs or more.
    """
    if not any(map(has_several, sides)):
        return None
    latest = [keep_latest(side) for side in sides]
    if not any(len(side) > 1 for side in latest):
        return None
    if len(sides) == 2:
        return ProcessSets(latest[0], latest[1], (inputs[0], inputs[1]))
    name, count = next((name, len(side)) for name, side in zip(inputs, latest, strict=True) if len(side) > 1)
    told = f"{name} has {count:,} processes"
    if len(sides) > 2:
        raise UsageError(
            f"{told}, and several are compared between two inputs. Choose one of each, as {name}#0"
        )
    first, last = split_captures(sides[0])
    if not last:
        raise UsageError(
            f"{told}, all of one moment. Give a second file, or choose two, as {name}#0 {name}#1"
        )
    return ProcessSets(
        keep_latest(first), keep_latest(last), (f"{name}, first capture", f"{name}, last capture")
    )


def has_several(snapshots: Sequence[LoadedSnapshot]) -> bool:
    """Tell if snapshots may be of several processes, by what their files list of them; nothing is read."""
    return len({_find_key(snapshot) for snapshot in snapshots}) > 1


def _find_key(snapshot: LoadedSnapshot) -> tuple[object, ...]:
    path = snapshot.label.rpartition("#")[0]
    return path, *(
        (None, None) if snapshot.entry is None else (snapshot.entry.pid, snapshot.entry.info.get("member"))
    )


def choose_process(sets: ProcessSets, wanted: str, mode: str | None) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Return the two snapshots of one process: by its pid on either side, its name, or its program's file.

    Raises UsageError where none is called so, where it is on one side only, and where several are, which
    nothing tells apart.
    """
    sides = (find_members(sets.a), find_members(sets.b))
    found = _find_wanted(match_processes(*sides, mode), wanted)
    if not found:
        raise UsageError(f"--process: no process has the name or pid {wanted!r}. Leave it out to list all")
    if len(found) > 1:
        told = "; ".join(_name_some([*each.a, *each.b]) for each in found[:_NAMED])
        raise UsageError(f"--process: {len(found)} roles have the name {wanted!r} ({told}). Give a pid")
    return _take_pair(sets, found[0])


def choose_partner(sets: ProcessSets, mode: str | None) -> tuple[LoadedSnapshot, LoadedSnapshot] | None:
    """Return a snapshot that was chosen by number, and what has its role on the other side.

    None where neither input is such a snapshot. Raises UsageError as `choose_process`.
    """
    sides = zip((sets.a, sets.b), sets.names, strict=True)
    chosen = [side[0].label for side, name in sides if len(side) == 1 and _CHOSEN.search(name)]
    if not chosen:
        return None
    matches = match_processes(find_members(sets.a), find_members(sets.b), mode)
    [match] = [each for each in matches if any(m.label in chosen for m in (*each.a, *each.b))]
    return _take_pair(sets, match)


def _take_pair(sets: ProcessSets, match: RoleMatch) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Take the two snapshots of a role; UsageError where they are not one on each side."""
    told = _name_some([*match.a, *match.b])
    labels = [[label for m in side if (label := m.label) is not None] for side in (match.a, match.b)]
    if not all(labels):
        side = sets.names[1 if labels[0] else 0]
        raise UsageError(
            f"there is no snapshot in {side} of what has the role of {told}. Choose two, as FILE#0"
        )
    if any(len(side) > 1 for side in labels):
        counts = " and ".join(f"{len(side)} in {name}" for name, side in zip("ab", labels, strict=True))
        now = f"Choose two, as in {labels[0][0]} {labels[1][0]}"
        raise UsageError(
            f"{_name([*match.a, *match.b][0])} is one of {counts}, which nothing tells apart. {now}"
        )
    by_label = ({each.label: each for each in side} for side in (sets.a, sets.b))
    before, after = (each[label[0]] for each, label in zip(by_label, labels, strict=True))
    return before, after


def _find_wanted(matches: Sequence[RoleMatch], wanted: str) -> list[RoleMatch]:
    """Find the roles that are called so: by pid if it is a number, by name, else by its program's file."""
    ways: list[Callable[[Member], Collection[object]]] = [lambda m: {m.role.name}, _list_files]
    if wanted.isdecimal():
        ways.insert(0, lambda m: {str(m.identity.pid)})
    for way in ways:
        if found := [each for each in matches if any(wanted in way(m) for m in (*each.a, *each.b))]:
            return found
    return []


def _list_files(member: Member) -> Collection[object]:
    path = member.role.executable
    return {path, re.split(r"[/\\]", path)[-1]} if path else ()


def _name_some(members: Sequence[Member]) -> str:
    names = list(dict.fromkeys(_name(member) for member in members))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _name(member: Member) -> str:
    pid = member.identity.pid
    return f"{member.role.name or 'unknown process'}{'' if pid is None else f' (pid {pid})'}"
