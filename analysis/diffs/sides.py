"""The two sides of a diff: their regions by address, and which of them are not the same on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Uints
from mmpscope.analysis.diffs.evidence import join_texts, list_alike, pair_names, pair_rights
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.families import find_family
from mmpscope.analysis.intervals import Ranges, Rows, Settled, find_common, find_ends, settle
from mmpscope.analysis.mapping_count import find_counted
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "ESTIMATES",
    "OUTSIDE",
    "Side",
    "find_offset",
    "forget_estimates",
    "keep_common",
    "list_compared",
    "list_estimates",
    "narrow_sides",
    "number_facts",
    "number_values",
    "read_side",
    "read_sides",
]

Codes = NDArray[np.int64] | NDArray[np.int32] | Uints
Place = Callable[[RawColumns], Uints]

_FACTS = ("type", "state", "protection")
ESTIMATES = ("committed", "private")
OUTSIDE = ("Page Table", "Unusable")
"""Rows of a summary that its total has and that no region is a part of."""
_BACKING = ("dev_major", "dev_minor", "inode", "offset", "path")
_SHOWN = ("details", "Private_Clean", "Shared_Clean", "Shared_Hugetlb", "Private_Hugetlb")


@dataclass(frozen=True)
class Side:
    """The regions that count, by address: number i is row `rows[i]` of `columns`, starts[i] to ends[i]."""

    columns: RawColumns
    rows: Rows
    starts: Uints
    ends: Uints
    facts: tuple[str, ...] = _FACTS

    @cached_property
    def settled(self) -> Settled:
        """The ranges without what hostile input lets overlap."""
        return settle(self.starts, self.ends)

    @property
    def ranges(self) -> Ranges:
        """The ranges as they are, but for empty ones.

        A region that ends where it starts, or before, is hostile input. It counts as one byte, so that it
        overlaps itself on the other side, and its figures are in one component there as here.
        """
        ends, _ = find_ends(self.starts, np.ones_like(self.starts))
        return Ranges(self.starts, np.maximum(self.ends, ends))

    def numbers(self, name: str) -> Numbers:
        """Return a column of numbers, in the order of the ranges."""
        return self.columns.numbers(name).take(self.rows)

    def knows(self, name: str) -> bool:
        """Tell if some region has a known value in a column of numbers."""
        known = self.columns.numbers(name).known
        return known is None or bool(known.any())

    def take(self, kept: Rows) -> Side:
        """Return a side of some of its regions."""
        return Side(self.columns, self.rows[kept], self.starts[kept], self.ends[kept], self.facts)

    def narrow(self, kept: Rows, facts: tuple[str, ...] | None = None) -> Side:
        """Return a side of some of its regions, with only the columns that a diff looks at.

        `facts` are those to compare, if they are not to stay the same.
        """
        names = [name for name in ("address", *METRICS, *_FACTS, *_BACKING, *_SHOWN) if name in self.columns]
        table = self.columns.table.select(names).take(pa.array(self.rows[kept]))
        facts = self.facts if facts is None else facts
        return Side(RawColumns(table), np.arange(len(kept)), self.starts[kept], self.ends[kept], facts)


def keep_common(a: Side, b: Side) -> tuple[Side, Side]:
    """Keep the regions that both sides have, from the same start to the same end.

    Where a source leaves regions out, nothing else is beyond doubt: what only one side lists may be there on
    the other, and what differs in length may be a part of several.
    """
    rows_a, rows_b = find_common(a.settled.ranges, b.settled.ranges)
    return a.take(a.settled.rows[rows_a]), b.take(b.settled.rows[rows_b])


def read_side(regions: pa.Table) -> Side:
    """Take the regions of a snapshot but for gate areas; sorted by address, which they usually are."""
    columns = RawColumns(regions)
    rows = np.flatnonzero(find_counted(regions))
    starts = columns.numbers("address").values[rows]
    if (starts[1:] < starts[:-1]).any():
        rows = rows[np.argsort(starts, kind="stable")]
        starts = columns.numbers("address").values[rows]
    return Side(columns, rows, starts, columns.numbers("end").values[rows])


def list_estimates(regions: pa.Table, other: pa.Table) -> tuple[str, ...]:
    """List the figures of one side that are estimates, where the other has them exact, or by other means.

    Without VmFlags, Linux does not show MAP_NORESERVE, nor what was once writable. On Windows a light look
    takes all of an image for private that may become so.
    """
    if not len(regions):
        return ()
    sides = [RawColumns(regions), RawColumns(other)]
    own, theirs = (find_family(side).judge_estimates(side) for side in sides)
    return tuple(name for name in ESTIMATES if name in own and own[name] != theirs.get(name))


def forget_estimates(regions: pa.Table, other: pa.Table) -> pa.Table:
    """Make unknown what was estimated of regions: beside an exact figure it would look like a change."""
    estimates = list_estimates(regions, other)
    if not estimates:
        return regions
    doubtful = pa.array(find_family(RawColumns(regions)).estimated_types)
    exact = pc.invert(pc.is_in(regions.column("type").cast(pa.string()), doubtful))
    for name in estimates:
        place, field = regions.column_names.index(name), regions.schema.field(name)
        kept = pc.if_else(exact, regions.column(name), pa.scalar(None, field.type))
        regions = regions.set_column(place, field, kept)
    return regions


def read_sides(a: LoadedSnapshot, b: LoadedSnapshot) -> tuple[Side, Side]:
    """Take the regions of both snapshots; unknown is what one only estimates and the other knows."""
    before, after = (
        read_side(forget_estimates(side.regions, other.regions)) for side, other in ((a, b), (b, a))
    )
    return before, after


def list_compared(a: Side, b: Side) -> tuple[str, ...]:
    """List the metrics that each side knows for some region.

    What a whole side does not know is said once, of the total; a row for each region would say no more.
    """
    return tuple(name for name in METRICS if a.knows(name) and b.knows(name))


def narrow_sides(a: Side, b: Side) -> tuple[Side, Side]:
    """Leave out the regions that are the same on both sides.

    They overlap nothing else, so no other region's answer depends on them. This is what makes a diff cheap:
    all that follows costs with the number of changes.
    """
    facts = _list_facts(a, b)
    kept_a, kept_b = _find_changed(a, b, facts)
    return a.narrow(kept_a, facts), b.narrow(kept_b, facts)


def _list_facts(a: Side, b: Side) -> tuple[str, ...]:
    """List the facts that both sides have, and mean alike: what one does not know is no difference."""
    known = [
        name
        for name in _FACTS
        if not any(len(side.rows) and side.columns.text(name).is_null.all() for side in (a, b))
    ]
    return list_alike(a.columns, b.columns, tuple(known))


def _find_changed(a: Side, b: Side, facts: tuple[str, ...]) -> tuple[Rows, Rows]:
    """Return the rows of each side that have no equal: same range, same facts, same figures.

    Where regions of one side overlap each other, which only hostile input has them do, all rows are returned.
    """
    if not (a.settled.is_clean and b.settled.is_clean):
        return np.arange(len(a.rows)), np.arange(len(b.rows))
    rows_a, rows_b = find_common(a.settled.ranges, b.settled.ranges)
    at_a, at_b = a.rows[rows_a], b.rows[rows_b]
    differs = np.zeros(len(rows_a), np.bool_)
    for codes_a, codes_b in _pair_facts(a.columns, b.columns, facts, find_base):
        differs |= codes_a[at_a] != codes_b[at_b]
    for name in list_compared(a, b):
        one, two = a.columns.numbers(name), b.columns.numbers(name)
        differs |= one.values[at_a] != two.values[at_b]
        if one.known is not None or two.known is not None:
            differs |= one.take(at_a).is_known != two.take(at_b).is_known
    changed_a, changed_b = np.ones(len(a.rows), np.bool_), np.ones(len(b.rows), np.bool_)
    changed_a[rows_a[~differs]] = changed_b[rows_b[~differs]] = False
    return np.flatnonzero(changed_a), np.flatnonzero(changed_b)


def _pair_facts(
    a: RawColumns, b: RawColumns, facts: tuple[str, ...], place: Place
) -> Iterator[tuple[Codes, Codes]]:
    """Yield each fact of all rows as numbers that are equal just where the fact is the same.

    `facts` and the backing. The backing of a file is device, inode and where the file would start, so that
    the parts of one mapping have one backing, and a file that was renamed or deleted keeps it; the backing of
    everything else is its name. What a source has no column for is left out.
    """
    for name in facts:
        yield (pair_rights if name == "protection" else join_texts)(a.text(name), b.text(name))
    if "inode" in a and "inode" in b:
        for name in ("dev_major", "dev_minor", "inode"):
            yield a.numbers(name).values, b.numbers(name).values
        yield place(a), place(b)
    yield from pair_names(a, b)


def _has_no_file(columns: RawColumns) -> Bools:
    """Return which regions have no inode that tells their backing."""
    nameless: Bools = columns.numbers("inode").values == 0
    return nameless


def find_base(columns: RawColumns) -> Uints:
    """Return where the first byte of a file would lie, modulo 2^64; 0 where there is no file."""
    base = columns.numbers("address").values - columns.numbers("offset").values
    return base * ~_has_no_file(columns)


def find_offset(columns: RawColumns) -> Uints:
    """Return which byte of its file a region starts with, wherever it lies."""
    return columns.numbers("offset").values


def number_facts(a: Side, b: Side, place: Place = find_base) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the combinations of facts that occur, from 0; equal numbers mean equal facts on both sides.

    `place` is what is compared of the place in a file.
    """
    numbers: NDArray[np.int64] = np.zeros(len(a.rows) + len(b.rows), np.int64)
    for codes_a, codes_b in _pair_facts(a.columns, b.columns, a.facts, place):
        codes = number_values(np.concatenate([codes_a[a.rows], codes_b[b.rows]]))
        numbers = number_values(numbers * (codes.max(initial=0) + 1) + codes)
    return numbers[: len(a.rows)], numbers[len(a.rows) :]


def number_values(values: Codes) -> NDArray[np.int64]:
    """Number the distinct values from 0, in the order in which they come."""
    codes: NDArray[np.int64] = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return codes
