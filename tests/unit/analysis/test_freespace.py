"""Holes of small spaces whose answers are known by heart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis.fragmentation import measure_fragmentation
from mmpscope.analysis.freespace import find_free, find_holes, hole_histogram
from mmpscope.analysis.intervals import measure_coverage
from mmpscope.analysis.mapping_count import count_mappings
from mmpscope.analysis.schema import FREE
from mmpscope.analysis.windows import list_windows
from support.loaded import load_text
from support.snapshots import GATE_AREA, PAGE, make_snapshot, region

MIB = 1 << 20


def sizes(rows: list[tuple[int, int]], usable: tuple[int, int], unit: int) -> list[tuple[int, int, bool]]:
    """Find holes and write them as (start, size, unusable)."""
    starts, ends = (np.array([row[at] for row in rows], np.uint64) for at in (0, 1))
    holes = find_holes(starts, ends, usable, unit)
    return list(
        zip(
            holes.ranges.start.tolist(),
            holes.ranges.size.tolist(),
            holes.unusable.tolist(),
            strict=True,
        )
    )


def test_the_head_of_a_gap_is_unusable_up_to_the_next_multiple() -> None:
    """At 64 KiB a gap after 4 KiB loses its first 60 KiB; after a multiple it loses nothing."""
    rows = [(0x10000, 0x11000), (0x40000, 0x50000)]
    assert sizes(rows, (0, 0x60000), 0x10000) == [
        (0, 0x10000, False),
        (0x11000, 0xF000, True),
        (0x20000, 0x20000, False),
        (0x50000, 0x10000, False),
    ]


def test_a_gap_below_the_granularity_is_unusable_as_a_whole() -> None:
    """Between two allocations within 64 KiB nothing can be allocated."""
    assert sizes([(0, 0x1000), (0x3000, 0x10000)], (0, 0x10000), 0x10000) == [(0x1000, 0x2000, True)]


def test_nothing_is_unusable_at_the_granularity_of_a_page() -> None:
    """Where a mapping can start at each page every hole is free."""
    assert sizes([(0x1000, 0x2000)], (0, 0x3000), PAGE) == [(0, 0x1000, False), (0x2000, 0x1000, False)]


def test_rounding_up_near_the_end_of_the_space_does_not_wrap() -> None:
    """The next multiple after the last gap of a 64-bit space would be 2^64."""
    top = 2**64 - 1
    assert sizes([(0, top - 0x3000)], (0, top), 0x10000) == [(top - 0x3000, 0x3000, True)]


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=8),
    st.integers(0, 300),
    st.integers(0, 300),
    st.sampled_from([1, 7, 16]),
)
def test_regions_and_holes_are_the_whole_range(
    rows: list[tuple[int, int]], low: int, high: int, unit: int
) -> None:
    """Whatever the input, holes are what no region covers, and free ones start at a multiple."""
    starts, ends = (np.array([row[at] for row in rows], np.uint64) for at in (0, 1))
    holes = find_holes(starts, ends, (low, high), unit)
    covered = {byte for start, end in rows for byte in range(start, end)}
    pairs = list(zip(holes.ranges.start.tolist(), holes.ranges.end.tolist(), strict=True))
    assert {byte for pair in pairs for byte in range(*pair)} == set(range(low, high)) - covered
    assert measure_coverage(holes.ranges) == sum(end - start for start, end in pairs)
    for start, _ in zip(holes.free.start.tolist(), holes.free.end.tolist(), strict=True):
        assert start % unit == 0


def test_a_free_row_names_its_neighbours() -> None:
    """Both sides are told by type and details; at the ends of the range there is none."""
    snapshot = make_snapshot(
        [region(0x20000, PAGE, "Image", path="/bin/a b"), region(0x22000, PAGE)],
        usable_range=(0x1F000, 0x24000, ""),
    )
    table = find_free(snapshot)
    assert table.column_names == [field.name for field in FREE]
    assert [(row["address"], row["size"], row["before"], row["after"]) for row in table.to_pylist()] == [
        (0x1F000, PAGE, None, "Image /bin/a b"),
        (0x21000, PAGE, "Image /bin/a b", "Private Data"),
        (0x23000, PAGE, "Private Data", None),
    ]


def test_a_window_cuts_the_holes() -> None:
    """Only what lies within the window is listed."""
    snapshot = make_snapshot([region(0x20000, PAGE)], usable_range=(0x10000, 0x40000, ""))
    [below, above] = find_free(snapshot, (0x1F000, 0x22000)).to_pylist()
    assert (below["address"], below["end"]) == (0x1F000, 0x20000)
    assert (above["address"], above["end"]) == (0x21000, 0x22000)


def test_a_process_that_gave_all_back_is_one_hole() -> None:
    """Nothing but a gate area, which does not count: all of the range is free, with no neighbour."""
    snapshot = make_snapshot(usable_range=(0x1000, 0x5000, ""))
    [hole] = find_free(snapshot).to_pylist()
    assert (hole["size"], hole["type"], hole["before"], hole["after"]) == (0x4000, "Free", None, None)


def test_holes_are_counted_by_powers_of_two() -> None:
    """A class holds its power of two and all below the next; classes between are kept though empty."""
    rows = [region(0x1000, PAGE), region(0x3000, PAGE), region(0xC000, PAGE)]
    snapshot = make_snapshot(rows, usable_range=(0, 0xF000, ""))
    # holes: 0x1000 at 0, 0x1000 at 0x2000, 0x8000 at 0x4000, 0x2000 at 0xD000
    table = hole_histogram(snapshot).to_pydict()
    assert table == {
        "from_size": [0x1000, 0x2000, 0x4000, 0x8000],
        "holes": [2, 1, 0, 1],
        "free": [0x2000, 0x2000, 0, 0x8000],
    }


def test_an_empty_histogram_has_no_rows() -> None:
    """A space that is full has no hole to count."""
    assert hole_histogram(make_snapshot([region(0, PAGE)], usable_range=(0, PAGE, ""))).num_rows == 0


@pytest.mark.parametrize(("size", "from_size"), [(2**63, 2**63), (2**53 + 1, 2**53), (2**53 - 1, 2**52)])
def test_size_classes_are_exact_beyond_the_precision_of_floats(size: int, from_size: int) -> None:
    """A hole of 2^53 - 1 bytes is below 2^53, though a float cannot tell them apart after rounding up."""
    snapshot = make_snapshot(usable_range=(0, size, ""), granularity=1)
    assert hole_histogram(snapshot).column("from_size").to_pylist() == [from_size]


def test_f33_gate_areas_do_not_count() -> None:
    """F33: [vsyscall] is neither a mapping against vm.max_map_count, nor a neighbour, nor covered space."""
    snapshot = make_snapshot([region(0x20000, PAGE), GATE_AREA], system={"max_map_count": 65530})
    count = count_mappings(snapshot)
    assert (count.count, count.limit, count.left) == (1, 65530, 65529)
    assert find_free(snapshot).to_pylist()[-1]["after"] is None


def test_an_unknown_limit_is_not_zero() -> None:
    """Without vm.max_map_count nothing is said about how many mappings are left; over it, none are."""
    assert count_mappings(make_snapshot([region(0, PAGE)])).left is None
    assert count_mappings(make_snapshot([region(0, PAGE)], system={"max_map_count": 0})).left == 0


def test_a_32_bit_space_is_measured_as_a_whole() -> None:
    """Where pointers have 32 bits the usable range is the window that counts."""
    [window] = list_windows(make_snapshot(usable_range=(0x1000, 0xC000_0000, "")))
    assert (window.name, window.low, window.high) == ("usable range", 0x1000, 0xC000_0000)


def test_a_64_bit_space_is_measured_in_the_parts_that_matter() -> None:
    """There are windows for 32-bit pointers and for the reach of the program's own code."""
    program = [
        region(0x5555_0000_0000, MIB, "Image", path="/bin/a"),
        region(0x5555_0020_0000, MIB, path="/bin/a"),
    ]
    snapshot = make_snapshot(program, process={"exe": "/bin/a"})
    whole, low, near, asked = list_windows(snapshot, (0, 2**63))
    assert (whole.low, whole.high) == (0x10000, 0x7FFF_FFFF_F000)
    assert (low.low, low.high) == (0x10000, 1 << 32)
    assert (near.low, near.high) == (0x5555_0030_0000 - (1 << 31), 0x5555_0000_0000 + (1 << 31))
    assert (asked.low, asked.high) == (0x10000, 0x7FFF_FFFF_F000)


