"""The columns of a diff, and the words that it uses; as in schema.py, nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.schema import COUNTERS, REGIONS, SUMMARY, Field

__all__ = [
    "CHANGED",
    "DIFF_FREE",
    "DIFF_MATCHING",
    "DIFF_MODULES",
    "DIFF_ROWS",
    "DIFF_TABLES",
    "DIFF_THREADS",
    "DIFF_TOTALS",
    "DIFF_TYPES",
    "GONE",
    "GROWN",
    "METRICS",
    "MOVED",
    "NEW",
    "OTHERS",
    "REBUILT",
    "SAME",
    "SHRUNK",
]

NEW, GONE, GROWN, SHRUNK, CHANGED, MOVED, SAME = (
    "new",
    "gone",
    "grown",
    "shrunk",
    "changed",
    "moved",
    "same",
)
REBUILT = "rebuilt"
"""The word of a module of which the other side has another build."""
OTHERS = "others"
"""The word of the one row into which all that is not shown is folded."""

METRICS = ("size", *COUNTERS)
"""What is compared: the additive figures of regions."""

_MEANINGS = {field.name: field for field in (*SUMMARY, *REGIONS)}


def _compare(name: str) -> tuple[Field, Field, Field]:
    """Return three columns for a figure: before, after, and how it changed."""
    field = _MEANINGS[name]
    delta = Field(f"{name}_delta", "int64", field.unit, f"{name}_b - {name}_a; null where one is unknown")
    return (
        Field(f"{name}_a", "uint64", field.unit, f"before: {field.meaning}"),
        Field(f"{name}_b", "uint64", field.unit, f"after: {field.meaning}"),
        delta,
    )


def _both_sides(name: str, type_: str, unit: str, meaning: str) -> tuple[Field, Field]:
    return Field(f"{name}_a", type_, unit, f"before: {meaning}"), Field(
        f"{name}_b", type_, unit, f"after: {meaning}"
    )


_NOTES = (
    Field(
        "unknown",
        "string",
        "",
        "figures that one side knows and that cannot be compared, as in pss, swap",
    ),
    Field(
        "note", "string", "", "what the growth of total_ws consists of, where that is no new memory in use"
    ),
)

DIFF_ROWS = (
    Field("word", "string", "", "new, gone, grown, shrunk, changed, moved, same; others for the folded rest"),
    Field(
        "match",
        "string",
        "",
        "how the two sides were matched: address, backing or summary; between instances path+build id, "
        "build id, path, path without version, file name, name, role, thread, cohort, file+size and "
        "size (alike but for their rights); by, and what of, for groups",
    ),
    Field("confidence", "string", "", "high, medium or low: how sure that match is"),
    Field("unit", "string", "", "what was matched, wherever it lies; null where that is told by address"),
    Field("rows", "uint64", "", "rows folded into this one: 1 but for others"),
    *_both_sides(
        "blocks",
        "uint64",
        "",
        "blocks of the unit: allocations with their guards, like neighbours as one; null by address",
    ),
    *_both_sides("address", "uint64", "address", "first byte; null where the side has none"),
    *_both_sides("end", "uint64", "address", "first byte after"),
    *_both_sides("regions", "uint64", "", "regions that it consists of"),
    *_both_sides("type", "string", "", "type of the largest of these regions"),
    *_both_sides("state", "string", "", "state of the largest of these regions"),
    *_both_sides("protection", "string", "", "protection of the largest of these regions"),
    *_both_sides("details", "string", "", "details of the largest of these regions"),
    *(field for name in METRICS for field in _compare(name)),
    Field(
        "effective_ws_delta",
        "int64",
        "bytes",
        "total_ws_delta - lazyfree_delta: growth that the system cannot take back at will",
    ),
    *_NOTES,
    Field(
        "partial",
        "string",
        "",
        "of others: figures that no side tells of some of its rows, as in pss, swap; these are left out",
    ),
)
"""One row a change.

