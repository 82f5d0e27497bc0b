"""The summary: VMMap's rows and columns, one row a type, and nothing counted twice or left out unsaid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.allocations import list_allocations
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.facts import get_map, get_number
from mmpscope.analysis.freespace import find_free
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.schema import COUNTERS, GATE, SUMMARY, TYPES
from mmpscope.analysis.space import has_address_space
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["summarize"]

_FREE = "Free"
_GATES = "areas that do not count"
_PAGE_TABLE_FIGURES = ("size", "committed", "private", "total_ws", "private_ws")
_FIGURES = ("size", *COUNTERS)
_SUMMED = (*_FIGURES, "blocks", "allocations")


class _Row(NamedTuple):
    """One row under construction: null where nothing is known, ``partial`` where something is left out."""

    values: dict[str, int | None]
    partial: set[str]


def summarize(snapshot: LoadedSnapshot) -> pa.Table:
    """Return schema.SUMMARY: Total, then a row for each type, in order; Total is everything but Free.

    Regions of gate areas take no part. A figure sums what is known of it: it is null where no region tells
    it (so all are without an address space), and ``partial`` names it where something is left out. So
    total_ws of Total less those of Page Table and Unusable is Rss, and size likewise VmSize, of a process
    that stood still.
    """
    rows = {name: _Row({**dict.fromkeys(_SUMMED, 0), "largest": 0}, set()) for name in TYPES}
    if not has_address_space(snapshot):
        return _build([(name, _Row({}, set())) for name in ("Total", *TYPES)])
    rows |= (of_regions := _sum_types(snapshot))
    rows |= _sum_holes(snapshot)
    rows["Page Table"] = _read_page_table(snapshot)
    total = _add_up(row for name, row in rows.items() if name != _FREE)
    _forget_unknown(total, of_regions)
    return _build([("Total", total), *rows.items()])


def _forget_unknown(total: _Row, of_regions: dict[str, _Row]) -> None:
    """Make a figure of Total null that no region tells: the zeros of empty types are no part of an answer."""
    for name in _FIGURES if of_regions else ():
        if all(row.values[name] is None for row in of_regions.values()):
            total.values[name] = None


def _sum_types(snapshot: LoadedSnapshot) -> dict[str, _Row]:
    regions = RawColumns(snapshot.regions)
    counted = ~regions.text("subtype").equals(GATE)
    types = regions.text("type")
    groups = group_by(np.where(counted, types.codes, -1))
    names = [str(types.values[types.codes[row]]) if counted[row] else _GATES for row in groups.first]
    rows = {name: _Row({"blocks": int(n)}, set()) for name, n in zip(names, groups.count, strict=True)}
    for figure in _FIGURES:
        sums = groups.sum(regions.numbers(figure))
        known = sums.numbers.is_known
        for index, name in enumerate(names):
            rows[name].values[figure] = int(sums.numbers.values[index]) if known[index] else None
            if sums.partial[index]:
                rows[name].partial.add(figure)
    _count_allocations(snapshot, rows)
    return {name: row for name, row in rows.items() if name != _GATES}


def _count_allocations(snapshot: LoadedSnapshot, rows: dict[str, _Row]) -> None:
    allocations = RawColumns(list_allocations(snapshot))
    counted = ~allocations.text("subtype").equals(GATE)
    types, size = allocations.text("type"), allocations.numbers("size").values
    for name, row in rows.items():
        of_type = counted & types.equals(name)
        row.values["allocations"] = int(of_type.sum())
        row.values["largest"] = int(size[of_type].max(initial=0))


def _sum_holes(snapshot: LoadedSnapshot) -> dict[str, _Row]:
    holes = RawColumns(find_free(snapshot))
    size, rows = holes.numbers("size").values, {}
    for name in ("Unusable", _FREE):
        of_type = holes.text("type").equals(name)
        count = int(of_type.sum())
        values = dict.fromkeys(COUNTERS, 0) | {
            "size": _sum(size[of_type]),
            "blocks": count,
            "allocations": count,
        }
        rows[name] = _Row({**values, "largest": int(size[of_type].max(initial=0))}, set())
    return rows


def _sum(values: np.ndarray) -> int:
    return int(values.sum(dtype=np.uint64))


def _read_page_table(snapshot: LoadedSnapshot) -> _Row:
    """Read the size of the page tables: VmPTE, and VmPMD, which Linux 4.0 to 4.14 counted apart."""
    status = get_map(snapshot.process, "status")
    size = get_number(status, "VmPTE")
    if size is not None:
        size += get_number(status, "VmPMD") or 0
        size = size if size < 1 << 64 else None
    return _Row({**dict.fromkeys(COUNTERS, 0), **dict.fromkeys(_PAGE_TABLE_FIGURES, size)}, set())


def _add_up(rows: Iterable[_Row]) -> _Row:
    total, everything = _Row({}, set()), list(rows)
    for name in _SUMMED:
        values = [row.values.get(name) for row in everything]
        known = [value for value in values if value is not None]
        fits = sum(known) < 1 << 64  # only hostile input goes beyond
        total.values[name] = sum(known) if known and fits else None
        lacks_rows = name in _FIGURES and len(known) < len(values)
        if not fits or lacks_rows or any(name in row.partial for row in everything):
            total.partial.add(name)
    total.values["largest"] = max((row.values.get("largest") or 0 for row in everything), default=0)
    return total


def _build(rows: list[tuple[str, _Row]]) -> pa.Table:
    columns: dict[str, object] = {"type": [name for name, _ in rows]}
    for field in SUMMARY[1:-1]:
        columns[field.name] = [row.values.get(field.name) for _, row in rows]
    partial = [", ".join(name for name in _SUMMED if name in row.partial) or None for _, row in rows]
    return build_table(SUMMARY, {**columns, "partial": partial}, len(rows))
