"""Every table of an analysis by its name, of one snapshot or of many, stacked; computes nothing itself."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.export import describe_columns
from mmpscope.analysis.extent import require_regions
from mmpscope.analysis.listing import keep_types
from mmpscope.analysis.schema import TABLES
from mmpscope.analysis.tables import stack

if TYPE_CHECKING:
    from mmpscope.analysis.diffs.process_choice import ProcessSets
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["PROCESS_ROLES", "compare", "compare_processes", "make_table", "stack_tables"]

PROCESS_ROLES = "diff_processes"
"""The table of a diff of several processes."""

_ATTRIBUTES = ("regions", "threads", "modules", "heaps", "processes", "capability")
_ANSWERS = {
    "allocations": ("allocations", "list_allocations"),
    "summary": ("summary", "summarize"),
    "free": ("freespace", "find_free"),
}


def make_table(snapshot: LoadedSnapshot, name: str) -> pa.Table:
    """Make one table of one snapshot, with the column ``snapshot``.

    Raises UsageError for an unknown name, and CannotTellError where the source lists no regions: no rows
    would say that there are none.
    """
    if name in _ATTRIBUTES:
        table: pa.Table = getattr(snapshot, name)
    elif name in _ANSWERS:
        module, function = _ANSWERS[name]
        table = getattr(importlib.import_module(f"mmpscope.analysis.{module}"), function)(snapshot)
    else:
        known = ", ".join((*_ATTRIBUTES, *_ANSWERS, "diff", PROCESS_ROLES, "trend", "compare"))
        raise UsageError(f"there is no table {name!r}. There are {known}")
    if not table.num_rows:
        require_regions(snapshot, name)
    if "snapshot" in table.column_names:
        return table
    label = pa.repeat(pa.scalar(snapshot.label), table.num_rows)
    return table.add_column(0, "snapshot", label)


def stack_tables(snapshots: Iterable[LoadedSnapshot], name: str, types: Sequence[str] = ()) -> pa.Table:
    """Stack the same table of many snapshots, keeping some types; a column that one lacks is null there.

    Raises UsageError where types were asked for and the table has none.
    """
    parts = [make_table(snapshot, name) for snapshot in snapshots]
    stacked = stack(parts)
    if types and "type" not in stacked.column_names:
        raise UsageError(f"the table {name} has no types of memory; leave --type out")
    return describe_columns(keep_types(stacked, types), TABLES[name])


def compare(before: LoadedSnapshot, after: LoadedSnapshot, types: Sequence[str] = ()) -> pa.Table:
    """List every change between two snapshots, those of some types on either side."""
    from mmpscope.analysis.diffs.choice import keep_changes
    from mmpscope.analysis.diffs.schema import DIFF_ROWS
    from mmpscope.analysis.diffs.snapshots import diff

    return describe_columns(keep_changes(diff(before, after).components, types), DIFF_ROWS)


def compare_processes(sets: ProcessSets) -> pa.Table:
    """List every role of two sets of processes, the largest change first."""
    from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
    from mmpscope.analysis.diffs.processes import diff_processes

    return describe_columns(diff_processes(sets.a, sets.b).roles, DIFF_PROCESSES)
