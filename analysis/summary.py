"""The summary: VMMap's rows and columns, one row a type, and nothing counted twice or left out unsaid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.extent import ALL, NOTHING, find_extent, has_totals
from mmpscope.analysis.facts import get_map, get_number
from mmpscope.analysis.freespace import find_free
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.schema import COUNTERS, GATE, SUMMARY, TYPES
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL, read_totals
from mmpscope.analysis.type_sums import TypeSums, sum_types

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["summarize"]

_FREE, _UNUSABLE, _PAGE_TABLE = "Free", "Unusable", "Page Table"
_PAGE_TABLE_FIGURES = ("size", "committed", "private", "total_ws", "private_ws")
_FIGURES = ("size", *COUNTERS)
_SUMMED = (*_FIGURES, "blocks", "allocations")
_OF_PARTS = "private"
"""The figure that VMMap itself sums over sub-blocks; all others it sums over allocations."""


def summarize(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.SUMMARY: Total, then a row for each type, in order; Total is everything but Free.

    Regions of gate areas take no part. A figure sums what is known of it: it is null where no region tells
    it (so all are without an address space), and ``partial`` names it where something is left out. So
    total_ws of Total less those of Page Table and Unusable is Rss, and size likewise VmSize, of a process
    that stood still. Where the source states its allocations, figures are sums over these, but private, of
    which VMMap sums the sub-blocks. Where regions are missing, the source's own totals answer, if it has any;
    else sums are of what is listed, and what is free is not known.
    """
    extent = find_extent(snapshot)
    if extent.shown == NOTHING:
        rows = {name: TypeSums({}, set()) for name in (TOTAL, *TYPES)}
    elif extent.shown != ALL and has_totals(snapshot):
        rows = _take_totals(snapshot)
    else:
        rows = _sum_regions(snapshot, is_whole=extent.shown == ALL)
    return _build([(name, rows[name]) for name in (TOTAL, *TYPES)])


def _sum_regions(snapshot: LoadedSnapshot, *, is_whole: bool) -> dict[str, TypeSums]:
    of_regions = _sum_types(snapshot)
    absent = {**dict.fromkeys(_SUMMED, 0), "largest": 0} if is_whole else {}
    rows = {name: TypeSums({**absent}, set()) for name in TYPES} | of_regions
    rows |= _sum_holes(snapshot) if is_whole else {name: _make_hole(None) for name in (_UNUSABLE, _FREE)}
    rows[_PAGE_TABLE] = _read_page_table(snapshot)
    total = _add_up(row for name, row in rows.items() if name != _FREE)
    _forget_unknown(total, of_regions)
    if not is_whole:
        for row in (total, *of_regions.values()):
            row.partial.update(name for name in (*_SUMMED, "largest") if row.values.get(name) is not None)
        rows |= {name: TypeSums({}, set()) for name in (_UNUSABLE, _FREE)}
    return {TOTAL: total, **rows}


def _take_totals(snapshot: LoadedSnapshot) -> dict[str, TypeSums]:
    """Take the figures that the source states; a total that it leaves to us is the sum of its types."""
    stated = read_totals(snapshot)
    rows = {name: TypeSums(stated.get(name, {}), set()) for name in TYPES}
    parts = [TypeSums(values, set()) for name, values in stated.items() if name not in (TOTAL, _FREE)]
    summed, whole = _add_up(parts), stated.get(TOTAL, {})
    total = TypeSums({name: whole.get(name) for name in (*_SUMMED, "largest")}, set())
    for name in total.values:
        if total.values[name] is None and parts:
            total.values[name] = summed.values[name]
            total.partial.update({name} & summed.partial)
    if _PAGE_TABLE not in stated:
        page_table = _read_page_table(snapshot)
        rows[_PAGE_TABLE] = page_table if page_table.values["size"] is not None else TypeSums({}, set())
        added = _add_up([total, page_table, _make_hole(None)])
        kept = {name: value for name, value in total.values.items() if value is None or name not in _FIGURES}
        total = TypeSums({**added.values, **kept}, {name for name in added.partial if name not in kept})
    return {TOTAL: total, **rows}


def _forget_unknown(total: TypeSums, of_regions: dict[str, TypeSums]) -> None:
    """Make a figure of Total null that no region tells: the zeros of empty types are no part of an answer."""
    for name in _FIGURES if of_regions else ():
        if all(row.values[name] is None for row in of_regions.values()):
            total.values[name] = None


def _sum_types(snapshot: LoadedSnapshot) -> dict[str, TypeSums]:
    allocations = list_allocations(snapshot)
    if snapshot.stated_allocations is None:
        rows = sum_types(snapshot.regions, _FIGURES)
    else:
        rows = sum_types(allocations, _FIGURES)
        for name, row in sum_types(_take_parts(snapshot.regions, allocations), (_OF_PARTS,)).items():
            known = rows.setdefault(name, TypeSums(dict.fromkeys((*_SUMMED, "largest")), set()))
            known.values[_OF_PARTS] = row.values[_OF_PARTS]
            known.partial.difference_update({_OF_PARTS} - row.partial)
            known.partial.update(row.partial)
    _count_allocations(RawColumns(allocations), rows)
    return rows


