"""Fragmentation and splitters, with figures worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis.fragmentation import (
    REQUEST_SIZES,
    measure_external,
    measure_fragmentation,
    measure_fragmentation_index,
    measure_unusable_index,
)
from mmpscope.analysis.free_schema import REQUESTS, SPLITTERS, WINDOWS
from mmpscope.analysis.splitters import list_splitters
from support.snapshots import PAGE, make_snapshot, region

KIB, MIB = 1 << 10, 1 << 20


def blocks(*sizes: int) -> np.ndarray:
    """Write the sizes of holes."""
    return np.array(sizes, np.uint64)


HOLES = st.lists(st.integers(1, 2**58) | st.integers(1, 40), max_size=6)


@given(HOLES, st.integers(1, 2**40) | st.integers(1, 40))
def test_figures_are_the_formulas_rounded_once(holes: list[int], request_: int) -> None:
    """Each figure is the float nearest to the exact fraction that its formula gives."""
    free, count = sum(holes), len(holes)
    sizes = blocks(*holes)
    external = float(1 - Fraction(max(holes), free)) if holes else None
    assert measure_external(sizes) == external
    served = sum(hole // request_ * request_ for hole in holes)
    assert measure_unusable_index(sizes, request_) == (float(Fraction(free - served, free)) if holes else 1)
    index = measure_fragmentation_index(sizes, request_)
    if not holes:
        assert index == 0
    elif max(holes) >= request_:
        assert index is None
    else:
        assert index == float(1 - (1 + Fraction(free, request_)) / count)


def test_one_hole_is_not_fragmented() -> None:
    """All free space in one piece: external fragmentation 0, and a request of its size is served whole."""
    assert measure_external(blocks(64 * MIB)) == 0
    assert measure_unusable_index(blocks(64 * MIB), MIB) == 0


def test_many_small_holes_fail_for_fragmentation() -> None:
    """16 MiB in pages cannot serve 1 MiB: nothing of it is usable, and the index is near 1."""
    sizes = blocks(*[PAGE] * 4096)
    assert measure_unusable_index(sizes, MIB) == 1
    assert measure_fragmentation_index(sizes, MIB) == pytest.approx(1 - 17 / 4096)


def test_little_free_space_fails_for_lack() -> None:
    """Two pages cannot serve 1 GiB, however they lie: the index is far from 1."""
    index = measure_fragmentation_index(blocks(PAGE, PAGE), 1 << 30)
    assert index is not None
    assert index <= 0.5


def test_windows_and_requests_have_their_columns() -> None:
    """Each window has its figures, size is mapped + unusable + free, each request its indexes."""
    rows = [region(0x1_0000, PAGE), region(0x40_0000, 64 * KIB)]
    snapshot = make_snapshot(rows, usable_range=(0, 0x100_0000, ""), granularity=64 * KIB)
    answer = measure_fragmentation(snapshot, (0, 0x20_0000))
    assert answer.windows.column_names == [field.name for field in WINDOWS]
    assert answer.requests.column_names == [field.name for field in REQUESTS]
    whole, asked = answer.windows.to_pylist()
    assert (whole["mapped"], whole["unusable"], whole["holes"]) == (68 * KIB, 60 * KIB, 3)
    assert whole["size"] == whole["mapped"] + whole["unusable"] + whole["free"]
    assert whole["largest"] == 0x100_0000 - 0x41_0000
    assert (asked["window"], asked["holes"], asked["largest"]) == ("asked for", 2, 0x20_0000 - 0x2_0000)
    requests = answer.requests.to_pylist()
    assert [row["request"] for row in requests] == [*REQUEST_SIZES] * 2
    assert REQUEST_SIZES == (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30)
    [four_mib] = [row for row in requests if row["request"] == 4 * MIB and row["window"] != "asked for"]
    assert (four_mib["holes"], four_mib["places"]) == (1, 2)
    assert four_mib["fragmentation_index"] is None


def test_a_full_window_has_no_fragmentation() -> None:
    """Where nothing is free, external fragmentation is unknown, not 0, and every request is unusable."""
    snapshot = make_snapshot([region(0, MIB)], usable_range=(0, MIB, ""))
    answer = measure_fragmentation(snapshot)
    assert answer.windows.column("external").to_pylist() == [None]
    assert set(answer.requests.column("unusable_index").to_pylist()) == {1.0}


def test_a_hole_larger_than_any_request_is_said_to_tell_nothing() -> None:
    """So it is in most 64-bit processes, but not in one whose address space is used up."""
    for size, is_told in ((1 << 40, True), ((1 << 40) - 1, False)):
        snapshot = make_snapshot([region(0, MIB)], usable_range=(0, MIB + size, ""), granularity=1)
        note = measure_fragmentation(snapshot).windows["note"][0].as_py()
        assert (note is not None) == is_told


def test_splitters_are_ordered_by_what_their_absence_would_join() -> None:
    """A page between two large holes goes before a large region beside a small hole."""
    rows = [
        region(0x10_0000, PAGE, "Image", path="/lib/a"),  # 1 MiB below, 15 MiB - 4 KiB above
        region(0x100_0000, 16 * MIB, "Heap"),  # 15 MiB below, 64 KiB above
        region(0x201_0000, PAGE),
        region(0x201_1000, 2 * PAGE, "Stack", details="thread 7"),  # 64 KiB below, the rest above
    ]
    snapshot = make_snapshot(rows, usable_range=(0, 0x300_0000, ""))
    table = list_splitters(snapshot)
    assert table.column_names == [field.name for field in SPLITTERS]
    first, second, third = table.to_pylist()
    assert (first["type"], first["details"], first["gain"], first["regions"]) == ("Image", "/lib/a", MIB, 1)
    assert first["merged"] == 16 * MIB == first["below"] + first["size"] + first["above"]
    assert (second["type"], second["gain"]) == ("Heap", 64 * KIB)
    assert (third["type"], third["details"], third["regions"], third["gain"]) == (
        "Stack",
        "thread 7",
        2,
        64 * KIB,
    )


def test_one_hole_has_no_splitter() -> None:
    """With no second hole nothing splits anything."""
    assert list_splitters(make_snapshot([region(0, MIB)], usable_range=(0, 2 * MIB, ""))).num_rows == 0
    assert list_splitters(make_snapshot([], usable_range=(0, 2 * MIB, ""))).num_rows == 0
