"""What a page says in sentences: of a snapshot, of a comparison, of the room for one more request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.fit import HOLES
from mmpscope.analysis.fit_limits import DOES_NOT_FIT, FITS
from mmpscope.analysis.reporters.amounts import show_address, show_count, show_size
from mmpscope.analysis.reporters.names import shorten_middle

__all__ = [
    "NAMES",
    "choose_lead",
    "find_near_limit",
    "is_tight",
    "measure_nearness",
    "say_of_diff",
    "say_of_limits",
    "say_of_memory",
    "say_of_movers",
    "say_of_room",
]

_NEAR = 0.9
"""A limit of which this share is used goes before all else."""
_USUAL = 64 << 20
"""A request of this size is nothing unusual: where it fails, that goes before any growth."""
_MOVERS = 3
_LEAD_TIMES, _LEAD_BYTES = 4, 1 << 20
"""Another figure goes before the one that is followed where it moved so many times as much, and so much."""
_THREAD = re.compile(r"tid \d+ ?")
_NAMING = ("word", "unit", "type_a", "type_b", "details_a", "details_b", "address_a", "address_b")
_NAME = 60
"""Characters of a name in a sentence."""
_FIGURES = ("private", "private_ws", "total_ws", "committed", "size")
"""What the sentence is about: the first of these that is known."""
_NO_PART = ("Total", "Unusable", "Free")
NAMES = {
    "private": "private memory",
    "private_ws": "the private working set",
    "total_ws": "the working set",
    "committed": "committed memory",
    "size": "the address space in use",
}


def find_near_limit(limits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the limit that is used most of those that are near; ``limits`` are rows of schema.LIMITS."""
    near = [row for row in limits if _measure_share(row) >= _NEAR]
    return max(near, key=_measure_share, default=None)


