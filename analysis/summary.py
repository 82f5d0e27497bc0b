"""The summary: VMMap's rows and columns, one row a type, and nothing counted twice or left out unsaid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations, list_private_parts
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.extent import ALL, NOTHING, find_extent, has_totals
from mmpscope.analysis.facts import get_map, get_number
from mmpscope.analysis.schema import COUNTERS, GATE, SUMMARY, TYPES
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.type_sums import TypeSums, sum_types
from mmpscope.analysis.untold import find_untold

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "PAGE_TABLE_FIGURES",
    "Summary",
    "read_page_table",
    "sum_rows",
    "sum_snapshot",
    "sum_up",
    "summarize",
]

_FREE, _UNUSABLE, _PAGE_TABLE = "Free", "Unusable", "Page Table"
_OUTSIDE = (_PAGE_TABLE, _UNUSABLE)
PAGE_TABLE_FIGURES = ("size", "committed", "private", "total_ws", "private_ws")
"""The figures that page tables have: all of them is private and resident."""
_FIGURES = ("size", *COUNTERS)
_SUMMED = (*_FIGURES, "blocks", "allocations")
_LeftOut = dict[str, set[str]]
_OF_PARTS = "private"
"""The figure that VMMap itself sums over sub-blocks; all others it sums over allocations."""


class Summary(NamedTuple):
    """``table`` is that of `summarize`; ``left_out`` names for each figure the types that Total lacks.

    Total lacks a type of which something is not known, as its row says: null, or partial.
    """

    table: pa.Table
    left_out: Mapping[str, frozenset[str]]


def summarize(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.SUMMARY: Total, then a row for each type, in order; Total is everything but Free.

    Regions of gate areas take no part. A figure sums what is known of it: it is null where no region tells
    it (so all are without an address space), and ``partial`` names it where something is left out. So
    total_ws of Total less those of Page Table and Unusable is Rss, and size likewise VmSize, of a process
    that stood still. A type that the source cannot tell from Private Data (untold.py) is null, and nothing is
    missing from Total for it. Where the source states its allocations, figures are sums over these, but
    private, of which VMMap sums the sub-blocks. Where regions are missing, the source's own totals answer, if
    it has any; else sums are of what is listed, and what is free is not known.
    """
    return sum_up(snapshot).table


def sum_up(snapshot: LoadedSnapshot) -> Summary:
    """Return the answer of `summarize`, and what its Total leaves out."""
    rows, left_out = snapshot.type_sums
    named = {name: frozenset(left_out.get(name, ())) for name in _SUMMED}
    return Summary(_build([(name, rows[name]) for name in (TOTAL, *TYPES)]), named)


def sum_rows(snapshot: LoadedSnapshot) -> Mapping[str, TypeSums]:
    """Return the rows of `summarize` by type before they are a table: of many snapshots one table is made."""
    return snapshot.type_sums[0]


def sum_snapshot(snapshot: LoadedSnapshot) -> tuple[dict[str, TypeSums], _LeftOut]:
    """Sum up the rows of `summarize`, and what Total lacks; a snapshot keeps the answer (type_sums)."""
    extent = find_extent(snapshot)
    if extent.shown == NOTHING:
        return {name: TypeSums({}, set()) for name in (TOTAL, *TYPES)}, _LeftOut()
    if extent.shown != ALL and has_totals(snapshot):
        return _take_totals(snapshot)
    return _sum_regions(snapshot, is_whole=extent.shown == ALL)


def _sum_regions(snapshot: LoadedSnapshot, *, is_whole: bool) -> tuple[dict[str, TypeSums], _LeftOut]:
    of_regions = _sum_types(snapshot)
    absent = {**dict.fromkeys(_SUMMED, 0), "largest": 0} if is_whole else {}
    rows = {name: TypeSums({**absent}, set()) for name in TYPES} | of_regions
    rows |= _sum_holes(snapshot) if is_whole else {name: _make_hole(None) for name in (_UNUSABLE, _FREE)}
    rows[_PAGE_TABLE] = _make_page_table(snapshot)
    total, left_out = _add_up({name: row for name, row in rows.items() if name != _FREE})
    _forget_unknown(total, of_regions)
    if not is_whole:
        for row in (total, *of_regions.values()):
            row.partial.update(name for name in (*_SUMMED, "largest") if row.values.get(name) is not None)
        rows |= {name: TypeSums({}, set()) for name in (_UNUSABLE, _FREE)}
    rows |= {name: TypeSums({}, set()) for name in find_untold(snapshot) if name not in of_regions}
    return {TOTAL: total, **rows}, left_out


def _take_totals(snapshot: LoadedSnapshot) -> tuple[dict[str, TypeSums], _LeftOut]:
    """Take the figures that the source states. Total is the sum of the rows, if there are any.

    A total that the source states besides is rounded as a rule (1.5G of vmmap), and less than its own rows;
    it stands for a figure that only some rows have, or none, as all of a roll-up.
    """
    stated = snapshot.stated_totals
    rows = {name: TypeSums(stated.get(name, {}), set()) for name in TYPES}
    outside = {_PAGE_TABLE: _make_page_table(snapshot), _UNUSABLE: _make_hole(None)}
    if outside[_PAGE_TABLE].values["size"] is not None:
        rows[_PAGE_TABLE] = outside[_PAGE_TABLE]
    for name in stated.keys() & outside.keys():
        rows[name] = outside[name] = TypeSums(stated[name], set())
    parts = {name: rows[name] for name in stated if name not in (TOTAL, _FREE, *_OUTSIDE)}
    inside, lacking = _add_up(parts)
    for name in _SUMMED:
        value, known = _read_inside(stated, name), inside.values[name]
        if value is not None and (known is None or (lacking[name] and value > known)):
            inside.values[name], lacking[name] = value, set()
            inside.partial.discard(name)
    if inside.values["largest"] is None:
        inside.values["largest"] = stated.get(TOTAL, {}).get("largest")
    total, left_out = _add_up({TOTAL: inside, **outside})
    for name in _SUMMED:
        left_out[name] = (left_out[name] - {TOTAL}) | lacking[name]
        if inside.values[name] is None:
            total.values[name] = None
    return {TOTAL: total, **rows}, left_out


