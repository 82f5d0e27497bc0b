"""What happened to the largest free block, and which regions did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.diffs.schema import DIFF_FREE, GROWN, SAME, SHRUNK
from mmpscope.analysis.diffs.scope import Scope
from mmpscope.analysis.extent import ALL
from mmpscope.analysis.freespace import find_snapshot_holes
from mmpscope.analysis.mapping_count import find_counted
from mmpscope.analysis.space import find_guessed_window
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["diff_free"]

_NAMED = 3
_SECTIONS = ", ."
_LOWEST, _HIGHEST = "the start of the space", "its end"


class _Hole(NamedTuple):
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def diff_free(a: LoadedSnapshot, b: LoadedSnapshot, scope: Scope, *, same_instance: bool) -> pa.Table:
    """Compare the largest free blocks of both sides (columns of diffs.schema.DIFF_FREE): one row, or none.

    Which regions did it is told within one instance: those of b that lie in what was the largest block of a,
    and those of a that lie in what is the largest of b, where there is such a change. Those that border on
    the other block come first, however small: they cut off what is not in it. Of two instances, no region of
    one can have taken room of the other; between which regions the blocks lie is told of any. Of equally
    large blocks the lowest counts. None where a side does not list all its regions or has no free block.
    Where one range of addresses is a guess, the other decides what both have.
    """
    if scope.regions != ALL:
        return build_table(DIFF_FREE, {}, 0)
    window = find_guessed_window(a.usable_range, b.usable_range)
    before, after = (_find_largest(side, window) for side in (a, b))
    if before is None or after is None:
        return build_table(DIFF_FREE, {}, 0)
    delta = after.size - before.size
    row: dict[str, object] = {
        "word": GROWN if delta > 0 else SHRUNK if delta < 0 else SAME,
        "size_delta": delta if abs(delta) < 1 << 63 else None,
        "taken_by": _name_regions(b, before, after) if same_instance else None,
        "given_back_by": _name_regions(a, after, before) if same_instance else None,
    }
    for side, snapshot, hole in (("a", a, before), ("b", b, after)):
        row |= {f"address_{side}": hole.start, f"end_{side}": hole.end, f"size_{side}": hole.size}
        row[f"between_{side}"] = _name_neighbours(snapshot, hole)
    return build_table(DIFF_FREE, {name: [value] for name, value in row.items()}, 1)


def _find_largest(snapshot: LoadedSnapshot, window: tuple[int, int] | None) -> _Hole | None:
    free = find_snapshot_holes(snapshot, window).free
    if not len(free):
        return None
    row = int(np.argmax(free.size))
    return _Hole(int(free.start[row]), int(free.end[row]))


def _name_neighbours(snapshot: LoadedSnapshot, hole: _Hole) -> str | None:
    """Name what a hole lies between, as in `Heap [heap] and Image libc.so r--p`; None with neither."""
    columns = RawColumns(snapshot.regions)
    start, end = (columns.numbers(name).values for name in ("address", "end"))
    rows = np.flatnonzero(find_counted(snapshot.regions))
    below, above = rows[end[rows] <= np.uint64(hole.start)], rows[start[rows] >= np.uint64(hole.end)]
    if not len(below) and not len(above):
        return None
    lower = _name_kind(columns, int(below[np.argmax(end[below])])) if len(below) else _LOWEST
    upper = _name_kind(columns, int(above[np.argmin(start[above])])) if len(above) else _HIGHEST
    return f"{lower} and {upper}"


def _name_regions(snapshot: LoadedSnapshot, hole: _Hole, other: _Hole) -> str | None:
    """Name regions that lie in a stretch, as in `Private Data rw-p, 64 KiB at 7f00`."""
    columns = RawColumns(snapshot.regions)
    start, end = (columns.numbers(name).values for name in ("address", "end"))
    inside = find_counted(snapshot.regions) & (start < np.uint64(hole.end)) & (end > np.uint64(hole.start))
    rows = np.flatnonzero(inside)
    is_edge = _find_edges(start[rows], end[rows], other) & (other.start < hole.end and hole.start < other.end)
    rows = rows[np.lexsort([rows, ~columns.numbers("size").values[rows], ~is_edge])]
    named = [_name_region(columns, row) for row in rows[:_NAMED].tolist()]
    more = [f"{len(rows) - _NAMED:,} more regions"] if len(rows) > _NAMED else []
    return "; ".join(named + more) or None


def _find_edges(start: Uints, end: Uints, hole: _Hole) -> Bools:
    """Find the regions between which a hole lies: the last below it, and the first above."""
    below, above = end <= np.uint64(hole.start), start >= np.uint64(hole.end)
    lowest, highest = start[above].min(initial=2**64 - 1), end[below].max(initial=0)
    edges: Bools = (below & (end == highest)) | (above & (start == lowest))
    return edges


def _name_region(columns: RawColumns, row: int) -> str:
    size, start = (int(columns.numbers(name).values[row]) for name in ("size", "address"))
    return f"{_name_kind(columns, row)}, {size >> 10:,} KiB at {start:x}"


def _name_kind(columns: RawColumns, row: int) -> str:
    """Name a region without its place, as in `Image rw-p libc.so`; the sections in it are no name."""
    texts = [columns.text(name) for name in ("type", "protection", "details")]
    words = [text.values[int(text.codes[row])] or "" for text in texts]
    return " ".join(filter(None, [*words[:2], words[2].partition(_SECTIONS)[0]]))