def measure_nearness(limits: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest share of a limit that is used, 0 where none is known."""
    return max(map(_measure_share, limits), default=0.0)


def _measure_share(row: Mapping[str, Any]) -> float:
    used, maximum = row["used"], row["maximum"]
    return used / maximum if used is not None and maximum else 0.0


def say_of_limits(limits: Sequence[Mapping[str, Any]]) -> str | None:
    """Say which limit is near, if one is; ``limits`` are rows of schema.LIMITS."""
    row = find_near_limit(limits)
    if row is None:
        return None
    show = show_size if row["unit"] == "bytes" else show_count
    share = row["used"] * 1000 // row["maximum"] / 10  # 100 % is what is used up, and nothing less
    left = f"{show(row['headroom'])} left of {show(row['maximum'])}"
    return f"{row['limit']} is at {share:.1f}% of its limit: {left}"


def is_tight(room: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a request of a usual size is sure to fail; ``room`` are rows of schema.ROOM."""
    least = 0
    for row in room:
        if row["outcome"] == DOES_NOT_FIT:
            return least < _USUAL
        least = row["upto"]
    return False


def say_of_memory(summary: pa.Table) -> str:
    """Say how much memory there is, and what most of it is."""
    rows = summary.to_pylist()
    figure = next((name for name in _FIGURES if rows and rows[0][name]), None)
    if figure is None:
        return "no figure of its memory is known"
    total = rows[0][figure]
    parts = [row for row in rows if row["type"] not in _NO_PART and row[figure]]
    least = "at least " if figure in (rows[0]["partial"] or "").split(", ") else ""
    what = f"{NAMES[figure]} is {least}{show_size(total)}"
    if not parts:
        return what
    most = max(parts, key=lambda row: row[figure])
    said = f"{what}, {most[figure] / total:.0%} of it {most['type']}"
    return f"{said} in {most['allocations']:,} allocations" if (most["allocations"] or 0) > 1 else said


def choose_lead(types: pa.Table, metric: str) -> str:
    """Choose the figure that a comparison is told by: another one where that moved many times as much.

    Shared memory and files move committed memory and the working set, and nothing of what is private.
    """
    total = types.slice(0, 1).to_pylist()[0] if types.num_rows else {}
    own = abs(total.get(f"{metric}_delta") or 0)
    others = [name for name in ("committed", "total_ws") if name != metric and total.get(f"{name}_delta")]
    far = [name for name in others if abs(total[f"{name}_delta"]) >= max(_LEAD_TIMES * own, _LEAD_BYTES)]
    if far:
        return far[0]
    moved = [name for name in (*others, "size") if name != metric and total.get(f"{name}_delta")]
    return metric if own or not moved else moved[0]


def say_of_diff(types: pa.Table, metric: str) -> str:
    """Say how the total of a figure changed, and the type that most of it comes from.

    Where another one is told by (`choose_lead`), the figure itself is told behind it. Where little of the
    change is in memory, that is said: the stacks of threads are committed long before they are touched.
    """
    rows, lead = types.to_pylist(), choose_lead(types, metric)
    what = NAMES.get(metric, metric)
    delta = rows[0][f"{metric}_delta"] if rows else None
    if lead == metric:
        if not delta:
            return f"how {what} changed is not known" if delta is None else f"{what} did not change"
        return _tell_change(rows, metric) + _tell_absent(rows[0], metric)
    if delta is None:
        return f"{_tell_change(rows, lead)}; how {what} changed is not known"
    return f"{_tell_change(rows, lead)}; {what} {_sign(delta) if delta else 'did not change'}"


def _tell_absent(total: Mapping[str, Any], metric: str) -> str:
    change, resident = total[f"{metric}_delta"], total["total_ws_delta"]
    is_committed = metric in ("private", "committed")
    if not is_committed or resident is None or abs(resident) * _LEAD_TIMES > abs(change):
        return ""
    return f"; of the working set {_sign(resident)}"


def say_of_movers(changes: pa.Table, metric: str) -> str:
    """Name what most of the change of a figure comes from, up to three; nothing where none of it moved.

    ``changes`` has columns of DIFF_ROWS, all of them and not the largest alone: those of one name, such as
    the many mappings of /dev/zero, are told together, by how many there are and what they come to.
    """
    figure = f"{metric}_delta"
    rows = changes.select([*_NAMING, figure]).filter(pc.not_equal(changes[figure], 0)).to_pylist()
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        kin = _THREAD.sub("", _name_mover(row))  # the stacks of threads of one name
        groups.setdefault((row["word"], kin), []).append(row)
    sums = {key: sum(row[figure] for row in members) for key, members in groups.items()}
    told = sorted((key for key in sums if sums[key]), key=lambda key: -abs(sums[key]))[:_MOVERS]
    return ", ".join(f"{_name_group(*key, groups[key])} {_sign(sums[key])}" for key in told)


def _name_group(word: str, kin: str, members: Sequence[Mapping[str, Any]]) -> str:
    if len(members) == 1:
        return f"{word} {_name_mover(members[0])}"
    return f"{len(members):,} {word} {kin.strip()}"


def _name_mover(row: Mapping[str, Any]) -> str:
    """Name a mover by what was matched, else by its type with its name, or its address where it has none."""
    if row["unit"]:
        return shorten_middle(row["unit"], _NAME)
    kind = row["type_b"] or row["type_a"] or "memory"
    details = row["details_b"] or row["details_a"]
    if details and details != kind:
        return f"{kind} {shorten_middle(details, _NAME)}"
    address = row["address_a"] if row["address_b"] is None else row["address_b"]
    return kind if address is None else f"{kind} at {show_address(address)}"


def say_of_room(room: pa.Table | None, windows: pa.Table | None) -> str:
    """Say up to which size one more request would succeed, what stands against a larger one, and the hole.

    Tables are those of schema.ROOM and free_schema.WINDOWS, None where they cannot be told.
    """
    if room is None or not room.num_rows:
        return "whether there is room for one more request cannot be told"
    first, *others = room.to_pylist()
    why = others[0] if first["outcome"] == FITS and others else first
    told = f"({why['check']}: {why['reason']})"
    if first["outcome"] == FITS:
        end = "a larger one does not" if why["outcome"] == DOES_NOT_FIT else "a larger one perhaps"
        said = f"one request of up to {show_size(first['upto'])} fits, {end} {told}"
    elif first["outcome"] == DOES_NOT_FIT:
        said = f"no request fits, not even one of a page {told}"
    else:
        said = f"whether one more request fits cannot be told {told}"
    if windows is None or why["check"] == HOLES:
        return said
    largest = show_size(windows["largest"][0].as_py())
    lead = "the address space does not bind: its" if why["outcome"] == DOES_NOT_FIT else "the"
    return f"{said}; {lead} largest free block has {largest}"


def _tell_change(rows: list[dict[str, Any]], metric: str) -> str:
    delta, before, after = (rows[0][f"{metric}_{end}"] for end in ("delta", "a", "b"))
    share = f" ({delta / before:+.0%})" if before else ""
    word = "grew" if delta > 0 else "shrank"
    said = f"{NAMES.get(metric, metric)} {word} by {show_size(abs(delta))}{share}, to {show_size(after)}"
    types = [row for row in rows if row["type"] not in _NO_PART]
    parts = [row for row in types if (row[f"{metric}_delta"] or 0) * delta > 0]
    if not parts:
        return said
    most = max(parts, key=lambda row: abs(row[f"{metric}_delta"]))
    change = most[f"{metric}_delta"]
    return f"{said}; most of it is {most['type']} ({_sign(change)})"


def _sign(change: int) -> str:
    return f"{'+' if change > 0 else ''}{show_size(change)}"
