"""How much of the memory of two instances was matched, and how: what the other answers rest on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Text
from mmpscope.analysis.diffs.rows import Figures, Half
from mmpscope.analysis.diffs.schema import DIFF_MATCHING
from mmpscope.analysis.tables import build_table

__all__ = ["UNMATCHED", "describe_matching", "summarize_matching"]

UNMATCHED = "not matched"
_COHORT = "cohort"
_FIGURES = ("committed", "size")


def describe_matching(figures: Figures, halves: tuple[Half, Half], told: Mapping[str, Text]) -> pa.Table:
    """Add up the bytes that were matched each way (columns of diffs.schema.DIFF_MATCHING).

    Of a cohort as much is matched as both sides have, since nobody can tell which blocks are which; of
    everything else all of it. The rest is not matched, and rows add up to what each side has.
    """
    name = _choose_figure(figures)
    before, after = (side[name].values for side in (figures.before, figures.after))
    both = halves[0].exists & halves[1].exists
    words = told["match"]
    is_cohort = words.equals(_COHORT)
    common = np.minimum(before, after)
    sides = [np.where(both, np.where(is_cohort, common, each), np.uint64(0)) for each in (before, after)]
    merged: dict[tuple[str | None, str | None], list[int]] = {}
    for code, way in enumerate(zip(words.values, told["confidence"].values, strict=True)):
        chosen = both & (words.codes == code)
        if chosen.any():
            known = merged.setdefault(way, [0, 0, 0])
            found = (int(chosen.sum()), *(_add_up(side[chosen]) for side in sides))
            known[:] = [one + two for one, two in zip(known, found, strict=True)]
    rest = [_add_up(each) for each in (before, after)]
    for _, *taken in [*merged.values()]:
        rest = [whole - part for whole, part in zip(rest, taken, strict=True)]
    merged[UNMATCHED, None] = [int((~both).sum()), *rest]
    return _build(name, merged)


def _build(name: str, merged: Mapping[tuple[str | None, str | None], list[int]]) -> pa.Table:
    columns = {
        "match": [word for word, _ in merged],
        "confidence": [sure for _, sure in merged],
        "figure": [name] * len(merged),
        **{
            column: [_fit(numbers[place]) for numbers in merged.values()]
            for place, column in enumerate(("units", "a", "b"))
        },
    }
    return build_table(DIFF_MATCHING, columns, len(merged))


def _fit(value: int) -> int | None:
    """Return what a uint64 holds; only hostile input goes beyond."""
    return value if 0 <= value < 1 << 64 else None


def _choose_figure(figures: Figures) -> str:
    """Choose committed bytes where both sides know any, else the size."""
    sides = (figures.before["committed"], figures.after["committed"])
    return _FIGURES[0] if all(side.values.any() for side in sides) else _FIGURES[1]


def _add_up(values: np.ndarray) -> int:
    low, high = values & np.uint64(0xFFFF_FFFF), values >> np.uint64(32)
    return int(low.sum(dtype=np.uint64)) + (int(high.sum(dtype=np.uint64)) << 32)


def summarize_matching(matching: pa.Table) -> str | None:
    """Say in one sentence how much was matched how; None where nothing was to be matched.

    As in: matched 99 % of committed bytes: 80 % by build id, 19 % by cohort.
    """
    rows = [row for row in matching.to_pylist() if row["a"] is not None and row["b"] is not None]
    whole = sum(row["a"] + row["b"] for row in rows)
    if not whole:
        return None
    ways: dict[str, int] = {}
    for row in rows:
        if row["match"] != UNMATCHED:
            ways[row["match"]] = ways.get(row["match"], 0) + row["a"] + row["b"]
    told = [f"{_show_share(part, whole)} by {word}" for word, part in _sort(ways) if part]
    figure = "committed bytes" if rows[0]["figure"] == _FIGURES[0] else "the address space"
    ways_told = f": {', '.join(told)}" if told else ""
    return f"matched {_show_share(sum(ways.values()), whole)} of {figure}{ways_told}"


def _sort(ways: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(ways.items(), key=lambda way: -way[1])


def _show_share(part: int, whole: int) -> str:
    """Write percent, rounded down: 100 is all of it, and what is there is not called 0."""
    percent = part * 100 // whole
    return f"{percent} %" if percent or not part else "less than 1 %"
