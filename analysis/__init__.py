"""The questions: load snapshots into Arrow tables and ask what the memory is, what changed, what still fits.

    from mmpscope.analysis import load, summarize
    [snapshot] = load("run.mmp#-1")
    summarize(snapshot).to_pandas()

Names are imported when they are first asked for, so that the command line can print its help without pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmpscope.analysis.allocations import list_allocations
    from mmpscope.analysis.fragmentation import measure_fragmentation
    from mmpscope.analysis.freespace import find_free, hole_histogram
    from mmpscope.analysis.heaps import list_heaps
    from mmpscope.analysis.loading import load
    from mmpscope.analysis.mapping_count import count_mappings
    from mmpscope.analysis.rules import RULES_VERSION
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.splitters import list_splitters
    from mmpscope.analysis.summary import summarize

__all__ = [
    "RULES_VERSION",
    "LoadedSnapshot",
    "find_free",
    "hole_histogram",
    "measure_fragmentation",
    "list_splitters",
    "count_mappings",
    "list_allocations",
    "list_heaps",
    "load",
    "summarize",
]

_HOMES = {
    "RULES_VERSION": "rules",
    "LoadedSnapshot": "snapshot",
    "find_free": "freespace",
    "hole_histogram": "freespace",
    "measure_fragmentation": "fragmentation",
    "list_splitters": "splitters",
    "count_mappings": "mapping_count",
    "list_allocations": "allocations",
    "list_heaps": "heaps",
    "load": "loading",
    "summarize": "summary",
}
"""The module of each public name: one line here, one in __all__ and one import above make a name public."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
