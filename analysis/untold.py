"""Which types of memory a list of regions cannot tell, so that their memory is in Private Data.

Nothing of such a type is no 0: a minidump lists the regions that a heap lies in, and names none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.rules_windows import USAGE_COLUMN

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["find_untold"]

_HEAP, _MANAGED, _STACK = "Heap", "Managed Heap", "Stack"
_NAMED_TYPES = ("VmmapType", "RegionType")
"""Columns in which the source itself says of every region what it is."""
_STACK_NAME, _ALLOCATOR_NAME = "[stack]", "[anon:"


def find_untold(snapshot: LoadedSnapshot) -> frozenset[str]:
    """Return the types that no fact tells: of Heap, Managed Heap and Stack those that could be there unseen.

    VMMap and vmmap of macOS name every region. The kernel of Linux names [heap] and [stack], and what a
    runtime asks it to name; a source without inodes passes on some of these names or none: pmap has
    ``[ stack ]`` alone, a core has no name of the kind. Windows names nothing: its heaps are what WinDbg
    calls so, and its stacks are where threads have theirs. Of a type that some region has, that is told
    all the same.
    """
    regions = snapshot.raw_columns
    if any(name in regions for name in _NAMED_TYPES):
        return frozenset()
    has_threads = (table := snapshot.raw.tables.get("threads")) is not None and table.rows > 0
    if "State" in regions:
        has_words = USAGE_COLUMN in regions and not regions.text(USAGE_COLUMN).is_null.all()
        told = {_STACK} if has_threads else set()
        return frozenset({_HEAP, _MANAGED, _STACK} - (told | {_HEAP, _STACK} if has_words else told))
    return _find_untold_of_linux(regions, has_threads=has_threads)


def _find_untold_of_linux(regions: RawColumns, *, has_threads: bool) -> frozenset[str]:
    names = [name for name in regions.text("path").values if name is not None]
    if "inode" in regions or any(name.startswith(_ALLOCATOR_NAME) for name in names):
        return frozenset()
    stacks = set() if has_threads or _STACK_NAME in names else {_STACK}
    return frozenset({_HEAP, _MANAGED} | stacks)
