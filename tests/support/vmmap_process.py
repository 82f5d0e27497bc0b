"""Processes as VMMap sees them, written down by hand, with its totals added up by plain loops.

From the notes on VMMap's files alone: nothing here is shared with the readers and writers under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = [
    "DEVENV",
    "DEVENV64",
    "GROWN",
    "KIB",
    "PROTECTIONS",
    "SUMMARY_TYPES",
    "USE_TYPES",
    "Allocation",
    "Process",
    "Row",
]

KIB = 1024
GRANULARITY = 64 * KIB

USE_TYPES = {
    "Heap (Private Data)": 0,
    "Heap (Shareable)": 0,
    "Thread Stack": 1,
    "Image": 2,
    "Image (ASLR)": 2,
    "Mapped File": 3,
    "Private Data": 4,
    "Shareable": 5,
    "Free": 6,
    "Managed Heap": 8,
    "Page Table": 9,
    "Unusable": 10,
}
"""The number of each type that VMMap shows in its list of regions."""

SUMMARY_TYPES = {
    "Heap (Private Data)": "Heap",
    "Heap (Shareable)": "Heap",
    "Thread Stack": "Stack",
    "Image (ASLR)": "Image",
}
"""Types that the summary calls otherwise than the list does."""

PROTECTIONS = {
    0x00: "Reserved",
    0x01: "No access",
    0x02: "Read",
    0x04: "Read/Write",
    0x08: "Copy on write",
    0x20: "Execute/Read",
    0x40: "Execute/Read/Write",
    0x80: "Execute/Copy on Write",
    0x104: "Read/Write/Guard",
    0x404: "Read/Write/WriteCombine",
}
"""PAGE_* numbers, and the words that VMMap has for them."""

_SUMMED_OVER_ALLOCATIONS = (
    "size", "committed", "total_ws", "private_ws", "shareable_ws", "shared_ws", "locked_ws", "blocks",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line of VMMap's list: an allocation, a part of one, or a hole; sizes in bytes."""

    address: int
    size: int
    type: str
    committed: int = 0
    private: int = 0
    private_ws: int = 0
    shareable_ws: int = 0
    shared_ws: int = 0
    locked_ws: int = 0
    protection: int = 0
    details: str = ""
    blocks: int = 0
    heap: int = 0

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.address + self.size

    @property
    def total_ws(self) -> int:
        """Total WS, which VMMap saves in a CSV only: it is the sum of the other two."""
        return self.private_ws + self.shareable_ws

    @property
    def summary_type(self) -> str:
        """The line of the summary that it counts in."""
        return SUMMARY_TYPES.get(self.type, self.type)


@dataclass(frozen=True)
class Allocation:
    """An allocation and its sub-blocks; its own figures need not be the sums of theirs."""

    whole: Row
    parts: tuple[Row, ...] = ()

    @property
    def leaves(self) -> tuple[Row, ...]:
        """The sub-blocks, or the allocation where it shows none."""
        return self.parts or (self.whole,)

    def count_private(self) -> int:
        """Return what VMMap's summary counts as Private: that of sub-blocks, where they are all of it.

        In the real CSV that the notes tell of, images have less Private than their sub-blocks, and the
        summary shows that of the sub-blocks; two managed heaps have sub-blocks of 1 KiB less, and the summary
        shows that of the heaps.
        """
        size = sum(part.size for part in self.parts)
        return sum(p.private for p in self.parts) if size == self.whole.size else self.whole.private


