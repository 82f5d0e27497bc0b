"""Which process of one side is which of the other: the same instance, else by its role, surest way first.

Processes of one role that nothing tells apart are matched as a group, never one to one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from mmpscope.analysis.diffs.process_schema import SAME_PROCESS
from mmpscope.analysis.diffs.process_sides import Member, ProcessSide
from mmpscope.analysis.diffs.snapshots import DIFFERENT_MODE, SAME_MODE
from mmpscope.analysis.identity import DIFFERENT_INSTANCES, SAME_INSTANCE, UNPROVEN, compare_instances
from mmpscope.analysis.roles import Role, leave_out_numbers

__all__ = ["PID_AND_NAME", "RoleMatch", "is_restarted", "match_processes"]

PID_AND_NAME = "pid+name"
_HIGH, _MEDIUM, _LOW = "high", "medium", "low"

Key = Callable[[Role], Hashable]


class RoleMatch(NamedTuple):
    """The processes of one role on both sides; ``how`` is None where one side has none."""

    how: str | None
    confidence: str
    a: list[Member]
    b: list[Member]


def _with_parent(role: Role) -> Hashable:
    key = _with_arguments(role)
    return None if key is None or role.parent is None else (key, role.parent)


def _with_arguments(role: Role) -> Hashable:
    return None if None in (role.executable, role.arguments) else (role.executable, role.arguments)


def _without_numbers(role: Role) -> Hashable:
    if role.executable is None or role.arguments is None:
        return None
    return role.executable, leave_out_numbers(role.arguments)


def _of_parent(role: Role) -> Hashable:
    return None if None in (role.executable, role.parent) else (role.executable, role.program, role.parent)


def _executable(role: Role) -> Hashable:
    return None if role.executable is None else (role.executable, role.program)


def _name(role: Role) -> Hashable:
    return None if role.name is None else (role.name, role.program)


_PASSES: tuple[tuple[str, str, Key], ...] = (
    ("executable+arguments+parent", _HIGH, _with_parent),
    ("executable+arguments", _HIGH, _with_arguments),
    ("executable+arguments without numbers", _MEDIUM, _without_numbers),
    ("executable+parent", _MEDIUM, _of_parent),
    ("executable", _MEDIUM, _executable),
    ("name", _LOW, _name),
)
"""Ways to know a role again: word, confidence, and the key that must be alike (None matches nothing)."""


def match_processes(a: ProcessSide, b: ProcessSide, mode: str | None = None) -> list[RoleMatch]:
    """Match the processes of two sides, also those that a side only lists; every process is in one match.

    ``mode`` same takes processes of one pid for the same, different takes none for it. What neither side
    has a snapshot of is in no match.
    """
    left, right = [*a.members, *a.unread], [*b.members, *b.unread]
    found = [] if mode == DIFFERENT_MODE else list(_match_instances(left, right, mode))
    for how, confidence, key in _PASSES:
        found += _match_by(left, right, how, confidence, key)
    found += _group_rest(left, b, is_before=True)
    found += _group_rest(right, a, is_before=False)
    return [match for match in found if any(m.facts is not None for m in (*match.a, *match.b))]


def _match_instances(left: list[Member], right: list[Member], mode: str | None) -> Iterator[RoleMatch]:
    for wanted, how, confidence in (
        (SAME_INSTANCE, SAME_PROCESS, _HIGH),
        (UNPROVEN, PID_AND_NAME, _MEDIUM),
    ):
        theirs = _group(right, lambda member: member.identity.pid)
        taken: set[int] = set()
        for one in left:
            same = theirs.get(one.identity.pid, []) if one.identity.pid is not None else []
            two = next((each for each in same if _is_one(one, each, wanted, mode)), None)
            if two is not None:
                same[:] = [each for each in same if each is not two]
                taken |= {id(one), id(two)}
                yield RoleMatch(how, confidence, [one], [two])
        for members in (left, right):
            members[:] = [member for member in members if id(member) not in taken]


def _is_one(one: Member, two: Member, wanted: str, mode: str | None) -> bool:
    if mode == SAME_MODE and wanted == SAME_INSTANCE:
        return True
    return compare_members(one, two) == wanted and (wanted == SAME_INSTANCE or one.role.name == two.role.name)


def compare_members(one: Member, two: Member) -> str:
    """Tell if two processes are one instance, by their snapshots, or by what a list tells of them."""
    if one.facts is not None and two.facts is not None:
        return compare_instances(one.facts, two.facts).verdict
    pairs = [
        (getattr(one.identity, name), getattr(two.identity, name)) for name in ("boot", "pid", "start_time")
    ]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return DIFFERENT_INSTANCES
    return UNPROVEN if any(None in pair for pair in pairs) else SAME_INSTANCE


def _match_by(
    left: list[Member], right: list[Member], how: str, confidence: str, key: Key
) -> Iterator[RoleMatch]:
    ours, theirs = (_group(members, lambda member: key(member.role)) for members in (left, right))
    for value in ours:
        if value is not None and value in theirs:
            yield RoleMatch(how, confidence, ours[value], theirs[value])
    shared = {value for value in ours if value is not None and value in theirs}
    for members in (left, right):
        members[:] = [member for member in members if key(member.role) not in shared]


def _group(members: Sequence[Member], key: Callable[[Member], Hashable]) -> dict[Hashable, list[Member]]:
    groups: dict[Hashable, list[Member]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups


def _group_rest(rest: Sequence[Member], other: ProcessSide, *, is_before: bool) -> Iterator[RoleMatch]:
    """Group what only one side has by all that is known of it; those that are only listed are left aside.

    That it did not run on the other side is sure only where that lists all that ran.
    """
    unread = {member.role.name for member in other.unread}
    for members in _group([m for m in rest if m.facts is not None], lambda member: member.role).values():
        is_sure = other.is_listed and members[0].role.name not in unread
        confidence = _HIGH if is_sure else _LOW
        yield RoleMatch(None, confidence, members if is_before else [], [] if is_before else members)


def is_restarted(match: RoleMatch) -> bool:
    """Tell if every process of a role is another instance than before, for sure, on one machine."""
    if not (match.a and match.b) or match.how in (SAME_PROCESS, PID_AND_NAME):
        return False
    hosts = {member.identity.host or member.identity.boot for member in (*match.a, *match.b)}
    if None in hosts or len(hosts) > 1:
        return False
    before, after = ({_tell(member) for member in side} for side in (match.a, match.b))
    return before.isdisjoint(after) and not any(None in each for each in before | after)


def _tell(member: Member) -> tuple[str | None, int | None, int | None]:
    identity = member.identity
    return identity.boot, identity.pid, identity.start_time
