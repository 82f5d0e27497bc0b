"""From the counters of a Linux map to the figures of every region: committed, private, working sets.

docs/metrics.md has each formula with its source and its traps.
"""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.figures import Counters, Needs
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.schema import COUNTERS

__all__ = ["NEEDS", "compute_figures", "judge_estimates"]

NEEDS: Needs = {
    "committed": ("Rss", "Swap"),
    "private": ("perms", "Anonymous", "Swap"),
    "commit_charge": ("VmFlags",),
    "total_ws": ("Rss",),
    "private_ws": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "shareable_ws": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "shared_ws": ("Shared_Clean", "Shared_Dirty"),
    "locked_ws": ("Locked",),
    "cow_shared": ("Anonymous", "Shared_Clean", "Shared_Dirty"),
    "uss": ("Private_Clean", "Private_Dirty"),
    "pss": ("Pss",),
    "swap": ("Swap",),
    "lazyfree": ("LazyFree",),
    "thp": ("AnonHugePages",),
}
_ESTIMATED = {
    "committed": "without VmFlags, MAP_NORESERVE is not seen: all of such a region counts as committed",
    "private": "without VmFlags, what was once writable is not seen: read-only regions count what they hold",
}


def judge_estimates(raw: RawColumns) -> dict[str, str]:
    """Return the figures that are known and yet an estimate, each with the reason."""
    return {} if "VmFlags" in raw else _ESTIMATED


def compute_figures(
    raw: RawColumns, size: Numbers, page: int, rights: Rights, faults: Faults
) -> dict[str, Numbers]:
    """Compute the figures of schema.COUNTERS for regions of the given sizes; ``page`` is the page size.

    Unknown where a raw column that a figure needs is missing. Where counters contradict each other or the
    size, a fault is added: up to a page too much is kept, an impossible number is left out (its raw column
    keeps it).
    """
    if "perms" not in raw:
        return {name: Numbers.unknown(raw.rows) for name in COUNTERS}
    counters = _Counters(raw, size, page, faults)
    figures = _compute(counters, size, rights)
    counters.check(figures)
    return figures


class _Counters(Counters):
    """The counters of smaps, and what else is known of them."""

    def __init__(self, raw: RawColumns, size: Numbers, page: int, faults: Faults) -> None:
        super().__init__(raw, size, np.uint64(page), faults)
        self._page = page

    def get_hugetlb(self, name: str, rights: Rights) -> Numbers:
        """Return a counter of hugetlb pages: 0 where it is not printed and the region cannot have any.

        Kernels before 4.4 print none. A region of hugetlb pages has the flag ht and a KernelPageSize above
        the system's; without either line there is no telling, and such regions are rare.
        """
        numbers = self[name]
        may_have_some = rights.hugetlb | (self._raw.numbers("KernelPageSize").values > np.uint64(self._page))
        known = numbers.is_known | ~may_have_some
        return Numbers(numbers.values, None if known.all() else known)

    def check(self, figures: dict[str, Numbers]) -> None:
        """Add a fault where what was kept contradicts itself."""
        add, rss = self._faults.add, self["Rss"]
        for name in ("Anonymous", "Pss", "Locked"):
            add(self[name].exceeds(rss), f"{name} is larger than Rss")
        for kind in ("Shared", "Private"):
            both = self[f"{kind}_Clean"] + self[f"{kind}_Dirty"]
            add(both.exceeds(rss), f"{kind}_Clean and {kind}_Dirty are more than Rss")
        add(figures["total_ws"].exceeds(self._size), "resident pages are more than the region")
        add(figures["committed"].exceeds(self._size), "Rss and Swap are more than the region")
        add(figures["private"].exceeds(figures["committed"]), "Anonymous and Swap are more than is committed")
        add(figures["private_ws"].exceeds(figures["private"]), "Anonymous is more than is private")
        self._check_size(self._raw.numbers("Size"))

    def _check_size(self, stated: Numbers) -> None:
        """Compare the line Size with the range.

        Linux 2.6.36 to 4.11 hides the guard page of a growing stack in the range, and counts it in Size and
        in VmSize: 7fff76a3d000-7fff76a5e000 has 132 kB, and the line below it says 136 kB.
        """
        hidden = stated.minus(self._size).values == np.uint64(self._page)
        differs = stated.is_known & (stated.values != self._size.values)
        self._faults.add(differs & hidden, "Size counts a guard page that the range hides")
        self._faults.add(differs & ~hidden, "Size is not the length of the range")


def _compute(counters: _Counters, size: Numbers, rights: Rights) -> dict[str, Numbers]:
    """Apply the formulas for Linux; names are those of proc_pid_smaps(5)."""
    nothing = Numbers.zeros(len(size.values))
    is_private = rights.private
    rss, anonymous, swap = counters["Rss"], counters["Anonymous"], counters["Swap"]
    shared = counters["Shared_Clean"] + counters["Shared_Dirty"]
    shared_huge = counters.get_hugetlb("Shared_Hugetlb", rights)
    private_huge = counters.get_hugetlb("Private_Hugetlb", rights)

    total_ws = rss + shared_huge + private_huge
    holds = is_private & (~rights.accessible | rights.noreserve)
    committed = (total_ws + swap).where(holds, size).only(rights.has_access)
    owns_all = rights.accounted | rights.writable
    private = committed.where(owns_all, anonymous + swap + private_huge).where(is_private, nothing)
    private = private.only(rights.has_sharing)
    cow_shared = shared.minus(rss.minus(anonymous)).at_most(anonymous).where(is_private, nothing)
    cow_shared = cow_shared.only(rights.has_sharing)
    private_ws = (anonymous.minus(cow_shared) + private_huge).at_most(total_ws).where(is_private, nothing)
    # No map without counters tells what is resident, and none without rights whose it is.
    private_ws = private_ws.only(total_ws.is_known & rights.has_sharing)
    return {
        "committed": committed,
        "private": private,
        "commit_charge": size.where(rights.accounted, nothing).only(rights.has_flags),
        "total_ws": total_ws,
        "private_ws": private_ws,
        "shareable_ws": total_ws.minus(private_ws),
        "shared_ws": shared + shared_huge,
        "locked_ws": counters["Locked"],
        "cow_shared": cow_shared,
        "uss": counters["Private_Clean"] + counters["Private_Dirty"],
        "pss": counters["Pss"],
        "swap": swap,
        "lazyfree": counters["LazyFree"],
        "thp": counters["AnonHugePages"],
    }
