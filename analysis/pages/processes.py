"""Several processes on a page: which it opens on, which limit is near in any, where a request fits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.diffs.schema import NEW
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.fit_limits import DOES_NOT_FIT, FITS
from mmpscope.analysis.pages.says import find_near_limit, measure_nearness, say_of_limits
from mmpscope.analysis.pages.schema import ROOM, Page, Roles, Snapshot
from mmpscope.analysis.pages.snapshots import weigh_requests
from mmpscope.analysis.pages.tables import Texts, encode_table, list_rows
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.reporters.names import shorten_middle

if TYPE_CHECKING:
    from mmpscope.analysis.pages.schema import ProcessRoom
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "FIRST_REQUEST",
    "choose_first",
    "encode_room",
    "find_new",
    "find_pairs",
    "name_process",
    "say_of_pair",
    "say_of_near_limits",
    "say_of_rooms",
]

FIRST_REQUEST = 200 << 20
"""The request that is asked about before a reader types one; room.js has the same."""
_NAME = 60
_NAMED = 3
"""Processes that a sentence names; the others are counted."""
_PAIR = 2
_GROWTH = ("private", "pss")

Row = dict[str, Any]


def name_process(snapshot: Snapshot) -> str:
    """Name a process by its name and pid."""
    head = snapshot["head"]
    name = shorten_middle(head["process"] or "unknown process", _NAME)
    return name if head["pid"] is None else f"{name} (pid {head['pid']})"


def find_pairs(roles: Roles | None, snapshots: Sequence[Snapshot], texts: Sequence[str]) -> list[list[int]]:
    """List the pairs of snapshots, before and after, that have one role alone, by their ids."""
    if roles is None:
        return []
    ids = {each["label"]: each["id"] for each in snapshots}
    sides = ((row["snapshot_a"], row["snapshot_b"]) for row in list_rows(roles["rows"], texts))
    return [[ids[a], ids[b]] for a, b in sides if a in ids and b in ids]


def find_new(roles: Roles | None, snapshots: Sequence[Snapshot], texts: Sequence[str]) -> set[int]:
    """Find the processes whose role there was not before, by the ids of their snapshots."""
    if roles is None:
        return set()
    ids = {each["label"]: each["id"] for each in snapshots}
    rows = list_rows(roles["rows"], texts)
    return {ids[row["snapshot_b"]] for row in rows if row["word"] == NEW and row["snapshot_b"] in ids}


def choose_first(
    snapshots: Sequence[Snapshot],
    latest: Sequence[int],
    pairs: Iterable[Sequence[int]],
    texts: Sequence[str],
    new: Collection[int] = (),
) -> int:
    """Choose the process to open on: what grew most by private memory, else by PSS, else is nearest a limit.

    Ties go to the lowest pid. A process that is ``new`` grew from nothing.
    """
    before = {after: first for first, after in pairs}
    known = [each for each in latest if each in before or each in new]
    for figure in _GROWTH:
        grown = {each: _measure_growth(snapshots, before.get(each), each, figure) for each in known}
        if max(grown.values(), default=0) > 0:
            return max(grown, key=lambda each: (grown[each], -_read_pid(snapshots[each])))
    nearness = {each: measure_nearness(list_rows(snapshots[each]["limits"], texts)) for each in latest}
    return max(nearness, key=lambda each: (nearness[each], -_read_pid(snapshots[each])))


def _measure_growth(snapshots: Sequence[Snapshot], first: int | None, last: int, figure: str) -> int:
    sizes = [0 if first is None else snapshots[first]["totals"].get(figure)]
    sizes.append(snapshots[last]["totals"].get(figure))
    before, after = (None if size is None else int(size) for size in sizes)
    return 0 if before is None or after is None else after - before


def _read_pid(snapshot: Snapshot) -> int:
    return snapshot["head"]["pid"] or 0


def say_of_near_limits(
    snapshots: Sequence[Snapshot], latest: Sequence[int], texts: Sequence[str]
) -> str | None:
    """Say of which process a limit is near, the nearest of them all; of several, how many more are near one.

    A limit of the system is near for all of them alike, which is said once.
    """
    near = []
    for each in latest:
        found = find_near_limit(list_rows(snapshots[each]["limits"], texts))
        if found is not None:
            near.append((found["used"] / found["maximum"], each, found))
    if not near:
        return None
    near.sort(key=lambda pair: (-pair[0], _read_pid(snapshots[pair[1]])))
    _, first, row = near[0]
    said = say_of_limits([row])
    if len(near) == len(latest) > 1 and all(other == row for _, _, other in near):
        return f"all {len(latest):,} processes: {said}"
    more = f"; {len(near) - 1:,} more of the processes near a limit, too" if len(near) > 1 else ""
    return f"{name_process(snapshots[first])}: {said}{more}"


def encode_room(snapshot: LoadedSnapshot, number: int, texts: Texts) -> ProcessRoom:
    """Encode what requests of all sizes are answered for one process."""
    try:
        table = weigh_requests(snapshot)["room"]
    except CannotTellError:
        return {"snapshot": number, "room": None}
    return {"snapshot": number, "room": encode_table("room", ROOM, table, texts)}


def say_of_rooms(page: Page, size: int = FIRST_REQUEST) -> str:
    """Say in how many processes a request fits, each asked alone, and in which it does not, and why."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    fits = 0
    for each in page["rooms"]:
        rows = [] if each["room"] is None else list_rows(each["room"], page["texts"])
        step = next((row for row in rows if row["upto"] >= size), None)
        if step is not None and step["outcome"] == FITS:
            fits += 1
        else:
            outcome, why = _tell_why(step)
            groups.setdefault((outcome, why), []).append(name_process(page["snapshots"][each["snapshot"]]))
    count = len(page["rooms"])
    many = f"all {count:,}" if fits == count else f"{fits:,} of {count:,}" if fits else f"none of {count:,}"
    told = [f"{show_size(size)} fits in {many} processes"]
    told += [
        f"{'not in' if outcome == DOES_NOT_FIT else 'cannot tell for'} {_name_some(names)}: {why}"
        for (outcome, why), names in sorted(groups.items(), key=lambda pair: pair[0][0] != DOES_NOT_FIT)
    ]
    return "; ".join(told)


def _tell_why(step: Row | None) -> tuple[str, str]:
    if step is None:
        return "cannot tell", "its regions are not known"
    most = "" if step["available"] is None else f", which allows {show_size(step['available'])}"
    return step["outcome"], f"{step['check']}{most}"


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def say_of_pair(page: Page) -> str:
    """Say how the process that is shown first changed; head.js says it of any other pair."""
    whose = f"{name_process(page['snapshots'][page['shown']])}: " if page["rooms"] else ""
    if not page["diffs"]:
        return f"{whose}one snapshot of it here, which nothing is compared with"
    diff = page["diffs"][0]
    before, after = (name_process(page["snapshots"][diff[side]]) for side in ("a", "b"))
    if before != after:
        ends = f"{before} in {diff['a'] + 1} against {after} in {diff['b'] + 1}: "
    else:
        several = len(page["snapshots"]) > _PAIR
        ends = whose + (f"from {diff['a'] + 1} to {diff['b'] + 1}: " if several else "")
    return f"{ends}{diff['changed']}" + (f"; most: {diff['moved']}" if diff["moved"] else "")
