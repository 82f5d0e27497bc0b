"""Snapshots and budgets for tests of a check: a heap of a given size, and texts of it in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.checks.budget import Budget
from mmpscope.analysis.checks.budgets import read_budgets
from support.loaded import load_blocks, make_line
from support.smaps_text import Block, make_block

__all__ = ["FLAGS", "LIBRARY", "MIB", "Region", "read_toml", "size_heap", "write_heaps"]

MIB = 1 << 20
FLAGS = "rd wr mr mw me ac"
LIBRARY = (
    "7f0000000000-7f0000004000 r-xp 0 77 /usr/lib/libfoo.so.1",
    {"Rss": 16, "Pss": 16},
    "rd ex mr mw me",
)
_HEAP = 0x1000_0000

Region = tuple[str, dict[str, int], str]


def _list_regions(kib: int, more: Sequence[Region]) -> list[Region]:
    line = f"{_HEAP:x}-{_HEAP + kib * 1024:x} rw-p 0 0 [heap]"
    counters = {"Rss": kib, "Pss": kib, "Private_Dirty": kib, "Anonymous": kib}
    return [(line, counters, FLAGS), LIBRARY, *more]


def size_heap(kib: int, *more: Region) -> LoadedSnapshot:
    """Load a process with a heap of that size, a multiple of 4, all of it resident, and a library."""
    return load_blocks(*_list_regions(kib, more))


def write_heaps(folder: Path, *sizes_kib: int) -> list[Path]:
    """Write such processes as smaps texts, 0.smaps and so on."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.smaps" for number in range(len(sizes_kib))]
    for path, kib in zip(paths, sizes_kib, strict=True):
        blocks = [
            Block(make_line(line), kb, flags.encode() + b" ") for line, kb, flags in _list_regions(kib, ())
        ]
        path.write_bytes(b"".join(map(make_block, blocks)))
    return paths


def read_toml(folder: Path, text: str) -> tuple[Budget, ...]:
    """Read budgets from a text."""
    path = folder / "budget.toml"
    path.write_text(text, encoding="utf-8")
    return read_budgets(path)
