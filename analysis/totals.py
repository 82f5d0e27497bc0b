"""The summary of a source that states totals and no addresses: each figure as it is stated, the rest unknown.

A showmap, a dumpsys meminfo, a smaps_rollup, the summary of a debugger. Nothing is 0 that is not said to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.schema import COUNTERS, TYPES
from mmpscope.analysis.totals_rules import NO_TYPE, classify_totals

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["TOTAL", "Values", "compare_stated_total", "read_totals"]

TOTAL = "Total"
_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "size": (("Size",), ("RegionSize",), ("VIRTUAL",), ("VSIZE",)),
    "committed": (("Commit",),),
    "private": (("PrivateBytes",),),
    "total_ws": (("Rss",), ("RESIDENT",), ("RSDNT",), ("TotalWS",)),
    "private_ws": (("PrivateWS",),),
    "shareable_ws": (("ShareableWS",),),
    "shared_ws": (("SharedWS",), ("Shared_Clean", "Shared_Dirty")),
    "locked_ws": (("LockedWS",), ("Locked",)),
    "uss": (("Private_Clean", "Private_Dirty"),),
    "pss": (("Pss",),),
    "swap": (("Swap",), ("SWAPPED",), ("SWAP",)),
    "lazyfree": (("LazyFree",),),
    "thp": (("AnonHugePages",),),
    "blocks": (("Blocks",), ("count",)),
    "largest": (("Largest",),),
}
"""For each figure the columns that tell it, the first set of which all are known; a set adds up.

Names of Linux: proc_pid_smaps(5). VIRTUAL to SWAPPED: vmmap(1) of macOS, DIRTY is not what private_ws means.
"""
_HUGE = ("Shared_Hugetlb", "Private_Hugetlb")
"""Resident pages that Rss does not count."""
_ADDITIVE = ("size", *COUNTERS, "blocks")

_ROUNDING = 20
"""A total that is printed in two digits, as 1.0G, is off by a twentieth at most."""
_LEAST = 1 << 20
"""Bytes of a difference that is worth a word."""

Values = dict[str, "int | None"]


def read_totals(snapshot: LoadedSnapshot) -> dict[str, Values]:
    """Return the figures of a source's totals by type of memory, TOTAL for the whole process.

    Rows of one type add up; a figure that one of them lacks is unknown for that type. A whole that the source
    does not state is not made up here, and of several the first counts: vmmap of macOS writes a second one,
    without reserved memory.
    """
    raw = RawColumns(snapshot.decode("totals"))
    types, _ = classify_totals(raw.text("name"))
    wanted = {name for choices in _NAMES.values() for names in choices for name in names} | set(_HUGE)
    columns = {name: _list_values(raw, name) for name in wanted if name in raw}
    found: dict[str, list[Values]] = {}
    for row, code in enumerate(types.tolist()):
        found.setdefault(TOTAL if code == NO_TYPE else TYPES[code], []).append(_read_row(columns, row))
    return {type_: _add_rows(rows[:1] if type_ == TOTAL else rows) for type_, rows in found.items()}


def compare_stated_total(snapshot: LoadedSnapshot) -> str | None:
    """Tell if a total that the source states is another than the sum of its rows, by more than rounding."""
    stated = snapshot.stated_totals
    whole = stated.get(TOTAL, {})
    parts = [values for type_, values in stated.items() if type_ not in (TOTAL, "Free")]
    for name in ("size", "private", "total_ws", "pss") if parts else ():
        said, added = whole.get(name), _add([values.get(name) for values in parts])
        if said is None or added is None:
            continue
        if abs(said - added) > max(said // _ROUNDING, _LEAST):
            return f"the source states a total of {said:,} bytes ({name}), and its rows add up to {added:,}"
    return None


def _list_values(raw: RawColumns, name: str) -> list[int | None]:
    numbers = raw.numbers(name)
    pairs = zip(numbers.values.tolist(), numbers.is_known.tolist(), strict=True)
    return [value if is_known else None for value, is_known in pairs]


def _read_row(columns: Mapping[str, Sequence[int | None]], row: int) -> Values:
    values: Values = {}
    for figure, choices in _NAMES.items():
        known = (names for names in choices if all(name in columns for name in names))
        sums = (_add([columns[name][row] for name in names]) for names in known)
        values[figure] = next((value for value in sums if value is not None), None)
    if values["total_ws"] is not None and _HUGE[0] in columns:
        huge = (columns[name][row] or 0 for name in _HUGE if name in columns)
        values["total_ws"] = _add([values["total_ws"], *huge])
    return values


def _add(values: Sequence[int | None]) -> int | None:
    """Add up; None where one is unknown, or where the sum is no number of 64 bits."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) and sum(known) < 1 << 64 else None


def _add_rows(rows: Sequence[Values]) -> Values:
    added = {name: _add([row.get(name) for row in rows]) for name in _ADDITIVE if name in _NAMES}
    largest = [row["largest"] for row in rows if row["largest"] is not None]
    return {**added, "largest": max(largest) if len(largest) == len(rows) else None}
