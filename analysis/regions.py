"""The regions table: figures, class, allocation and details of every region, then the raw columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text, Uints
from mmpscope.analysis.facts import as_number, get_list, get_map, get_number
from mmpscope.analysis.families import Family, find_family
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.layout import Layout
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.schema import COUNTERS, GATE, REGIONS, TYPES
from mmpscope.analysis.space import find_bits, read_bits
from mmpscope.analysis.tables import build_table, keep_exact_in_pandas
from mmpscope.analysis.type_sums import TypeSums, sum_regions
from mmpscope.formats.errors import CorruptError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "SUMMED",
    "Described",
    "Found",
    "Regions",
    "build_regions",
    "classify_regions",
    "gather_columns",
    "gather_surroundings",
    "make_regions",
    "read_ranges",
]

SUMMED = ("size", *COUNTERS)
"""The figures of which sums are made."""
_NOT_SHOWN = ("start", "size", "layout")
"""Raw columns that are left out: address and size hold two, and layout is about text, not memory."""


class Found(NamedTuple):
    """What rules and formulas made of regions; ``sums`` are added up when they are asked for, if not yet."""

    classes: Classes
    figures: Mapping[str, Numbers]
    faults: Faults
    sums: Mapping[str, TypeSums] | None = None


@dataclass(frozen=True, eq=False)
class Regions:
    """What is known of the regions of a snapshot, in address order, and on the way to it.

    ``columns`` are what sums need: address, size, end, allocation, type, subtype, blocks and every figure.
    ``counted`` are all regions but the gate areas, which are no memory of the process. Words for people, and
    the table, are made when they are asked for: who looks at many snapshots asks for neither.
    """

    columns: RawColumns
    classes: Classes
    layout: Layout
    counted: Bools
    _family: Family
    _around: Surroundings
    _found: Found
    _names: tuple[str, str]

    @cached_property
    def sums(self) -> Mapping[str, TypeSums]:
        """Figures, blocks and allocations by type; of a type that has no region there is none."""
        if self._found.sums is not None:
            return self._found.sums
        return sum_regions(self.columns, SUMMED, np.zeros(self.layout.rows, np.int64), 1).list_rows(0)

    @cached_property
    def told(self) -> Text:
        """Details without what sets the parts of an allocation apart."""
        return self._family.describe_regions(self.layout, self.classes, self._around)

    @cached_property
    def table(self) -> pa.Table:
        """schema.REGIONS, then the raw columns."""
        family, layout, raw, classes = self._family, self.layout, self.layout.raw, self.classes
        label, rules_version = self._names
        numbers = {name: self.columns.numbers(name) for name in ("address", "size", "end", "allocation")}
        columns = {
            "snapshot": Text.repeat(label, raw.rows),
            **numbers,
            **_name_classes(classes),
            "state": family.describe_state(raw, layout.rights),
            "protection": family.describe_protection(raw),
            **self._found.figures,
            "blocks": np.ones(raw.rows, np.uint32),
            "details": family.describe_parts(self.told, layout, classes, self._around),
            "fault": self._found.faults.describe(),
        }
        return _append_raw(build_table(REGIONS, columns, raw.rows), raw.table, rules_version)


class Described(Protocol):
    """Regions with all that is said of them: one snapshot, or a stack of several as one (stack_tables.py)."""

    @property
    def regions(self) -> pa.Table:
        """schema.REGIONS, then the raw columns."""
        ...

    @property
    def classified(self) -> Regions:
        """The regions with what was found on the way to them."""
        ...

    @property
    def stated_allocations(self) -> pa.Table | None:
        """The allocations that the source states; None where it states none."""
        ...

    @property
    def threads(self) -> pa.Table:
        """schema.THREADS."""
        ...

    @property
    def modules(self) -> pa.Table:
        """schema.MODULES."""
        ...

    def decode_raw(self, name: str) -> RawColumns:
        """Return one raw table."""
        ...

    def find_shared(self, name: str) -> pa.Table | None:
        """Return a table that was made together with those of other snapshots; None where it was not."""
        ...


def build_regions(snapshot: LoadedSnapshot) -> Regions:
    """Find out about the regions of a snapshot; CorruptError where a range ends beyond the last address."""
    raw = snapshot.raw_columns
    start, end = read_ranges(raw)
    family, around = find_family(raw), gather_surroundings(snapshot)
    layout = Layout(raw, start, end, family.read_rights(raw), family.read_names(raw, around))
    found = classify_regions(family, layout, around, snapshot.rules)
    return make_regions(snapshot, family, around, layout, found)


def classify_regions(
    family: Family, layout: Layout, around: Surroundings, rules: Sequence[Rule] = ()
) -> Found:
    """Compute figures, note what contradicts itself, and let the rules claim every region."""
    faults = Faults(layout.rows)
    faults.add(_overlaps(layout), "it begins below the end of a region before it")
    size = Numbers(layout.size)
    figures = family.compute_figures(layout.raw, size, around.page, layout.rights, faults)
    return Found(family.classifier(layout, around, rules).run(), figures, faults)


def make_regions(
    snapshot: LoadedSnapshot, family: Family, around: Surroundings, layout: Layout, found: Found
) -> Regions:
    """Put together what was found about the regions of one snapshot."""
    columns = gather_columns(layout, found)
    counted = ~found.classes.subtype.equals(GATE)
    names = (snapshot.label, snapshot.rules_version)
    return Regions(columns, found.classes, layout, counted, family, around, found, names)


def gather_columns(layout: Layout, found: Found) -> RawColumns:
    """Return the columns that sums need."""
    classes = found.classes
    columns: dict[str, Numbers | Text] = {
        "address": Numbers(layout.start),
        "size": Numbers(layout.size),
        "end": Numbers(layout.end),
        "allocation": Numbers(classes.allocation),
        "type": Text(classes.type.astype(np.int32), (*TYPES, None)),
        "subtype": classes.subtype,
        "blocks": Numbers(np.ones(layout.rows, np.uint64)),
        **{name: figure.cleared() for name, figure in found.figures.items()},
    }
    return RawColumns.gather(columns, layout.rows)


def read_ranges(raw: RawColumns) -> tuple[Uints, Uints]:
    """Return where regions start and end; CorruptError where that is not known, or beyond 2^64."""
    start, size = raw.numbers("start"), raw.numbers("size")
    if raw.rows and not (start.is_known.all() and size.is_known.all()):
        raise CorruptError("a region has no address or no size", field="table regions")
    end = start.values + size.values
    if (end < start.values).any():
        raise CorruptError("a range ends beyond 2^64", field="table regions")
    return start.values, end


def _overlaps(layout: Layout) -> Bools:
    overlaps = np.zeros(layout.rows, np.bool_)
    overlaps[1:] = layout.start[1:] < np.maximum.accumulate(layout.end)[:-1]
    return overlaps


def _name_classes(classes: Classes) -> dict[str, Text]:
    def name(words: list[str]) -> Text:
        distinct = list(dict.fromkeys(words))
        codes = np.array([distinct.index(word) for word in words], np.int32)
        return Text(codes[classes.rule], (*distinct, None))

    return {
        "type": Text(classes.type.astype(np.int32), (*TYPES, None)),
        "subtype": classes.subtype,
        "rule": name([rule.id for rule in classes.rules]),
        "confidence": name([rule.confidence for rule in classes.rules]),
    }


def gather_surroundings(snapshot: LoadedSnapshot) -> Surroundings:
    """Take what rules look at besides the regions."""
    status, limits = (get_map(snapshot.process, name) for name in ("status", "limits"))
    threads = snapshot.decode_raw("threads")
    soft = get_list(limits, "Max stack size")
    return Surroundings(
        threads=threads,
        modules=snapshot.decode_raw("modules"),
        segments=snapshot.decode_raw("segments"),
        allocations=snapshot.decode_raw("allocations"),
        heaps=snapshot.decode_raw("heaps"),
        sections=snapshot.decode_raw("sections"),
        page=snapshot.page_size,
        bits=read_bits(snapshot.process) or find_bits(snapshot.process, snapshot.usable_range.end),
        thread_count=threads.rows or get_number(status, "Threads"),
        stack_limit=as_number(soft[0]) if soft else None,
        peb=get_number(snapshot.process, "peb"),
    )


def _append_raw(table: pa.Table, raw: pa.Table, rules_version: str) -> pa.Table:
    """Append the raw columns; one that has the name of a column of ours becomes raw.NAME."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name in raw.column_names:
        if name not in _NOT_SHOWN:
            columns[f"raw.{name}" if name in columns else name] = raw.column(name)
    return keep_exact_in_pandas(pa.table(columns, metadata={"mmpscope.rules": rules_version}))
