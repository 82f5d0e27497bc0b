"""What Windows regions are, as MEMORY_BASIC_INFORMATION, WinDbg or VMMap tell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from mmpscope.analysis import rules_vmmap, rules_windows
from mmpscope.analysis.classify import Classes, Classifier, Search
from mmpscope.analysis.columns import Bools, Numbers, RawColumns, Uints
from mmpscope.analysis.figures_windows import MEM_MAPPED, MEM_PRIVATE, MEM_RESERVE, is_image
from mmpscope.analysis.layout import Rows, find_rows, spread
from mmpscope.analysis.page_protection import has_bits
from mmpscope.analysis.rules import Rule
from mmpscope.formats.vmmap.protection import PAGE_GUARD

__all__ = ["VmmapClassifier", "WindowsClassifier", "find_bases", "find_modules"]

HF32_DEFAULT = 1
"""Flag of the heap that a process is given when it starts (tlhelp32.h)."""
_MAPPED_PAGE_FILE = 1 << 3
_MAPPED_KINDS = 0b11110
"""Bits 1 to 4 of RegionType, MEMORY_REGION_INFORMATION (ntifs.h; WIN32_MEMORY_REGION_INFORMATION has the same
four documented): MappedDataFile, MappedImage, MappedPageFile, MappedPhysical. Those above come and go with
builds of Windows, and are not asked for (F44); Wine 8 leaves all of them 0.
"""


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
        """Find the allocations that stacks of threads lie in, with their guards and reserves."""
        return self._find_allocations(self.thread_rows)

    def find_stacks_64(self) -> Bools:
        """Find the stacks on which threads of a 32-bit program run the 64-bit code of Windows."""
        return self._find_allocations(find_rows(self.layout, self.around.threads.numbers("stack64_start")))

    def find_tebs(self) -> Bools:
        """Find the allocations that environment blocks of threads lie in."""
        return self._find_allocations(find_rows(self.layout, self.around.threads.numbers("teb")))

    def find_peb(self) -> Bools:
        """Find the allocation that the environment block of the process lies in."""
        pointer = Numbers(np.array([self.around.peb or 0], np.uint64))
        return self._find_allocations(find_rows(self.layout, pointer))

    def _find_allocations(self, rows: Rows) -> Bools:
        """Find all parts of the private allocations that these regions belong to; -1 is none.

        What Windows makes for a thread or a process is an allocation of its own, and released as a whole.
        """
        rows, private = rows[rows >= 0], self.is_kind(MEM_PRIVATE)
        return np.asarray(np.isin(self.bases, self.bases[rows[private[rows]]]) & private, np.bool_)

    def find_heaps(self, *flags: int) -> Bools:
        """Find the allocations that heaps begin with, those of some flags; a heap's id is its address."""
        heaps = self.around.heaps
        ids, kind = heaps.numbers("id"), heaps.numbers("flags").values & np.uint64(HF32_DEFAULT)
        wanted = ids.is_known & (ids.values != 0) & np.isin(kind, np.array(flags, np.uint64))
        return np.asarray(np.isin(self.bases, ids.values[wanted]), np.bool_)

    def is_kind(self, kind: np.uint64) -> Bools:
        """Regions of one Type."""
        mask: Bools = self.layout.raw.numbers("Type").values == kind
        return mask

    def find_nameless(self) -> Bools:
        """Find views of sections that no file is named for."""
        return self.is_kind(MEM_MAPPED) & self.layout.is_pseudo

    def find_page_file(self) -> Bools:
        """Find views of which the system says itself that the page file is behind them, and nothing else."""
        told = self.around.allocations
        kind = told.numbers("RegionType").values & np.uint64(_MAPPED_KINDS)
        bases = told.numbers("start").values[kind == _MAPPED_PAGE_FILE]
        return np.asarray(np.isin(self.bases, bases) & self.find_nameless(), np.bool_)

    def find_unnamed(self) -> Bools:
        """Find views without a file, by a source that names the files of other views."""
        names_others = bool((self.is_kind(MEM_MAPPED) & ~self.layout.is_pseudo).any())
        return self.find_nameless() & names_others

    def find_reserved(self) -> Bools:
        """Find private allocations of which nothing is committed."""
        is_reserved = self.layout.raw.numbers("State").values == MEM_RESERVE
        return self.is_kind(MEM_PRIVATE) & ~np.isin(self.bases, self.bases[~is_reserved])

    searches: ClassVar[Mapping[str, Search]] = {
        "page-guard": find_guards,
        "mbi-stack-guard": lambda c: (c.find_stacks() | c.find_stacks_64()) & c.find_guards(),
        "mbi-stack-64": find_stacks_64,
        "mbi-stack": find_stacks,
        "mbi-teb": find_tebs,
        "mbi-peb": find_peb,
        "mbi-heap-main": lambda c: c.find_heaps(HF32_DEFAULT) & c.is_kind(MEM_PRIVATE),
        "mbi-heap-shared": lambda c: c.find_heaps(0, HF32_DEFAULT) & c.find_nameless(),
        "mbi-heap": lambda c: c.find_heaps(0) & c.is_kind(MEM_PRIVATE),
        "mbi-image": lambda c: is_image(c.layout.raw),
        "mbi-mapped": lambda c: c.is_kind(MEM_MAPPED) & ~c.layout.is_pseudo,
        "mbi-page-file": find_page_file,
        "mbi-no-file": find_unnamed,
        "mbi-section": find_nameless,
        "mbi-reserved": find_reserved,
        "mbi-private": lambda c: c.is_kind(MEM_PRIVATE),
    }


class VmmapClassifier(WindowsClassifier):
    """Regions whose type VMMap states."""

    own: ClassVar[tuple[Rule, ...]] = rules_vmmap.RULES
    protection: ClassVar[str] = "Protection"
