"""Snapshots written by hand: a few regions and facts, in the shape that loading gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.freespace import Holes, list_holes
from mmpscope.analysis.regions import SUMMED
from mmpscope.analysis.schema import CAPABILITY, COUNTERS, GATE, MODULES, REGIONS, THREADS, Field
from mmpscope.analysis.summary import sum_snapshot
from mmpscope.analysis.type_sums import TypeSums, sum_regions
from mmpscope.formats.model import Capability, Capture, Snapshot

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

__all__ = ["GATE_AREA", "PAGE", "make_regions", "make_snapshot", "region"]

PAGE = 4096
Row = dict[str, Any]

_TEXT = pa.dictionary(pa.int32(), pa.string())
_RAW = {
    "offset": pa.uint64(),
    "dev_major": pa.uint64(),
    "dev_minor": pa.uint64(),
    "inode": pa.uint64(),
    "path": _TEXT,
    "VmFlags": _TEXT,
    "Private_Clean": pa.uint64(),
    "Shared_Hugetlb": pa.uint64(),
    "Private_Hugetlb": pa.uint64(),
    "Shared_Clean": pa.uint64(),
}


@dataclass
class _HandMade:
    """The attributes of a loaded snapshot that answers ask for."""

    regions: pa.Table
    label: str = "hand.mmp#0"
    process: dict[str, Any] = field(default_factory=dict)
    moment: dict[str, Any] = field(default_factory=dict)
    capture: Capture = field(default_factory=Capture)
    threads: pa.Table = field(default_factory=lambda: _make_table(THREADS, ()))
    modules: pa.Table = field(default_factory=lambda: _make_table(MODULES, ()))
    capability: pa.Table = field(default_factory=lambda: _make_table(CAPABILITY, ()))
    usable_range: tuple[int, int, str] = (0x10000, 0x7FFF_FFFF_F000, "written by hand")
    granularity: int = PAGE
    page_size: int = PAGE
    stated_allocations: pa.Table | None = None
    last_of: int = 1

    @cached_property
    def classified(self) -> SimpleNamespace:
        """What was found on the way to the regions, as far as allocations, sums and holes take it."""
        columns = RawColumns(self.regions)
        counted = ~columns.text("subtype").equals(GATE)
        sums = sum_regions(columns, SUMMED, np.zeros(columns.rows, np.int64), 1).list_rows(0)
        return SimpleNamespace(told=columns.text("details"), columns=columns, counted=counted, sums=sums)

    @cached_property
    def type_sums(self) -> tuple[dict[str, TypeSums], dict[str, set[str]]]:
        """The rows of its summary before they are a table."""
        return sum_snapshot(cast("LoadedSnapshot", self))

    @property
    def raw_regions(self) -> pa.Table:
        """The regions too: what is asked of them here they have."""
        return self.regions

    @property
    def raw_columns(self) -> RawColumns:
        """The same for numpy."""
        return RawColumns(self.regions)

    @property
    def stated_capability(self) -> list[Capability]:
        """Its rows before they are a table."""
        return [Capability(**row) for row in self.capability.to_pylist()]

    @cached_property
    def holes(self) -> Holes:
        """What is free."""
        return list_holes(cast("LoadedSnapshot", self))

    @cached_property
    def raw(self) -> Snapshot:
        """The raw snapshot, without tables; its capability list may be written to."""
        return Snapshot(self.capture, self.process, self.moment)


def region(address: int, size: int, type_: str = "Private Data", **columns: Any) -> Row:
    """Write one region; figures are known to be 0 unless given, text is null unless given."""
    row: Row = dict.fromkeys(COUNTERS, 0)
    row |= {"address": address, "size": size, "end": address + size, "type": type_, "protection": "rw-p"}
    row |= {"state": "committed", "allocation": address, "blocks": 1, "committed": size, "private": size}
    row |= {"offset": 0, "dev_major": 0, "dev_minor": 0, "inode": 0, "details": columns.get("path")}
    return row | columns


GATE_AREA = region(0xFFFF_FFFF_FF60_0000, PAGE, path="[vsyscall]", subtype=GATE)
"""What is left of a process that gave all its memory back: it has an address space, and nothing in it."""


def make_regions(rows: Iterable[Row]) -> pa.Table:
    """Put regions into a table of schema.REGIONS and the raw columns that answers look at."""
    rows = list(rows)
    raw = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in _RAW.items()}
    table = _make_table(REGIONS, rows)
    for name, values in raw.items():
        table = table.append_column(name, values)
    return table


def _make_table(fields: Iterable[Field], rows: Iterable[Row]) -> pa.Table:
    rows = list(rows)
    return pa.table({f.name: pa.array([row.get(f.name) for row in rows], _find_type(f)) for f in fields})


def _find_type(field: Field) -> pa.DataType:
    return _TEXT if field.type == "string" else pa.type_for_alias(field.type)


def make_snapshot(
    rows: Iterable[Row] | pa.Table = (GATE_AREA,),
    *,
    host: Mapping[str, Any] | None = None,
    system: Mapping[str, Any] | None = None,
    threads: Iterable[Row] = (),
    modules: Iterable[Row] = (),
    capability: Iterable[Row] = (),
    **attributes: Any,
) -> LoadedSnapshot:
    """Make a snapshot of some regions; further attributes as in `process={"pid": 1}`."""
    made = _HandMade(
        rows if isinstance(rows, pa.Table) else make_regions(rows),
        capture=Capture(host=dict(host or {}), system=dict(system or {})),
        threads=_make_table(THREADS, threads),
        modules=_make_table(MODULES, modules),
        capability=_make_table(CAPABILITY, capability),
        **attributes,
    )
    return cast("LoadedSnapshot", made)
