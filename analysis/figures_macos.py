"""From the sizes that vmmap(1) of macOS prints to the figures of every region.

What a sharing mode says of resident pages: EXPLANATION OF OUTPUT in vmmap(1). Sizes are rounded there.
"""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.figures import Counters, Needs, check_laws
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.schema import COUNTERS

__all__ = ["NEEDS", "SHARED_MODES", "compute_figures", "judge_estimates"]

SHARED_MODES = ("SHM", "ALI", "S/A")
"""Shared, aliased, and both: no page is private."""
_PRIVATE_MODES = ("PRV", "NUL")
"""Private; and empty, which has no pages at all."""
_COPY_ON_WRITE = "COW"
"""Pages are shared until they are written to; what is dirty is a private copy."""

_NO_COMMIT = "macOS commits no memory: a region is given pages when they are touched"
NEEDS: Needs = {
    "committed": _NO_COMMIT,
    "private": _NO_COMMIT,
    "commit_charge": _NO_COMMIT,
    "total_ws": ("RSDNT",),
    "private_ws": ("RSDNT", "DIRTY", "SHRMOD"),
    "shareable_ws": ("RSDNT", "DIRTY", "SHRMOD"),
    "shared_ws": "vmmap tells how a region may be shared, and not how much of it is",
    "locked_ws": "vmmap does not tell what is wired",
    "cow_shared": "vmmap does not tell which private pages are still shared",
    "uss": "a figure of Linux; private_ws is what vmmap has",
    "pss": "a figure of Linux; vmmap does not divide pages among their users",
    "swap": ("SWAP",),
    "lazyfree": "a figure of Linux: MADV_FREE",
    "thp": "a figure of Linux: transparent huge pages",
}
_ROUNDED = "vmmap rounds to three or four digits, so that sums are near and not exact"
_DIRTY = "; in a copy-on-write region dirty pages are the private ones"


def judge_estimates(raw: RawColumns) -> dict[str, str]:
    """Return the figures that are known and yet not exact, each with the reason."""
    parts = dict.fromkeys(("private_ws", "shareable_ws"), _ROUNDED + _DIRTY)
    return {"total_ws": _ROUNDED, "swap": _ROUNDED, **parts}


def compute_figures(
    raw: RawColumns, size: Numbers, page: int, rights: Rights, faults: Faults
) -> dict[str, Numbers]:
    """Compute the figures of schema.COUNTERS; a mode that is unknown leaves private_ws unknown."""
    sizes, mode = _Rounded(raw, size, page, faults), raw.text("SHRMOD")
    total, nothing, unknown = sizes["RSDNT"], Numbers.zeros(raw.rows), Numbers.unknown(raw.rows)
    private = sizes["DIRTY"].at_most(total).where(mode.equals(_COPY_ON_WRITE), unknown)
    private = nothing.where(mode.equals(*SHARED_MODES), private)
    private = total.where(mode.equals(*_PRIVATE_MODES), private).only(total.is_known)
    figures = dict.fromkeys(COUNTERS, unknown)
    figures |= {"total_ws": total, "private_ws": private, "shareable_ws": total.minus(private)}
    figures |= {"swap": sizes["SWAP"]}
    check_laws(figures, size, faults)
    return figures


class _Rounded(Counters):
    """Sizes that are rounded: two digits are the least that vmmap prints, as in 1.2G, so up to 1/16 is added.

    A region that is resident as a whole is printed as 11K twice, and is 10,880 bytes: no more counts.
    """

    def __init__(self, raw: RawColumns, size: Numbers, page: int, faults: Faults) -> None:
        super().__init__(raw, size, (size.values >> np.uint64(4)) + np.uint64(page), faults)

    def _judge(self, name: str) -> Numbers:
        numbers = self._raw.numbers(name)
        impossible = numbers.exceeds(self._limit)
        self._faults.add(impossible, f"{name} is impossible for its size and left out")
        return numbers.only(~impossible).at_most(self._size)
