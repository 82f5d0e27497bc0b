"""Captures and summaries of snapshots that were classified as one: all of their rows at once.

A short cut for maps of Linux that list every region; what is not so plain answers None, and is measured one
by one (measure.py, which says what each figure means).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Bools, Numbers, Text, Uints
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.joined import Joined
from mmpscope.analysis.layout import Rows
from mmpscope.analysis.mapping_count import MappingCount, read_mapping_limit
from mmpscope.analysis.measures.captures import NEEDED, SHOWN, count_threads, name_lacks, read_facts
from mmpscope.analysis.measures.limits import Limit, list_limits
from mmpscope.analysis.measures.schema import CAPTURES, LIMITS, SUMMARIES
from mmpscope.analysis.schema import COUNTERS, SUMMARY, TYPES
from mmpscope.analysis.space import GATE_NAMES, UsableRange, is_like_linux, judge_usable_range
from mmpscope.analysis.summary import PAGE_TABLE_FIGURES, read_page_table
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.type_sums import SlotSums

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.stacking import Stack

__all__ = ["measure_stack"]

_PAGE_TABLE, _UNUSABLE, _FREE = (TYPES.index(name) for name in ("Page Table", "Unusable", "Free"))
_MADE = [_PAGE_TABLE, _UNUSABLE, _FREE]
"""Types of which no region is, as a rule: their rows are made."""
_FIGURES = ("size", *COUNTERS)
_SUMMED = (*_FIGURES, "blocks", "allocations")
_SHOWN = tuple(field.name for field in SUMMARY[1:-1])
_LAST = (1 << 64) - 1
_SMALL = np.uint64(1 << 59)
"""Sums of a few numbers below this one are below 2^64."""


def measure_stack(stack: Stack, wanted: Collection[str]) -> dict[str, tuple[pa.Table, Rows]] | None:
    """Return captures, summaries and limits, as wanted, and of each row its number in the stack.

    Without ids. None where the snapshots have to be measured one by one; FormatError where one is damaged.
    """
    if not _can_measure(stack) or (holes := _measure_holes(stack)) is None:
        return None
    sums, mapped = _sum_stack(stack, holes), _count_mapped(stack)
    numbers = np.arange(len(stack.parts))
    found: dict[str, tuple[pa.Table, Rows]] = {}
    if "captures" in wanted:
        found["captures"] = _list_captures(stack, sums, holes, mapped), numbers
    if "summaries" in wanted:
        columns = {"type": sums.types, **sums.list_columns(slice(None))}
        slot = np.repeat(numbers, 1 + len(TYPES))
        found["summaries"] = build_table(SUMMARIES[1:], columns, len(slot)), slot
    if "limits" in wanted:
        found["limits"] = _list_limits(stack, holes, mapped)
    return found


@dataclass(frozen=True)
class _Holes:
    """What is free and unusable, one number for each snapshot."""

    free: Uints
    largest_free: Uints
    free_blocks: Rows
    unusable: Uints
    largest_unusable: Uints


@dataclass(frozen=True)
class _Sums:
    """Summaries, by figure (summary's columns), snapshot and row: Total, then schema.TYPES."""

    values: Uints
    known: Bools
    partial: Bools

    def list_columns(self, rows: slice) -> Mapping[str, object]:
        """Return the columns of schema.SUMMARY of some rows of each summary, but for the type."""
        columns: dict[str, object] = {}
        for place, name in enumerate(_SHOWN):
            known = self.known[place, :, rows].ravel()
            columns[name] = Numbers(self.values[place, :, rows].ravel(), None if known.all() else known)
        partial = self.partial[:, :, rows].reshape(len(_SHOWN), -1)
        told: list[str | None] = [None] * partial.shape[1]
        for row in np.flatnonzero(partial.any(axis=0)).tolist():
            told[row] = ", ".join(compress(_SHOWN, partial[:, row].tolist()))
        columns["partial"] = told
        return columns

    @property
    def types(self) -> Text:
        """The type of each row of all summaries."""
        codes = np.tile(np.arange(1 + len(TYPES), dtype=np.int32), self.values.shape[1])
        return Text(codes, (TOTAL, *TYPES, None))


def _list_captures(stack: Stack, sums: _Sums, holes: _Holes, mapped: Rows) -> pa.Table:
    snapshots = [part.snapshot for part in stack.parts]
    for name in ("path", "build_id"):  # each then finds its program in what was read for all
        Joined([snapshot.decode_raw("modules") for snapshot in snapshots]).text(name)
    facts = [read_facts(snapshot) for snapshot in snapshots]
    free, largest = holes.free.tolist(), holes.largest_free.tolist()
    lacks = _list_lacks(sums)
    columns: dict[str, object] = {
        **{name: [fact[name] for fact in facts] for name in facts[0]},
        "extent": [SHOWN[ALL]] * len(facts),
        "complete": [each is None for each in lacks],
        "lacks": lacks,
        **sums.list_columns(slice(0, 1)),
        "free_size": holes.free,
        "largest_free": holes.largest_free,
        "free_blocks": holes.free_blocks,
        "external_fragmentation": [
            (size - most) / size if size else None for size, most in zip(free, largest, strict=True)
        ],
        "mappings": mapped,
        "mappings_limit": [read_mapping_limit(snapshot.capture) for snapshot in snapshots],
        "threads": [count_threads(snapshot) for snapshot in snapshots],
        "modules": _count_loaded(stack),
    }
    return build_table(CAPTURES[1:], columns, len(facts))


def _list_lacks(sums: _Sums) -> list[str | None]:
    """Say of each snapshot what is not known, or in part; None for nothing."""
    is_told = sums.known[_SHOWN.index("size"), :, 1:]
    unknown, partial = (np.zeros((len(NEEDED), len(is_told)), np.bool_) for _ in range(2))
    for number, name in enumerate(NEEDED):
        place = _SHOWN.index(name)
        unknown[number] = ~sums.known[place, :, 0]
        lacks = sums.partial[place, :, 1:] | ~sums.known[place, :, 1:]
        partial[number] = (lacks & is_told).any(axis=1) & ~unknown[number]
    told: list[str | None] = [None] * len(is_told)
    for number in np.flatnonzero((unknown | partial).any(axis=0)).tolist():
        names = (list(compress(NEEDED, mask[:, number].tolist())) for mask in (unknown, partial))
        told[number] = "; ".join(name_lacks(*names))
    return told


def _list_limits(stack: Stack, holes: _Holes, mapped: Rows) -> tuple[pa.Table, Rows]:
    rows: list[Limit] = []
    numbers: list[int] = []
    told = zip(stack.parts, holes.free.tolist(), mapped.tolist(), strict=True)
    for number, (part, free, count) in enumerate(told):
        low, high, _ = part.snapshot.usable_range
        mappings = MappingCount(count, read_mapping_limit(part.snapshot.capture))
        own = list(list_limits(part.snapshot, high - low - free, mappings))
        rows += own
        numbers += [number] * len(own)
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in LIMITS[1:]}
    return build_table(LIMITS[1:], columns, len(rows)), np.array(numbers, np.int64)