def _read_inside(stated: Mapping[str, Mapping[str, int | None]], name: str) -> int | None:
    """Read a stated total without what it has that is no region: it has that if it lists it."""
    whole = stated.get(TOTAL, {}).get(name)
    outside = sum(stated[type_].get(name) or 0 for type_ in _OUTSIDE if type_ in stated)
    return whole - outside if whole is not None and whole >= outside else None


def _forget_unknown(total: TypeSums, of_regions: dict[str, TypeSums]) -> None:
    """Make a figure of Total null that no region tells: the zeros of empty types are no part of an answer."""
    for name in _FIGURES if of_regions else ():
        if all(row.values[name] is None for row in of_regions.values()):
            total.values[name] = None


def _sum_types(snapshot: LoadedSnapshot) -> dict[str, TypeSums]:
    if snapshot.stated_allocations is None:
        return {name: row.copy() for name, row in snapshot.classified.sums.items()}
    allocations = list_allocations(snapshot)
    rows = sum_types(RawColumns(allocations), _FIGURES)
    parts = RawColumns(list_private_parts(snapshot.regions, allocations))
    for name, row in sum_types(parts, (_OF_PARTS,)).items():
        known = rows.setdefault(name, TypeSums(dict.fromkeys((*_SUMMED, "largest")), set()))
        known.values[_OF_PARTS] = row.values[_OF_PARTS]
        known.partial.difference_update({_OF_PARTS} - row.partial)
        known.partial.update(row.partial)
    _count_allocations(RawColumns(allocations), rows)
    return rows


def _count_allocations(allocations: RawColumns, rows: dict[str, TypeSums]) -> None:
    counted = ~allocations.text("subtype").equals(GATE)
    types, size = allocations.text("type"), allocations.numbers("size").values
    for name, row in rows.items():
        of_type = counted & types.equals(name)
        row.values["allocations"] = int(of_type.sum())
        row.values["largest"] = int(size[of_type].max(initial=0))


def _sum_holes(snapshot: LoadedSnapshot) -> dict[str, TypeSums]:
    holes, rows = snapshot.holes, {}
    size = holes.ranges.size
    for name in (_UNUSABLE, _FREE):
        of_type = holes.unusable == (name == _UNUSABLE)
        count = int(of_type.sum()) if name == _FREE else None  # VMMap counts no blocks of what is lost
        rows[name] = _make_hole(_sum(size[of_type]), count, int(size[of_type].max(initial=0)))
    return rows


def _make_hole(size: int | None, count: int | None = None, largest: int | None = None) -> TypeSums:
    """Make the row of what holds nothing: it has a size, which may be unknown, and none of any figure."""
    values = dict.fromkeys(COUNTERS, 0) | {"blocks": count, "allocations": count}
    return TypeSums({**values, "size": size, "largest": largest}, set())


def _sum(values: np.ndarray) -> int:
    return int(values.sum(dtype=np.uint64))


def read_page_table(snapshot: LoadedSnapshot) -> int | None:
    """Read the size of the page tables as the source has it (VMMap), else from the status of Linux.

    There it is VmPTE, and VmPMD, which Linux 4.0 to 4.14 counted apart.
    """
    size = get_number(snapshot.process, "page_table")
    status = get_map(snapshot.process, "status")
    if size is None and (size := get_number(status, "VmPTE")) is not None:
        size += get_number(status, "VmPMD") or 0
        size = size if size < 1 << 64 else None
    return size


def _make_page_table(snapshot: LoadedSnapshot) -> TypeSums:
    size = read_page_table(snapshot)
    return TypeSums({**dict.fromkeys(COUNTERS, 0), **dict.fromkeys(PAGE_TABLE_FIGURES, size)}, set())


def _add_up(rows: Mapping[str, TypeSums]) -> tuple[TypeSums, _LeftOut]:
    """Add up what is known; also return the types of which something is left out, for each figure."""
    total, left_out = TypeSums({}, set()), _LeftOut()
    for name in _SUMMED:
        values = {type_: row.values.get(name) for type_, row in rows.items()}
        known = [value for value in values.values() if value is not None]
        fits = sum(known) < 1 << 64  # only hostile input goes beyond
        total.values[name] = sum(known) if known and fits else None
        left_out[name] = {
            type_
            for type_, row in rows.items()
            if name in row.partial or (values[type_] is None and name in _FIGURES)
        }
        if not fits or left_out[name]:
            total.partial.add(name)
    known = [size for row in rows.values() if (size := row.values.get("largest")) is not None]
    total.values["largest"] = max(known, default=None)
    return total, left_out


def _build(rows: list[tuple[str, TypeSums]]) -> pa.Table:
    columns: dict[str, object] = {"type": [name for name, _ in rows]}
    for field in SUMMARY[1:-1]:
        columns[field.name] = [row.values.get(field.name) for _, row in rows]
    named = (*_SUMMED, "largest")
    partial = [", ".join(name for name in named if name in row.partial) or None for _, row in rows]
    return build_table(SUMMARY, {**columns, "partial": partial}, len(rows))
