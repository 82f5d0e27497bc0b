"""Working sets by page: few calls, and sums that a slow reference finds too."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st
from mmpscope.collector.windows.pages import COLUMNS, PageSums, sum_pages
from mmpscope.collector.windows.rows import Region
from support.fake_win32 import IMAGE, FakeWin32, make_demo

PAGE = 0x1000


def _region(base: int, pages: int, state: int = 0x1000) -> Region:
    return Region(base, base, 4, pages * PAGE, state, 4, 0x20000)


def _sum_slowly(region: Region, attributes: dict[int, int]) -> PageSums:
    """Add up page by page, straight after PSAPI_WORKING_SET_EX_BLOCK of psapi.h."""
    sums = dict.fromkeys(COLUMNS, 0)
    pages = range(region.base, region.base + region.size, PAGE) if region.state == 0x1000 else ()
    for page in pages:
        bits = f"{attributes.get(page, 0):064b}"[::-1]
        valid, shared, locked, large = (bits[at] == "1" for at in (0, 15, 22, 23))
        mappers = int(bits[1:4][::-1], 2)
        if not valid:
            sums["AbsentShared"] += PAGE if shared else 0
            continue
        sums["TotalWS"] += PAGE
        sums["ShareableWS" if shared else "PrivateWS"] += PAGE
        sums["SharedWS"] += PAGE if shared and mappers > 1 else 0
        sums["LockedWS"] += PAGE if locked else 0
        sums["LargeWS"] += PAGE if large else 0
    return PageSums(**sums)


def test_pages_are_asked_for_by_the_hundred() -> None:
    """A million committed pages in many regions take calls of 65,536 pages, never one a page or region."""
    calls: list[int] = []

    def query(addresses: array[int]) -> array[int]:
        calls.append(len(addresses))
        return array("Q", [1] * len(addresses))

    regions = [_region(number << 24, 256) for number in range(1000)]
    sums = sum_pages(query, regions, PAGE)
    assert sum(calls) == 256_000
    assert all(size >= 256 for size in calls)
    assert len(calls) == 4
    assert {row.TotalWS for row in sums} == {256 * PAGE}


def test_only_committed_pages_are_asked_for() -> None:
    """A terabyte that is only reserved costs no call at all."""
    asked: list[int] = []

    def query(addresses: array[int]) -> array[int]:
        asked.extend(addresses)
        return array("Q", bytes(8 * len(addresses)))

    sums = sum_pages(query, [_region(0x10000, 1 << 28, 0x2000), _region(1 << 50, 2)], PAGE)
    assert asked == [1 << 50, (1 << 50) + PAGE]
    assert sums == [PageSums(), PageSums()]


def test_absent_pages_of_an_image_tell_whether_they_are_still_shared() -> None:
    """Not seen under Wine: a page that is not resident, and would be the file's, is AbsentShared."""
    system = FakeWin32(make_demo())
    handle = system.open_process(4712, 0x0400)
    image = [region for region in system.programs[4712].regions if region.allocation_base == IMAGE]

    def query(addresses: array[int]) -> array[int]:
        return system.query_working_set(handle, addresses)

    head, code, data, written = sum_pages(query, image, PAGE)
    assert (head.SharedWS, code.ShareableWS) == (PAGE, PAGE)
    assert (data.TotalWS, data.AbsentShared) == (0, 2 * PAGE)
    assert (written.PrivateWS, written.AbsentShared) == (PAGE, 0)


ATTRIBUTES = st.builds(
    lambda valid, mappers, shared, locked, large: (
        valid | mappers << 1 | shared << 15 | locked << 22 | large << 23
    ),
    *(st.integers(0, 1), st.integers(0, 7), st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)),
)
REGIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 9), st.sampled_from([0x1000, 0x1000, 0x2000])), max_size=8
)


@given(REGIONS, st.data())
def test_sums_are_those_of_a_slow_reference(shape: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """Whatever the pages say, each region's sums are what a look at page after page gives."""
    regions, at = [], 0x10000
    for gap, pages, state in shape:
        at += gap * PAGE
        regions.append(_region(at, pages, state))
        at += pages * PAGE
    places = range(0x10000, at, PAGE)
    pages_now = {place: data.draw(ATTRIBUTES) for place in places}

    def query(addresses: array[int]) -> array[int]:
        return array("Q", [pages_now[address] for address in addresses])

    sums = sum_pages(query, regions, PAGE)
    assert sums == [_sum_slowly(region, pages_now) for region in regions]
    for row in sums:
        assert row.PrivateWS + row.ShareableWS == row.TotalWS
        assert row.SharedWS <= row.ShareableWS
