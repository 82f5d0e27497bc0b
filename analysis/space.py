"""Where a process can have memory at all, and in what units: from what the snapshot says, or by guess."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.formats.model import Capture, Facts
from mmpscope.formats.proc.space import infer_end

__all__ = ["GATE_NAMES", "UsableRange", "find_bits", "find_page_size", "find_usable_range"]

_MIN_PAGE = 4096

GATE_NAMES = ("[vsyscall]", "[vectors]")
"""Gate areas of x86 and of ARM: the kernel shows them in every map, outside of every process."""


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
    stated = process.get("range")
    if isinstance(stated, dict) and _is_size(stated.get("start")) and _is_size(stated.get("end")):
        start, end, source = stated["start"], stated["end"], str(stated.get("source", "the snapshot"))
    else:
        minimum = capture.system.get("mmap_min_addr")
        start = minimum if _is_size(minimum) else 1 << 16
        end, source = infer_end(high)
    if low < start or high > end:
        source += ", widened to the regions outside"
    return UsableRange(min(start, low), max(end, high), source)


def find_page_size(process: Facts, capture: Capture, regions: pa.Table) -> int:
    """Return the page size in bytes: of the process or the host, else the smallest of a region, else 4096."""
    for stated in (process.get("page_size"), capture.host.get("page_size")):
        if _is_size(stated) and stated:
            return int(stated)
    pages = RawColumns(regions).numbers("KernelPageSize")
    known = pages.values[pages.is_known & (pages.values > 0)]
    return int(known.min()) if len(known) else _MIN_PAGE


def find_bits(process: Facts, end: int) -> int:
    """Return 32 or 64: the ELF class, else by where the address space ends."""
    stated = (process.get("elf") or {}).get("class")
    return stated if stated in (32, 64) else 64 if end > 1 << 32 else 32


def _find_extent(raw: RawColumns) -> tuple[int, int]:
    start, size = raw.numbers("start").values, raw.numbers("size").values
    counted = ~raw.text("path").equals(*GATE_NAMES)
    if not counted.any():
        return (1 << 64, 0)
    return int(start[counted].min()), int(np.max(start[counted] + size[counted]))


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= 1 << 64
