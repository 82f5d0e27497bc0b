"""Free and Unusable against what VMMap itself printed for a 32-bit process."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from mmpscope.analysis.freespace import Holes, find_holes
from mmpscope.analysis.intervals import Ranges, find_ends, measure_coverage
from support.corpus import read_corpus_file

SPACE = (0, 0xFFFF_0000)
KIB = 1024


def read_csv() -> tuple[dict[str, list[str]], Ranges]:
    """Read summary rows by type, and the allocations; lines end CR CR LF, sub-blocks are indented."""
    text = read_corpus_file("vmmap/devenv-x86.csv").replace(b"\r\r\n", b"\n").decode("ascii")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    header = next(at for at, row in enumerate(rows) if row[0] == "Address")
    allocations = [row for row in rows[header + 1 :] if not row[0].startswith("  ")]
    starts = np.array([int(row[0], 16) for row in allocations], np.uint64)
    sizes = np.array([to_bytes(row[2]) for row in allocations], np.uint64)
    ends, cut = find_ends(starts, sizes)
    assert not cut.any()
    return {row[0]: row for row in rows[:header]}, Ranges(starts, ends)


def to_bytes(kib: str) -> int:
    """Read a size as VMMap prints it: KiB with separators of thousands."""
    return int(kib.replace(",", "")) * KIB


@pytest.fixture(scope="module")
def printed() -> dict[str, list[str]]:
    """What VMMap printed, by type."""
    return read_csv()[0]


@pytest.fixture(scope="module")
def holes() -> Holes:
    """What we find between the allocations, at the 64 KiB of Windows."""
    allocations = read_csv()[1]
    return find_holes(allocations.start, allocations.end, SPACE, 64 * KIB)


def test_free_is_what_vmmap_printed(printed: dict[str, list[str]], holes: Holes) -> None:
    """Free has VMMap's size, number of blocks and largest block, to the byte."""
    assert measure_coverage(holes.free) == to_bytes(printed["Free"][1]) == 3_131_712 * KIB
    assert len(holes.free) == int(printed["Free"][9]) == 188
    assert int(holes.free.size.max()) == to_bytes(printed["Free"][10]) == 2_083_712 * KIB


def test_unusable_is_what_vmmap_printed(printed: dict[str, list[str]], holes: Holes) -> None:
    """Unusable has VMMap's size and largest block, to the byte."""
    unusable = holes.ranges[holes.unusable]
    assert measure_coverage(unusable) == to_bytes(printed["Unusable"][1]) == 25_228 * KIB
    assert int(unusable.size.max()) == to_bytes(printed["Unusable"][10]) == 60 * KIB


def test_allocations_and_holes_are_the_whole_space(holes: Holes) -> None:
    """What is allocated, free and unusable adds up to 4 GiB less 64 KiB."""
    allocations = read_csv()[1]
    assert measure_coverage(allocations) + measure_coverage(holes.ranges) == SPACE[1] - SPACE[0]
