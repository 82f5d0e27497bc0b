"""What a check measures of one snapshot besides its summary: modules, mappings, free space, access rights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.checks.budget import MAPPINGS, MODULE, Subject
from mmpscope.analysis.checks.figures import Figure
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.freespace import compare_stated_free, find_snapshot_holes
from mmpscope.analysis.mapping_count import count_mappings, find_counted

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "Named",
    "find_tail",
    "has_folder",
    "list_modules_by_name",
    "list_unsafe",
    "matches",
    "measure_part",
]

_DELETED = " (deleted)"
"""What the kernel appends to the name of a file that is no longer there: a library that was replaced."""
_NAMELESS = "memory without a name"


class Named(NamedTuple):
    """Things by name, and how much of each; ``lacking`` says why there may be more of them."""

    amounts: Mapping[str, int]
    lacking: str | None = None


def measure_part(snapshot: LoadedSnapshot, subject: Subject) -> Figure:
    """Measure modules of a pattern, the number of mappings, or the largest free block."""
    if subject.kind == MODULE:
        return _measure_modules(snapshot, subject)
    return _count(snapshot) if subject == MAPPINGS else _measure_free(snapshot, subject)


def _measure_modules(snapshot: LoadedSnapshot, subject: Subject) -> Figure:
    """Add up the modules whose path matches; none that matches is a known 0."""
    if (lacking := _find_lacking(snapshot)) is not None:
        return Figure(None, lacking)
    rows = [row for row in snapshot.modules.to_pylist() if matches(row["path"] or "", subject.where)]
    values = [row[subject.metric] for row in rows]
    if None in values or not _is_whole(snapshot.regions, [row["address"] for row in rows], subject.metric):
        return Figure(None, f"{subject.metric} is not known of all of it")
    return Figure(sum(values), is_there=bool(rows))


def _find_lacking(snapshot: LoadedSnapshot) -> str | None:
    extent = find_extent(snapshot)
    if extent.shown != ALL:
        return extent.reason or "not all regions are known"
    return None if len(snapshot.modules) else "it has no list of modules"


def _is_whole(regions: pa.Table, addresses: Sequence[int], metric: str) -> bool:
    """Tell if every region of the modules at some addresses knows a figure: a sum leaves out the others."""
    first = pc.is_in(regions["address"], pa.array(addresses, pa.uint64()))
    inside = pc.is_in(regions["allocation"], regions["allocation"].filter(first).combine_chunks())
    return bool(regions[metric].filter(inside).null_count == 0)


def matches(path: str, pattern: str) -> bool:
    """Tell if a pattern is that of a path, or of its last part; case counts, but not in paths of Windows."""
    if _find_separator(path) == "\\":
        path, pattern = path.lower(), pattern.lower()
    names = {path, path.removesuffix(_DELETED)}
    return any(fnmatchcase(name, pattern) for path in names for name in (path, find_tail(path)))


def find_tail(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition(_find_separator(path))[2]


def _find_separator(path: str) -> str:
    """Tell a path of Windows by what it has, and by what it lacks: elsewhere a name may hold a backslash."""
    return "\\" if "\\" in path and "/" not in path else "/"


def has_folder(path: str) -> bool:
    """Tell if a path has more than one part."""
    return _find_separator(path) in path


def _count(snapshot: LoadedSnapshot) -> Figure:
    mappings = count_mappings(snapshot)
    if not mappings.applies:
        return Figure(None, "this system counts no mappings")
    if mappings.count is None:
        return Figure(None, find_extent(snapshot).reason or "the mappings are not known")
    return Figure(mappings.count)


def _measure_free(snapshot: LoadedSnapshot, subject: Subject) -> Figure:
    extent = find_extent(snapshot)
    if extent.shown != ALL:
        return Figure(None, extent.reason)
    if (disputed := compare_stated_free(snapshot)) is not None:
        return Figure(None, disputed)
    return Figure(int(find_snapshot_holes(snapshot, subject.window).free.size.max(initial=0)))


def list_modules_by_name(snapshot: LoadedSnapshot) -> Named:
    """Count the modules of a snapshot by path."""
    if (lacking := _find_lacking(snapshot)) is not None:
        return Named({}, lacking)
    paths = snapshot.modules.column("path").to_pylist()
    return Named(Counter((path or "").removesuffix(_DELETED) for path in paths))


def list_unsafe(snapshot: LoadedSnapshot) -> Named:
    """Add up the memory that is writable and executable, by the last part of its name.

    The last part, since versions lie in folders of their own and some sources tell no more of a path.
    """
    extent, layout = find_extent(snapshot), snapshot.classified.layout
    lacking = None if extent.shown == ALL else extent.reason or "not all regions are known"
    rights, counted = layout.rights, find_counted(snapshot.regions)
    if lacking is None and not rights.has_access[counted].all():
        lacking = "it does not tell the access rights of all memory"
    rows = np.flatnonzero(rights.writable & rights.executable & rights.has_access & counted)
    amounts: Counter[str] = Counter()
    for row in rows.tolist():  # a handful in any process that is not attacked
        name = layout.path.values[layout.path.codes[row]]
        amounts[find_tail((name or _NAMELESS).removesuffix(_DELETED))] += int(layout.size[row])
    return Named(amounts, lacking)
