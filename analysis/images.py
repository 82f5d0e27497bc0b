"""Programs and libraries in a map: their parts, their .bss, and what took the place of their segments."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from mmpscope.analysis.columns import Bools, RawColumns, Uints
from mmpscope.analysis.layout import Layout, Rows, align_up

__all__ = ["Images", "Share"]

_NEVER_IMAGES = ("/dev/", "/proc/", "/sys/", "/anon_hugepage")
_JIT_DUMP = ".dump"
_PF_X = 1  # elf(5): an executable segment
_TOP = np.uint64(2**64 - 1)


class Share(NamedTuple):
    """How much of each region belongs to ranges of some kind: bytes, and the module that owns them."""

    owned: Uints
    module: Rows

    def is_most_of(self, size: Uints) -> Bools:
        """Regions of which at least half belongs to a module."""
        most: Bools = (self.module >= 0) & (self.owned >= size - np.minimum(self.owned, size))
        return most


class Images:
    """What the modules and segments tables, or names alone, say of a map.

    ``modules`` and ``segments`` are the raw tables of the collector, which read the ELF headers of mapped
    files; without them only names are left, and no .bss can be told.
    """

    def __init__(self, layout: Layout, modules: RawColumns, segments: RawColumns, page: int) -> None:
        self._layout = layout
        self._modules = modules
        self._segments = segments
        self._page = page

    @cached_property
    def module(self) -> Rows:
        """Row of the module that a file region is a part of, by address and path; -1 where there is none.

        A dump's list of modules may know the first mapping of a file alone (seen in one of Breakpad: the
        program at 400000-41a000, and its data at 619000). What goes on from there, by the look of it, is part
        of the module as well.
        """
        within = self._find_within()
        rows = np.flatnonzero((within >= 0) & ~np.append(self._is_read, False)[within])
        if not len(rows):
            return within
        load = self._layout.load
        of_load = np.full(load.max() + 2, -1, np.int64)
        of_load[load[rows][::-1]] = within[rows][::-1]
        return np.where(within < 0, of_load[load], within)

    @property
    def _is_read(self) -> Bools:
        """Modules whose ELF header was read, so that their extent is known."""
        return self._modules.numbers("elf_class").is_known

    def _find_within(self) -> Rows:
        low, high = self._modules.numbers("low").values, self._modules.numbers("high").values
        found = np.full(self._layout.rows, -1, np.int64)
        if not len(low):
            return found
        order = np.argsort(low, kind="stable")
        nearest = np.searchsorted(low[order], self._layout.start, side="right") - 1
        module = order[np.maximum(nearest, 0)]
        inside = (nearest >= 0) & (self._layout.end <= high[module]) & (self._layout.file >= 0)
        same = self._is_same_file(module)
        return np.where(inside & same & self._layout.rights.private, module, -1)

    def _is_same_file(self, module: Rows) -> Bools:
        inode = self._modules.numbers("inode")
        if inode.known is None and "inode" in self._layout.raw:
            same: Bools = inode.values[module] == self._layout.raw.numbers("inode").values
            return same
        paths = {path: code for code, path in enumerate(self._layout.path.values)}
        text = self._modules.text("path")
        codes = np.array([paths.get(value, -1) for value in text.values], np.int64)
        return np.asarray(codes[text.codes[module]] == self._layout.path.codes, np.bool_)

    @cached_property
    def load(self) -> Rows:
        """Number of the load that each private file region is a part of; -1 elsewhere."""
        by_look, module = self._layout.load, self.module
        return np.where(module >= 0, module + by_look.max(initial=0) + 1, by_look)

    @cached_property
    def _is_executable(self) -> Bools:
        """Regions of loads of which some part is mapped executable."""
        left_out = np.isin(self.module, self._find_left_out())
        executable = self.load[self._layout.rights.executable | left_out]
        return np.asarray(np.isin(self.load, executable) & (self.load >= 0), np.bool_)

    def _find_left_out(self) -> Rows:
        """List modules with a writable part, and with an executable segment of which no byte is in the map.

        gcore of gdb leaves out the text of libraries, as it does not dump it: of each there is r-- below and
        rw- above. Who maps a file as data does not map it as its segments say, to write into one. Only a
        core is asked, which does not tell private from shared: what else lists regions lists text as well.
        """
        rights, layout = self._layout.rights, self._layout
        module = self._segments.numbers("module").values.astype(np.int64)
        starts = self._segment_base + self._segments.numbers("vaddr").values
        ends = starts + self._segments.numbers("memsz").values
        executable = (self._segments.numbers("flags").values & np.uint64(_PF_X)) != 0
        next_start = np.append(layout.start, _TOP)[np.searchsorted(layout.end, starts, side="right")]
        absent = module[executable & (starts < ends) & (ends <= next_start)]
        in_core = self.module[rights.writable & ~rights.has_sharing & (self.module >= 0)]
        return np.unique(absent[np.isin(absent, in_core)])

    @cached_property
    def elf(self) -> Bools:
        """Parts of loads of files that are known to be ELF and are mapped executable.

        It is known by whoever read the ELF header or the build id; a mere list of modules names files.
        """
        read = self._is_read | ~self._modules.text("build_id").is_null
        known = self._layout.file[(self.module >= 0) & np.append(read, False)[self.module]]
        return self._is_executable & np.isin(self._layout.file, known)

    @cached_property
    def named(self) -> Bools:
        """Parts of loads that are mapped executable from a file that was not read.

        Not of devices, and not of jit-PID.dump, which perf makes a JIT map executable as a mere marker.
        """
        refused = self._layout.path.match(
            lambda path: path.startswith(_NEVER_IMAGES) or path.endswith(_JIT_DUMP)
        )
        return self._is_executable & ~self.elf & ~refused

    @cached_property
    def is_part(self) -> Bools:
        """All parts of programs and libraries that have a file behind them."""
        return self.elf | self.named

    @cached_property
    def bss(self) -> Share:
        """How much of each nameless region is .bss.

        The kernel merges .bss with what follows it: arenas of Python were seen behind the .bss of _bz2.so
        in one region. So .bss ends at p_memsz, and a region belongs to whoever owns most of it. A region
        called [heap] is asked too: a kernel before 6.5 gives that name to .bss where the two touch.
        """
        base, flags = self._segment_base, self._segments
        starts = align_up(base + flags.numbers("vaddr").values + flags.numbers("filesz").values, self._page)
        ends = align_up(base + flags.numbers("vaddr").values + flags.numbers("memsz").values, self._page)
        layout = self._layout
        is_heap = layout.is_pseudo & layout.path.equals("[heap]")
        return self._share(starts, ends, (layout.is_anonymous & layout.rights.accessible) | is_heap)

    @cached_property
    def moved_text(self) -> Share:
        """How much of each executable region without a file stands where a file's segment should be.

        Programs move their text to huge pages: 00400000-05600000 r-xp /anon_hugepage (deleted) before the
        data of the program at 05999000.
        """
        base, layout = self._segment_base, self._layout
        starts = base + self._segments.numbers("vaddr").values
        huge = layout.path.match(lambda path: path.startswith("/anon_hugepage"))
        candidates = (layout.is_anonymous | huge) & layout.rights.private & layout.rights.executable
        return self._share(starts, starts + self._segments.numbers("memsz").values, candidates)

    @cached_property
    def gap(self) -> Bools:
        """Reservations between two parts of one load, as uClibc leaves them."""
        layout, load = self._layout, np.where(self.is_part, self.load, -1)
        between = np.zeros(layout.rows, np.bool_)
        between[1:-1] = (load[:-2] >= 0) & (load[:-2] == load[2:])
        return between & layout.is_reservation & layout.touches_below & layout.touches_above

    @cached_property
    def _segment_base(self) -> Uints:
        """Load bias of each segment, by the module that it is a part of."""
        module = self._segments.numbers("module").values
        base = self._modules.numbers("base").values
        if not len(base):
            return np.zeros(len(module), np.uint64)
        return base[np.minimum(module, np.uint64(len(base) - 1)).astype(np.int64)]

    def _share(self, starts: Uints, ends: Uints, candidates: Bools) -> Share:
        """Measure how much of each candidate lies in the ranges, and name the module of the first."""
        layout, module = self._layout, self._segments.numbers("module").values.astype(np.int64)
        owned, owner = np.zeros(layout.rows, np.uint64), np.full(layout.rows, -1, np.int64)
        real = np.flatnonzero((starts < ends) & (module < len(self._modules.numbers("base").values)))
        real = real[np.argsort(starts[real], kind="stable")]
        rows = np.flatnonzero(candidates)
        if not len(real) or not len(rows):
            return Share(owned, owner)
        starts, ends, module = starts[real], ends[real], module[real]
        ends[:-1] = np.minimum(ends[:-1], starts[1:])  # ranges of a damaged table may overlap
        owned[rows] = _cover(starts, ends, layout.end[rows]) - _cover(starts, ends, layout.start[rows])
        first = np.minimum(np.searchsorted(ends, layout.start[rows], side="right"), len(real) - 1)
        owner[rows] = np.where(owned[rows] > 0, module[first], -1)
        return Share(owned, owner)


def _cover(starts: Uints, ends: Uints, positions: Uints) -> Uints:
    """Return how many bytes of sorted, disjoint ranges lie below each position."""
    sums = np.concatenate(([np.uint64(0)], np.cumsum(ends - starts)))
    last = np.searchsorted(starts, positions, side="right")
    begun = np.maximum(last - 1, 0)
    inside = np.minimum(positions, ends[begun]) - starts[begun]
    return sums[begun] + np.where(last > 0, inside, np.uint64(0))
