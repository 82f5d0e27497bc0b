"""Which snapshots make a baseline: those of the same program, each once, and not the one that is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.facts import get_number, show_fact
from mmpscope.analysis.identity import Identity, identify

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["choose_baseline"]

_Moment = tuple[Identity, int] | str


def choose_baseline(
    new: LoadedSnapshot, found: Iterable[LoadedSnapshot], said: list[str]
) -> Iterator[LoadedSnapshot]:
    """Yield the snapshots that count, and append to ``said`` what was left out and why.

    Copies of one snapshot are one sample. The new snapshot itself, and other programs, count only where there
    is nothing else. Raises CannotTellError where all of several are of other programs.
    """
    seen: set[_Moment] = set()
    itself: LoadedSnapshot | None = None
    strangers: list[LoadedSnapshot] = []
    doubles, count, own = 0, 0, _find_moment(new)
    for snapshot in found:
        moment = _find_moment(snapshot)
        if moment in seen:
            doubles += 1
        elif moment == own:
            itself = snapshot
        elif _is_of_another_program(snapshot, new):
            strangers.append(snapshot)
        else:
            count += 1
            yield snapshot
        seen.add(moment)
    if doubles:
        said.append(f"{doubles:,} of the baseline are copies of others, and do not count")
    if count:
        said += _tell_left_out(itself, strangers)
    else:
        yield _choose_instead(new, itself, strangers, said)


def _find_moment(snapshot: LoadedSnapshot) -> _Moment:
    """Tell one snapshot from every other: process and time, and where these are not known its file."""
    time, identity = get_number(snapshot.moment, "time_ns"), identify(snapshot)
    return snapshot.label if time is None or identity.pid is None else (identity, time)


def _name(snapshot: LoadedSnapshot) -> str | None:
    return show_fact(snapshot.process.get("name"))


def _is_of_another_program(snapshot: LoadedSnapshot, new: LoadedSnapshot) -> bool:
    one, two = _name(snapshot), _name(new)
    return one is not None and two is not None and one != two


def _tell_left_out(itself: LoadedSnapshot | None, strangers: list[LoadedSnapshot]) -> Iterator[str]:
    if itself is not None:
        yield f"{itself.label} of the baseline is the snapshot that is checked, and does not count"
    if strangers:
        names = ", ".join(sorted({_name(each) or "" for each in strangers}))
        yield f"{len(strangers):,} of the baseline are of other programs ({names}), and do not count"


def _choose_instead(
    new: LoadedSnapshot, itself: LoadedSnapshot | None, strangers: list[LoadedSnapshot], said: list[str]
) -> LoadedSnapshot:
    if itself is not None:
        said.append("the baseline is the snapshot that is checked")
        return itself
    if len(strangers) == 1:
        said.append(f"the baseline is of {_name(strangers[0])}, the new snapshot of {_name(new)}")
        return strangers[0]
    names = ", ".join(sorted({_name(each) or "" for each in strangers}))
    raise CannotTellError(f"no snapshot of the baseline is of {_name(new)}, only of {names}. Name others")
