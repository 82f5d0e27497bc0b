"""Where a process can have memory at all, and in what units: from what the snapshot says, or by guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.facts import get_map, get_number, show_fact
from mmpscope.formats.model import Capture, Facts
from mmpscope.formats.proc.space import infer_end

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "GATE_NAMES",
    "NO_ADDRESS_SPACE",
    "NO_WINDOWS_SPACE",
    "UsableRange",
    "find_bits",
    "find_granularity",
    "find_page_size",
    "find_guessed_window",
    "find_usable_range",
    "has_address_space",
    "is_like_linux",
    "is_windows",
    "judge_usable_range",
    "read_bits",
    "tell_range",
]

_MIN_PAGE = 4096
_PAGES = tuple(1 << power for power in range(10, 31))
"""Sizes that a page can have: a power of two, from a KiB to the largest huge page, a GiB."""
_GRANULARITIES = tuple(1 << power for power in range(12, 31))
_WINDOWS_GRANULARITY = 1 << 16
"""GetSystemInfo, dwAllocationGranularity: 64 KiB on every Windows there has been."""
_WINDOWS_ENDS = {32: 0xFFFF_0000, 64: 0x7FFF_FFFF_0000}
"""Where user space ends, as VMMap reckons: that of a 32-bit program, large address aware, on 64-bit Windows;
and lpMaximumApplicationAddress of 64-bit Windows since 8.1, rounded up (VMMap, and minidumps since)."""
_LAST = (1 << 64) - 1
"""The last end that a uint64 holds; no kernel gives a process the page below 2^64."""
_MMAP_MIN_ADDR = 1 << 16
"""CONFIG_DEFAULT_MMAP_MIN_ADDR of nearly all kernels."""

GATE_NAMES = ("[vsyscall]", "[vectors]")
"""Gate areas of x86 and of ARM: the kernel shows them in every map, outside of every process."""

NO_ADDRESS_SPACE = "no address space: a kernel thread, a zombie, or no permission to read it"
"""What a map without any region means; never that a process has no memory and all of its range is free."""
NO_WINDOWS_SPACE = "no address space: a process of the kernel, one that ended, or no permission to read it"


class UsableRange(NamedTuple):
    """From ``start`` up to, not including, ``end``; ``source`` says who states it."""

    start: int
    end: int
    source: str


_GUESSED = ("assumed", "inferred")
"""How the source of a range begins that nobody stated."""


def find_guessed_window(a: tuple[int, int, str], b: tuple[int, int, str]) -> tuple[int, int] | None:
    """Return the part that two usable ranges share, where they differ and one of them is only a guess.

    None where they are alike, or both are stated: then the free space of both is known.
    """
    if a[:2] == b[:2] or not any(each[2].startswith(_GUESSED) for each in (a, b)):
        return None
    return max(a[0], b[0]), min(a[1], b[1])


def find_usable_range(process: Facts, capture: Capture, regions: RawColumns) -> UsableRange:
    """Return the range that the snapshot states, or the usual one for addresses like these.

    It is widened to the regions that lie outside: root may map below mmap_min_addr. Gate areas do not count.
    """
    return judge_usable_range(process, capture, _find_extent(regions))


def judge_usable_range(process: Facts, capture: Capture, extent: tuple[int, int]) -> UsableRange:
    """Return the range as `find_usable_range` does; ``extent`` is where regions begin and end."""
    low, high = extent
    start, end, source = _read_range(process) or _assume_range(process, capture, high)
    if low < start or high > end:
        source += ", widened to the regions outside"
    return UsableRange(min(start, low), min(max(end, high), _LAST), source)


def _read_range(process: Facts) -> UsableRange | None:
    stated = get_map(process, "range")
    start, end = get_number(stated, "start"), get_number(stated, "end")
    if start is None or end is None:
        return None
    return UsableRange(start, end, show_fact(stated.get("source")) or "the snapshot")


def _assume_range(process: Facts, capture: Capture, high: int) -> UsableRange:
    if is_windows(capture):
        bits = find_bits(process, high)
        return UsableRange(0, _WINDOWS_ENDS[bits], f"assumed: {bits}-bit Windows")
    start = get_number(capture.system, "mmap_min_addr") or _MMAP_MIN_ADDR
    return UsableRange(start, *infer_end(high))


def has_address_space(snapshot: LoadedSnapshot) -> bool:
    """Tell if there are regions; extent.py tells why there may be none."""
    return snapshot.raw_columns.rows > 0


def tell_range(snapshot: LoadedSnapshot) -> UsableRange | None:
    """Return the usable range for a person; None where it is a guess from the addresses of no region.

    A roll-up of a 64-bit process would have a range of 3 GiB, as it shows no address above.
    """
    found = snapshot.usable_range
    is_guess = found[2].startswith(_GUESSED) and not has_address_space(snapshot)
    return None if is_guess else UsableRange(*found)


def find_page_size(process: Facts, capture: Capture, regions: RawColumns) -> int:
    """Return the page size in bytes: of the process or the host, else the smallest of a region, else 4096."""
    for facts in (process, capture.host):
        stated = get_number(facts, "page_size")
        if stated in _PAGES:
            return stated
    pages = regions.numbers("KernelPageSize")
    known = pages.values[np.isin(pages.values, np.array(_PAGES, np.uint64))]
    return int(known.min()) if len(known) else _MIN_PAGE


def find_bits(process: Facts, end: int) -> int:
    """Return 32 or 64: the ELF class, else what the source says, else by where the address space ends."""
    return read_bits(process) or (64 if end > 1 << 32 else 32)


def read_bits(process: Facts) -> int | None:
    """Return 32 or 64: the ELF class, else what the source says; None where neither is there."""
    for stated in (get_number(get_map(process, "elf"), "class"), get_number(process, "bits")):
        if stated in (32, 64):
            return stated
    return None


def find_granularity(capture: Capture, page_size: int) -> int:
    """Return to what multiple the system aligns a new mapping: 64 KiB on Windows, else the page."""
    stated = get_number(capture.host, "allocation_granularity")
    if stated in _GRANULARITIES:
        return stated
    return _WINDOWS_GRANULARITY if is_windows(capture) else page_size


def is_like_linux(capture: Capture) -> bool:
    """Tell if the limits of Linux (vm.max_map_count, RLIMIT_AS, cgroups) can hold for a process."""
    return capture.host.get("os") not in ("windows", "macos")


def is_windows(capture: Capture) -> bool:
    """Tell if the limits of Windows (commit, jobs) hold for a process, and its 64 KiB without any address."""
    return capture.host.get("os") == "windows"


def _find_extent(raw: RawColumns) -> tuple[int, int]:
    start, size = raw.numbers("start").values, raw.numbers("size").values
    counted = ~raw.text("path").equals(*GATE_NAMES)
    if not counted.any():
        return (1 << 64, 0)
    return int(start[counted].min()), int(np.max(start[counted] + size[counted]))
