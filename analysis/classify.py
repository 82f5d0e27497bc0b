"""Ask the rules in order; each claims what no rule before it has claimed. Then say what belongs together.

Everything is a mask over all regions; names are matched once per distinct name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Text, Uints
from mmpscope.analysis.heap_patterns import HEAP_MAX_32, HEAP_MAX_64, find_arenas, find_go_heap
from mmpscope.analysis.images import Images
from mmpscope.analysis.layout import Layout, Rows
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.rules_linux import GATES, RULES
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.space import GATE_NAMES
from mmpscope.analysis.stacks import find_by_pointer, find_by_shape, find_guarded, find_guards
from numpy.typing import NDArray

__all__ = ["Classes", "Surroundings", "classify"]

_HUGETLB_FILES = ("/anon_hugepage", "/dev/hugepages/")


@dataclass(frozen=True)
class Surroundings:
    """What the snapshot knows besides its regions: raw tables, and facts about the process.

    ``thread_count`` and ``stack_limit`` are None where unknown; ``bits`` is 32 or 64.
    """

    threads: RawColumns
    modules: RawColumns
    segments: RawColumns
    page: int
    bits: int
    thread_count: int | None = None
    stack_limit: int | None = None


@dataclass(frozen=True)
class Classes:
    """What each region is: ``rule`` counts in ``rules``, ``type`` in schema.TYPES; and where it belongs."""

    rules: Sequence[Rule]
    rule: NDArray[np.int64]
    type: NDArray[np.int64]
    subtype: Text
    allocation: Uints
    images: Images
    thread_rows: Rows


def classify(layout: Layout, surroundings: Surroundings, user_rules: Sequence[Rule] = ()) -> Classes:
    """Classify every region; ``user_rules`` go before ours."""
    return _Classifier(layout, surroundings, (*GATES, *user_rules, *RULES)).run()


class _Classifier:
    """One pass over the rules; ``rule`` and ``type`` are -1 where nothing has claimed a region yet."""

    def __init__(self, layout: Layout, surroundings: Surroundings, rules: Sequence[Rule]) -> None:
        self.layout = layout
        self.around = surroundings
        self.rules = rules
        self.rule = np.full(layout.rows, -1, np.int64)
        self.type = np.full(layout.rows, -1, np.int64)
        self.images = Images(layout, surroundings.modules, surroundings.segments, surroundings.page)

    def run(self) -> Classes:
        for number, rule in enumerate(self.rules):
            claimed = self._match(rule) & (self.rule < 0)
            self.rule[claimed] = number
            if rule.type is None:
                self._take_type_of_neighbour(claimed)
            else:
                self.type[claimed] = TYPES.index(rule.type)
        return Classes(
            self.rules,
            self.rule,
            self.type,
            self._name_subtypes(),
            self._group(),
            self.images,
            self.thread_rows,
        )

    def _match(self, rule: Rule) -> Bools:
        layout, mask = self.layout, np.ones(self.layout.rows, np.bool_)
        if rule.find is not None:
            mask &= _SEARCHES[rule.find](self)
        if rule.name is not None:
            mask &= layout.path.match(re.compile(rule.name, re.DOTALL).fullmatch)
        for column, pattern in rule.where:
            mask &= layout.raw.text(column).match(re.compile(pattern, re.DOTALL).fullmatch)
        if rule.pseudo:
            mask &= layout.is_pseudo
        if rule.min_size is not None:
            mask &= layout.size >= rule.min_size
        if rule.max_size is not None:
            mask &= layout.size <= rule.max_size
        return mask

    # What the rules with a search look for. Each returns a mask over all regions.

    def find_gates(self) -> Bools:
        """Find gate areas; [vectors] on arm64 is a mapping like others, and has the flag de."""
        layout = self.layout
        named = layout.path.equals(*GATE_NAMES)
        return named & layout.is_pseudo & ~layout.rights.unexpandable

    def find_hugetlb(self) -> Bools:
        """Find memory of huge TLB pages, by the flag ht or by where its files live."""
        return self.layout.rights.hugetlb | self.layout.path.match(
            lambda path: path.startswith(_HUGETLB_FILES)
        )

    @cached_property
    def thread_rows(self) -> Rows:
        """Row of the region that each thread's stack pointer lies in, -1 where unknown."""
        return find_by_pointer(self.layout, self.around.threads)

    def find_pointed_stacks(self) -> Bools:
        """Find anonymous writable regions that a stack pointer lies in."""
        pointed = np.zeros(self.layout.rows, np.bool_)
        pointed[self.thread_rows[self.thread_rows >= 0]] = True
        return pointed & self.layout.is_anonymous & self.layout.rights.writable

    def find_shaped_stacks(self) -> Bools:
        """Find what looks like a stack, if there are threads whose stacks are not found yet."""
        found = int(np.count_nonzero((self.type == TYPES.index("Stack")) & self.layout.rights.writable))
        count = self.around.thread_count
        if count is not None and count <= found:
            return np.zeros(self.layout.rows, np.bool_)
        return find_by_shape(self.layout, self.around.stack_limit, self.around.page)

    @cached_property
    def arenas(self) -> tuple[Bools, Uints]:
        """Regions of glibc arenas, and the base of each."""
        return find_arenas(self.layout, HEAP_MAX_64 if self.around.bits == 64 else HEAP_MAX_32)

    @cached_property
    def go_heap(self) -> tuple[Bools, Uints]:
        """Regions of a Go heap, and its base."""
        return find_go_heap(self.layout)

    @cached_property
    def guards(self) -> Rows:
        """For each region that is a guard the row that it guards; -1 elsewhere."""
        layout, rows = self.layout, np.arange(self.layout.rows)
        guards = find_guards(layout) & layout.touches_above
        above = np.minimum(rows + 1, max(layout.rows - 1, 0))
        below = np.maximum(rows - 1, 0)
        is_stack = self.type[above] == TYPES.index("Stack")
        is_heap = np.isin(self.type[above], [TYPES.index("Heap"), TYPES.index("Managed Heap")])
        same = is_heap & layout.touches_below & (self.type[above] == self.type[below])
        return np.where(guards & (is_stack | same), above, -1)

    def _take_type_of_neighbour(self, claimed: Bools) -> None:
        self.type[claimed] = self.type[self.guards[claimed]]

    def _name_subtypes(self) -> Text:
        names = [*dict.fromkeys(rule.subtype for rule in self.rules if rule.subtype is not None), None]
        code_of_rule = np.array([names.index(rule.subtype) for rule in self.rules], np.int32)
        return Text(code_of_rule[self.rule], tuple(names))

    def _group(self) -> Uints:
        """Return the base of each region's allocation."""
        layout, images = self.layout, self.images
        image = self.type == TYPES.index("Image")
        main_heap = self._is_by("heap-main")
        goes_on = (layout.continues & ~image) | (main_heap & np.roll(main_heap, 1) & layout.touches_below)
        base = _spread(layout, layout.start, goes_on)
        base = np.where(image & images.is_part, _first_of(images.load, layout.start), base)
        base = self._group_images(base, image)
        for rule, (members, starts) in (("heap-arena", self.arenas), ("heap-go", self.go_heap)):
            base = np.where(members & self._is_by(rule), starts, base)
        return self._group_stacks(base)

    def _is_by(self, *ids: str) -> Bools:
        numbers = [number for number, rule in enumerate(self.rules) if rule.id in ids]
        return np.isin(self.rule, numbers)

    def _group_images(self, base: Uints, image: Bools) -> Uints:
        """Join .bss, moved text and gaps with the file that they belong to."""
        images, layout = self.images, self.layout
        rows = np.flatnonzero(image & images.is_part & (images.module >= 0))
        base_of_module = np.zeros(max(self.around.modules.rows, 1), np.uint64)
        base_of_module[images.module[rows][::-1]] = base[rows][::-1]
        for rule, share in (("image-bss", images.bss), ("image-text", images.moved_text)):
            known = self._is_by(rule) & (share.module >= 0)
            found = base_of_module[np.maximum(share.module, 0)]
            base = np.where(known & (found != 0), found, base)
        follows = self._is_by("image-gap", "bss-named") & layout.touches_below & np.roll(image, 1)
        return _spread(layout, base, follows)

    def _group_stacks(self, base: Uints) -> Uints:
        """Join a stack with the guard below it."""
        guarded = np.zeros(self.layout.rows, np.bool_)
        stack = self.type == TYPES.index("Stack")
        guarded[1:] = self._is_by("guard", "stack-guard")[:-1] & stack[1:] & self.layout.touches_below[1:]
        return _spread(self.layout, base, guarded & stack & ~self._is_by("guard", "stack-guard"))