def _can_measure(stack: Stack) -> bool:
    """Tell if all of a stack are plain enough: whole maps of Linux with inodes, and small numbers."""
    raw = stack.parts[0].raw
    if "inode" not in raw or "State" in raw or stack.sums.present[:, _MADE].any():
        return False
    if (stack.sums.values >= _SMALL).any():
        return False
    snapshots = [part.snapshot for part in stack.parts]
    return all(
        is_like_linux(each.capture) and each.stated_allocations is None and find_extent(each).shown == ALL
        for each in snapshots
    )


def _measure_holes(stack: Stack) -> _Holes | None:
    """Measure what no region covers, and note the usable range of each; None where regions overlap.

    The definitions are those of freespace.find_holes.
    """
    parts, slot, counted = stack.parts, stack.slot, stack.classified.counted
    start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end"))
    usable = _find_ranges(stack, start, end)
    start, end, slot = start[counted], end[counted], slot[counted]
    counts = np.bincount(slot, minlength=len(parts))
    follows = slot[1:] == slot[:-1]
    if not counts.all() or (end <= start).any() or (start[1:] < end[:-1])[follows].any():
        return None
    low, high = (np.array([getattr(each, name) for each in usable], np.uint64) for name in ("start", "end"))
    low_of, high_of = np.minimum(low, high)[slot], np.maximum(low, high)[slot]
    begins = np.cumsum([0, *(counts + 1)])[:-1]
    lasts = begins + counts
    below, above = (np.empty(len(start) + len(parts), np.uint64) for _ in range(2))
    inner = np.ones(len(below), np.bool_)
    inner[begins] = False
    below[begins], below[inner] = low, np.clip(end, low_of, high_of)
    inner[begins], inner[lasts] = True, False
    above[lasts], above[inner] = np.maximum(low, high), np.clip(start, low_of, high_of)
    size = np.where(above > below, above - below, np.uint64(0))
    unit = np.repeat(np.array([part.snapshot.granularity for part in parts], np.uint64), counts + 1)
    past = below % unit
    head = np.minimum(size, np.where(past == 0, past, unit - past))
    free = size - head
    return _Holes(
        np.add.reduceat(free, begins),
        np.maximum.reduceat(free, begins),
        np.add.reduceat((free > 0).astype(np.int64), begins),
        np.add.reduceat(head, begins),
        np.maximum.reduceat(head, begins),
    )


