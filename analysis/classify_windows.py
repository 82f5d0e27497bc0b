"""What Windows regions are, as MEMORY_BASIC_INFORMATION, WinDbg or VMMap tell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from mmpscope.analysis import rules_vmmap, rules_windows
from mmpscope.analysis.classify import Classes, Classifier, Search
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.figures_windows import MEM_MAPPED, MEM_PRIVATE, is_image
from mmpscope.analysis.layout import Rows, find_rows, spread
from mmpscope.analysis.page_protection import has_bits
from mmpscope.analysis.rules import Rule
from mmpscope.formats.vmmap.protection import PAGE_GUARD

__all__ = ["VmmapClassifier", "WindowsClassifier", "find_bases", "find_modules"]


def find_bases(raw: RawColumns) -> Uints:
    """Return AllocationBase of each region, its own start where that is unknown or makes no sense."""
    start, base = raw.numbers("start").values, raw.numbers("AllocationBase")
    return np.where(base.is_known & (base.values <= start), base.values, start)


def find_modules(start: Uints, modules: RawColumns) -> Rows:
    """Return for each address the row of the raw modules table whose range (low, high) it is in; -1: none."""
    low, high = modules.numbers("low").values, modules.numbers("high").values
    if not len(low):
        return np.full(len(start), -1, np.int64)
    order = np.argsort(low, kind="stable")
    nearest = np.searchsorted(low[order], start, side="right") - 1
    module = order[np.maximum(nearest, 0)]
    return np.where((nearest >= 0) & (start < high[module]), module, -1)


class WindowsClassifier(Classifier):
    """Regions with State, Type and Protect; an allocation is one AllocationBase."""

    own: ClassVar[tuple[Rule, ...]] = rules_windows.RULES
    protection: ClassVar[str] = "Protect"

    def finish(self) -> Classes:
        """Group by AllocationBase, and find the modules of images."""
        parts = self.is_type("Image")
        module = np.where(parts, find_modules(self.layout.start, self.around.modules), -1)
        return Classes(
            self.rules,
            self.rule,
            self.type,
            self.name_subtypes(),
            self._group(),
            parts,
            module,
            self.thread_rows,
        )

    @cached_property
    def bases(self) -> Uints:
        """Base of each region's allocation, as far as it is stated."""
        return find_bases(self.layout.raw)

    def _group(self) -> Uints:
        """Return the bases; where none is stated, touching parts of one file or of one stack are together."""
        layout, bases = self.layout, self.bases
        stated = layout.raw.numbers("AllocationBase")
        if stated.known is None:
            return bases
        thread, stack = layout.raw.text("Details"), self.is_type("Stack")
        same = np.zeros(layout.rows, np.bool_)
        same[1:] = (layout.file[1:] == layout.file[:-1]) & (layout.file[1:] >= 0)
        same[1:] |= stack[1:] & stack[:-1] & (thread.codes[1:] == thread.codes[:-1]) & ~thread.is_null[1:]
        return spread(layout, bases, layout.touches_below & ~stated.is_known & same)

    def find_guards(self) -> Bools:
        """Find guard pages; an allocation of several blocks has the protection of all of them together."""
        raw = self.layout.raw
        return has_bits(raw.numbers(self.protection), PAGE_GUARD) & (raw.numbers("Blocks").values <= 1)

    def find_stacks(self) -> Bools:
        """Find the private allocations that stacks of threads lie in, with their guards and reserves."""
        rows = self.thread_rows[self.thread_rows >= 0]
        private = self.layout.raw.numbers("Type").values == MEM_PRIVATE
        return np.asarray(np.isin(self.bases, self.bases[rows[private[rows]]]) & private, np.bool_)

    def find_tebs(self) -> Bools:
        """Find the regions in which environment blocks of threads lie."""
        rows = find_rows(self.layout, self.around.threads.numbers("teb"))
        pointed = np.zeros(self.layout.rows, np.bool_)
        pointed[rows[rows >= 0]] = True
        return pointed

    def find_views(self) -> Bools:
        """Find views of sections."""
        mapped: Bools = self.layout.raw.numbers("Type").values == MEM_MAPPED
        return mapped

    searches: ClassVar[Mapping[str, Search]] = {
        "page-guard": find_guards,
        "mbi-teb": find_tebs,
        "mbi-stack": find_stacks,
        "mbi-stack-guard": lambda c: c.find_stacks() & c.find_guards(),
        "mbi-image": lambda c: is_image(c.layout.raw),
        "mbi-mapped": lambda c: c.find_views() & ~c.layout.is_pseudo,
        "mbi-section": find_views,
        "mbi-private": lambda c: c.layout.raw.numbers("Type").values == MEM_PRIVATE,
    }


class VmmapClassifier(WindowsClassifier):
    """Regions whose type VMMap states."""

    own: ClassVar[tuple[Rule, ...]] = rules_vmmap.RULES
    protection: ClassVar[str] = "Protection"
