"""The loop over VirtualQueryEx: whatever the system answers, it ends, and says where and why."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from mmpscope.collector.windows.errors import Win32Error
from mmpscope.collector.windows.rows import Region
from mmpscope.collector.windows.walk import walk_regions
from support.fake_win32 import IMAGE, RECORDED_REGIONS, FakeProgram, FakeWin32, make_demo

TOP = 1 << 64
END = 0x7FFF_FFFF_0000


def _answer(base: int, size: int, state: int = 0x1000) -> Region:
    return Region(base, base, 4, size, state, 4, 0x20000)


def _play(*answers: Region | Win32Error) -> tuple[Callable[[int], Region], list[int]]:
    """Give a system that gives these answers, then refuses, and the addresses that it was asked for."""
    asked: list[int] = []

    def query(address: int) -> Region:
        asked.append(address)
        answer = (
            answers[len(asked) - 1] if len(asked) <= len(answers) else Win32Error("VirtualQueryEx", 87, "no")
        )
        if isinstance(answer, Win32Error):
            raise answer
        return answer

    return query, asked


def test_a_recorded_map_is_walked_whole() -> None:
    """RECORDED under Wine: every region that is not free comes out, and the walk reaches the end."""
    system = FakeWin32(FakeProgram(regions=RECORDED_REGIONS))
    handle = system.open_process(4712, 0x0410)
    walk = walk_regions(system.make_region_query(handle), 0, END)
    assert (walk.regions, walk.end, walk.stopped) == (RECORDED_REGIONS, END, None)


def test_f37_a_refused_call_ends_the_walk_with_its_reason() -> None:
    """ERROR_BAD_LENGTH, the answer to a structure of the wrong size, is not cured at the next page."""
    refusal = Win32Error("VirtualQueryEx", 24, "The program issued a command but the length is incorrect.")
    query, asked = _play(_answer(0, 0x10000), refusal, _answer(0x11000, 0x1000))
    walk = walk_regions(query, 0, END)
    assert (asked, walk.end, walk.stopped) == ([0, 0x10000], 0x10000, refusal)


def test_f38_the_last_region_of_32_bits_does_not_wrap() -> None:
    """Base 0xffff0000 and size 0x10000 are 0 in 32 bits; here they are the end."""
    query, asked = _play(_answer(0, 0xFFFF0000, 0x10000), _answer(0xFFFF0000, 0x10000))
    walk = walk_regions(query, 0, 1 << 32)
    assert (len(walk.regions), walk.end, walk.stopped, len(asked)) == (1, 1 << 32, None, 2)


def test_f38_size_0_ends_the_walk() -> None:
    """An answer without a size would be asked for for ever."""
    walk = walk_regions(_play(_answer(0, 0x1000), _answer(0x1000, 0))[0], 0, END)
    assert (len(walk.regions), walk.end) == (1, 0x1000)
    assert walk.stopped == "the answer for 0x1000 is base 0x1000, size 0x0"


def test_f38_an_answer_that_leads_back_ends_the_walk() -> None:
    """A region whose end lies at or below what was asked for is none that leads on."""
    walk = walk_regions(_play(_answer(0, 0x5000), _answer(0x1000, 0x2000))[0], 0, END)
    assert (len(walk.regions), walk.end) == (1, 0x5000)
    assert "base 0x1000, size 0x2000" in str(walk.stopped)


def test_f38_the_end_of_64_bits_is_reached_and_not_passed() -> None:
    """2^64 is an end that Python's numbers hold; what claims more ends the walk."""
    whole = walk_regions(_play(_answer(0, TOP))[0], 0, TOP)
    assert (whole.end, whole.stopped) == (TOP, None)
    beyond = walk_regions(_play(_answer(0, TOP + 0x1000))[0], 0, TOP)
    assert (beyond.regions, beyond.end) == ([], 0)
    assert beyond.stopped is not None


def test_f39_addresses_above_32_bits_stay_whole() -> None:
    """An image at 0x7ff612340000 is found there, not at 0x12340000."""
    system = FakeWin32(make_demo())
    walk = walk_regions(system.make_region_query(system.open_process(4712, 0x0410)), 0, END)
    assert IMAGE == 0x7FF6_1234_0000
    assert next(region.base for region in walk.regions if region.type == 0x1000000) == IMAGE


def test_thousands_of_regions_are_one_question_each() -> None:
    """The walk asks once a region or gap, and holds them in order."""
    regions = [_answer(0x10000 + 0x2000 * number, 0x1000) for number in range(20_000)]
    gaps = [_answer(region.base + 0x1000, 0x1000, 0x10000) for region in regions]
    answers = [
        _answer(0, 0x10000, 0x10000),
        *(row for pair in zip(regions, gaps, strict=True) for row in pair),
    ]
    query, asked = _play(*answers)
    walk = walk_regions(query, 0, 0x10000 + 0x2000 * 20_000)
    assert (walk.regions, walk.stopped, len(asked)) == (regions, None, 40_001)


NUMBERS = st.one_of(
    st.integers(0, 8).map(lambda n: n << 12), st.integers(0, TOP), st.integers(TOP - 9, TOP + 9)
)
ANSWERS = st.builds(_answer, NUMBERS, NUMBERS, st.sampled_from([0x1000, 0x2000, 0x10000]))
REFUSALS = st.just(Win32Error("VirtualQueryEx", 5, "no"))


@given(st.lists(st.one_of(ANSWERS, REFUSALS), max_size=12), NUMBERS, st.sampled_from([1 << 15, TOP]))
def test_f38_any_answers_end_in_disjoint_and_ordered_regions(
    answers: list[Region | Win32Error], start: int, end: int
) -> None:
    """No sequence of answers makes the walk ask twice for one place, or give regions that cross."""
    query, asked = _play(*answers)
    walk = walk_regions(query, start, end)
    assert asked == sorted(set(asked))
    assert len(asked) <= len(answers) + 1
    ends = [region.base + region.size for region in walk.regions]
    begins = [region.base for region in walk.regions]
    assert all(start <= begin < after for begin, after in zip(begins, ends, strict=True))
    assert all(after <= begin for begin, after in zip(begins[1:], ends, strict=False))
    assert walk.stopped is not None or walk.end >= end


def test_a_region_that_grew_downwards_meanwhile_counts_from_where_we_are() -> None:
    """Between two questions its neighbour below became part of it: the answers must not cross."""
    walk = walk_regions(_play(_answer(0, 0x2000), _answer(0, 0x5000))[0], 0, 0x5000)
    assert [(region.base, region.size) for region in walk.regions] == [(0, 0x2000), (0x2000, 0x3000)]
