"""Where a process can have memory at all, and in what units: from what the snapshot says, or by guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.facts import get_map, get_number, show_fact
from mmpscope.formats.model import Capture, Facts
from mmpscope.formats.proc.space import infer_end

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "GATE_NAMES",
    "NO_ADDRESS_SPACE",
    "UsableRange",
    "find_bits",
    "find_page_size",
    "find_usable_range",
    "has_address_space",
]

_MIN_PAGE = 4096
_PAGES = tuple(1 << power for power in range(10, 31))
"""Sizes that a page can have: a power of two, from a KiB to the largest huge page, a GiB."""
_LAST = (1 << 64) - 1
"""The last end that a uint64 holds; no kernel gives a process the page below 2^64."""
_MMAP_MIN_ADDR = 1 << 16
"""CONFIG_DEFAULT_MMAP_MIN_ADDR of nearly all kernels."""

GATE_NAMES = ("[vsyscall]", "[vectors]")
"""Gate areas of x86 and of ARM: the kernel shows them in every map, outside of every process."""

NO_ADDRESS_SPACE = "no address space: a kernel thread, a zombie, or no permission to read it"
"""What a map without any region means; never that a process has no memory and all of its range is free."""


class UsableRange(NamedTuple):
    """From ``start`` up to, not including, ``end``; ``source`` says who states it."""

    start: int
    end: int
    source: str


def find_usable_range(process: Facts, capture: Capture, regions: pa.Table) -> UsableRange:
    """Return the range that the snapshot states, or the usual one for addresses like these.

    It is widened to the regions that lie outside: root may map below mmap_min_addr. Gate areas do not count.
    """
    low, high = _find_extent(RawColumns(regions))
    stated = get_map(process, "range")
    start, end = get_number(stated, "start"), get_number(stated, "end")
    if start is not None and end is not None:
        source = show_fact(stated.get("source")) or "the snapshot"
    else:
        start = get_number(capture.system, "mmap_min_addr") or _MMAP_MIN_ADDR
        end, source = infer_end(high)
    if low < start or high > end:
        source += ", widened to the regions outside"
    return UsableRange(min(start, low), min(max(end, high), _LAST), source)


def has_address_space(snapshot: LoadedSnapshot) -> bool:
    """Tell if anything is known of the memory of a process; see NO_ADDRESS_SPACE."""
    return len(snapshot.regions) > 0


def find_page_size(process: Facts, capture: Capture, regions: pa.Table) -> int:
    """Return the page size in bytes: of the process or the host, else the smallest of a region, else 4096."""
    for facts in (process, capture.host):
        stated = get_number(facts, "page_size")
        if stated in _PAGES:
            return stated
    pages = RawColumns(regions).numbers("KernelPageSize")
    known = pages.values[np.isin(pages.values, np.array(_PAGES, np.uint64))]
    return int(known.min()) if len(known) else _MIN_PAGE


def find_bits(process: Facts, end: int) -> int:
    """Return 32 or 64: the ELF class, else by where the address space ends."""
    stated = get_number(get_map(process, "elf"), "class")
    return stated if stated in (32, 64) else 64 if end > 1 << 32 else 32


def _find_extent(raw: RawColumns) -> tuple[int, int]:
    start, size = raw.numbers("start").values, raw.numbers("size").values
    counted = ~raw.text("path").equals(*GATE_NAMES)
    if not counted.any():
        return (1 << 64, 0)
    return int(start[counted].min()), int(np.max(start[counted] + size[counted]))