def _take_parts(regions: pa.Table, allocations: pa.Table) -> pa.Table:
    """Return the sub-blocks of all allocations, and in their place those allocations that they do not fill.

    Sizes are printed in KiB, each rounded for itself. Generations of a managed heap are no multiple of one:
    the sub-blocks of two heaps of a real save are 1 KiB less than the heap, of every figure.
    """
    parts, whole = RawColumns(regions), RawColumns(allocations)
    groups = group_by(parts.numbers("allocation").values)
    bases, sizes = parts.numbers("allocation").values[groups.first], groups.sum(parts.numbers("size"))
    is_part = np.isin(whole.numbers("address").values, bases)
    at = np.searchsorted(bases, whole.numbers("address").values[is_part])
    filled = np.zeros(whole.rows, np.bool_)
    filled[is_part] = sizes.numbers.values[at] == whole.numbers("size").values[is_part]
    kept = np.isin(parts.numbers("allocation").values, whole.numbers("address").values[filled])
    names = ["type", "subtype", _OF_PARTS, "blocks"]
    return pa.concat_tables(
        [regions.select(names).filter(pa.array(kept)), allocations.select(names).filter(pa.array(~filled))]
    ).unify_dictionaries()


def _count_allocations(allocations: RawColumns, rows: dict[str, TypeSums]) -> None:
    counted = ~allocations.text("subtype").equals(GATE)
    types, size = allocations.text("type"), allocations.numbers("size").values
    for name, row in rows.items():
        of_type = counted & types.equals(name)
        row.values["allocations"] = int(of_type.sum())
        row.values["largest"] = int(size[of_type].max(initial=0))


def _sum_holes(snapshot: LoadedSnapshot) -> dict[str, TypeSums]:
    holes = RawColumns(find_free(snapshot))
    size, rows = holes.numbers("size").values, {}
    for name in (_UNUSABLE, _FREE):
        of_type = holes.text("type").equals(name)
        count = int(of_type.sum()) if name == _FREE else None  # VMMap counts no blocks of what is lost
        rows[name] = _make_hole(_sum(size[of_type]), count, int(size[of_type].max(initial=0)))
    return rows


def _make_hole(size: int | None, count: int | None = None, largest: int | None = None) -> TypeSums:
    """Make the row of what holds nothing: it has a size, which may be unknown, and none of any figure."""
    values = dict.fromkeys(COUNTERS, 0) | {"blocks": count, "allocations": count}
    return TypeSums({**values, "size": size, "largest": largest}, set())


def _sum(values: np.ndarray) -> int:
    return int(values.sum(dtype=np.uint64))


def _read_page_table(snapshot: LoadedSnapshot) -> TypeSums:
    """Read the size of the page tables as the source has it (VMMap), else from the status of Linux.

    There it is VmPTE, and VmPMD, which Linux 4.0 to 4.14 counted apart.
    """
    size = get_number(snapshot.process, "page_table")
    status = get_map(snapshot.process, "status")
    if size is None and (size := get_number(status, "VmPTE")) is not None:
        size += get_number(status, "VmPMD") or 0
        size = size if size < 1 << 64 else None
    return TypeSums({**dict.fromkeys(COUNTERS, 0), **dict.fromkeys(_PAGE_TABLE_FIGURES, size)}, set())


def _add_up(rows: Iterable[TypeSums]) -> TypeSums:
    total, everything = TypeSums({}, set()), list(rows)
    for name in _SUMMED:
        values = [row.values.get(name) for row in everything]
        known = [value for value in values if value is not None]
        fits = sum(known) < 1 << 64  # only hostile input goes beyond
        total.values[name] = sum(known) if known and fits else None
        lacks_rows = name in _FIGURES and len(known) < len(values)
        if not fits or lacks_rows or any(name in row.partial for row in everything):
            total.partial.add(name)
    known = [size for row in everything if (size := row.values.get("largest")) is not None]
    total.values["largest"] = max(known, default=None)
    return total


def _build(rows: list[tuple[str, TypeSums]]) -> pa.Table:
    columns: dict[str, object] = {"type": [name for name, _ in rows]}
    for field in SUMMARY[1:-1]:
        columns[field.name] = [row.values.get(field.name) for _, row in rows]
    named = (*_SUMMED, "largest")
    partial = [", ".join(name for name in named if name in row.partial) or None for _, row in rows]
    return build_table(SUMMARY, {**columns, "partial": partial}, len(rows))
