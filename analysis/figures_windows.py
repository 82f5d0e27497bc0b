"""From MEMORY_BASIC_INFORMATION, and working sets where a source has them, to the figures of every region."""

from __future__ import annotations

import numpy as np
from mmpscope.analysis.columns import Bools, Numbers, RawColumns
from mmpscope.analysis.faults import Faults
from mmpscope.analysis.figures import Counters, Needs, check_laws
from mmpscope.analysis.page_protection import has_bits
from mmpscope.analysis.rights import Rights
from mmpscope.analysis.rules_windows import USAGE_COLUMN
from mmpscope.analysis.schema import COUNTERS
from mmpscope.formats.vmmap.protection import COPY_ON_WRITE, WRITABLE

__all__ = [
    "LINUX_ALONE",
    "MEM_COMMIT",
    "MEM_IMAGE",
    "MEM_MAPPED",
    "MEM_PRIVATE",
    "MEM_RESERVE",
    "NEEDS",
    "compute_figures",
    "is_image",
    "judge_estimates",
    "read_working_sets",
]

MEM_COMMIT, MEM_RESERVE = np.uint64(0x1000), np.uint64(0x2000)
MEM_PRIVATE, MEM_MAPPED, MEM_IMAGE = np.uint64(0x20000), np.uint64(0x40000), np.uint64(0x1000000)
"""Values of State and of Type in MEMORY_BASIC_INFORMATION (memoryapi.h)."""

LINUX_ALONE: Needs = {
    "cow_shared": "Windows does not tell which private pages are still shared",
    "uss": "a figure of Linux; private_ws is what Windows has",
    "pss": "a figure of Linux; Windows does not divide pages among their users",
    "swap": "Windows does not say of a region how much of it is paged out",
    "lazyfree": "a figure of Linux: MADV_FREE",
    "thp": "a figure of Linux: transparent huge pages",
}
NEEDS: Needs = {
    "committed": ("State",),
    "private": ("State", "Type"),
    "commit_charge": "Windows counts commit of a process, not of a region",
    "total_ws": ("TotalWS",),
    "private_ws": ("PrivateWS",),
    "shareable_ws": ("ShareableWS",),
    "shared_ws": ("SharedWS",),
    "locked_ws": ("LockedWS",),
    **LINUX_ALONE,
}
_ESTIMATED = (
    "of images and views what may be written to privately counts in full, since the source does not say "
    "which of its pages have been"
)


def judge_estimates(raw: RawColumns) -> dict[str, str]:
    """Return the figures that are known and yet an estimate, each with the reason."""
    return {} if "PrivateBytes" in raw else {"private": _ESTIMATED}


def compute_figures(
    raw: RawColumns, size: Numbers, page: int, rights: Rights, faults: Faults
) -> dict[str, Numbers]:
    """Compute the figures of schema.COUNTERS; a region is committed as a whole or not at all.

    A source that looks at pages (QueryWorkingSetEx) states TotalWS, PrivateWS, ShareableWS, SharedWS,
    LockedWS and PrivateBytes, in bytes; without them working sets are unknown, and private is an estimate.
    """
    state, counters = raw.numbers("State"), Counters(raw, size, np.uint64(page), faults)
    is_known = (state.values == MEM_COMMIT) | (state.values == MEM_RESERVE)
    nothing = Numbers.zeros(raw.rows)
    committed = size.where(state.values == MEM_COMMIT, nothing).only(is_known)
    estimate = committed.where(_is_private(raw), nothing).only(raw.numbers("Type").is_known)
    stated = counters["PrivateBytes"]
    figures = {name: Numbers.unknown(raw.rows) for name in COUNTERS}
    figures |= {"committed": committed, "private": stated.where(stated.is_known, estimate)}
    figures |= read_working_sets(counters)
    check_laws(figures, size, faults)
    return figures


def is_image(raw: RawColumns) -> Bools:
    """Regions of programs and libraries.

    On a dump of a Linux process WinDbg calls every private mapping MEM_PRIVATE, those of files too; the word
    Image beside it knows better.
    """
    image: Bools = raw.numbers("Type").values == MEM_IMAGE
    return image | raw.text(USAGE_COLUMN).equals("Image")


def _is_private(raw: RawColumns) -> Bools:
    """Regions whose commit is, or may become, private: so no pages of a shared view are.

    An image page is PAGE_WRITECOPY until it is written to, and PAGE_READWRITE from then on: VMMap counts both
    as private. A view that is PAGE_READWRITE writes to its section: VMMap counts nothing of it.
    """
    kind, protection, image = raw.numbers("Type").values, raw.numbers("Protect"), is_image(raw)
    may_copy = has_bits(protection, COPY_ON_WRITE)
    private: Bools = (kind == MEM_PRIVATE) & ~image
    private |= image & (may_copy | has_bits(protection, WRITABLE))
    private |= (kind == MEM_MAPPED) & may_copy
    return private


def read_working_sets(counters: Counters) -> dict[str, Numbers]:
    """Read what VMMap calls working sets; the total is the sum of its parts where it is not stated."""
    private, shareable, total = (counters[name] for name in ("PrivateWS", "ShareableWS", "TotalWS"))
    return {
        "total_ws": total.where(total.is_known, private + shareable),
        "private_ws": private,
        "shareable_ws": shareable,
        "shared_ws": counters["SharedWS"],
        "locked_ws": counters["LockedWS"],
    }
