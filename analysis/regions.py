"""The regions table: figures, class, allocation and details of every region, then the raw columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.classify import Classes, Surroundings
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text, Uints
from mmpscope.analysis.facts import as_number, get_list, get_map, get_number
from mmpscope.analysis.families import find_family
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.layout import Layout
from mmpscope.analysis.schema import REGIONS, TYPES
from mmpscope.analysis.space import find_bits
from mmpscope.analysis.tables import build_table, keep_exact_in_pandas
from mmpscope.formats.errors import CorruptError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Regions", "build_regions"]

_NOT_SHOWN = ("start", "size", "layout")
"""Raw columns that are left out: address and size hold two, and layout is about text, not memory."""


class Regions(NamedTuple):
    """The table, and what was found on the way to it; ``told`` are details without what sets parts apart."""

    table: pa.Table
    classes: Classes
    layout: Layout
    told: Text


def build_regions(snapshot: LoadedSnapshot) -> Regions:
    """Compute schema.REGIONS of a snapshot; CorruptError where a range ends beyond the last address."""
    raw = RawColumns(snapshot.raw_regions)
    start, end = _read_ranges(raw)
    size = Numbers(end - start)
    family, surroundings, faults = find_family(raw), _gather(snapshot), Faults(raw.rows)
    rights = family.read_rights(raw)
    layout = Layout(raw, start, end, rights, family.read_names(raw, surroundings))
    faults.add(_overlaps(layout), "it begins below the end of a region before it")
    figures = family.compute_figures(raw, size, snapshot.page_size, rights, faults)
    classes = family.classifier(layout, surroundings, snapshot.rules).run()
    told = family.describe_regions(layout, classes, surroundings)
    columns = {
        "snapshot": Text.repeat(snapshot.label, raw.rows),
        "address": Numbers(start),
        "size": size,
        "end": Numbers(end),
        "allocation": Numbers(classes.allocation),
        **_name_classes(classes),
        "state": family.describe_state(raw, rights),
        "protection": family.describe_protection(raw),
        **figures,
        "blocks": np.ones(raw.rows, np.uint32),
        "details": family.describe_parts(told, layout, classes, surroundings),
        "fault": faults.describe(),
    }
    return Regions(_append_raw(build_table(REGIONS, columns, raw.rows), snapshot), classes, layout, told)


def _read_ranges(raw: RawColumns) -> tuple[Uints, Uints]:
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


def _gather(snapshot: LoadedSnapshot) -> Surroundings:
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
        bits=find_bits(snapshot.process, snapshot.usable_range.end),
        thread_count=threads.rows or get_number(status, "Threads"),
        stack_limit=as_number(soft[0]) if soft else None,
        peb=get_number(snapshot.process, "peb"),
    )


def _append_raw(table: pa.Table, snapshot: LoadedSnapshot) -> pa.Table:
    """Append the raw columns; one that has the name of a column of ours becomes raw.NAME."""
    raw, columns = snapshot.raw_regions, dict(zip(table.column_names, table.columns, strict=True))
    for name in raw.column_names:
        if name not in _NOT_SHOWN:
            columns[f"raw.{name}" if name in columns else name] = raw.column(name)
    rules = {"mmpscope.rules": snapshot.rules_version}
    return keep_exact_in_pandas(pa.table(columns, metadata=rules))
