"""What a page leaves out to stay small: rows of little memory, and the lists of snapshots in between.

Sums are never cut: every snapshot keeps its summary, whatever is left out of its lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.pages.left_out import list_left_out
from mmpscope.analysis.pages.snapshots import Answers
from mmpscope.analysis.reporters.amounts import show_size

__all__ = ["MOST_BYTES", "MOST_ROWS", "fold_answers", "order_by_worth"]

MOST_BYTES = 11 << 19
"""Size of a page: what bug trackers take as an attachment (GitHub 10 MB for pictures, 25 MB for files) with
room for others."""
MOST_ROWS = 65_536
"""Regions of a snapshot that a page may list: more than the default of vm.max_map_count, 65,530."""
_FEW = {"splitters": 1_000, "threads": 5_000, "modules": 5_000, "heaps": 5_000, "processes": 5_000}
"""Rows of the other lists, which come with the most interesting first or are seldom long."""
_CHANGES = 8


def fold_answers(answers: Answers, most: int = MOST_ROWS) -> tuple[Answers, list[str]]:
    """Keep at most so many regions, those of the allocations that hold most, and say what was left out."""
    tables = dict(answers.tables)
    said = []
    for name, count in {**_FEW, "free": most}.items():
        if name in tables and tables[name].num_rows > count:
            said.append(f"{name}: {count:,} of {tables[name].num_rows:,} are listed")
            tables[name] = _keep_largest(tables[name], count) if name == "free" else tables[name][:count]
    if "regions" in tables and max(tables["regions"].num_rows, tables["allocations"].num_rows) > most:
        before = tables["regions"], tables["allocations"]
        after = _keep_regions(*before, most)
        tables["regions"], tables["allocations"] = after
        tables["left_out"] = list_left_out(before[0], after[0], tables.get("free"))
        said.append(_tell_regions(before, after))
    return Answers(tables, answers.why), said


def _keep_largest(table: pa.Table, most: int) -> pa.Table:
    rows = pc.select_k_unstable(table, most, [("size", "descending")])
    return table.take(pa.array(np.sort(rows.to_numpy())))


def _keep_regions(regions: pa.Table, allocations: pa.Table, most: int) -> tuple[pa.Table, pa.Table]:
    """Keep the regions of the allocations that hold most, and renumber parents and first regions."""
    parents = regions["parent"].fill_null(allocations.num_rows).to_numpy().astype(np.int64)
    weights = np.append(_weigh(allocations), np.uint64(0))
    order = np.lexsort([~_weigh(regions), ~weights[parents]])[:most]
    kept = np.sort(order)
    is_listed = np.zeros(allocations.num_rows + 1, np.bool_)
    is_listed[parents[kept]] = True
    listed = np.flatnonzero(is_listed[:-1])
    bare = np.setdiff1d(np.arange(allocations.num_rows), parents)  # as VMMap states some: without sub-blocks
    listed = np.sort(np.append(listed, bare[: max(0, most - len(listed))]))
    places = np.full(allocations.num_rows + 1, -1, np.int64)
    places[listed] = np.arange(len(listed))
    new_parents = places[parents[kept]]
    regions = _replace(regions.take(pa.array(kept)), "parent", new_parents, new_parents < 0)
    firsts = np.full(len(listed), -1, np.int64)
    rows = np.arange(len(kept))[::-1]
    firsts[new_parents[rows][new_parents[rows] >= 0]] = rows[new_parents[rows] >= 0]
    return regions, _replace(allocations.take(pa.array(listed)), "first", firsts, firsts < 0)


def _replace(table: pa.Table, name: str, values: Rows, is_null: Bools) -> pa.Table:
    column = pa.array(np.where(is_null, 0, values).astype(np.uint32), mask=is_null)
    return table.set_column(table.column_names.index(name), name, column)


def _weigh(table: pa.Table) -> Uints:
    """Return what makes a row worth listing: the memory that it holds, of equals its size."""
    columns = RawColumns(table)
    committed, size = columns.numbers("committed"), columns.numbers("size").values
    held = np.where(committed.is_known, committed.values, 0).astype(np.uint64)
    return np.where(held > 0, (held >> np.uint64(1)) | np.uint64(1 << 63), size >> np.uint64(1))


def _tell_regions(before: tuple[pa.Table, pa.Table], after: tuple[pa.Table, pa.Table]) -> str:
    counts = [(old.num_rows - new.num_rows, old.num_rows) for old, new in zip(before, after, strict=True)]
    held = [pc.sum(table["committed"]).as_py() or 0 for table in (before[0], after[0])]
    (regions, all_regions), (allocations, all_allocations) = counts
    return (
        f"{regions:,} of {all_regions:,} regions and {allocations:,} of {all_allocations:,} allocations are "
        f"not listed, those that hold least: {show_size(held[0] - held[1])} of {show_size(held[0])} "
        "committed. The summary and the free space count them"
    )


def order_by_worth(totals: Sequence[Sequence[int | None]], first: Sequence[int]) -> list[int]:
    """Return the numbers of snapshots, those whose lists matter most first.

    ``totals`` has one list a timeline, the figure of each of its snapshots, which are numbered through.
    After ``first`` come the ends of each timeline, then both sides of its largest changes, then the others,
    spread evenly however many are taken.
    """
    starts = np.cumsum([0, *map(len, totals)]).tolist()
    spans = [(start, list(values)) for start, values in zip(starts, totals, strict=False)]
    wanted = list(first)
    wanted += [start + at for start, values in spans for at in (len(values) - 1, 0)]
    wanted += [start + at for start, values in spans for at in _find_changes(values)]
    wanted += [start + at for start, values in spans for at in _spread(len(values))]
    return list(dict.fromkeys(wanted))


def _find_changes(values: Sequence[int | None]) -> list[int]:
    """Return the places before and after the largest steps of a figure."""
    steps = [
        (-abs(after - before), at)
        for at, (before, after) in enumerate(pairwise(values))
        if before is not None and after is not None and before != after
    ]
    return [place for _, at in sorted(steps)[:_CHANGES] for place in (at, at + 1)]


def _spread(count: int) -> Iterator[int]:
    """Yield all places below a count, each halving the widest stretch that is left."""
    width = 1 << max(0, (count - 1).bit_length())
    yield from range(0, count, width)
    while width > 1:
        yield from range(width // 2, count, width)
        width //= 2
