"""Series of files from end to end: what is followed, and what is born and dies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis.errors import AnalysisError, CannotTellError, UsageError
from mmpscope.analysis.loading import load
from mmpscope.analysis.measures.measure import measure
from mmpscope.analysis.reporters.trend_words import write_headline
from mmpscope.analysis.trends.answer import Row, SeriesTrend, make_table
from mmpscope.analysis.trends.following import (
    Aim,
    Shelf,
    choose_process,
    find_trends,
    follow_files,
    follow_measures,
)
from mmpscope.analysis.trends.judgement import Verdict
from mmpscope.analysis.trends.schema import TREND
from support.leaks import MIB, Look, make_looks, write_looks

pytest.importorskip("scipy", reason="needs the extra stats")

LEAK = tuple(range(1024, 1024 + 30 * 64, 64))
PLACE = 0x7E00_0000_0000


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    """Files to read from, closed at the end."""
    found = Shelf((), partial=False)
    yield found
    found.close()


def _follow(shelf: Shelf, *paths: Path, **aim: Any) -> list[SeriesTrend]:
    moments = choose_process(shelf.list_moments(load(*paths)), aim.get("process"))
    return follow_files(moments, shelf.read, Aim(**aim))


def _find(trend: SeriesTrend, scope: str, name: str) -> Row:
    [row] = [row for row in trend.rows if (row["scope"], row["name"]) == (scope, name)]
    return row


def _series(folder: Path, looks: Sequence[Look], name: str = "run.mmp") -> Path:
    return write_looks(folder / name, looks)


def test_a_leak_is_followed_by_total_type_name_and_kind(tmp_path: Path, shelf: Shelf) -> None:
    """64 KiB a minute in the main heap, nothing else: the slope of each is 3.75 MiB an hour."""
    [trend] = _follow(shelf, _series(tmp_path, make_looks(LEAK)))
    wanted = [("total", "Total"), ("type", "Heap"), ("name", "main heap"), ("kind", "[heap] rw-p")]
    for row in (_find(trend, *each) for each in wanted):
        assert row["verdict"] is Verdict.GROWING
        assert row["slope"] == pytest.approx(3.75 * MIB)
        assert row["change"] == (LEAK[-1] - LEAK[0]) * 1024
    assert (trend.metric, trend.total["points"]) == ("private", 30)


def test_s08_many_files_are_one_series_in_order_of_time(tmp_path: Path, shelf: Shelf) -> None:
    """One snapshot a file, names shuffled, two files with parts by turns: the answer is that of one file."""
    looks = make_looks(LEAK)
    whole = _series(tmp_path, looks, "whole.mmp")
    folder = tmp_path / "many"
    folder.mkdir()
    for number, look in enumerate(looks):
        _series(folder, [look], f"{(number * 7) % 30}.mmp")
    by_turns = [_series(tmp_path, looks[at::2], f"{2 - at}.mmp") for at in range(2)]
    [one], [many], [two] = (_follow(shelf, *each) for each in ([whole], [folder], by_turns))
    assert make_table([one]).equals(make_table([many]))
    assert make_table([one]).equals(make_table([two]))


def test_two_processes_are_judged_apart_and_the_leak_comes_first(tmp_path: Path, shelf: Shelf) -> None:
    """Their snapshots lie mixed in one file."""
    flat = make_looks([2048] * 30, pid=8, name="idle")
    mixed = [look for pair in zip(flat, make_looks(LEAK), strict=True) for look in pair]
    path = _series(tmp_path, mixed)
    leak, idle = _follow(shelf, path)
    assert (leak.series.last.name, leak.total["verdict"]) == ("server", Verdict.GROWING)
    assert (idle.series.last.name, idle.total["verdict"]) == ("idle", Verdict.FLAT)
    assert [each.series.last.name for each in _follow(shelf, path, process="8")] == ["idle"]
    with pytest.raises(UsageError, match=r"--process 'x' is none of idle \(8\), server \(7\)"):
        _follow(shelf, path, process="x")


def test_a_restart_is_no_drop(tmp_path: Path, shelf: Shelf) -> None:
    """Each life grows; one series of both would fall in the middle."""
    second = [Look(look.time_s + 1_800, look.heap_kib, started=9_000) for look in make_looks(LEAK)]
    trends = _follow(shelf, _series(tmp_path, [*make_looks(LEAK), *second]))
    assert [trend.total["verdict"] for trend in trends] == [Verdict.GROWING] * 2


def test_blocks_that_come_and_never_go_are_suspects(tmp_path: Path, shelf: Shelf) -> None:
    """One new mapping of 64 KiB a minute, far from each other: births, no deaths, and their usual size."""
    blocks = [(PLACE + number * MIB, 64) for number in range(30)]
    looks = [Look(number * 60.0, blocks=tuple(blocks[: number + 1])) for number in range(30)]
    [trend] = _follow(shelf, _series(tmp_path, looks))
    [row] = [row for row in trend.rows if row.get("suspect")]
    assert (row["births"], row["deaths"], row["born"], row["birth_size"]) == (29, 0, 29 * 64 * 1024, 1 << 16)
    assert row["slope"] == pytest.approx(3.75 * MIB)


def test_blocks_that_the_kernel_joins_are_births_all_the_same(tmp_path: Path, shelf: Shelf) -> None:
    """Neighbours become one region that grows: what was added counts, and nothing died."""
    looks = [
        Look(number * 60.0, blocks=((PLACE - number * 65_536, 64 + 64 * number),)) for number in range(30)
    ]
    [trend] = _follow(shelf, _series(tmp_path, looks))
    [row] = [row for row in trend.rows if row.get("suspect")]
    assert (row["births"], row["deaths"], row["birth_size"]) == (29, 0, 1 << 16)


def test_blocks_that_die_are_no_suspects(tmp_path: Path, shelf: Shelf) -> None:
    """Each minute one comes and another goes."""
    looks = [Look(number * 60.0, blocks=((PLACE + number * MIB, 64),)) for number in range(30)]
    [trend] = _follow(shelf, _series(tmp_path, looks))
    [row] = [row for row in trend.rows if row.get("births")]
    assert (row["births"], row["deaths"], row["suspect"]) == (29, 29, False)


def test_a_limit_is_reached_in_the_time_that_is_left(tmp_path: Path, shelf: Shelf) -> None:
    """RLIMIT_AS of twice what is used now, at 3.75 MiB an hour, with the interval around it."""
    used = LEAK[-1] << 10
    [trend] = _follow(shelf, _series(tmp_path, make_looks(LEAK, rlimit=2 * used)))
    row = _find(trend, "limit", "RLIMIT_AS")
    assert (row["last"], row["maximum"]) == (used, 2 * used)
    assert row["reached_h"] == pytest.approx(used / (3.75 * MIB))
    assert row["reached_low_h"] <= row["reached_h"] <= row["reached_high_h"]


def test_a_flat_process_reaches_no_limit(tmp_path: Path, shelf: Shelf) -> None:
    """There is a maximum, and no time to it."""
    [trend] = _follow(shelf, _series(tmp_path, make_looks([1024] * 30, rlimit=1 << 30)))
    row = _find(trend, "limit", "RLIMIT_AS")
    assert (row["maximum"], row.get("reached_h")) == (1 << 30, None)


def test_s01_a_warm_up_is_no_leak(tmp_path: Path, shelf: Shelf) -> None:
    """24 hours whose quarters have medians of 30.95, 34.73, 35.02 and 35.06 MiB: flat after a plateau."""
    wobble = (0, 8, -8, 4, -4, 12, -12)
    heaps = [
        int(35.06 * 1024 - 12_000 * 2.718 ** (-hour / 2.5) + wobble[hour * 3 % 7]) // 4 * 4
        for hour in range(97)
    ]
    quarters = [sorted(heaps[at : at + 24])[12] for at in (0, 24, 48, 72)]
    assert quarters == sorted(quarters)
    [trend] = _follow(shelf, _series(tmp_path, make_looks(heaps, 900.0)))
    assert trend.total["verdict"] is Verdict.FLAT


@pytest.mark.parametrize(
    ("looks", "points"), [(make_looks([1024]), 1), (make_looks([1024, 2048]), 2), (make_looks(LEAK, 0.0), 1)]
)
def test_too_few_or_equal_times_cannot_be_told(
    looks: Sequence[Look], points: int, tmp_path: Path, shelf: Shelf
) -> None:
    """One point, two, thirty of one nanosecond: no verdict, no slope out of nothing, a reason."""
    [trend] = _follow(shelf, _series(tmp_path, looks))
    assert (trend.total["verdict"], trend.total["points"]) == (Verdict.CANNOT_TELL, points)
    assert trend.total["reason"]
    assert not trend.can_tell


def test_snapshots_without_times_cannot_be_told(tmp_path: Path, shelf: Shelf) -> None:
    """Whatever their files are called: nothing says which came first."""
    facts = (("time_ns", None), ("mono_ns", None))
    looks = [Look(0, kib, facts=facts) for kib in LEAK]
    paths = [_series(tmp_path, [look], f"{number:03}.mmp") for number, look in enumerate(looks)]
    [trend] = _follow(shelf, *paths)
    assert (trend.total["verdict"], trend.total["slope"]) == (Verdict.CANNOT_TELL, None)
    assert "do not tell when" in trend.total["reason"]


def test_page_sizes_that_differ_are_told(tmp_path: Path, shelf: Shelf) -> None:
    """One process has one page size; what is taken for one without proof may have two."""
    facts = (("boot_id", None),)
    looks = [Look(at * 60.0, page_size=4096 << at % 2 * 4, facts=facts) for at in range(12)]
    [trend] = _follow(shelf, _series(tmp_path, looks))
    assert "pages have 4,096 and 65,536 bytes" in trend.notes[-1]


def test_a_file_that_grows_while_it_is_read_answers_for_what_was_there(tmp_path: Path, shelf: Shelf) -> None:
    """A series is still being written: snapshots that come later are of the next question."""
    looks = make_looks(LEAK)
    path = _series(tmp_path, looks[:20])
    moments = shelf.list_moments(load(path))
    _series(tmp_path, looks, "longer.mmp").replace(path)
    [trend] = follow_files(moments, shelf.read)
    assert (trend.total["points"], trend.total["verdict"]) == (20, Verdict.GROWING)


def test_a_file_that_lost_snapshots_meanwhile_is_one_sentence(tmp_path: Path, shelf: Shelf) -> None:
    """It was replaced by another: the label, the file, and what now."""
    path = _series(tmp_path, make_looks(LEAK))
    moments = shelf.list_moments(load(path))
    _series(tmp_path, make_looks(LEAK[:3]), "other.mmp").replace(path)
    with pytest.raises(AnalysisError, match=r"run.mmp#3 is no longer there: .*run.mmp was changed meanwhile"):
        follow_files(moments, shelf.read)


def test_another_figure_can_be_followed(tmp_path: Path, shelf: Shelf) -> None:
    """Any of the summary; one that there is not is refused by its name."""
    path = _series(tmp_path, make_looks(LEAK))
    [trend] = _follow(shelf, path, metric="total_ws")
    assert (trend.metric, trend.total["metric"]) == ("total_ws", "total_ws")
    with pytest.raises(UsageError, match=r"--metric 'rss': there is no such figure\. Give one of size, "):
        _follow(shelf, path, metric="rss")


def test_a_flat_total_names_another_that_rose(tmp_path: Path, shelf: Shelf) -> None:
    """A file that is read fills the working set and leaves Private as it was: the answer points to that."""
    looks = [Look(60.0 * number, read_kib=1024 * (number + 1)) for number in range(30)]
    path = _series(tmp_path, looks)
    [trend] = _follow(shelf, path)
    assert (trend.total["verdict"], trend.risen) == (Verdict.FLAT, ("total_ws", 29 * MIB))
    assert write_headline(trend).endswith("; Total WS rose by 29 MiB in that time: see --metric total_ws")
    [trend] = _follow(shelf, path, metric="total_ws")
    assert (trend.total["verdict"], trend.risen) == (Verdict.GROWING, None)


def test_a_flat_total_says_nothing_of_others_that_stayed(tmp_path: Path, shelf: Shelf) -> None:
    """A fifth more is not worth a word."""
    looks = [Look(60.0 * number, read_kib=10_240 + 64 * number) for number in range(30)]
    [trend] = _follow(shelf, _series(tmp_path, looks))
    assert (trend.total["verdict"], trend.risen) == (Verdict.FLAT, None)


def test_the_headline_of_growth_tells_what_was_left_out(tmp_path: Path, shelf: Shelf) -> None:
    """A slope of the time since a turn is not one of all that was seen."""
    heaps = [1024 + 64 * max(0, number - 20) for number in range(50)]
    [trend] = _follow(shelf, _series(tmp_path, make_looks(heaps)))
    assert write_headline(trend).startswith("growing: Private: flat until 20 min, since then +3.75 MiB/h (")


def test_a_bound_makes_slow_growth_flat(tmp_path: Path, shelf: Shelf) -> None:
    """Growth of 3.75 MiB an hour is of no interest to who says 4."""
    [trend] = _follow(shelf, _series(tmp_path, make_looks(LEAK)), bound=8 * MIB)
    assert trend.total["verdict"] is not Verdict.CANNOT_TELL
    assert trend.total["slope"] == pytest.approx(3.75 * MIB)


def test_every_cell_of_a_table_is_a_number_or_null(tmp_path: Path, shelf: Shelf) -> None:
    """No NaN and no infinity in any float, whatever the series."""
    looks = [*make_looks(LEAK), *make_looks([1024], pid=9), *make_looks([1024] * 20, pid=10)]
    table = make_table(_follow(shelf, _series(tmp_path, looks)))
    assert table.column_names == [field.name for field in TREND]
    floats = [field.name for field in TREND if field.type == "float64"]
    values = [value for name in floats for value in table[name].to_pylist() if value is not None]
    assert values
    assert all(abs(value) < 1e300 for value in values)


def test_a_snapshot_without_figures_cannot_be_followed(tmp_path: Path, shelf: Shelf) -> None:
    """The first one decides what is followed: one that knows nothing is refused in a sentence."""
    path = tmp_path / "empty.smaps"
    path.write_bytes(b"7f0000000000-7f0000001000 r--p 00000000 00:00 0\n")
    [trend] = _follow(shelf, path)
    assert trend.metric in ("committed", "size", "private")
    with pytest.raises(CannotTellError):
        list(_follow(shelf, _nothing(tmp_path)))


def _nothing(folder: Path) -> Path:
    from mmpscope.formats.mmp.writer import write_file
    from mmpscope.formats.model import Capture, Snapshot

    path = folder / "nothing.mmp"
    write_file(
        path, [Snapshot(Capture(host={"os": "linux"}), {"pid": 2, "name": "kthreadd"}, {"time_ns": 1})]
    )
    return path


def test_measures_in_any_parts_and_order_answer_like_files(tmp_path: Path, shelf: Shelf) -> None:
    """As a dataset keeps them, one a part and the last first: all but births and deaths is the same."""
    path = _series(tmp_path, make_looks(LEAK))
    parts = [measure(snapshot, snapshot.label) for snapshot in load(path)]
    [kept], [read] = follow_measures(reversed(parts)), _follow(shelf, path)
    rows = [row for row in read.rows if row["scope"] != "kind"]
    assert [dict(row) for row in kept.rows] == rows
    with pytest.raises(UsageError, match=r"--process 'x' is none of server \(7\)"):
        follow_measures(parts, Aim(process="x"))


def test_of_many_processes_the_first_are_judged_in_full(tmp_path: Path, shelf: Shelf) -> None:
    """Twenty of them; of the others the total alone, and they say how to have the rest."""
    looks = [Look(at * 60.0, pid=pid) for pid in range(100, 122) for at in range(2)]
    trends = _follow(shelf, _series(tmp_path, looks))
    assert [len(trend.rows) > 1 for trend in trends] == [True] * 20 + [False] * 2
    assert "--process" in trends[-1].notes[-1]


def test_snapshots_in_hand_are_judged_in_any_order(tmp_path: Path) -> None:
    """As a notebook has them, whatever they are called: the table of the command, units in its metadata."""
    snapshots = load(_series(tmp_path, make_looks(LEAK)))
    table = find_trends(reversed(snapshots), metric="total_ws")
    row = table.slice(0, 1).to_pylist()[0]
    assert (row["scope"], row["verdict"], row["metric"]) == ("total", "growing", "total_ws")
    assert row["slope"] == pytest.approx(3.75 * MIB)
    assert table.schema.field("slope").metadata[b"unit"] == b"an hour"
