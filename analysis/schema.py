"""Every column of every answer, written once: name, Arrow type, unit and meaning.

docs/metrics.md, the CSV and Parquet columns, the JSON keys and the tests come from here. Nothing is computed
here.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ALLOCATIONS",
    "CAPABILITY",
    "COUNTERS",
    "FREE",
    "GATE",
    "HEAPS",
    "MODULES",
    "PROCESSES",
    "REGIONS",
    "SUMMARY",
    "TABLES",
    "THREADS",
    "TYPES",
    "Field",
]


@dataclass(frozen=True)
class Field:
    """One column: ``type`` is an Arrow type name (uint64, int64, uint32, float64, bool, string).

    Text is dictionary-encoded: names repeat, and equal names can be compared as numbers.
    """

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
"""The types of VMMap, in the order in which a summary prints them (VMMap help, "Memory Types")."""

GATE = "gate"
"""Subtype of areas such as [vsyscall], which the kernel shows in every map but counts in no process.

They are rows of the regions table, and take part in no sum, in no hole and not in the mapping count.
"""

_FIGURES = (
    Field(
        "committed",
        "uint64",
        "bytes",
        "backed by memory, swap or a file; a reservation counts only what it holds",
    ),
    Field("private", "uint64", "bytes", "committed and chargeable to this process alone"),
    Field("commit_charge", "uint64", "bytes", "counted by the system against its commit limit"),
    Field("total_ws", "uint64", "bytes", "resident in physical memory (working set)"),
    Field("private_ws", "uint64", "bytes", "resident and not shareable with another process"),
    Field("shareable_ws", "uint64", "bytes", "resident and shareable: total_ws - private_ws"),
    Field("shared_ws", "uint64", "bytes", "resident and mapped more than once now"),
    Field("locked_ws", "uint64", "bytes", "resident and locked in memory"),
    Field("cow_shared", "uint64", "bytes", "anonymous pages still shared with another process after fork"),
    Field("uss", "uint64", "bytes", "unique set size: resident pages that no other process maps"),
    Field(
        "pss",
        "uint64",
        "bytes",
        "proportional set size: each resident page divided by the number of its mappers",
    ),
    Field("swap", "uint64", "bytes", "swapped out"),
    Field(
        "lazyfree", "uint64", "bytes", "given back with MADV_FREE, still resident until the system wants it"
    ),
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
    Field(
        "protection", "string", "", "access rights, as in rw-p, or in VMMap's words, as in Read/Write/Guard"
    ),
    *_FIGURES,
    Field("blocks", "uint32", "", "sub-blocks: 1 for a region"),
    Field("details", "string", "", "path, name, thread or module, for a person to read"),
    Field(
        "fault",
        "string",
        "",
        "where the source contradicts itself, and what we made of it; else null",
    ),
)
"""One row a region; every raw column of the source follows under its own name."""

ALLOCATIONS = (
    *(f for f in REGIONS if f.name not in {"allocation", "rule", "confidence", "state", "fault"}),
    Field("first", "uint32", "row", "index of the allocation's first region in the regions table"),
)
"""One row an allocation: sums over its regions, a summary of their protections, the number of sub-blocks."""

SUMMARY = (
    Field("type", "string", "", "Total, then one row a type, in VMMap's order"),
    Field("size", "uint64", "bytes", "address space; Total is everything but Free"),
    *_FIGURES,
    Field("blocks", "uint64", "", "sub-blocks (regions)"),
    Field("allocations", "uint64", "", "allocations"),
    Field("largest", "uint64", "bytes", "size of the largest allocation"),
    Field(
        "partial",
        "string",
        "",
        "columns of this row that leave out what is unknown, as in pss, swap; else null",
    ),
)
"""VMMap's summary. A figure is null where no region of the row knows it."""

FREE = (
    Field("address", "uint64", "address", "first byte of the hole"),
    Field("size", "uint64", "bytes", "size of the hole"),
    Field("end", "uint64", "address", "first byte after the hole"),
    Field("type", "string", "", "Free, or Unusable: the head of a gap up to the allocation granularity"),
    Field(
        "before",
        "string",
        "",
        "what lies directly below, as type and details; null at the start of the range",
    ),
    Field("after", "string", "", "what lies directly above; null at the end of the range"),
)
"""One row a stretch of the usable range that no region covers."""

_MAPPED = tuple(f for f in _FIGURES if f.name in {"committed", "private", "total_ws", "private_ws", "swap"})

