"""Groups of regions on both sides into rows of the answer: sums, differences, looks of the largest region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Numbers, Text, Uints
from mmpscope.analysis.diffs.notes import CLEAN, HUGETLB, describe_growth, subtract_deltas
from mmpscope.analysis.diffs.schema import CHANGED, DIFF_ROWS, GONE, GROWN, METRICS, MOVED, NEW, SAME, SHRUNK
from mmpscope.analysis.diffs.sides import Side
from mmpscope.analysis.exact_sums import Deltas, Spans, subtract, sum_spans
from mmpscope.analysis.intervals import NO_ROW, Rows
from mmpscope.analysis.tables import build_table
from numpy.typing import NDArray

__all__ = [
    "WORDS",
    "Figures",
    "Half",
    "build_rows",
    "choose_words",
    "compare_halves",
    "find_unknown",
    "name_masks",
    "to_columns",
    "to_signed",
]

WORDS = (NEW, GONE, GROWN, SHRUNK, CHANGED, MOVED, SAME, None)
"""The words of rows by number, as Text wants them: null last."""
_LOOKS = ("type", "state", "protection", "details")


@dataclass(frozen=True)
class Half:
    """One side of every row: `spans` of regions, from `start` to `end`, of which `shown` speaks for all.

    `shown` is NO_ROW where the side has no region. `whole` is false where a row is only a part of its
    regions: counters belong to whole regions, so it has none of its own. `sizes` are given where they are not
    the sums. `placed` is false where the regions lie anywhere, and no address tells of them.
    """

    spans: Spans
    start: Uints
    end: Uints
    shown: Rows
    whole: Bools | None = None
    sizes: Uints | None = None
    placed: Bools | None = None

    @property
    def exists(self) -> Bools:
        """Where the side has something."""
        found: Bools = self.shown != NO_ROW
        return found

    def take(self, rows: Rows | Bools) -> Half:
        """Return some rows."""
        whole = None if self.whole is None else self.whole[rows]
        sizes = None if self.sizes is None else self.sizes[rows]
        placed = None if self.placed is None else self.placed[rows]
        return Half(
            self.spans.take(rows), self.start[rows], self.end[rows], self.shown[rows], whole, sizes, placed
        )


@dataclass(frozen=True)
class Figures:
    """Every metric of some rows: before, after, and the difference."""

    before: Mapping[str, Numbers]
    after: Mapping[str, Numbers]
    deltas: Mapping[str, Deltas]

    def take(self, rows: Rows) -> Figures:
        """Return some rows."""
        return Figures(
            {name: numbers.take(rows) for name, numbers in self.before.items()},
            {name: numbers.take(rows) for name, numbers in self.after.items()},
            {name: deltas.take(rows) for name, deltas in self.deltas.items()},
        )


def compare_halves(a: tuple[Side, Half], b: tuple[Side, Half]) -> Figures:
    """Sum up every metric on each side, and subtract; unknown where a region does not know it."""
    before, after = (_sum_half(*side) for side in (a, b))
    return Figures(before, after, {name: subtract(after[name], before[name]) for name in before})


def _sum_half(side: Side, half: Half) -> dict[str, Numbers]:
    sums = {name: sum_spans(side.numbers(name), half.spans) for name in METRICS}
    sums[CLEAN] = sum_spans(_find_clean(side), half.spans)
    sums[HUGETLB] = sum_spans(side.numbers("Shared_Hugetlb") + side.numbers("Private_Hugetlb"), half.spans)
    if half.whole is not None:
        sums = {name: numbers.only(half.whole) for name, numbers in sums.items()}
    if half.sizes is not None:
        sums["size"] = Numbers(half.sizes)
    return sums


def _find_clean(side: Side) -> Numbers:
    clean = side.numbers("Private_Clean") + side.numbers("Shared_Clean")
    of_file = side.numbers("inode").values != 0
    return clean.where(of_file, Numbers.zeros(len(of_file)))


def build_rows(
    a: tuple[Side, Half], b: tuple[Side, Half], figures: Figures, told: Mapping[str, object]
) -> pa.Table:
    """Put rows together (columns of diffs.schema.DIFF_ROWS); `told` has word, match and confidence."""
    columns: dict[str, object] = {**told, "rows": np.ones(len(a[1].shown), np.uint64)}
    for (side, half), suffix in ((a, "a"), (b, "b")):
        placed = half.exists if half.placed is None else half.exists & half.placed
        columns[f"address_{suffix}"] = Numbers(half.start).only(placed)
        columns[f"end_{suffix}"] = Numbers(half.end).only(placed)
        columns[f"regions_{suffix}"] = half.spans.count.astype(np.uint64)
        columns |= {f"{name}_{suffix}": _look(side, name, half.shown) for name in _LOOKS}
    columns |= to_columns(figures)
    return build_table(DIFF_ROWS, columns, len(a[1].shown))


def _look(side: Side, name: str, rows: Rows) -> pa.ChunkedArray:
    places = pa.array(side.rows[rows] if len(side.rows) else rows, mask=rows == NO_ROW)
    return side.columns.table.column(name).take(places)


def to_columns(figures: Figures) -> dict[str, object]:
    """Return the columns of all metrics, and what follows from them."""
    columns: dict[str, object] = {}
    for name in METRICS:
        columns[f"{name}_a"] = figures.before[name]
        columns[f"{name}_b"] = figures.after[name]
        columns[f"{name}_delta"] = to_signed(figures.deltas[name])
    effective = subtract_deltas(figures.deltas["total_ws"], figures.deltas["lazyfree"])
    columns["effective_ws_delta"] = to_signed(effective)
    columns["note"] = describe_growth(figures.deltas)
    return columns


def to_signed(deltas: Deltas) -> pa.Array:
    """Return int64, null where unknown."""
    return pa.array(deltas.values, mask=~deltas.known)


def find_unknown(figures: Figures, metrics: tuple[str, ...]) -> dict[str, Bools]:
    """Return for each metric where a side knows something and yet there is no difference to tell.

    The other side does not know it, or the difference is beyond what a signed 64-bit number holds.
    """
    return {
        name: ~figures.deltas[name].known & (figures.before[name].is_known | figures.after[name].is_known)
        for name in metrics
    }


def name_masks(masks: Mapping[str, Bools]) -> Text:
    """Name for each row the masks that are true there, joined by commas; null where none is."""
    names = list(masks)
    bits = np.zeros(len(masks[names[0]]) if names else 0, np.int64)
    for place, mask in enumerate(masks.values()):
        bits |= mask.astype(np.int64) << place
    kinds = np.unique(bits[bits != 0])
    texts = [", ".join(name for at, name in enumerate(names) if kind >> at & 1) for kind in kinds]
    codes = np.where(bits != 0, np.searchsorted(kinds, bits), len(kinds)).astype(np.int32)
    return Text(codes, (*texts, None))


def choose_words(exists_a: Bools, exists_b: Bools, figures: Figures, altered: Bools) -> NDArray[np.int32]:
    """Choose new, gone, grown, shrunk (by size), changed or same; returns places in WORDS."""
    differs = altered.copy()
    for name in METRICS:
        before, after = figures.before[name], figures.after[name]
        differs |= before.is_known & after.is_known & (before.values != after.values)
    words = np.where(differs, WORDS.index(CHANGED), WORDS.index(SAME)).astype(np.int32)
    words[figures.deltas["size"].values > 0] = WORDS.index(GROWN)
    words[figures.deltas["size"].values < 0] = WORDS.index(SHRUNK)
    words[~exists_a] = WORDS.index(NEW)
    words[~exists_b] = WORDS.index(GONE)
    return words
