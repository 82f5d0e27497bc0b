"""Working sets page by page, folded to one row of sums a region."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Callable, NamedTuple

from mmpscope.collector.windows.rows import Region
from mmpscope.collector.windows.walk import MEM_COMMIT

__all__ = ["COLUMNS", "PageSums", "fold_pages", "sum_pages"]

Query = Callable[["array[int]"], "array[int]"]

_PAGES_A_CALL = 1 << 16
_VALID, _SHARED, _LOCKED, _LARGE = 1, 1 << 15, 1 << 22, 1 << 23
_SHARE_COUNT_AT, _SHARE_COUNT_MASK = 1, 7


class PageSums(NamedTuple):
    """Bytes of a region by PSAPI_WORKING_SET_EX_BLOCK (psapi.h).

    ``TotalWS`` is resident; of that ``PrivateWS`` is not shareable, ``ShareableWS`` is, ``SharedWS`` is
    mapped by more than one process now, ``LockedWS`` cannot be paged out, ``LargeWS`` is in large pages.
    ``AbsentShared`` is not resident, and would be shared with the file or section behind it if it were: what
    VMMap calls Private of an image is all that is committed but this and ``ShareableWS``. The system counts
    mappers to 7.
    """

    TotalWS: int = 0
    PrivateWS: int = 0
    ShareableWS: int = 0
    SharedWS: int = 0
    LockedWS: int = 0
    LargeWS: int = 0
    AbsentShared: int = 0


COLUMNS = PageSums._fields


def sum_pages(query: Query, regions: Sequence[Region], page: int) -> list[PageSums]:
    """Ask for every page of the committed regions, some 65,000 a call, and add up by region.

    The cost grows with committed pages; nothing is kept but the sums.
    """
    counts: list[Counter[int]] = [Counter() for _ in regions]
    for batch in _make_batches(regions, page):
        addresses = array("Q")
        for _, first, pages in batch:
            addresses.extend(range(first, first + pages * page, page))
        attributes, at = query(addresses), 0
        for row, _, pages in batch:
            counts[row].update(attributes[at : at + pages])
            at += pages
    return [fold_pages(count, page) for count in counts]


def _make_batches(regions: Sequence[Region], page: int) -> Iterator[list[tuple[int, int, int]]]:
    """Cut the committed regions into pieces (row, address, pages) and fill batches with them."""
    batch: list[tuple[int, int, int]] = []
    room = _PAGES_A_CALL
    for row, region in enumerate(regions):
        address, left = region.base, region.size // page if region.state == MEM_COMMIT else 0
        while left:
            taken = min(left, room)
            batch.append((row, address, taken))
            address, left, room = address + taken * page, left - taken, room - taken
            if not room:
                yield batch
                batch, room = [], _PAGES_A_CALL
    if batch:
        yield batch


def fold_pages(counts: Counter[int], page: int) -> PageSums:
    """Add up pages by attribute: there are few different ones, however many pages."""
    sums = dict.fromkeys(COLUMNS, 0)
    for attributes, pages in counts.items():
        size = pages * page
        is_shared = attributes & _SHARED
        if not attributes & _VALID:
            sums["AbsentShared"] += size if is_shared else 0
            continue
        mappers = attributes >> _SHARE_COUNT_AT & _SHARE_COUNT_MASK
        kinds = {
            "TotalWS": True,
            "PrivateWS": not is_shared,
            "ShareableWS": is_shared,
            "SharedWS": is_shared and mappers > 1,
            "LockedWS": attributes & _LOCKED,
            "LargeWS": attributes & _LARGE,
        }
        for name, applies in kinds.items():
            sums[name] += size if applies else 0
    return PageSums(**sums)
