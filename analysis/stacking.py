"""Many snapshots classified at once: what numpy costs for each call is paid once for all of them.

Each process is moved to addresses of its own in one large address space, where nothing of one touches or
overlaps anything of another; rules see neighbours, files and modules of the same process alone. What comes
out is cut again, and equal to what each of them has alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from mmpscope.analysis.classify import Classes, Search, Surroundings
from mmpscope.analysis.classify_linux import LinuxClassifier
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text, Uints
from mmpscope.analysis.families import find_family
from mmpscope.analysis.family_linux import FAMILY
from mmpscope.analysis.images import Images
from mmpscope.analysis.joined import Joined
from mmpscope.analysis.layout import Layout, Names, Rows
from mmpscope.analysis.regions import (
    SUMMED,
    Found,
    Regions,
    classify_regions,
    gather_columns,
    gather_surroundings,
    make_regions,
    read_ranges,
)
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.schema import GATE, TYPES
from mmpscope.analysis.stacks import find_by_shape
from mmpscope.analysis.type_sums import SlotSums, sum_regions
from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Part", "Stack", "classify_together", "find_slots", "move_back"]

_SLOT = 1 << 48
"""Bytes for each process: user space ends at 2^47 or 2^48, but for the large addresses of five levels."""
_TOP_BYTES = 1 << 24
"""What may lie at the very top of 2^64, and is moved to the top of a slot: [vsyscall] is 10 MiB below it."""
_LOW = np.uint64(_SLOT - _TOP_BYTES)
_HIGH = np.uint64((1 << 64) - _TOP_BYTES)
_IN_SLOT = np.uint64(_SLOT - 1)
_MOST_PARTS = 1 << 12
_NO_LIMIT = (1 << 64) - 1
_NO_COUNT = -1


@dataclass(frozen=True)
class _Piece:
    """The raw columns and surroundings of a snapshot of a stack, and its ranges."""

    raw: RawColumns
    around: Surroundings
    start: Uints
    end: Uints


@dataclass(frozen=True)
class Part(_Piece):
    """One snapshot of a stack."""

    snapshot: LoadedSnapshot


@dataclass(frozen=True)
class Stack:
    """Snapshots that were classified as one; ``classified`` has them at addresses that they do not have.

    ``slot`` is the number of the snapshot of each region among ``parts``, by which ``sums`` are, too.
    """

    parts: Sequence[Part]
    slot: Rows
    sums: SlotSums
    classified: Regions


def classify_together(snapshots: Sequence[LoadedSnapshot]) -> list[Stack]:
    """Classify the regions of snapshots that are alike enough; the others do so when they are asked.

    A snapshot that cannot be read is left alone as well: it says so to whoever asks it.
    """
    _read_ahead(snapshots)
    alike: dict[Hashable, list[Part]] = {}
    for snapshot in snapshots:
        try:
            part = _prepare(snapshot)
        except FormatError:
            continue
        if part is not None:
            alike.setdefault(_find_key(part), []).append(part)
    stacks = []
    for parts in alike.values():
        if 1 < len(parts) <= _MOST_PARTS:
            with suppress(FormatError):  # one of them is damaged; each answers for itself
                stacks.append(_classify_stack(parts))
    return stacks


def find_slots(addresses: Uints) -> Rows:
    """Return the number in the stack of the snapshot that has each address."""
    return (addresses // np.uint64(_SLOT)).astype(np.int64)


def move_back(addresses: Numbers, slot: Rows, *, ends: bool = False) -> Numbers:
    """Return the addresses that processes have, of those in a stack; ``ends`` are ends of ranges."""
    values = addresses.values - slot.astype(np.uint64) * np.uint64(_SLOT)
    top = values > _LOW if ends else values >= _LOW
    return Numbers(values + top * (_HIGH - _LOW), addresses.known).cleared()


_LOOKED_AT = {"regions": ("start", "size"), "modules": ("high", "inode"), "segments": ("module",)}
"""The columns of raw tables that tell whether a snapshot has a place in a stack."""


def _read_ahead(snapshots: Sequence[LoadedSnapshot]) -> None:
    """Decode together what `_prepare` looks at; what is damaged says so when it is asked alone."""
    for name, columns in _LOOKED_AT.items():
        alike: dict[Hashable, list[RawColumns]] = {}
        for snapshot in snapshots:
            with suppress(FormatError):
                table = snapshot.decode_raw(name)
                alike.setdefault(table.kinds, []).append(table)
        for tables in alike.values():
            joined = Joined(tables)
            for column in columns:
                with suppress(FormatError):
                    joined.hand_out(column)


def _prepare(snapshot: LoadedSnapshot) -> Part | None:
    """Take what a stack needs of a snapshot; None where it has no place in one."""
    raw = snapshot.raw_columns
    if not raw.rows or "perms" not in raw or find_family(raw) is not FAMILY:
        return None
    start, end = read_ranges(raw)
    around = gather_surroundings(snapshot)
    modules, owners = around.modules, around.segments.numbers("module").values
    low, high = (start < _LOW) & (end <= _LOW), (start >= _HIGH) & (end > _HIGH)
    fits = (low | high).all() and (modules.numbers("high").values <= _LOW).all()
    if not fits or (owners >= modules.rows).any():
        return None
    return Part(raw, around, start, end, snapshot)


def _find_key(part: Part) -> Hashable:
    """Return what must be alike: columns, and all that rules take for one number."""
    around = part.around
    kinds = tuple(table.kinds for table in (part.raw, around.threads, around.modules, around.segments))
    has_inodes = around.modules.numbers("inode").known is None
    return kinds, has_inodes, around.page, around.bits, part.snapshot.rules


def _classify_stack(parts: Sequence[Part]) -> Stack:
    """Classify all parts as one, and cut what was found."""
    sizes = [part.raw.rows for part in parts]
    slot = np.repeat(np.arange(len(parts)), sizes)
    moved = slot.astype(np.uint64) * np.uint64(_SLOT)
    start = (np.concatenate([part.start for part in parts]) & _IN_SLOT) + moved
    end = start + np.concatenate([part.end - part.start for part in parts])
    raw, around = Joined([part.raw for part in parts]), _join_surroundings(parts, slot)
    layout = Layout(raw, start, end, FAMILY.read_rights(raw), FAMILY.read_names(raw, around))
    layout.moved = moved
    found = classify_regions(_STACKED, layout, around, parts[0].snapshot.rules)
    columns = gather_columns(layout, found)
    sums = sum_regions(columns, SUMMED, slot, len(parts))
    knife = _Knife(parts, layout, found, sums)
    for number, part in enumerate(parts):
        part.snapshot.classify_by(partial(knife.cut, number))
    counted = ~found.classes.subtype.equals(GATE)
    names = ("", parts[0].snapshot.rules_version)
    regions = Regions(columns, found.classes, layout, counted, FAMILY, around, found, names)
    return Stack(parts, slot, sums, regions)


def _count_before(parts: Sequence[Part], table: str) -> list[int]:
    counts = [getattr(part.around, table).rows for part in parts]
    return [int(count) for count in np.cumsum([0, *counts])]


@dataclass(frozen=True)
class _StackedSurroundings(Surroundings):
    """Surroundings of several processes; ``thread_counts`` and ``stack_limits`` have one for each."""

    slot: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    thread_counts: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    stack_limits: Uints = field(default_factory=lambda: np.zeros(0, np.uint64))


def _join_surroundings(parts: Sequence[Part], slot: Rows) -> _StackedSurroundings:
    arounds = [part.around for part in parts]
    before = np.array(_count_before(parts, "modules")[:-1], np.uint64)
    first = arounds[0]
    counts = [_NO_COUNT if a.thread_count is None else a.thread_count for a in arounds]
    limits = [_NO_LIMIT if a.stack_limit is None else a.stack_limit for a in arounds]
    return _StackedSurroundings(
        threads=_join_moved([a.threads for a in arounds], ("sp", "stack_start"), _move_pointers),
        modules=_join_moved([a.modules for a in arounds], ("low", "high", "base"), _add_slots),
        segments=_join_moved(
            [a.segments for a in arounds], ("module",), lambda n, slot: n.values + before[slot]
        ),
        allocations=first.allocations,
        heaps=first.heaps,
        sections=first.sections,
        page=first.page,
        bits=first.bits,
        slot=slot,
        thread_counts=np.array(counts, np.int64),
        stack_limits=np.array(limits, np.uint64),
    )


def _join_moved(
    tables: Sequence[RawColumns], names: Sequence[str], move: Callable[[Numbers, Rows], Uints]
) -> RawColumns:
    slot = np.repeat(np.arange(len(tables)), [table.rows for table in tables])
    joined, made = Joined(tables), {}
    for name in names:
        if name in joined:
            column = joined.numbers(name)
            made[name] = Numbers(move(column, slot), column.known)
    return Joined(tables, made)


def _add_slots(numbers: Numbers, slot: Rows) -> Uints:
    """Move by whole slots, modulo 2^64: a load bias may be negative, and an unknown one is 0 plus that."""
    return numbers.values + slot.astype(np.uint64) * np.uint64(_SLOT)


def _move_pointers(numbers: Numbers, slot: Rows) -> Uints:
    """Move stack pointers; 0 means none, and what points out of user space points nowhere."""
    points = (numbers.values != 0) & (numbers.values <= _LOW)
    moved: Uints = _add_slots(numbers, slot) * points
    return moved


class _StackedClassifier(LinuxClassifier):
    """The rules for Linux, where two of the facts that they look at are not the same for all regions."""

    around: _StackedSurroundings

    def find_shaped_stacks(self) -> Bools:
        """Find what looks like a stack in processes with threads whose stacks are not found yet."""
        around = self.around
        is_stack = (self.type == TYPES.index("Stack")) & self.layout.rights.writable
        found = np.bincount(around.slot[is_stack], minlength=len(around.thread_counts))
        lacks = (around.thread_counts == _NO_COUNT) | (around.thread_counts > found)
        shaped = find_by_shape(self.layout, around.stack_limits[around.slot], around.page)
        wanted: Bools = shaped & lacks[around.slot]
        return wanted

    searches: ClassVar[Mapping[str, Search]] = {
        **LinuxClassifier.searches,
        "stack-pattern": find_shaped_stacks,
    }


_STACKED = replace(FAMILY, classifier=_StackedClassifier)


class _Knife:
    """Cuts what was found about a stack into what each part would have found alone.

    It refers to no snapshot: each refers to it, and is to go with the last who asks it.
    """

    def __init__(self, parts: Sequence[Part], layout: Layout, found: Found, sums: SlotSums) -> None:
        self._parts = [_Piece(part.raw, part.around, part.start, part.end) for part in parts]
        self._layout = layout
        self._found = found
        self._sums = sums
        self._edges = [int(edge) for edge in np.cumsum([0, *(part.raw.rows for part in parts)])]
        self._modules = _count_before(parts, "modules")
        self._threads = _count_before(parts, "threads")

    def cut(self, number: int, snapshot: LoadedSnapshot) -> Regions:
        """Return what was found of one part, whose snapshot this is."""
        part = self._parts[number]
        begin, end = self._edges[number : number + 2]
        rows = slice(begin, end)
        rights = Rights(**{f.name: getattr(self._layout.rights, f.name)[rows] for f in fields(Rights)})
        names = Names(part.raw.text("path"), self._layout.is_pseudo[rows])
        layout = Layout(part.raw, part.start, part.end, rights, names)
        figures = {name: numbers.cut(rows) for name, numbers in self._found.figures.items()}
        thread_rows = self._found.classes.thread_rows[slice(*self._threads[number : number + 2])]
        own = thread_rows - begin * (thread_rows >= 0)
        classes = self._cut_classes(number, layout, part, own)
        found = Found(classes, figures, self._found.faults.cut(begin, end), self._sums.list_rows(number))
        return make_regions(snapshot, FAMILY, part.around, layout, found)

    def _cut_classes(self, number: int, layout: Layout, part: _Piece, thread_rows: Rows) -> Classes:
        classes, rows = self._found.classes, slice(*self._edges[number : number + 2])
        base, module = Numbers(classes.allocation[rows]), classes.module[rows]
        return replace(
            classes,
            rule=classes.rule[rows],
            type=classes.type[rows],
            subtype=Text(classes.subtype.codes[rows], classes.subtype.values),
            allocation=move_back(base, np.full(len(base.values), number)).values,
            parts=classes.parts[rows],
            module=module - self._modules[number] * (module >= 0),
            thread_rows=thread_rows,
            images=Images(layout, part.around.modules, part.around.segments, part.around.page),
        )
