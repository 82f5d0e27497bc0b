"""From MEMORY_BASIC_INFORMATION, and working sets where a source has them, to the figures of every region."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
ABSENT_SHARED = "AbsentShared"
_ESTIMATED = (
    "of images and views what may be written to privately counts in full, since the source does not say "
    "which of its pages have been"
)
_ABSENT_UNTOLD = (
    "of pages that are not resident the system does not say whether they are still shared; those of images "
    "and views count where they may be written to privately"
)

_HEAPS_BEGIN = (
    "of a heap the system tells only where it begins: its further segments, and blocks too large for one, "
    "are Private Data"
)
_RUNTIME = re.compile(r"(.*\\)?(coreclr|clr|mscorwks)\.dll\b", re.IGNORECASE)
""".NET, .NET Framework 4, and .NET Framework 2 and 3.5."""
_NET_UNTOLD = "of .NET no source tells the heaps, which are Private Data"


def judge_estimates(regions: RawColumns) -> dict[str, str]:
    """Return what is known and yet not exact, figures and the type, each with the reason."""
    judged = {}
    if "PrivateBytes" not in regions and not tells_absent(regions):
        has_pages = regions.numbers("PrivateWS").is_known.any()
        judged["private"] = _ABSENT_UNTOLD if has_pages else _ESTIMATED
    if untold := _name_untold_types(regions):
        judged["type"] = "; ".join(untold)
    return judged


def _name_untold_types(regions: RawColumns) -> list[str]:
    """Say which memory is Private Data for want of a source that tells better."""
    untold = []
    if regions.text("rule").equals("mbi-heap-main", "mbi-heap").any():
        untold.append(_HEAPS_BEGIN)
    runs_net = regions.text("details").match(_RUNTIME.match) & is_image(regions)
    if runs_net.any() and not regions.text("type").equals("Managed Heap").any():
        untold.append(_NET_UNTOLD)
    return untold


def tells_absent(raw: RawColumns) -> bool:
    """Tell if the system says of pages that are not resident whether they would be shared.

    Windows sets the Shared bit of such pages (PSAPI_WORKING_SET_EX_BLOCK, Invalid). Wine 8 sets it of none,
    and then there are pages of images and views that are not resident, and not one of them that is shared.
    """
    absent = raw.numbers(ABSENT_SHARED)
    if not absent.is_known.any():
        return False
    is_committed = raw.numbers("State").values == MEM_COMMIT
    pages = raw.numbers("TotalWS").where(is_committed & _is_view(raw), raw.numbers("size"))
    is_whole = not raw.numbers("size").exceeds(pages).any()
    return is_whole or bool((absent.values * _is_view(raw)).any())


def compute_figures(
    raw: RawColumns, size: Numbers, page: int, rights: Rights, faults: Faults
) -> dict[str, Numbers]:
    """Compute the figures of schema.COUNTERS; a region is committed as a whole or not at all.

    A source that looks at pages (QueryWorkingSetEx) states TotalWS, PrivateWS, ShareableWS, SharedWS,
    LockedWS and AbsentShared, or PrivateBytes, in bytes; without them working sets are unknown.
    """
    state, counters = raw.numbers("State"), Counters(raw, size, np.uint64(page), faults)
    is_known = (state.values == MEM_COMMIT) | (state.values == MEM_RESERVE)
    nothing = Numbers.zeros(raw.rows)
    figures = {name: Numbers.unknown(raw.rows) for name in COUNTERS}
    figures["committed"] = size.where(state.values == MEM_COMMIT, nothing).only(is_known)
    figures |= read_working_sets(counters)
    figures["private"] = _compute_private(raw, figures, counters, faults)
    check_laws(figures, size, faults)
    return figures


def _compute_private(
    raw: RawColumns, figures: Mapping[str, Numbers], counters: Counters, faults: Faults
) -> Numbers:
    """Take what is stated, else all commit of MEM_PRIVATE, and of images and views that which is not shared.

    That is told by page where pages were asked for, else by protection. Image pages that may be written to
    are charged in full from the start, and VMMap counts them so even while they are shared: .tls of
    devenv.exe, "Copy on write", has Private 4 K and Shareable WS 4 K.
    """
    committed, nothing = figures["committed"], Numbers.zeros(raw.rows)
    is_charged = _is_private(raw)
    by_right = committed.where(is_charged, nothing)
    by_page = _count_unshared(raw, figures, counters, faults)
    asked = _is_view(raw) & by_page.is_known & ~(is_image(raw) & is_charged)
    estimate = by_page.where(asked, by_right).only(raw.numbers("Type").is_known)
    stated = counters["PrivateBytes"]
    return stated.where(stated.is_known, estimate)


def _count_unshared(
    raw: RawColumns, figures: Mapping[str, Numbers], counters: Counters, faults: Faults
) -> Numbers:
    """Count the pages of images and views that are not shared with the file or section behind them any more.

    So VMMap does: all that is committed but what is shareable, resident or not. Where nobody tells of the
    pages that are not resident, these count where they may be written to privately.
    """
    committed = figures["committed"]
    if tells_absent(raw):
        shared = figures["shareable_ws"] + counters[ABSENT_SHARED]
        faults.add(shared.exceeds(committed) & _is_view(raw), "more pages are shared than committed")
        return committed.minus(shared)
    absent = committed.minus(figures["total_ws"]).where(_is_private(raw), Numbers.zeros(raw.rows))
    return figures["private_ws"] + absent


def is_image(raw: RawColumns) -> Bools:
    """Regions of programs and libraries.

    On a dump of a Linux process WinDbg calls every private mapping MEM_PRIVATE, those of files too; the word
    Image beside it knows better.
    """
    image: Bools = raw.numbers("Type").values == MEM_IMAGE
    return image | raw.text(USAGE_COLUMN).equals("Image")


def _is_view(raw: RawColumns) -> Bools:
    """Regions that have pages of a file or section until they are written to."""
    view: Bools = is_image(raw) | (raw.numbers("Type").values == MEM_MAPPED)
    return view


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
