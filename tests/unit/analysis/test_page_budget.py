"""Pages stay within their size: sums of all snapshots, lists of those that matter, a word about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from mmpscope.analysis import load
from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.page import render_page
from mmpscope.analysis.pages.page_data import SHELL_BYTES, Budget, PageData, build_page
from mmpscope.analysis.trends.following import Shelf
from support.crowds import write_crowds
from support.leaks import make_looks, write_looks
from support.pages import list_rows, read_page


def _build(paths: Sequence[Path], budget: Budget | None = None) -> PageData:
    with closing(Shelf((), partial=False)) as shelf:
        return build_page(shelf.list_moments(load(*paths)), shelf.read, budget=budget)


def _measure_page(data: PageData) -> int:
    """Measure what a page takes besides its lists, as the budget reckons."""
    return SHELL_BYTES + len(pack(data.page))


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty snapshots of a process of 300 regions."""
    return write_crowds(tmp_path_factory.mktemp("series") / "series.mmp", 300, 30)


def test_a_series_with_room_keeps_all_lists(series: Path) -> None:
    """Where there is room, every snapshot has its lists, and nothing is said of folding."""
    data = _build([series])
    assert sorted(data.lists) == list(range(30))
    assert data.page["folded"] == []


def test_a_series_without_room_keeps_ends_and_chosen(series: Path) -> None:
    """In little room the first, the last and the chosen keep their lists; all keep sums; the page says so."""
    whole = _build([series])
    packed = sum(map(len, whole.lists.values()))
    data = _build([series], Budget(_measure_page(whole) + packed // 4, kept=(17,)))
    assert {0, 29, 17} <= set(data.lists)
    assert 3 < len(data.lists) < 15
    snapshots = data.page["snapshots"]
    assert [each["id"] for each in snapshots if each["has_lists"]] == sorted(data.lists)
    assert all(each["totals"]["private"] for each in snapshots)
    assert data.page["timelines"][0]["snapshots"] == list(range(30))
    assert f"{len(data.lists)} of 30 snapshots have their lists" in data.page["folded"][0]


def test_a_level_change_keeps_its_lists(tmp_path: Path) -> None:
    """Both sides of the largest step of a series are among the lists that are kept."""
    path = write_looks(tmp_path / "step.mmp", make_looks([1000] * 40 + [9000] * 40))
    data = _build([path], Budget(most_lists=4))
    assert set(data.lists) == {0, 39, 40, 79}


def test_a_snapshot_too_large_is_folded_and_its_sums_are_not(tmp_path: Path) -> None:
    """One snapshot without room lists what holds most of it; its summary is that of all of it."""
    path = write_crowds(tmp_path / "large.mmp", 3_000)
    whole = _build([path])
    small = _build([path], Budget(_measure_page(whole) + len(whole.lists[0]) // 3))
    read = read_page(render_page(small))
    regions = list_rows(read.lists(0)["regions"], read.lists(0)["texts"])
    assert 100 < len(regions) < 2_000
    [said] = [text for text in read.lists(0)["folded"] if "regions" in text]
    assert f"{3_002 - len(regions):,} of 3,002 regions" in said
    assert small.page["snapshots"] == whole.page["snapshots"]
    assert said in read.text


def test_processes_that_differ_are_no_timeline(tmp_path: Path) -> None:
    """Snapshots of several processes have a timeline each where they have several, and no other is made."""
    one = write_looks(tmp_path / "one.mmp", make_looks([100, 200, 300], pid=5, started=1))
    two = write_looks(tmp_path / "two.mmp", make_looks([100], pid=6, started=2))
    page = _build([one, two]).page
    assert [each["snapshots"] for each in page["timelines"]] == [[0, 1, 2]]
    assert [(each["a"], each["b"]) for each in page["diffs"]] == [(0, 2)]
    assert page["shown"] == 2


def test_two_processes_are_compared_as_such(tmp_path: Path) -> None:
    """Two snapshots of two processes have no timeline, but a comparison that says that they are two."""
    paths = [
        write_looks(tmp_path / f"{pid}.mmp", make_looks([100 * pid], pid=pid, started=pid)) for pid in (5, 6)
    ]
    page = _build(paths).page
    assert page["timelines"] == []
    assert page["diffs"][0]["mode"] == "different"


def test_order_is_that_of_time(tmp_path: Path) -> None:
    """Files that are given in another order come by their clock, never by their names."""
    looks = make_looks([100, 200, 300])
    paths = [write_looks(tmp_path / f"{name}.mmp", [look]) for name, look in zip("cab", looks, strict=True)]
    page = _build(sorted(paths)).page
    assert [int(each["totals"]["private"] or 0) >> 10 for each in page["snapshots"]] == [100, 200, 300]
    assert page["timelines"][0]["seconds"] == [0.0, 60.0, 120.0]