THREADS = (
    Field("tid", "uint64", "", "thread id as the system gave it"),
    Field("name", "string", "", "name of the thread"),
    Field("state", "string", "", "state as the source writes it, as in S"),
    Field("starttime", "uint64", "ticks", "when it started, in clock ticks since boot"),
    Field("sp", "uint64", "address", "stack pointer; null while running or where it may not be read"),
    Field("ip", "uint64", "address", "instruction pointer"),
    Field("stack", "uint64", "address", "base of the allocation that is its stack, guard included"),
    Field("size", "uint64", "bytes", "size of that allocation"),
    *_MAPPED,
)
"""One row a thread, with its stack where that is known."""

MODULES = (
    Field("path", "string", "", "file as it was mapped"),
    Field(
        "base",
        "uint64",
        "address",
        "load bias: what is added to the addresses in the file; null if not read",
    ),
    Field("address", "uint64", "address", "first byte that belongs to it"),
    Field("end", "uint64", "address", "first byte after it"),
    Field("size", "uint64", "bytes", "size of its regions, .bss included"),
    *_MAPPED,
    Field("shareable_ws", "uint64", "bytes", "resident and shareable"),
    Field("shared_ws", "uint64", "bytes", "resident and mapped more than once now"),
    Field("pss", "uint64", "bytes", "proportional set size"),
    Field("bss", "uint64", "bytes", "size of the regions that are its .bss; null where no source tells"),
    Field("blocks", "uint32", "", "regions"),
    Field("loads", "uint32", "", "how often this process has loaded the same file, one row each"),
    Field(
        "build_id",
        "string",
        "",
        "which build it is, in hex: GNU build id, GUID and age of the PDB, or UUID of a Mach-O file",
    ),
    Field(
        "timestamp",
        "uint64",
        "",
        "TimeDateStamp of a PE file: seconds since 1970, or a hash where builds are reproducible",
    ),
    Field("version", "string", "", "version of a PE file, as in 10.0.22000.282"),
    Field("file_size", "uint64", "bytes", "size of the file"),
    Field("mtime_ns", "int64", "ns", "last change of the file, since 1970"),
    Field("elf_class", "uint32", "bits", "32 or 64"),
    Field("machine", "uint32", "", "e_machine of the ELF header, Machine of a PE file"),
)
"""One row a program or library that the process has loaded."""

HEAPS = (
    Field("name", "string", "", "main heap, the number that VMMap gives it, or what its allocator is called"),
    Field("type", "string", "", "Heap or Managed Heap"),
    Field("address", "uint64", "address", "lowest address"),
    Field("size", "uint64", "bytes", "address space, reservations and guards included"),
    *_MAPPED,
    Field("lazyfree", "uint64", "bytes", "given back with MADV_FREE, still resident"),
    Field("blocks", "uint32", "", "regions"),
    Field("rule", "string", "", "id of the classification rule"),
    Field("confidence", "string", "", "high, medium or low"),
)
"""One row a heap: the main heap, each arena or heap with an id, each named allocator."""

PROCESSES = (
    Field("pid", "uint64", "", "process id"),
    Field("ppid", "uint64", "", "process id of its parent"),
    Field("user", "string", "", "account"),
    Field("uid", "uint64", "", "number of that account"),
    Field("name", "string", "", "name of the process"),
    Field("threads", "uint64", "", "number of threads"),
    Field("rss", "uint64", "bytes", "resident set size"),
    Field("private", "uint64", "bytes", "private memory; null where it was not asked for"),
    Field("starttime", "uint64", "ticks", "when it started: ticks since boot, on Windows 100 ns since 1601"),
    Field("elf_class", "uint32", "bits", "32 or 64"),
    Field("cmdline", "string", "", "command line; null unless it was asked for"),
)
"""One row a process of the machine at the moment of the capture."""

CAPABILITY = (
    Field("item", "string", "", "source or column, as in smaps or regions.pss"),
    Field("state", "string", "", "ok, partial, unavailable, skipped or not applicable"),
    Field("code", "int64", "", "errno or Win32 error code"),
    Field("reason", "string", "", "why, in words"),
)
"""Why something is null: what the collector could not read, and what cannot be computed without it."""

TABLES: dict[str, tuple[Field, ...]] = {
    "regions": REGIONS,
    "allocations": ALLOCATIONS,
    "summary": SUMMARY,
    "free": FREE,
    "threads": THREADS,
    "modules": MODULES,
    "heaps": HEAPS,
    "processes": PROCESSES,
    "capability": CAPABILITY,
}
