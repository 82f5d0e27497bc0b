"""The columns of a diff of several processes, and its words; as in schema.py, nothing is computed here."""

from __future__ import annotations

from mmpscope.analysis.schema import SUMMARY, Field

__all__ = [
    "DIFF_PROCESSES",
    "METRICS",
    "RESTARTED",
    "SAME_PROCESS",
    "TOTAL_WORD",
    "TOTAL_WS",
    "UNKNOWN_WORD",
]

RESTARTED = "restarted"
"""The word of a role whose processes are all other instances than before, on one machine."""
UNKNOWN_WORD = "unknown"
"""The word of a role of which one side does not tell the figure that is asked for."""
TOTAL_WORD = "total"
SAME_PROCESS = "same instance"

TOTAL_WS = "total_ws"
"""The figure that counts a shared page once for each process that maps it: RSS, and page tables."""
METRICS = ("pss", "uss", "private", "swap", TOTAL_WS)
"""What is compared of processes; all but the last may be added up over them."""

_MEANINGS = {field.name: field for field in SUMMARY}


def _compare(name: str) -> tuple[Field, Field, Field]:
    meaning = _MEANINGS[name].meaning
    if name == TOTAL_WS:
        meaning = f"{meaning}; null unless asked for: over processes, shared pages add up more than once"
    return (
        Field(f"{name}_a", "uint64", "bytes", f"before: {meaning}"),
        Field(f"{name}_b", "uint64", "bytes", f"after: {meaning}"),
        Field(f"{name}_delta", "int64", "bytes", f"{name}_b - {name}_a; null where one is unknown"),
    )


DIFF_PROCESSES = (
    Field(
        "word",
        "string",
        "",
        "new, gone, restarted, grown, shrunk, same, unknown; others for the folded rest, total for all",
    ),
    Field("name", "string", "", "name of the process"),
    Field("command", "string", "", "its program and arguments; null where they differ or are not known"),
    Field(
        "match",
        "string",
        "",
        "how the sides were matched: same instance, pid+name, executable+arguments+parent, "
        "executable+arguments, executable+arguments without numbers, executable+parent, executable, name",
    ),
    Field("confidence", "string", "", "high, medium or low: how sure that is; of new and gone, too"),
    Field("rows", "uint64", "", "roles in this row: 1 but for others and total"),
    Field("instances_a", "uint64", "", "before: processes of this role"),
    Field("instances_b", "uint64", "", "after: processes of this role"),
    Field("unread_a", "uint64", "", "before: those of them that ran and have no snapshot"),
    Field("unread_b", "uint64", "", "after: those of them that ran and have no snapshot"),
    Field("pid_a", "uint64", "", "before: process id; null of several"),
    Field("pid_b", "uint64", "", "after: process id; null of several"),
    Field("snapshot_a", "string", "", "before: file and number of the snapshot; null of several"),
    Field("snapshot_b", "string", "", "after: file and number of the snapshot; null of several"),
    *(field for name in METRICS for field in _compare(name)),
    Field(
        "unknown",
        "string",
        "",
        "figures that cannot be compared, as in pss, uss; others and total leave out those rows",
    ),
    Field("note", "string", "", "why the figure that is asked for is unknown"),
)
"""One row a role: a process, or several that nothing tells apart."""