def _spread(layout: Layout, base: Uints, continues: Bools) -> Uints:
    """Give each region that continues the one before it the base of that one."""
    first = np.maximum.accumulate(np.where(continues, 0, np.arange(layout.rows)))
    return base[first]


def _first_of(groups: Rows, start: Uints) -> Uints:
    """Return the lowest start of each row's group; rows are in address order."""
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    lowest: Uints = start[first[codes]]
    return lowest


_SEARCHES: dict[str, Callable[[_Classifier], Bools]] = {
    "gate": _Classifier.find_gates,
    "hugetlb": _Classifier.find_hugetlb,
    "pseudo": lambda c: c.layout.is_pseudo,
    "image-elf": lambda c: c.images.elf,
    "image-bss": lambda c: c.images.bss.is_most_of(c.layout.size),
    "image-text": lambda c: c.images.moved_text.is_most_of(c.layout.size),
    "image-gap": lambda c: c.images.gap,
    "image-name": lambda c: c.images.named,
    "heap-go": lambda c: c.go_heap[0],
    "stack-pointer": lambda c: c.find_pointed_stacks() & find_guarded(c.layout),
    "stack-bare": _Classifier.find_pointed_stacks,
    "heap-arena": lambda c: c.arenas[0],
    "stack-pattern": _Classifier.find_shaped_stacks,
    "guard": lambda c: c.guards >= 0,
    "file": lambda c: ~c.layout.is_pseudo,
    "reservation": lambda c: c.layout.is_reservation,
}
"""The search behind each rule that has one."""