@dataclass(frozen=True)
class Process:
    """One process at one moment; allocations in the order of addresses, all below ``end``."""

    name: str
    pid: int
    bits: int
    end: int
    page_table: int
    allocations: tuple[Allocation, ...]

    @property
    def leaves(self) -> list[Row]:
        """The regions: all leaves, in the order of addresses."""
        return [leaf for allocation in self.allocations for leaf in allocation.leaves]

    def list_holes(self) -> list[Row]:
        """List Unusable (from an allocation to the next 64 KiB) and Free (from there to the next one)."""
        holes: list[Row] = []
        at = 0
        for start, end in [*((a.whole.address, a.whole.end) for a in self.allocations), (self.end, 0)]:
            usable = at
            while usable % GRANULARITY and usable < start:
                usable += 1
            holes += [Row(at, usable - at, "Unusable")] if usable > at else []
            holes += [Row(usable, start - usable, "Free")] if start > usable else []
            at = end
        return holes

    def sum_up(self) -> dict[str, dict[str, int]]:
        """Add up VMMap's summary: all but Private from the allocations' own figures."""
        rows: dict[str, dict[str, int]] = {}
        for allocation in self.allocations:
            row = rows.setdefault(allocation.whole.summary_type, _start_row())
            for name in _SUMMED_OVER_ALLOCATIONS:
                row[name] += getattr(allocation.whole, name)
            row["largest"] = max(row["largest"], allocation.whole.size)
            row["allocations"] += 1
            row["private"] += allocation.count_private()
        for name in ("size", "committed", "private", "total_ws", "private_ws"):
            rows.setdefault("Page Table", _start_row())[name] = self.page_table
        holes = self._sum_holes()
        rows["Unusable"] = holes["Unusable"]
        rows["Total"] = {name: sum(row[name] for row in rows.values()) for name in _start_row()}
        return {**rows, "Free": holes["Free"]}

    def _sum_holes(self) -> dict[str, dict[str, int]]:
        rows = {"Unusable": _start_row(), "Free": _start_row()}
        for hole in self.list_holes():
            row = rows[hole.type]
            row["size"] += hole.size
            row["largest"] = max(row["largest"], hole.size)
            row["blocks"] += hole.type == "Free"
        return rows


def _start_row() -> dict[str, int]:
    return dict.fromkeys((*_SUMMED_OVER_ALLOCATIONS, "private", "largest", "allocations"), 0)


def _row(address: int, kib: int, kind: str, figures: str = "", protection: int = 4, details: str = "") -> Row:
    """Write a row in short: figures in KiB, in VMMap's order and without Total WS, as in ``40 40 8``."""
    names = ("committed", "private", "private_ws", "shareable_ws", "shared_ws", "locked_ws")
    numbers = (int(word) * KIB for word in figures.split())
    return Row(
        address,
        kib * KIB,
        kind,
        **dict(zip(names, numbers, strict=False)),
        protection=protection,
        details=details,
    )


def _list_allocations() -> Iterator[Allocation]:
    yield from _list_data()
    yield from _list_images()
    yield from _list_large()
    last = _row(0xFFFE0000, 64, "Private Data", "", 0)
    yield Allocation(replace(last, blocks=1), (last,))


def _list_data() -> Iterator[Allocation]:
    shared = _row(0x110000, 64, "Shareable", "64 0 0 4 4")
    yield Allocation(replace(shared, blocks=1), (shared,))
    kind, details = "Heap (Private Data)", "Heap ID: 1 [LOW FRAGMENTATION]"
    heap = replace(_row(0x120000, 108, kind, "40 40 40", 4, details), heap=1)
    parts = _row(0x120000, 40, kind, "40 40 40", 4, details), _row(0x12A000, 68, kind, "", 0, details)
    yield Allocation(replace(heap, blocks=2), tuple(replace(part, heap=1) for part in parts))
    stack = _row(0x140000, 1024, "Thread Stack", "244 244 40 0 0 4", 0x104, "Thread ID: 34888")
    yield Allocation(
        replace(stack, blocks=3),
        (
            _row(0x140000, 780, "Thread Stack", "", 0),
            _row(0x203000, 32, "Thread Stack", "32 32", 0x104),
            _row(0x20B000, 212, "Thread Stack", "212 212 40 0 0 4"),
        ),
    )
    yield Allocation(
        replace(_row(0x240000, 6, "Private Data", "6 6 4 0 0", 4), blocks=1)  # neither 64 nor 4 KiB
    )
    kind = "Heap (Shareable)"
    heap = replace(_row(0x250000, 64, kind, "8 0 0 8 8", 4, "Heap ID: 2 [COMPATABILITY]"), heap=2)
    parts = _row(0x250000, 8, kind, "8 0 0 8 8", 4), _row(0x252000, 56, kind, "", 1)
    yield Allocation(replace(heap, blocks=2), parts)