In `ranges`: the fewest ranges whose type, state, protection or backing changed. In `components`: the
connected groups of regions that overlap between the two sides. In `movers`: the largest of these, and the
rest in one row.
"""

DIFF_TYPES = (
    Field("type", "string", "", "Total, then one row a type, in VMMap's order"),
    *(field for name in METRICS for field in _compare(name)),
    *(field for name in ("blocks", "allocations", "largest") for field in _compare(name)),
    *_both_sides("partial", "string", "", "figures that are sums of what is known, as in pss, swap"),
    *_NOTES,
)
"""The two summaries, row by row; a delta is null where one of them leaves out what it does not know.

The row of Total is what DIFF_TOTALS has.
"""

DIFF_TOTALS = (
    Field("metric", "string", "", "name of the figure"),
    Field("a", "uint64", "bytes", "before: Total of the summary; where delta is known, of what both know"),
    Field("b", "uint64", "bytes", "after: Total of the summary; where delta is known, of what both know"),
    Field("delta", "int64", "bytes", "b - a; null where that would not be a change of like things"),
    Field("partial_a", "bool", "", "whether a is at least that: something is not known, or left out"),
    Field("partial_b", "bool", "", "whether b is at least that"),
    Field("partial", "bool", "", "whether one of them is"),
    Field("note", "string", "", "why delta is unknown; what is left out of a and b; what growth consists of"),
)
"""One row a figure.

A row of the summary that one side does not know at all, page tables, is left out of the total of the other.
"""

DIFF_MATCHING = (
    Field("match", "string", "", "how: a word of match in the rows, or not matched"),
    Field("confidence", "string", "", "high, medium or low: how sure that is"),
    Field("figure", "string", "", "what is added up: committed, or size where one side does not know that"),
    Field("units", "uint64", "", "units that both sides have; of not matched, those of one side"),
    Field("a", "uint64", "bytes", "before: bytes that were matched so"),
    Field("b", "uint64", "bytes", "after: bytes that were matched so"),
)
"""One row a way to match two instances; of a cohort, as much is matched as both sides have.

Rows add up to what the regions of each side have. Empty where regions are compared by address.
"""

DIFF_FREE = (
    Field("word", "string", "", "grown, shrunk or same: by size"),
    *_both_sides("address", "uint64", "address", "first byte of the largest free block"),
    *_both_sides("end", "uint64", "address", "first byte after it"),
    *_both_sides("size", "uint64", "bytes", "its size"),
    Field("size_delta", "int64", "bytes", "size_b - size_a"),
    *_both_sides("between", "string", "", "regions on either side of it; null at both ends of the space"),
    Field("taken_by", "string", "", "regions after that lie in what was the largest block before"),
    Field("given_back_by", "string", "", "regions before that lie in what is the largest block after"),
)
"""One row; taken_by and given_back_by are null between two instances."""

DIFF_MODULES = (
    Field(
        "word",
        "string",
        "",
        "new, gone, moved (to another address), rebuilt (another build), changed (other size or name)",
    ),
    Field("path", "string", "", "file as it was mapped"),
    *_both_sides("address", "uint64", "address", "first byte that belongs to it"),
    *_both_sides("size", "uint64", "bytes", "size of its regions"),
    Field("size_delta", "int64", "bytes", "size_b - size_a"),
    *_both_sides("build_id", "string", "", "GNU build id"),
)
"""One row a module that is not the same on both sides."""

DIFF_THREADS = (
    Field("word", "string", "", "new, gone, changed (another name)"),
    Field("tid", "uint64", "", "thread id"),
    Field("starttime", "uint64", "ticks", "when it started"),
    *_both_sides("name", "string", "", "name of the thread"),
    *_both_sides("state", "string", "", "state as the source writes it"),
)
"""One row a thread that is not the same on both sides; what it is just doing (its state) is no change."""

DIFF_TABLES: dict[str, tuple[Field, ...]] = {
    "totals": DIFF_TOTALS,
    "types": DIFF_TYPES,
    "movers": DIFF_ROWS,
    "components": DIFF_ROWS,
    "ranges": DIFF_ROWS,
    "modules": DIFF_MODULES,
    "threads": DIFF_THREADS,
    "matching": DIFF_MATCHING,
    "largest_free": DIFF_FREE,
}
