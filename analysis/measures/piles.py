"""Tables of many snapshots below each other, until it is known which of them are kept, and in what order.

Small tables cost more to make than what is in them; so a table may be of several snapshots at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Text
from mmpscope.analysis.layout import Rows

__all__ = ["Pile", "join_like", "name_rows", "rank"]

LEFT_OUT = -1


def rank(numbers: Sequence[int], count: int) -> Rows:
    """Return the place of each of ``count`` snapshots among ``numbers``, LEFT_OUT where it is not there."""
    ranks = np.full(count, LEFT_OUT, np.int64)
    ranks[np.array(numbers, np.int64)] = np.arange(len(numbers))
    return ranks


def join_like(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables with the same columns below each other."""
    return pa.concat_tables(tables).unify_dictionaries()


def name_rows(table: pa.Table, places: Rows, ids: Sequence[str]) -> pa.Table:
    """Put a column ``snapshot_id`` before the others; ``ids`` are those of the places."""
    distinct = {each: code for code, each in enumerate(dict.fromkeys(ids))}
    codes = np.array([distinct[each] for each in ids], np.int32)[places]
    return table.add_column(0, "snapshot_id", Text(codes, (*distinct, None)).to_arrow())


class Pile:
    """Rows of one kind of table; each is of a snapshot that has a number."""

    def __init__(self, join: Callable[[Sequence[pa.Table]], pa.Table] = join_like) -> None:
        self._join = join
        self._tables: list[tuple[pa.Table, Rows]] = []

    def add(self, table: pa.Table, numbers: Rows) -> None:
        """Add rows, and the number of the snapshot of each."""
        self._tables.append((table, numbers))

    def take(self, ranks: Rows) -> tuple[pa.Table, Rows] | None:
        """Return the rows of the snapshots that have a place in ``ranks``, in that order, with their places.

        None for no row.
        """
        tables, places = list[pa.Table](), list[Rows]()
        for table, numbers in self._tables:
            place = ranks[numbers]
            kept = place != LEFT_OUT
            if kept.any():
                tables.append(table if kept.all() else table.filter(pa.array(kept)))
                places.append(place[kept])
        if not tables:
            return None
        joined, place = self._join(tables), np.concatenate(places)
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place, kind="stable")
            joined, place = joined.combine_chunks().take(pa.array(order)), place[order]
        return joined, place
