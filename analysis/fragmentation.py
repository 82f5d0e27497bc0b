"""How broken up the free space is: what a request of a given size could still have of it.

All figures are computed with exact integers; the ratio comes last. Notation as in the sources: a_i the sizes
of the free holes, F their sum, L the largest, B their number, S a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Uints
from mmpscope.analysis.free_schema import REQUESTS, WINDOWS
from mmpscope.analysis.freespace import Holes, Window, find_snapshot_holes
from mmpscope.analysis.intervals import measure_coverage
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.windows import NamedWindow, list_windows

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "REQUEST_SIZES",
    "Fragmentation",
    "measure_external",
    "measure_fragmentation",
    "measure_fragmentation_index",
    "measure_unusable_index",
]

REQUEST_SIZES = tuple(1 << power for power in range(16, 31, 2))
"""64 KiB to 1 GiB by powers of four."""

_BOUNDLESS = 1 << 40
_BOUNDLESS_NOTE = "the largest hole is far larger than any request, so these figures tell nothing"
"""Said of nearly every 64-bit process as a whole, and not of one that has used up its address space."""


@dataclass(frozen=True)
class Fragmentation:
    """Figures of each window (free_schema.WINDOWS), and of each request in it (free_schema.REQUESTS)."""

    windows: pa.Table
    requests: pa.Table

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_fragmentation

        return show_fragmentation(self)


def measure_external(sizes: Uints) -> float | None:
    """Return 1 - L/F, the part of the free space that the largest hole does not have; None where F is 0."""
    free = int(sizes.sum(dtype=np.uint64))
    return (free - int(sizes.max())) / free if free else None


def measure_unusable_index(sizes: Uints, request: int) -> float:
    """Return U(S) = (F - sum(floor(a_i / S) * S)) / F, the part of F that requests of S cannot have.

    0: all of it can be had; 1: none, also where F is 0. Source: the unusable free space index of M. Gorman
    and A. Whitcroft, "Supporting the Allocation of Large Contiguous Regions of Memory" (2008), here for holes
    of any size; Linux computes it for the page allocator in mm/vmstat.c, unusable_free_index.
    """
    free = int(sizes.sum(dtype=np.uint64))
    usable = int((sizes // np.uint64(request)).sum(dtype=np.uint64)) * request
    return (free - usable) / free if free else 1.0


def measure_fragmentation_index(sizes: Uints, request: int) -> float | None:
    """Return FI(S) = 1 - (1 + F/S)/B where no hole holds S, None where one does.

    Towards 0 a request fails for lack of space, towards 1 for fragmentation; 0 where nothing is free. With
    very few holes the formula falls below 0, which means lack as well. Source: Linux, mm/vmstat.c,
    __fragmentation_index (in thousandths there), shown in debugfs as extfrag/extfrag_index.
    """
    if not len(sizes):
        return 0.0
    if int(sizes.max()) >= request:
        return None
    free, holes = int(sizes.sum(dtype=np.uint64)), len(sizes)
    return (request * holes - request - free) / (request * holes)


def measure_fragmentation(snapshot: LoadedSnapshot, window: Window | None = None) -> Fragmentation:
    """Measure the usable range, and the windows that matter on a 64-bit system; `window` adds one more."""
    holes = find_snapshot_holes(snapshot)
    windows = [(each, holes.clip((each.low, each.high))) for each in list_windows(snapshot, window)]
    figures = [_measure_window(each, inside) for each, inside in windows]
    requests = [
        _measure_request(each.name, inside.free.size, request)
        for each, inside in windows
        for request in REQUEST_SIZES
    ]
    return Fragmentation(_tabulate(WINDOWS, figures), _tabulate(REQUESTS, requests))


def _tabulate(fields: tuple[Any, ...], rows: list[dict[str, Any]]) -> pa.Table:
    return build_table(fields, {field.name: [row[field.name] for row in rows] for field in fields}, len(rows))


def _measure_window(window: NamedWindow, holes: Holes) -> dict[str, Any]:
    size, sizes = max(0, window.high - window.low), holes.free.size
    unusable = measure_coverage(holes.ranges[holes.unusable])
    free = measure_coverage(holes.free)
    largest = int(sizes.max()) if len(sizes) else 0
    return {
        "window": window.name,
        "low": window.low,
        "high": window.high,
        "size": size,
        "mapped": size - unusable - free,
        "unusable": unusable,
        "free": free,
        "holes": len(sizes),
        "largest": largest,
        "external": measure_external(sizes),
        "note": _BOUNDLESS_NOTE if largest >= _BOUNDLESS else None,
    }


def _measure_request(window: str, sizes: Uints, request: int) -> dict[str, Any]:
    return {
        "window": window,
        "request": request,
        "holes": int(np.count_nonzero(sizes >= np.uint64(request))),
        "places": int((sizes // np.uint64(request)).sum(dtype=np.uint64)),
        "unusable_index": measure_unusable_index(sizes, request),
        "fragmentation_index": measure_fragmentation_index(sizes, request),
    }
