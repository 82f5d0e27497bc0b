"""What the system knows of each allocation as a whole: its kind, and how much of it is committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Allocation, Region

__all__ = ["read_allocations"]

_MOST_REFUSALS = 8
"""Windows before Vista knows no such question: it need not be asked 100,000 times."""


def read_allocations(query: Callable[[int], Allocation], regions: Sequence[Region]) -> list[Allocation]:
    """Ask once for each allocation of a map; Win32Error where the system answers none of the first.

    One that was released meanwhile is left out.
    """
    found: list[Allocation] = []
    refusals: list[Win32Error] = []
    for base in dict.fromkeys(region.allocation_base for region in regions):
        try:
            found.append(query(base))
        except Win32Error as error:
            refusals.append(error)
            if not found and len(refusals) == _MOST_REFUSALS:
                break
    if refusals and not found:
        raise refusals[0]
    return found