def _find_ranges(stack: Stack, start: Uints, end: Uints) -> list[UsableRange]:
    """Find the usable range of each snapshot; it keeps it, as it would if it were asked."""
    rows = np.flatnonzero(~stack.classified.layout.raw.text("path").equals(*GATE_NAMES))
    slot = stack.slot[rows]
    lowest, highest = np.full(len(stack.parts), _LAST, np.uint64), np.zeros(len(stack.parts), np.uint64)
    np.minimum.at(lowest, slot, start[rows])
    np.maximum.at(highest, slot, end[rows])
    found = []
    has_some = np.bincount(slot, minlength=len(stack.parts)) > 0
    told = zip(stack.parts, lowest.tolist(), highest.tolist(), has_some.tolist(), strict=True)
    for part, low, high, is_there in told:
        snapshot = part.snapshot
        extent = (low, high) if is_there else (1 << 64, 0)
        snapshot.usable_range = judge_usable_range(snapshot.process, snapshot.capture, extent)
        found.append(snapshot.usable_range)
    return found


def _sum_stack(stack: Stack, holes: _Holes) -> _Sums:
    """Make the summaries of a stack, as summary.summarize has them."""
    sums, shape = stack.sums, (len(_SHOWN), len(stack.parts), 1 + len(TYPES))
    values, known, partial = np.zeros(shape, np.uint64), np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
    rows = slice(1, None)
    order = [sums.figures.index(name) for name in _SHOWN]
    values[:, :, rows] = sums.values[order]
    known[:, :, rows] = sums.known[order] | ~sums.present
    partial[:, :, rows] = sums.partial[order]
    made = _Sums(values, known, partial)
    _put_holes(made, holes)
    _put_page_tables(made, [part.snapshot for part in stack.parts])
    _add_up(made, sums)
    return made


def _put_holes(made: _Sums, holes: _Holes) -> None:
    at = {name: place for place, name in enumerate(_SHOWN)}
    for row, size, largest in (
        (1 + _UNUSABLE, holes.unusable, holes.largest_unusable),
        (1 + _FREE, holes.free, holes.largest_free),
    ):
        made.values[at["size"], :, row], made.values[at["largest"], :, row] = size, largest
    for name in ("blocks", "allocations"):
        made.values[at[name], :, 1 + _FREE] = holes.free_blocks
        made.known[at[name], :, 1 + _UNUSABLE] = False  # VMMap counts no blocks of what is lost


def _put_page_tables(made: _Sums, snapshots: Sequence[LoadedSnapshot]) -> None:
    sizes = [read_page_table(snapshot) for snapshot in snapshots]
    for place, name in enumerate(_SHOWN):
        if name in PAGE_TABLE_FIGURES:
            made.values[place, :, 1 + _PAGE_TABLE] = [size or 0 for size in sizes]
            made.known[place, :, 1 + _PAGE_TABLE] = [size is not None for size in sizes]
        elif name not in _FIGURES:
            made.known[place, :, 1 + _PAGE_TABLE] = False


def _add_up(made: _Sums, sums: SlotSums) -> None:
    """Make Total: everything but Free. A figure that no region tells is null there."""
    inside = slice(1, 1 + _FREE)
    values, known = made.values[:, :, inside], made.known[:, :, inside]
    told = values * known
    made.known[:, :, 0] = known.any(axis=2)
    for place, name in enumerate(_SHOWN):
        if name not in _SUMMED:
            made.values[place, :, 0] = told[place].max(axis=1)
            continue
        made.values[place, :, 0] = told[place].sum(axis=1, dtype=np.uint64)
        is_lacking = made.partial[place, :, inside]
        if name in _FIGURES:
            is_lacking = is_lacking | ~known[place]
            is_told = (sums.known[sums.figures.index(name)] & sums.present).any(axis=1)
            made.known[place, :, 0] &= is_told
        made.partial[place, :, 0] = is_lacking.any(axis=1)


def _count_mapped(stack: Stack) -> Rows:
    """Count the mappings of each snapshot, without gate areas."""
    return np.bincount(stack.slot[stack.classified.counted], minlength=len(stack.parts))


def _count_loaded(stack: Stack) -> Rows:
    """Count the programs and libraries that are loaded in each."""
    classes = stack.classified.classes
    rows = np.flatnonzero(classes.parts)
    _, first = np.unique(classes.allocation[rows], return_index=True)
    return np.bincount(stack.slot[rows[first]], minlength=len(stack.parts))
