"""Private memory of images and views, told by their pages as QueryWorkingSetEx has them."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, diff
from support.loaded import load_table

PAGE = 0x1000
BASE = 0x7FF6_1234_0000
PRIVATE, MAPPED, IMAGE = 0x20000, 0x40000, 0x1000000
READ, WRITE, COPY, RUN = 0x02, 0x04, 0x08, 0x20
Row = dict[str, Any]


def _region(pages: int, kind: int, protect: int, *counts: int, at: int = 0, **more: Any) -> Row:
    """Write a committed region; counts are pages: private and shareable, not resident and yet shared."""
    private, shareable, absent = counts
    sums = {"PrivateWS": private, "ShareableWS": shareable, "AbsentShared": absent}
    sums |= {"TotalWS": private + shareable, "SharedWS": 0, "LockedWS": 0}
    row = {"start": BASE + at, "size": pages * PAGE, "AllocationBase": BASE, "State": 0x1000}
    row |= {"Protect": protect, "Type": kind, **{name: count * PAGE for name, count in sums.items()}}
    return row | more


def _tell_private(snapshot: LoadedSnapshot) -> list[tuple[int | None, str | None]]:
    """Return private of each region in pages, and its fault."""
    return [
        (None if row["private"] is None else row["private"] // PAGE, row["fault"])
        for row in snapshot.regions.to_pylist()
    ]


def _find_reason(snapshot: LoadedSnapshot) -> str | None:
    judged = {row["item"]: row["reason"] for row in snapshot.capability.to_pylist()}
    reason: str | None = judged.get("regions.private")
    return reason


@pytest.mark.parametrize(
    ("row", "private"),
    [
        (_region(10, IMAGE, COPY, 0, 4, 6), 10),
        (_region(10, IMAGE, RUN, 1, 4, 4), 2),
        (_region(10, IMAGE, RUN, 2, 4, 3), 3),
        (_region(10, IMAGE, WRITE, 7, 0, 1), 10),
        (_region(10, MAPPED, COPY, 1, 0, 9), 1),
        (_region(10, MAPPED, WRITE, 0, 4, 6), 0),
        (_region(10, PRIVATE, READ, 1, 2, 0), 10),
    ],
)
def test_private_is_all_commit_that_no_page_shares_any_more(row: Row, private: int) -> None:
    """Pages that were written to and protected again, or paged out since, count as VMMap counts them.

    Image pages that may be written to count in full, also while they are still shared.
    """
    told = _region(4, IMAGE, READ, 0, 1, 3, at=0x100000)
    snapshot = load_table([row, told])
    assert _tell_private(snapshot) == [(private, None), (0, None)]
    assert _find_reason(snapshot) is None


@pytest.mark.parametrize(
    ("kind", "protect", "private"),
    [
        (IMAGE, RUN, 2),
        (IMAGE, COPY, 10),
        (IMAGE, WRITE, 10),
        (MAPPED, COPY, 6),
        (MAPPED, WRITE, 2),
        (PRIVATE, READ, 10),
    ],
)
def test_a_system_that_marks_no_absent_page_leaves_an_estimate(kind: int, protect: int, private: int) -> None:
    """Wine 8 says nothing of pages that are not resident: they count where they may be written to privately.

    The image of which no page is marked shared, and not all are resident, tells such a system.
    """
    untold = _region(4, IMAGE, READ, 0, 1, 0, at=0x100000)
    snapshot = load_table([_region(10, kind, protect, 2, 4, 0), untold])
    assert _tell_private(snapshot) == [(private, None), (0, None)]
    assert "the system does not say whether they are still shared" in (_find_reason(snapshot) or "")


def test_where_all_is_resident_there_is_nothing_to_estimate() -> None:
    """Private memory may be paged out as it likes: only pages of images and views are in question."""
    snapshot = load_table(
        [_region(10, IMAGE, RUN, 2, 8, 0), _region(8, PRIVATE, WRITE, 1, 0, 0, at=0x100000)]
    )
    assert _tell_private(snapshot) == [(2, None), (8, None)]
    assert _find_reason(snapshot) is None


def test_without_pages_protection_alone_tells() -> None:
    """A light look has no working sets: what may be written to privately counts in full."""
    row = _region(10, IMAGE, COPY, 0, 0, 0)
    kept = {name: value for name, value in row.items() if not name.endswith("WS") and name != "AbsentShared"}
    snapshot = load_table([kept])
    assert _tell_private(snapshot) == [(10, None)]
    assert (_find_reason(snapshot) or "").startswith("of images and views what may be written to privately")


def test_f35_more_shared_pages_than_there_are_is_a_contradiction() -> None:
    """The difference is never below zero and never wraps; the region says what is wrong."""
    [(private, fault), _] = _tell_private(
        load_table([_region(10, IMAGE, RUN, 0, 6, 8), _region(4, IMAGE, READ, 0, 1, 3, at=0x100000)])
    )
    assert (private, fault) == (0, "more pages are shared than committed")


def test_f35_an_impossible_count_leaves_the_rest_as_it_is() -> None:
    """A number below zero that wrapped is left out, and protection tells in its place."""
    told = _region(4, IMAGE, READ, 0, 1, 3, at=0x100000)
    wrapped = _region(10, IMAGE, COPY, 1, 4, 0, AbsentShared=(1 << 64) - PAGE)
    assert _tell_private(load_table([wrapped, told])) == [
        (10, "AbsentShared is impossible for its size and left out"),
        (0, None),
    ]


def test_a_light_look_against_a_full_one_shows_no_change_of_images() -> None:
    """What was estimated by protection is unknown beside what pages tell; private data is exact on both."""
    rows = [_region(10, IMAGE, COPY, 1, 4, 5), _region(8, PRIVATE, WRITE, 1, 0, 0, at=0x100000)]
    names = [name for name in rows[0] if not name.endswith("WS") and name != "AbsentShared"]
    light, full = load_table([{name: row[name] for name in names} for row in rows]), load_table(rows)
    rows[1]["size"] += PAGE
    grown = load_table(rows)
    for before in (light, full):
        types = {row["type"]: row["private_delta"] for row in diff(before, grown).types.to_pylist()}
        assert types["Private Data"] == PAGE
        assert types["Image"] == (None if before is light else 0)
    [private] = [row for row in diff(light, grown).totals.to_pylist() if row["metric"] == "private"]
    assert private["delta"] is None
    assert "in a only estimated" in private["note"]
