"""The figures of VMMap's own regions: as it states them, checked against each other."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.figures import Counters, Needs, check_laws
from mmpscope.analysis.figures_windows import LINUX_ALONE, read_working_sets
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.schema import COUNTERS

__all__ = ["NEEDS", "compute_figures", "judge_estimates"]

NEEDS: Needs = {
    "committed": ("Commit",),
    "private": ("PrivateBytes",),
    "commit_charge": "VMMap does not state it: Windows counts commit of a process, not of a region",
    "total_ws": ("TotalWS",),
    "private_ws": ("PrivateWS",),
    "shareable_ws": ("ShareableWS",),
    "shared_ws": ("SharedWS",),
    "locked_ws": ("LockedWS",),
    **LINUX_ALONE,
}


def judge_estimates(_: RawColumns) -> dict[str, str]:
    """Return nothing: VMMap counts pages."""
    return {}


def compute_figures(
    raw: RawColumns, size: Numbers, page: int, rights: Rights, faults: Faults
) -> dict[str, Numbers]:
    """Take the figures of schema.COUNTERS that VMMap states, in bytes; an impossible one is left out.

    A region of the managed heap begins and ends inside pages, and counts them whole: hence the slack of two.
    """
    counters = Counters(raw, size, np.uint64(2 * page), faults)
    figures = {name: Numbers.unknown(raw.rows) for name in COUNTERS}
    figures |= {"committed": counters["Commit"], "private": counters["PrivateBytes"]}
    figures |= read_working_sets(counters)
    check_laws(figures, size, faults)
    return figures
