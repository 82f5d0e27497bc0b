"""Many snapshots classified at once: what numpy costs for each call is paid once for all of them.

Each process is moved to addresses of its own in one large address space, where nothing of one touches or
overlaps anything of another; rules see neighbours, files and modules of the same process alone. What comes
out is cut again, and equal to what each of them has alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from mmpscope.analysis.classify import Classes, Search, Surroundings
from mmpscope.analysis.classify_linux import LinuxClassifier
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Text, Uints, read_dictionary
from mmpscope.analysis.families import find_family
from mmpscope.analysis.family_linux import FAMILY
from mmpscope.analysis.images import Images
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
from mmpscope.analysis.tables import TEXT
from mmpscope.analysis.type_sums import sum_regions
from mmpscope.formats.errors import FormatError

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["Joined", "Part", "Stack", "classify_together", "find_slots", "move_back"]

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
_NOTHING = pa.table({})
_TEXTS = ("text", str(TEXT))


@dataclass(frozen=True)
class Part:
    """One snapshot of a stack: its raw columns and surroundings, and its ranges."""

    snapshot: LoadedSnapshot
    raw: RawColumns
    around: Surroundings
    start: Uints
    end: Uints


@dataclass(frozen=True)
class Stack:
    """Snapshots that were classified as one; ``classified`` has them at addresses that they do not have.

    ``slot`` is the number of the snapshot of each region among ``parts``.
    """

    parts: Sequence[Part]
    slot: Rows
    classified: Regions


def classify_together(snapshots: Sequence[LoadedSnapshot]) -> list[Stack]:
    """Classify the regions of snapshots that are alike enough; the others do so when they are asked.

    A snapshot that cannot be read is left alone as well: it says so to whoever asks it.
    """
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
    return Part(snapshot, raw, around, start, end)


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
    knife = _Knife(layout, found, np.cumsum([0, *sizes]), _count_before(parts, "modules"))
    threads = _count_before(parts, "threads")
    for number, part in enumerate(parts):
        thread_rows = found.classes.thread_rows[threads[number] : threads[number + 1]]
        own, cut = knife.cut(number, part, thread_rows)
        cut = cut._replace(sums=sums[number])
        part.snapshot.classified = make_regions(part.snapshot, FAMILY, part.around, own, cut)
    counted = ~found.classes.subtype.equals(GATE)
    names = ("", parts[0].snapshot.rules_version)
    return Stack(parts, slot, Regions(columns, found.classes, layout, counted, FAMILY, around, found, names))


def _count_before(parts: Sequence[Part], table: str) -> list[int]:
    counts = [getattr(part.around, table).rows for part in parts]
    return [int(count) for count in np.cumsum([0, *counts])]


class Joined(RawColumns):
    """Columns of several tables below each other; ``made`` take the place of some of them."""

    def __init__(self, parts: Sequence[RawColumns], made: Mapping[str, Numbers] | None = None) -> None:
        super().__init__(_NOTHING)
        self.rows = sum(part.rows for part in parts)
        self._parts = parts
        self._names = parts[0].names
        self._numbers = dict(made or {})
        self._arrays: dict[str, pa.Array] = {}

    @cached_property
    def table(self) -> pa.Table:
        """All columns in Arrow, as they are stored."""
        columns = {
            name: self.text(name).to_arrow() if kind in _TEXTS else self._get(name)
            for name, kind in self._parts[0].kinds
        }
        return pa.table(columns) if columns else pa.table({"none": pa.nulls(self.rows)}).select([])

    @property
    def has_odd_text(self) -> bool:
        """Whether one of them has text whose exact bytes stand in a column of their own."""
        return any(part.has_odd_text for part in self._parts)

    def _get(self, name: str) -> pa.Array:
        if name not in self._arrays:
            self._arrays[name] = pa.concat_arrays([part.array(name) for part in self._parts])
        return self._arrays[name]

    def _read_text(self, name: str) -> Text:
        """Read each distinct text once; each part then has its rows of that, and reads none of its own."""
        arrays = [part.array(name) for part in self._parts]
        if not all(pa.types.is_dictionary(array.type) for array in arrays):
            arrays = [part.text(name).to_arrow() for part in self._parts]  # CorruptError where it is no text
        joined = read_dictionary(pa.chunked_array(arrays).unify_dictionaries().combine_chunks())
        ends = np.cumsum([part.rows for part in self._parts]).tolist()
        for part, end in zip(self._parts, ends, strict=True):
            part.adopt(name, Text(joined.codes[end - part.rows : end], joined.values))
        return joined


def _normalize(numbers: Numbers) -> Numbers:
    """Write that all is known as it is written elsewhere."""
    known = numbers.known
    return Numbers(numbers.values) if known is not None and len(known) and known.all() else numbers


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
    """Cuts what was found about a stack into what each part would have found alone."""

    def __init__(self, layout: Layout, found: Found, edges: Rows, modules: Sequence[int]) -> None:
        self._layout = layout
        self._found = found
        self._edges = [int(edge) for edge in edges]
        self._modules = modules

    def cut(self, number: int, part: Part, thread_rows: Rows) -> tuple[Layout, Found]:
        """Return layout and findings of one part."""
        begin, end = self._edges[number : number + 2]
        rows = slice(begin, end)
        rights = Rights(**{f.name: getattr(self._layout.rights, f.name)[rows] for f in fields(Rights)})
        names = Names(part.raw.text("path"), self._layout.is_pseudo[rows])
        layout = Layout(part.raw, part.start, part.end, rights, names)
        figures = {
            name: _normalize(Numbers(n.values[rows], None if n.known is None else n.known[rows]))
            for name, n in self._found.figures.items()
        }
        own = thread_rows - begin * (thread_rows >= 0)
        classes = self._cut_classes(number, layout, part, own)
        return layout, Found(classes, figures, self._found.faults.cut(begin, end))

    def _cut_classes(self, number: int, layout: Layout, part: Part, thread_rows: Rows) -> Classes:
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
