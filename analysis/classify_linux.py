"""What Linux maps are: images, arenas, stacks and guards, told by names, files, threads and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from mmpscope.analysis.classify import Classes, Classifier, Search
from mmpscope.analysis.columns import Bools, Uints
from mmpscope.analysis.heap_patterns import HEAP_MAX_32, HEAP_MAX_64, find_arenas, find_go_heap
from mmpscope.analysis.images import Images
from mmpscope.analysis.layout import Rows, first_of, spread
from mmpscope.analysis.rules import Rule
from mmpscope.analysis.rules_linux import GATES, RULES
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.space import GATE_NAMES
from mmpscope.analysis.stacks import find_by_shape, find_guarded, find_guards
from numpy.typing import NDArray

__all__ = ["LinuxClassifier"]

_HUGETLB_FILES = ("/anon_hugepage", "/dev/hugepages/")


class LinuxClassifier(Classifier):
    """An allocation is a load of a file with its .bss, a stack with its guard, an arena with its tail."""

    first: ClassVar[tuple[Rule, ...]] = GATES
    own: ClassVar[tuple[Rule, ...]] = RULES

    @cached_property
    def images(self) -> Images:
        """What modules and segments, or names alone, say of the map."""
        around = self.around
        return Images(self.layout, around.modules, around.segments, around.page)

    def finish(self) -> Classes:
        """Say what belongs together."""
        allocation, images = self._group(), self.images
        return Classes(
            self.rules,
            self.rule,
            self.type,
            self.name_subtypes(),
            allocation,
            images.is_part,
            images.module,
            self.thread_rows,
            images,
        )

    def find_type_of_neighbour(self, claimed: Bools) -> NDArray[np.int64]:
        """Return for guards the type of what they guard."""
        return self.type[self.guards[claimed]]

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

    def _group(self) -> Uints:
        """Return the base of each region's allocation."""
        layout, images = self.layout, self.images
        image = self.type == TYPES.index("Image")
        main_heap = self.is_by("heap-main")
        goes_on = (layout.continues & ~image) | (main_heap & np.roll(main_heap, 1) & layout.touches_below)
        base = spread(layout, layout.start, goes_on)
        base = np.where(image & images.is_part, first_of(images.load, layout.start), base)
        base = self._group_images(base, image)
        for rule, (members, starts) in (("heap-arena", self.arenas), ("heap-go", self.go_heap)):
            base = np.where(members & self.is_by(rule), starts, base)
        return self._group_stacks(base)

    def _group_images(self, base: Uints, image: Bools) -> Uints:
        """Join .bss, moved text and gaps with the file that they belong to."""
        images, layout = self.images, self.layout
        rows = np.flatnonzero(image & images.is_part & (images.module >= 0))
        base_of_module = np.zeros(max(self.around.modules.rows, 1), np.uint64)
        base_of_module[images.module[rows][::-1]] = base[rows][::-1]
        for rule, share in (("image-bss", images.bss), ("image-text", images.moved_text)):
            known = self.is_by(rule) & (share.module >= 0)
            found = base_of_module[np.maximum(share.module, 0)]
            base = np.where(known & (found != 0), found, base)
        follows = self.is_by("image-gap", "bss-named") & layout.touches_below & np.roll(image, 1)
        return spread(layout, base, follows)

    def _group_stacks(self, base: Uints) -> Uints:
        """Join a stack with the guard below it."""
        guarded = np.zeros(self.layout.rows, np.bool_)
        stack = self.type == TYPES.index("Stack")
        guarded[1:] = self.is_by("guard", "stack-guard")[:-1] & stack[1:] & self.layout.touches_below[1:]
        return spread(self.layout, base, guarded & stack & ~self.is_by("guard", "stack-guard"))

    searches: ClassVar[Mapping[str, Search]] = {
        "gate": find_gates,
        "hugetlb": find_hugetlb,
        "pseudo": lambda c: c.layout.is_pseudo,
        "image-elf": lambda c: c.images.elf,
        "image-bss": lambda c: c.images.bss.is_most_of(c.layout.size),
        "image-text": lambda c: c.images.moved_text.is_most_of(c.layout.size),
        "image-gap": lambda c: c.images.gap,
        "image-name": lambda c: c.images.named,
        "heap-go": lambda c: c.go_heap[0],
        "stack-pointer": lambda c: c.find_pointed_stacks() & find_guarded(c.layout),
        "stack-bare": find_pointed_stacks,
        "heap-arena": lambda c: c.arenas[0],
        "stack-pattern": find_shaped_stacks,
        "guard": lambda c: c.guards >= 0,
        "file": lambda c: ~c.layout.is_pseudo,
        "reservation": lambda c: c.layout.is_reservation,
    }
