"""How much of the memory of a process a snapshot shows: every region, some, totals alone, or nothing.

Answers about what is *not* there (free space, fragmentation, what is new or gone) need every region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.facts import get_map, show_fact
from mmpscope.analysis.space import (
    NO_ADDRESS_SPACE,
    NO_WINDOWS_SPACE,
    has_address_space,
    is_like_linux,
    is_windows,
)

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "ALL",
    "NOTHING",
    "SOME",
    "TOTALS",
    "Extent",
    "describe_source",
    "find_extent",
    "has_totals",
    "require_figures",
    "require_all_regions",
    "require_regions",
]

ALL, SOME, TOTALS, NOTHING = "all", "some", "totals", "nothing"

_ITEM = "regions"
"""The item of the capability table by which a source says that it lacks regions."""
_LACKING = ("partial", "unavailable")
_NO_SPACE = (NO_ADDRESS_SPACE, NO_WINDOWS_SPACE)
_NO_REASON = "the source says no more"
_INSTEAD = {
    "linux": "`mmp collect` takes all of it, and so does the text of /proc/PID/smaps",
    "android": "The text of /proc/PID/smaps tells all of it",
    "windows": "`mmp collect`, a whole save of VMMap, a minidump with memory info or !address tells it",
    "macos": "The whole text of vmmap PID, without -summary, tells it",
}
"""What to collect in place of a source that does not tell enough, by operating system."""
_ELSEWHERE = "Take a whole map of the process"


class Extent(NamedTuple):
    """``shown`` is one of ALL, SOME (regions are missing), TOTALS (no regions), NOTHING.

    ``reason`` is a sentence without its full stop on what is missing; None for ALL.
    """

    shown: str
    reason: str | None

    @property
    def has_regions(self) -> bool:
        """Whether there are regions to list."""
        return self.shown in (ALL, SOME)


def find_extent(snapshot: LoadedSnapshot) -> Extent:
    """Tell how much a snapshot shows, from its regions, its totals and what it says of itself."""
    stated = [item for item in snapshot.raw.capability if item.item == _ITEM and item.state in _LACKING]
    said = (stated[0].reason or _NO_REASON) if stated else None
    if has_address_space(snapshot):
        return Extent(ALL, None) if said is None else Extent(SOME, f"not all regions are known: {said}")
    if has_totals(snapshot):
        return Extent(TOTALS, f"totals only: {said or 'the source lists no regions'}")
    if said is None and is_windows(snapshot.capture):
        return Extent(NOTHING, NO_WINDOWS_SPACE)
    if said is None and is_like_linux(snapshot.capture):
        return Extent(NOTHING, NO_ADDRESS_SPACE)
    return Extent(NOTHING, f"no regions: {said or _NO_REASON}")


def has_totals(snapshot: LoadedSnapshot) -> bool:
    """Tell if the source states totals of its own."""
    totals = snapshot.raw.tables.get("totals")
    return totals is not None and totals.rows > 0


def require_figures(snapshot: LoadedSnapshot) -> None:
    """Refuse a summary of a source that shows neither regions nor totals, as a save with headers alone.

    A process without address space has an answer: nothing is known of any figure. Raises CannotTellError.
    """
    extent = find_extent(snapshot)
    if extent.shown == NOTHING and extent.reason not in _NO_SPACE:
        raise _refuse(snapshot, "figures", extent)


def require_regions(snapshot: LoadedSnapshot, asked: str) -> None:
    """Refuse a question about regions where the source lists none; ``asked`` is the plural that is asked for.

    A process that is known to have no address space (a kernel thread) has an answer: none. Raises
    CannotTellError.
    """
    extent = find_extent(snapshot)
    if not extent.has_regions and extent.reason not in _NO_SPACE:
        raise _refuse(snapshot, asked, extent)


def require_all_regions(snapshot: LoadedSnapshot, asked: str) -> None:
    """Refuse a question about what is not there where regions may be missing. Raises CannotTellError."""
    require_regions(snapshot, asked)
    extent = find_extent(snapshot)
    if extent.shown == SOME:
        raise _refuse(snapshot, asked, extent)


def _refuse(snapshot: LoadedSnapshot, asked: str, extent: Extent) -> CannotTellError:
    source = describe_source(snapshot)
    what = f"{snapshot.label} ({source})" if source else snapshot.label
    instead = _INSTEAD.get(show_fact(snapshot.capture.host.get("os")) or "", _ELSEWHERE)
    return CannotTellError(f"{what} cannot tell the {asked}, {extent.reason}. {instead}")


def describe_source(snapshot: LoadedSnapshot) -> str | None:
    """Name the format, with its version, that a snapshot was read from; None for that of our collector."""
    source = get_map(snapshot.process, "source")
    words = [show_fact(source.get(key)) for key in ("format", "version")]
    return " ".join(word for word in words if word) or None
