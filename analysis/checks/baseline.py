"""Which snapshots make a baseline: those of the same program, each once, and not the one that is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.facts import get_number
from mmpscope.analysis.identity import Identity, identify
from mmpscope.analysis.reporters.names import shorten_middle
from mmpscope.analysis.roles import compare_roles, read_role

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["choose_baseline"]

_Moment = tuple[Identity, int] | str

_WIDTH, _NAMES = 60, 3
"""Characters of what a process runs in a sentence, and names in one."""


def choose_baseline(
    new: LoadedSnapshot, found: Iterable[LoadedSnapshot], said: list[str]
) -> Iterator[LoadedSnapshot]:
    """Yield the snapshots that count, and append to ``said`` what was left out and why.

    Copies of one snapshot are one sample. The new snapshot itself never counts: nothing grows beside itself.
    Other texts of commands (`python3 -c`) count where none is alike; other programs only where there is
    nothing else. Of several processes of the program in one file, those count whose arguments are most alike.
    Raises CannotTellError where all of several are of other programs.
    """
    seen: set[_Moment] = set()
    itself: LoadedSnapshot | None = None
    strangers: list[LoadedSnapshot] = []
    kin: list[LoadedSnapshot] = []
    doubles, count, own = 0, 0, _find_moment(new)
    for snapshot in _choose_roles(new, found, said):
        moment = _find_moment(snapshot)
        if moment in seen:
            doubles += 1
        elif moment == own:
            itself = snapshot
        elif _is_of_another_program(snapshot, new):
            (kin if _runs_commands_too(snapshot, new) else strangers).append(snapshot.unread())
        else:
            count += 1
            yield snapshot
        seen.add(moment)
    if doubles:
        said.append(f"{doubles:,} of the baseline are copies of others, and do not count")
    if count:
        said += _tell_left_out(itself, [*strangers, *kin])
    elif kin:
        said += [_tell_kin(kin, new), *_tell_left_out(itself, strangers)]
        yield from kin
    elif itself is not None:
        said += _tell_left_out(None, strangers)
        said.append(
            "the baseline is the snapshot that is checked, and nothing grows beside itself: no baseline"
        )
    else:
        yield _choose_instead(new, strangers, said)


def _choose_roles(
    new: LoadedSnapshot, found: Iterable[LoadedSnapshot], said: list[str]
) -> Iterator[LoadedSnapshot]:
    """Leave out what of each file has another role than the new snapshot: a master beside its workers.

    From one file to another arguments decide nothing: two runs of a program may well have others.
    """
    role, left_out = read_role(new.process), 0
    for _, group in groupby(found, lambda snapshot: snapshot.label.rpartition("#")[0]):
        snapshots = list(group)
        if len(snapshots) == 1:
            yield snapshots.pop()
            continue
        alike = [compare_roles(read_role(each.unread().process), role) for each in snapshots]
        kept = {0, max(alike)}
        left_out += sum(each not in kept for each in alike)
        yield from (each for each, like in zip(snapshots, alike, strict=True) if like in kept)
    if left_out:
        said.append(
            f"{left_out:,} of the baseline run the same program with other arguments, and do not count"
        )


def _find_moment(snapshot: LoadedSnapshot) -> _Moment:
    """Tell one snapshot from every other: process and time, and where these are not known its file."""
    time, identity = get_number(snapshot.moment, "time_ns"), identify(snapshot)
    return snapshot.label if time is None or identity.pid is None else (identity, time)


def _name(snapshot: LoadedSnapshot) -> str:
    """Name a process by all that tells it from another program: what an interpreter runs, or its title."""
    role = read_role(snapshot.process)
    program = shorten_middle(" ".join((role.program or "").split()), _WIDTH)
    if role.name and program.startswith(f"{role.name}: "):
        return program
    return " ".join(filter(None, (role.name, program))) or "a process without a name"


def _name_all(snapshots: Iterable[LoadedSnapshot]) -> str:
    names = sorted(set(map(_name, snapshots)))
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


def _is_of_another_program(snapshot: LoadedSnapshot, new: LoadedSnapshot) -> bool:
    return compare_roles(read_role(snapshot.process), read_role(new.process)) == 0


def _runs_commands_too(snapshot: LoadedSnapshot, new: LoadedSnapshot) -> bool:
    one, two = read_role(snapshot.process), read_role(new.process)
    return one.is_code and two.is_code and one.name == two.name


def _tell_kin(kin: Sequence[LoadedSnapshot], new: LoadedSnapshot) -> str:
    count = f"{len(kin):,} of the baseline count though they run other commands ({_name_all(kin)})"
    return f"{count} than the new snapshot ({_name(new)}): none runs the same"


def _tell_left_out(itself: LoadedSnapshot | None, strangers: list[LoadedSnapshot]) -> Iterator[str]:
    if itself is not None:
        yield f"{itself.label} of the baseline is the snapshot that is checked, and does not count"
    if strangers:
        count = f"{len(strangers):,} of the baseline are of other programs ({_name_all(strangers)})"
        yield f"{count}, and do not count"


def _choose_instead(new: LoadedSnapshot, strangers: list[LoadedSnapshot], said: list[str]) -> LoadedSnapshot:
    if len(strangers) == 1:
        said.append(f"the baseline is of {_name(strangers[0])}, the new snapshot of {_name(new)}")
        return strangers[0]
    others = _name_all(strangers)
    raise CannotTellError(f"no snapshot of the baseline is of {_name(new)}, only of {others}. Name others")
