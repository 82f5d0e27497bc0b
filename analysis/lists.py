"""Whether an empty list of threads, modules, heaps or processes means that there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.extent import ALL, describe_source, find_extent
from mmpscope.analysis.space import NO_ADDRESS_SPACE
from mmpscope.analysis.untold import find_untold

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["require_list"]

_KNOWN = ("ok", "not applicable")
_HEAPS = ("Heap", "Managed Heap")
_OF_REGIONS = ("heaps", "modules")
"""Lists that are made from regions, whatever the source says of its own."""


def require_list(snapshot: LoadedSnapshot, kind: str) -> None:
    """Refuse an empty list of which the source does not know that it is empty.

    ``kind`` is threads, modules, heaps or processes. Raises CannotTellError.
    """
    reason = _find_reason(snapshot, kind)
    if reason is not None:
        source = describe_source(snapshot)
        what = f"{snapshot.label} ({source})" if source else snapshot.label
        raise CannotTellError(f"{what} cannot tell the {kind}: {reason}. `mmp info` tells what it has")


def _find_reason(snapshot: LoadedSnapshot, kind: str) -> str | None:
    if kind in _OF_REGIONS:
        extent = find_extent(snapshot)
        if extent.shown != ALL:  # a kernel thread is known to have no memory at all
            return None if extent.reason == NO_ADDRESS_SPACE else extent.reason
    if kind == "heaps":
        untold = find_untold(snapshot).intersection(_HEAPS)
        return "no fact tells them from other private data" if untold else None
    items = (*snapshot.raw.capability, *snapshot.capture.capability)
    for item in items:
        if item.item == kind and item.state not in _KNOWN:
            return item.reason or item.state
    if kind in _OF_REGIONS or kind in {*snapshot.raw.tables, *snapshot.capture.tables}:
        return None
    return "it has no list of them"
