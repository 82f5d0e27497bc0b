"""Which build of its program a process runs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.facts import get_map, get_number, show_fact

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["find_version"]


def find_version(snapshot: LoadedSnapshot) -> str | None:
    """Return the build id of the main program, else time stamp and size of its image (PE), else None.

    The program is the module of the path of the process, else that of its entry point (AT_ENTRY of
    getauxval(3)) or image base.
    """
    modules = snapshot.decode_raw("modules")
    row = _find_program(snapshot, modules)
    if row is None:
        return None
    build = modules.text("build_id")
    if (known := build.values[int(build.codes[row])]) is not None:
        return known
    stamp, low, high = (modules.numbers(name) for name in ("timestamp", "low", "high"))
    if not (stamp.is_known[row] and low.is_known[row] and high.is_known[row]):
        return None
    return f"{int(stamp.values[row]):08X}-{int(high.values[row] - low.values[row]):X}"


def _find_program(snapshot: LoadedSnapshot, modules: RawColumns) -> int | None:
    process = snapshot.process
    exe, paths = show_fact(process.get("exe")), modules.text("path")
    rows = np.flatnonzero(paths.equals(exe)) if exe else np.zeros(0, np.int64)
    if not len(rows) and (wanted := _normalize(exe or "")):
        codes = _index_normalized(paths.values).get(wanted, ())
        rows = np.flatnonzero(np.isin(paths.codes, codes))
    entry = get_number(get_map(process, "auxv"), "AT_ENTRY")
    inside = get_number(process, "image_base") if entry is None else entry
    if not len(rows) and inside is not None:
        low, high = (modules.numbers(name).values for name in ("low", "high"))
        rows = np.flatnonzero((low <= np.uint64(inside)) & (high > np.uint64(inside)))
    return int(rows[0]) if len(rows) else None


@lru_cache(1)
def _index_normalized(paths: tuple[str | None, ...]) -> dict[str, list[int]]:
    """Return the codes of each path, written always alike; processes looked at together share their paths."""
    found: dict[str, list[int]] = {}
    for code, path in enumerate(paths):
        if path is not None:
            found.setdefault(_normalize(path), []).append(code)
    return found


def _normalize(path: str) -> str:
    """Write one path always alike: Windows tells no case apart, Linux says where a file was deleted."""
    return path.lower() if "\\" in path else path.removesuffix(" (deleted)")
