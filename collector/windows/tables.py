"""Columns of the raw tables of a Windows snapshot; docs/format.md names them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mmpscope.collector.windows.heap_blocks import BlockSums
from mmpscope.collector.windows.pages import COLUMNS, PageSums
from mmpscope.collector.windows.pe import Image
from mmpscope.collector.windows.rows import Allocation, Heap, Region
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table

__all__ = [
    "ModuleRow",
    "ThreadRow",
    "tabulate_allocations",
    "tabulate_heap_blocks",
    "tabulate_heaps",
    "tabulate_modules",
    "tabulate_regions",
    "tabulate_sections",
    "tabulate_threads",
]

_REGION = {
    "start": "base",
    "size": "size",
    "AllocationBase": "allocation_base",
    "AllocationProtect": "allocation_protect",
    "State": "state",
    "Protect": "protect",
    "Type": "type",
}
"""Column names are those of MEMORY_BASIC_INFORMATION, but for start and size, which all systems have."""


class ThreadRow(NamedTuple):
    """One thread; None where the system did not say."""

    tid: int
    name: bytes | None
    priority: int
    teb: int | None
    stack_start: int | None
    stack_size: int | None
    stack64_start: int | None = None
    stack64_size: int | None = None


class ModuleRow(NamedTuple):
    """One module of the Toolhelp list, and what its headers say; None where they could not be read."""

    path: bytes
    base: int
    size: int
    image: Image | None


def tabulate_regions(
    regions: Sequence[Region], paths: Sequence[bytes | None], pages: Sequence[PageSums] | None
) -> Table:
    """Make the table regions; without ``pages`` there are no columns of working sets."""
    columns = {
        name: Plain("uint", [getattr(region, field) for region in regions]) for name, field in _REGION.items()
    }
    columns["path"] = Plain("text", paths, "wtf-8")
    for place, name in enumerate(COLUMNS if pages is not None else ()):
        columns[name] = Plain("uint", [sums[place] for sums in pages or ()])
    return encode_table(columns, len(regions))


def tabulate_threads(rows: Sequence[ThreadRow]) -> Table:
    """Make the table threads."""
    return _tabulate(rows, ThreadRow._fields, {"name": "wtf-8"})


def tabulate_heaps(rows: Sequence[Heap]) -> Table:
    """Make the table heaps: id (the address), flags (HF32_DEFAULT 1, HF32_SHARED 2)."""
    return _tabulate(rows, Heap._fields, {})


def tabulate_heap_blocks(rows: Sequence[BlockSums]) -> Table:
    """Make the table heap_blocks: heap (its address), flags (LF32_*), size_class, blocks, bytes."""
    return _tabulate(rows, BlockSums._fields, {})


def tabulate_allocations(rows: Sequence[Allocation]) -> Table:
    """Make the table allocations: start, size, RegionType, CommitSize (MEMORY_REGION_INFORMATION)."""
    return _tabulate(rows, ("start", "size", "RegionType", "CommitSize"), {})


def tabulate_modules(rows: Sequence[ModuleRow]) -> Table:
    """Make the table modules: path, low, high, machine, timestamp, checksum, pdb, build_id, file_version."""
    images = [row.image for row in rows]
    columns = {
        "path": Plain("text", [row.path for row in rows], "wtf-8"),
        "low": Plain("uint", [row.base for row in rows]),
        "high": Plain("uint", [row.base + row.size for row in rows]),
        **{
            name: Plain("uint", [None if image is None else getattr(image, name) for image in images])
            for name in ("machine", "timestamp", "checksum")
        },
        "pdb": Plain("text", [None if image is None else image.pdb for image in images], "bytes"),
        **{
            name: Plain("text", [_encode(image and getattr(image, name)) for image in images], "utf-8")
            for name in ("build_id", "file_version")
        },
    }
    return encode_table(columns, len(rows))


def tabulate_sections(rows: Sequence[ModuleRow]) -> Table:
    """Make the table sections: module (row of modules), name, start, size, file_size, characteristics."""
    found = [
        (number, row.base, section)
        for number, row in enumerate(rows)
        if row.image is not None
        for section in row.image.sections
    ]
    columns = {
        "module": Plain("uint", [number for number, _, _ in found]),
        "name": Plain("text", [section.name for _, _, section in found], "bytes"),
        "start": Plain("uint", [base + section.address for _, base, section in found]),
        **{
            name: Plain("uint", [getattr(section, name) for _, _, section in found])
            for name in ("size", "file_size", "characteristics")
        },
    }
    return encode_table(columns, len(found))


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _tabulate(rows: Sequence[NamedTuple], names: Sequence[str], texts: dict[str, str]) -> Table:
    columns = {
        name: Plain("text" if name in texts else "uint", [row[place] for row in rows], texts.get(name))
        for place, name in enumerate(names)
    }
    return encode_table(columns, len(rows))
