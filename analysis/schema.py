"""Every column of every answer, written once: name, Arrow type, unit and meaning.

docs/metrics.md, the CSV and Parquet columns, the JSON keys and the tests come from here. Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ALLOCATIONS",
    "COUNTERS",
    "FREE",
    "REGIONS",
    "SUMMARY",
    "TABLES",
    "TYPES",
    "Field",
]


@dataclass(frozen=True)
class Field:
    """One column: ``type`` is an Arrow type name (uint64, int64, uint32, float64, bool, string)."""

    name: str
    type: str
    unit: str
    meaning: str


TYPES = (
    "Image",
    "Mapped File",
    "Shareable",
    "Heap",
    "Managed Heap",
    "Stack",
    "Private Data",
    "Page Table",
    "Unusable",
    "Free",
)
"""The types of VMMap, in the order in which a summary prints them (design: Sysinternals VMMap help, "Memory Types")."""

_FIGURES = (
    Field("committed", "uint64", "bytes", "backed by memory, swap or a file; a reservation counts only what it holds"),
    Field("private", "uint64", "bytes", "committed and chargeable to this process alone"),
    Field("commit_charge", "uint64", "bytes", "counted by the system against its commit limit"),
    Field("total_ws", "uint64", "bytes", "resident in physical memory (working set)"),
    Field("private_ws", "uint64", "bytes", "resident and not shareable with another process"),
    Field("shareable_ws", "uint64", "bytes", "resident and shareable: total_ws - private_ws"),
    Field("shared_ws", "uint64", "bytes", "resident and mapped more than once now"),
    Field("locked_ws", "uint64", "bytes", "resident and locked in memory"),
    Field("cow_shared", "uint64", "bytes", "anonymous pages still shared with another process after fork"),
    Field("uss", "uint64", "bytes", "unique set size: resident pages that no other process maps"),
    Field("pss", "uint64", "bytes", "proportional set size: each resident page divided by the number of its mappers"),
    Field("swap", "uint64", "bytes", "swapped out"),
    Field("lazyfree", "uint64", "bytes", "given back with MADV_FREE, still resident until the system wants it"),
    Field("thp", "uint64", "bytes", "resident in transparent huge pages"),
)

COUNTERS = tuple(field.name for field in _FIGURES)
"""The additive figures of a region besides its size; null means unknown, never zero."""

REGIONS = (
    Field("snapshot", "string", "", "file and number of the snapshot, as in run.mmp#3"),
    Field("address", "uint64", "address", "first byte"),
    Field("size", "uint64", "bytes", "end - address"),
    Field("end", "uint64", "address", "first byte after the region (half-open)"),
    Field("allocation", "uint64", "address", "base of the allocation that the region is a part of"),
    Field("type", "string", "", "what the memory is: one of VMMap's types"),
    Field("subtype", "string", "", "finer kind within the type, as in glibc arena or main stack"),
    Field("rule", "string", "", "id of the classification rule that claimed the region"),
    Field("confidence", "string", "", "high, medium or low: how sure that rule is"),
    Field("state", "string", "", "committed, reserved or free"),
    Field("protection", "string", "", "access rights as the source writes them, as in rw-p or PAGE_READWRITE"),
    *_FIGURES,
    Field("blocks", "uint32", "", "sub-blocks: 1 for a region"),
    Field("details", "string", "", "path, name, thread or module, for a person to read"),
)
"""One row a region; every raw column of the source follows under its own name."""

ALLOCATIONS = (
    *(f for f in REGIONS if f.name not in {"allocation", "rule", "confidence", "state"}),
    Field("first", "uint32", "row", "index of the allocation's first region in the regions table"),
)
"""One row an allocation: sums over its regions, the summary of their protections, the number of sub-blocks."""

SUMMARY = (
    Field("type", "string", "", "Total, then one row a type, in VMMap's order"),
    Field("size", "uint64", "bytes", "address space; Total is everything but Free"),
    *_FIGURES,
    Field("blocks", "uint64", "", "sub-blocks (regions)"),
    Field("allocations", "uint64", "", "allocations"),
    Field("largest", "uint64", "bytes", "size of the largest allocation"),
)
"""VMMap's summary."""

FREE = (
    Field("address", "uint64", "address", "first byte of the hole"),
    Field("size", "uint64", "bytes", "size of the hole"),
    Field("end", "uint64", "address", "first byte after the hole"),
    Field("type", "string", "", "Free, or Unusable: the head of a gap up to the allocation granularity"),
    Field("before", "string", "", "what lies directly below, as type and details; null at the start of the range"),
    Field("after", "string", "", "what lies directly above; null at the end of the range"),
)
"""One row a stretch of the usable range that no region covers."""

TABLES: dict[str, tuple[Field, ...]] = {
    "regions": REGIONS,
    "allocations": ALLOCATIONS,
    "summary": SUMMARY,
    "free": FREE,
}
