"""The columns of the measures of a snapshot; as in analysis/schema.py, nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.schema import COUNTERS, SUMMARY, Field

__all__ = [
    "CAPTURES",
    "COHORTS",
    "FIGURES",
    "FILE_KIND",
    "LIMITS",
    "MEASURES",
    "MODULE_KIND",
    "NAMES",
    "NAME_KIND",
    "STACK_KIND",
    "SUMMARIES",
]

FIGURES = ("size", *COUNTERS)
"""The additive figures in bytes, which captures, summaries and names have."""

MODULE_KIND, FILE_KIND, NAME_KIND, STACK_KIND = "module", "file", "name", "stack"

_MEANINGS = {field.name: field for field in SUMMARY}
_SNAPSHOT = Field(
    "snapshot_id",
    "string",
    "",
    "sha256 of the file in hex, a colon, number of the snapshot in the file: wherever the file lies",
)
_FIGURES = tuple(_MEANINGS[name] for name in FIGURES)
_BLOCKS = Field("blocks", "uint64", "", "sub-blocks (regions)")

CAPTURES = (
    _SNAPSHOT,
    Field("input", "string", "", "file and number of the snapshot, as in run.mmp#3"),
    Field("host_id", "string", "", "hashed id of the machine"),
    Field("hostname", "string", "", "name of the machine"),
    Field("os", "string", "", "operating system: linux, android, windows, macos"),
    Field("kernel", "string", "", "version of the kernel"),
    Field("boot_id", "string", "", "which boot of the machine"),
    Field("pid_namespace", "uint64", "", "inode number of the pid namespace"),
    Field("pid", "uint64", "", "process id"),
    Field("start_time", "uint64", "ticks", "when it started: ticks since boot, on Windows 100 ns since 1601"),
    Field("name", "string", "", "name of the process"),
    Field("exe", "string", "", "path of its program"),
    Field(
        "version",
        "string",
        "",
        "which build of its program: build id, else time stamp and size of a PE file; null where not read",
    ),
    Field("time_ns", "int64", "ns", "when it was taken, by the wall clock, since 1970"),
    Field("mono_ns", "int64", "ns", "when it was taken, by the monotonic clock of that boot"),
    Field("page_size", "uint64", "bytes", "bytes of a page of memory"),
    Field("extent", "string", "", "what the source lists: all regions, some, totals alone, or nothing"),
    Field("complete", "bool", "", "all regions are listed, and size, committed, private and total_ws known"),
    Field("lacks", "string", "", "what is missing where it is not complete; else null"),
    Field("map_moved", "bool", "", "the map changed while it was read; null where nobody looked"),
    *_FIGURES,
    _BLOCKS,
    _MEANINGS["allocations"],
    _MEANINGS["largest"],
    _MEANINGS["partial"],
    Field("free_size", "uint64", "bytes", "free holes of the usable range added up"),
    Field("largest_free", "uint64", "bytes", "size of the largest free hole"),
    Field("free_blocks", "uint64", "", "number of free holes"),
    Field(
        "external_fragmentation",
        "float64",
        "",
        "1 - largest_free / free_size; null where nothing is free or that is not known",
    ),
    Field("mappings", "uint64", "", "mappings that count against the limit of Linux, gate areas left out"),
    Field("mappings_limit", "uint64", "", "vm.max_map_count"),
    Field("threads", "uint64", "", "threads; null where they were not listed"),
    Field(
        "modules", "uint64", "", "programs and libraries that are loaded; null where regions are not known"
    ),
)
"""One row a snapshot. The figures are those of the Total row of its summary."""

SUMMARIES = (_SNAPSHOT, *SUMMARY)
"""The summary of each snapshot: Total, then one row a type."""

NAMES = (
    _SNAPSHOT,
    Field(
        "kind",
        "string",
        "",
        "module (program or library), file (mapped as data), name (named memory, main heap), stack",
    ),
    Field(
        "name",
        "string",
        "",
        "path, name or name of the threads, in a form that another run has as well",
    ),
    *_FIGURES,
    _BLOCKS,
)
"""One row a name. With cohorts, each region that counts is in just one row: sizes add up to all regions."""

COHORTS = (
    _SNAPSHOT,
    Field("type", "string", "", "what the memory is: one of VMMap's types"),
    Field("subtype", "string", "", "finer kind within the type; null for none"),
    Field("protection", "string", "", "access rights of the first part of the block that is no guard"),
    Field("state", "string", "", "committed, reserved or free"),
    Field(
        "size_class",
        "uint64",
        "bytes",
        "least size of a block of this class, a power of two; the class ends at twice that",
    ),
    Field("blocks", "uint64", "", "blocks: allocations with their guards, like neighbours as one"),
    *(_MEANINGS[name] for name in ("size", "committed", "private", "private_ws", "total_ws")),
)
"""One row a cohort: all blocks without a name of one type, right, state and class of sizes, as in a diff."""

LIMITS = (
    _SNAPSHOT,
    Field(
        "limit",
        "string",
        "",
        "cgroup memory, RLIMIT_AS, RLIMIT_DATA, memory and swap, commit limit, address space, mapping count",
    ),
    Field("used", "uint64", "", "what counts against it; null where unknown"),
    Field("maximum", "uint64", "", "the limit; null where there is none, or it is unknown"),
    Field("unit", "string", "", "bytes or mappings"),
    Field("reason", "string", "", "what is behind it: which cgroup, why there is no limit, what is missing"),
)
"""One row a limit that can bind a process as it grows."""

MEASURES: dict[str, tuple[Field, ...]] = {
    "captures": CAPTURES,
    "summaries": SUMMARIES,
    "names": NAMES,
    "cohorts": COHORTS,
    "limits": LIMITS,
}
