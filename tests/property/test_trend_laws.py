"""Laws of births and deaths: what is born less what dies is what a kind has grown by, both ways in time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.trends.births import Births
from mmpscope.formats.model import Capability
from support.snapshots import PAGE, make_snapshot, region

PLACES = st.frozensets(st.integers(0, 30), max_size=12)
SERIES = st.lists(st.tuples(PLACES, PLACES), min_size=2, max_size=6)
"""Pages of two kinds of memory in each snapshot; where both claim one, the first has it."""


def _snapshot(writable: frozenset[int], readable: frozenset[int]) -> LoadedSnapshot:
    """Make a snapshot of these pages, and of one that is always there."""
    pages = {99: "---p", **dict.fromkeys(readable, "r--p"), **dict.fromkeys(writable, "rw-p")}
    return make_snapshot(
        region(PAGE * (place + 1), PAGE, protection=protection) for place, protection in sorted(pages.items())
    )


@given(SERIES)
def test_births_less_deaths_are_growth(series: list[tuple[frozenset[int], frozenset[int]]]) -> None:
    """To the byte, for each kind, however the kernel cuts its regions."""
    births = Births()
    sums = [births.add(_snapshot(*pages), "size") for pages in series]
    kinds = {kind for each in sums for kind in each}
    assert births.tallies.keys() <= kinds
    for kind in kinds:
        tally = births.tallies[kind]
        assert tally.born - tally.died == sums[-1].get(kind, 0) - sums[0].get(kind, 0)
        assert tally.births * PAGE <= tally.born
        assert sum(tally.classes.values()) == tally.births


@given(SERIES)
def test_a_series_backwards_swaps_births_and_deaths(
    series: list[tuple[frozenset[int], frozenset[int]]],
) -> None:
    """What appears one way vanishes the other."""
    there, back = Births(), Births()
    for pages in series:
        there.add(_snapshot(*pages), "size")
    for pages in reversed(series):
        back.add(_snapshot(*pages), "size")
    for kind, tally in there.tallies.items():
        other = back.tallies[kind]
        assert (tally.births, tally.born) == (other.deaths, other.died)
        assert (tally.deaths, tally.died) == (other.births, other.born)


def test_a_snapshot_without_all_regions_tells_no_births() -> None:
    """Nor does the one after it, which has nothing to be compared with."""
    whole = [make_snapshot([region(PAGE, PAGE * size)]) for size in (1, 2, 3)]
    lacking = make_snapshot([region(PAGE, PAGE)])
    lacking.raw.capability.append(Capability("regions", "partial", None, "cut off"))
    births = Births()
    for snapshot in (whole[0], lacking, whole[1], whole[2]):
        births.add(snapshot, "size")
    [tally] = births.tallies.values()
    assert (tally.births, tally.deaths, tally.born) == (1, 0, PAGE)
