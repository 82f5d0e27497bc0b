"""Would a request for memory succeed, where would it go, and what would stop it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.extent import ALL, find_extent
from mmpscope.analysis.fit_limits import (
    CANNOT_TELL,
    DOES_NOT_FIT,
    FITS,
    Check,
    check_limits,
    choose_binding,
)
from mmpscope.analysis.fit_places import Places, choose_place, find_places
from mmpscope.analysis.fit_windows import check_windows_limits
from mmpscope.analysis.free_schema import FIT
from mmpscope.analysis.freespace import Window
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.space import is_like_linux, is_windows
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["HOLES", "LARGEST_REQUEST", "FitAnswer", "check_fit"]

_EXIT_CODES = {FITS: 0, DOES_NOT_FIT: 1, CANNOT_TELL: 4}
LARGEST_REQUEST = 1 << 63
"""The largest request that can be asked for: 8 EiB."""
_NOT_TOLD = "not told: the holes are not known"
HOLES = "address space"
"""Name of the check of the holes."""


@dataclass(frozen=True)
class FitAnswer:
    """Whether a request fits, what decides it, and where it would go.

    `size` and `align` are the request in whole pages. `binding` is the check that says no, else the one that
    lacks its facts, else the one that comes nearest to saying no. `address` is where the system would most
    likely put it, by the rule that `placement` states; `tightest` is address and size of the smallest hole
    that holds it.
    """

    outcome: str
    size: int
    align: int
    binding: Check
    address: int | None
    placement: str
    tightest: tuple[int, int] | None
    checks: tuple[Check, ...]

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_fit

        return show_fit(self)

    @property
    def fits(self) -> bool:
        """Whether it is sure that the request succeeds."""
        return self.outcome == FITS

    @property
    def exit_code(self) -> int:
        """What the command line returns: 0 fits, 1 does not fit, 4 cannot tell."""
        return _EXIT_CODES[self.outcome]

    def to_table(self) -> pa.Table:
        """Return one row a check (columns of free_schema.FIT)."""
        columns = {
            "check": [check.name for check in self.checks],
            "outcome": [check.outcome for check in self.checks],
            "available": [check.available for check in self.checks],
            "reason": [check.reason for check in self.checks],
        }
        return build_table(FIT, columns, len(self.checks))


def check_fit(
    snapshot: LoadedSnapshot, size: int, align: int | None = None, window: Window | None = None
) -> FitAnswer:
    """Weigh a request for private writable memory against the holes and limits of that moment.

    `size` is rounded up to whole pages; `align`, a power of two, is at least the allocation granularity.
    Where the source does not list every region, the answer is that it cannot be told. Raises UsageError for a
    size or an alignment that cannot be asked for.
    """
    unit, align = snapshot.page_size, max(snapshot.granularity, 1 if align is None else align)
    if not 0 < size <= LARGEST_REQUEST:
        raise UsageError(f"a request of {size:,} bytes cannot be asked for. Give 1 byte to 8 EiB")
    if align & (align - 1) or align > LARGEST_REQUEST:
        raise UsageError(f"an alignment of {align} bytes cannot be asked for. Give a power of two")
    size = -(-size // unit) * unit
    extent = find_extent(snapshot)
    places = find_places(snapshot, align, window) if extent.shown == ALL else None
    checks = [_check_holes(places, size) if places else Check(HOLES, CANNOT_TELL, None, extent.reason or "")]
    checks += _list_limits(snapshot, size)
    binding = choose_binding(checks, checks[0])
    address, placement = choose_place(snapshot, places, size) if places else (None, _NOT_TOLD)
    return FitAnswer(
        outcome=binding.outcome,
        size=size,
        align=align,
        binding=binding,
        address=address,
        placement=placement,
        tightest=places.find_tightest(size) if places else None,
        checks=tuple(checks),
    )


def _list_limits(snapshot: LoadedSnapshot, size: int) -> Iterable[Check]:
    """Check a request against the limits of the system of the snapshot; those of macOS are not known."""
    if is_like_linux(snapshot.capture):
        return check_limits(snapshot, size)
    return check_windows_limits(snapshot, size) if is_windows(snapshot.capture) else ()


def _check_holes(places: Places, size: int) -> Check:
    """A hole must hold the request from its first aligned address on."""
    available = places.largest_room
    count = len(places.find_fitting(size))
    reason = f"{count:,} of {len(places.holes):,} holes have room, aligned to {show_size(places.align)}"
    return Check(HOLES, FITS if count else DOES_NOT_FIT, available, reason)
