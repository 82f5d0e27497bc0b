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
    from mmpscope.analysis.checks.budgets import read_budgets
    from mmpscope.analysis.checks.snapshots import CheckResult, check
    from mmpscope.analysis.diffs.processes import ProcessesDiff, diff_processes
    from mmpscope.analysis.diffs.snapshots import DiffResult, diff
    from mmpscope.analysis.fit import FitAnswer, check_fit
    from mmpscope.analysis.fragmentation import Fragmentation, measure_fragmentation
    from mmpscope.analysis.freespace import find_free, hole_histogram
    from mmpscope.analysis.heaps import list_heaps
    from mmpscope.analysis.identity import compare_instances, identify
    from mmpscope.analysis.loading import load
    from mmpscope.analysis.mapping_count import MappingCount, count_mappings
    from mmpscope.analysis.rules import RULES_VERSION
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.splitters import list_splitters
    from mmpscope.analysis.summary import summarize
    from mmpscope.analysis.trends.following import find_trends

__all__ = [
    "RULES_VERSION",
    "CheckResult",
    "DiffResult",
    "FitAnswer",
    "Fragmentation",
    "LoadedSnapshot",
    "MappingCount",
    "ProcessesDiff",
    "check",
    "check_fit",
    "compare_instances",
    "count_mappings",
    "diff",
    "diff_processes",
    "find_free",
    "find_trends",
    "hole_histogram",
    "identify",
    "list_allocations",
    "list_heaps",
    "list_splitters",
    "load",
    "measure_fragmentation",
    "read_budgets",
    "summarize",
]

_HOMES = {
    "RULES_VERSION": "rules",
    "CheckResult": "checks.snapshots",
    "DiffResult": "diffs.snapshots",
    "FitAnswer": "fit",
    "Fragmentation": "fragmentation",
    "LoadedSnapshot": "snapshot",
    "MappingCount": "mapping_count",
    "ProcessesDiff": "diffs.processes",
    "check": "checks.snapshots",
    "check_fit": "fit",
    "compare_instances": "identity",
    "count_mappings": "mapping_count",
    "diff": "diffs.snapshots",
    "diff_processes": "diffs.processes",
    "find_free": "freespace",
    "find_trends": "trends.following",
    "hole_histogram": "freespace",
    "identify": "identity",
    "list_allocations": "allocations",
    "list_heaps": "heaps",
    "list_splitters": "splitters",
    "load": "loading",
    "measure_fragmentation": "fragmentation",
    "read_budgets": "checks.budgets",
    "summarize": "summary",
}
"""The module of each public name: one line here, one in __all__ and one import above make a name public."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