def _list_images() -> Iterator[Allocation]:
    path = "C:\\Program Files (x86)\\R&D, Söhne's\\Tools#1\\devenv.exe"
    kind = "Image"
    program = _row(0x400000, 608, kind, "604 60 20 104 80", 0x80, path)
    yield Allocation(
        replace(program, blocks=17),  # three of its parts are one block, split at a section of the file
        (
            _row(0x400000, 4, kind, "4 4 4", 2, "Header"),
            _row(0x401000, 120, kind, "120 120 16 4", 8, ".data"),
            _row(0x41F000, 4, kind, "", 0),
            _row(0x420000, 456, kind, "456 24 0 100 80", 0x20, ".text"),
            _row(0x492000, 24, kind, "24 0 0 0", 2, ".reloc"),
        ),
    )
    kind = "Image (ASLR)"
    library = _row(0x2DB0000, 40, kind, "36 4 0 8 8", 0x20, "C:\\Windows\\System32\\naïve.dll")
    yield Allocation(
        replace(library, blocks=3),
        (
            _row(0x2DB0000, 4, kind, "4 0 0 4 4", 2, "Header"),
            _row(0x2DB1000, 28, kind, "28 0 0 4 4", 0x20, ".text"),
            _row(0x2DB8000, 4, kind, "4 4", 0x404, ".data"),
            _row(0x2DB9000, 4, kind, "", 0),
        ),
    )


def _list_large() -> Iterator[Allocation]:
    """Generations begin unaligned, and leave the first page and a hole in the middle to nobody."""
    kind = "Managed Heap"
    heap = _row(0x40A0000, 32768, kind, "16400 16400 9000", 4, "GC")
    yield Allocation(
        replace(heap, blocks=1),
        (
            _row(0x40A1000, 59, kind, "59 59 59", 4, "Gen2"),
            _row(0x40AFF34, 16339, kind, "16339 16339 8938", 4, "Gen1"),
            _row(0x5800000, 2048, kind, "", 0),
        ),
    )
    font = _row(0x7000000, 17216, "Mapped File", "17216 0 0 368 248", 2, "C:\\Windows\\Fonts\\a font.ttf")
    yield Allocation(replace(font, blocks=1))
    large = _row(0x1D910000, 16, kind, "16 16 16", 4, "Large Object Heap")
    yield Allocation(replace(large, blocks=1), (large,))


DEVENV = Process("devenv.exe", 29892, 32, 0xFFFF0000, 32368 * KIB, tuple(_list_allocations()))
"""A 32-bit process with a case of each kind that the notes warn of."""


def _grow(process: Process) -> Process:
    """Add an allocation, and page tables: what a later snapshot of the same process may show."""
    new = _row(0x50000000, 1000, "Private Data", "1000 1000 500")
    allocations = [*process.allocations, Allocation(replace(new, blocks=1), (new,))]
    in_order = tuple(sorted(allocations, key=lambda allocation: allocation.whole.address))
    return replace(process, page_table=process.page_table + 8 * KIB, allocations=in_order)


GROWN = _grow(DEVENV)
"""The same process, later."""


def _move(process: Process, by: int) -> Process:
    def move(row: Row) -> Row:
        return replace(row, address=row.address + by)

    moved = (Allocation(move(a.whole), tuple(map(move, a.parts))) for a in process.allocations)
    return replace(process, bits=64, end=0x7FFF_FFFF_0000, allocations=tuple(moved))


DEVENV64 = _move(DEVENV, 0x7FF6_1234_0000)
"""The same memory at addresses of 64 bits."""