def test_a_program_whose_path_is_no_utf8_is_found() -> None:
    """The path column shows odd bytes as \\xNN, the fact exe has them as they are."""
    snapshot = make_snapshot(
        [region(0x5555_0000_0000, MIB, path="/bin/\\xff")], process={"exe": b"/bin/\xff"}
    )
    assert len(list_windows(snapshot)) == 3


def test_an_unknown_program_has_no_reach() -> None:
    """Without the path of the program, or without its file among the mappings, that window is left out."""
    assert len(list_windows(make_snapshot([region(0x5555_0000_0000, MIB)]))) == 2
    assert len(list_windows(make_snapshot([region(0, MIB)], process={"exe": "/bin/gone"}))) == 2


def test_f20_without_an_address_space_there_are_no_holes_to_speak_of() -> None:
    """An empty map is a kernel thread, or was not allowed to be read: its whole range is not free."""
    snapshot = load_text(b"")
    assert find_free(snapshot).num_rows == 0
    assert find_free(snapshot, (0, 1 << 20)).num_rows == 0
    assert hole_histogram(snapshot).num_rows == 0
    measured = measure_fragmentation(snapshot, (0, 1 << 20))
    assert (measured.windows.num_rows, measured.requests.num_rows) == (0, 0)
    assert count_mappings(snapshot).count is None
