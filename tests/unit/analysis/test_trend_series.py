"""Snapshots into series: by instance, in order of time, with what is odd about them said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from mmpscope.analysis.identity import Identity
from mmpscope.analysis.trends.moments import Moment, list_unknown, name_instance
from mmpscope.analysis.trends.series import MONOTONIC, WALL, Series, split_series

NS = 1_000_000_000
START = 1_750_000_000 * NS


def _moment(time_s: float, label: str = "run.mmp#0", *, set_s: float = 0.0, **more: Any) -> Moment:
    facts: dict[str, Any] = {
        "host": "h",
        "boot": "b",
        "pid_namespace": 4,
        "pid": 7,
        "start_time": 500,
        "os": "linux",
    }
    identity = Identity(**{name: more.pop(name, value) for name, value in facts.items()})
    moment: dict[str, Any] = {
        "name": "server",
        "exe": "/srv/server",
        "hostname": "till-3",
        "time_ns": START + round((time_s + set_s) * NS),
        "mono_ns": round((1000 + time_s) * NS),
    }
    return Moment(label, identity, **(moment | more))


def _one(moments: Sequence[Moment]) -> Series:
    [series] = split_series(moments)
    return series


def _tell(series: Series) -> str:
    return "; ".join(series.notes)


def test_s08_order_is_by_time_never_by_name() -> None:
    """Files 1.mmp, 10.mmp, 2.mmp of minutes 1, 10 and 2: the rows follow the minutes."""
    moments = [_moment(60 * minute, f"{minute}.mmp#0") for minute in (1, 10, 2)]
    series = _one(moments)
    assert series.rows == (0, 2, 1)
    assert series.times_s == (0.0, 60.0, 540.0)
    assert (series.clock, series.is_proven) == (MONOTONIC, True)


def test_a_restart_begins_a_series() -> None:
    """Another start time, though name, program and pid are the same: both are told of the other."""
    first, second = split_series([_moment(0), _moment(1), _moment(9, start_time=900)])
    assert (first.rows, second.rows) == ((0, 1), (2,))
    assert "instance 1 of 2 of server" in _tell(first)
    assert "instance 2 of 2 of server" in _tell(second)


def test_a_pid_that_is_used_again_is_never_joined() -> None:
    """Another program has it later; both say so."""
    found = split_series([_moment(0), _moment(9, start_time=900, name="cron", exe="/bin/cron")])
    assert [series.rows for series in found] == [(0,), (1,)]
    assert all("pid 7 had 2 programs" in _tell(series) for series in found)


def test_a_reboot_begins_a_series() -> None:
    """Pid and start time may be the same by chance, as those of services are."""
    found = split_series([_moment(0), _moment(0, boot="c")])
    assert [series.rows for series in found] == [(0,), (1,)]


def test_exec_begins_a_series() -> None:
    """The process is the same, its memory is not; a program that was replaced on disk is no other one."""
    exes = ("/bin/sh", "/bin/sh (deleted)", None, "/srv/app")
    found = split_series([_moment(at, exe=exe) for at, exe in enumerate(exes)])
    assert [series.rows for series in found] == [(0, 1, 2), (3,)]
    assert "called exec" in _tell(found[0])


def test_a_clock_that_is_set_back_changes_no_order() -> None:
    """The monotonic clock counts, and the step is told with its size."""
    series = _one([_moment(60 * at, set_s=-3600 if at > 2 else 0) for at in range(5)])
    assert series.times_s == (0.0, 60.0, 120.0, 180.0, 240.0)
    assert "the wall clock was set back by 1 h after 2025-06-15 15:08:40 UTC" in _tell(series)


def test_a_clock_that_leaps_ahead_is_told_too() -> None:
    """It was set, or the machine slept, which a monotonic clock does not see."""
    assert "leapt ahead by 2 d" in _tell(_one([_moment(0), _moment(60, set_s=2 * 86_400)]))


def test_a_clock_that_is_slewed_is_no_step() -> None:
    """NTP moves the wall clock by half a millisecond a second at most."""
    assert _tell(_one([_moment(0), _moment(36_000, set_s=17)])) == ""


def test_gaps_are_told() -> None:
    """A stretch without snapshots that is far longer than usual, with when it began."""
    said = _tell(_one([_moment(at) for at in (0, 60, 120, 180, 11_000, 11_060)]))
    assert said == "no snapshot for 3 h after 2025-06-15 15:09:40 UTC; usually one every 1 min"


def test_what_is_given_twice_counts_once() -> None:
    """A file and a copy of it elsewhere: the same nanosecond of the same instance."""
    series = _one([_moment(0, "a.mmp#0"), _moment(5, "a.mmp#1"), _moment(0, "copy.mmp#0")])
    assert series.rows == (0, 1)
    assert "1 snapshot given twice" in _tell(series)


def test_snapshots_of_one_second_are_two_where_the_clock_knows_no_more() -> None:
    """A minidump has whole seconds: two of one second need not be the same."""
    series = _one([_moment(0, "a.dmp#0", mono_ns=None), _moment(0, "b.dmp#0", mono_ns=None)])
    assert (series.rows, series.times_s) == ((0, 1), (0.0, 0.0))


def test_without_the_monotonic_clock_the_wall_clock_counts() -> None:
    """As of minidumps."""
    series = _one([_moment(5, mono_ns=None), _moment(0, mono_ns=None)])
    assert (series.rows, series.clock) == ((1, 0), WALL)


def test_a_snapshot_without_a_time_is_left_out_of_those_that_have_one() -> None:
    """Where it belongs is not known."""
    series = _one([_moment(0), _moment(1), _moment(2, mono_ns=None, time_ns=None)])
    assert series.rows == (0, 1)
    assert "1 snapshot without a time of the monotonic clock left out" in _tell(series)


def test_texts_without_any_time_are_a_series_without_times() -> None:
    """Their order is not known, and no file name stands in for it."""
    series = _one([_moment(0, time_ns=None, mono_ns=None) for _ in range(3)])
    assert (series.times_s, series.clock, series.span_s) == ((), None, 0.0)


@pytest.mark.parametrize("fact", ["boot", "pid_namespace", "pid", "start_time"])
def test_an_unknown_fact_makes_an_instance_unproven(fact: str) -> None:
    """It is one series all the same, and says what is lacking."""
    lacking: dict[str, Any] = {fact: None}
    series = _one([_moment(at, **lacking) for at in range(2)])
    assert not series.is_proven
    assert "unproven: the snapshots lack" in _tell(series)


def test_windows_knows_no_namespaces_of_pids() -> None:
    """There boot, pid and start time are proof."""
    assert list_unknown(_moment(0, os="windows", pid_namespace=None)) == []


def test_unproven_snapshots_of_several_names_are_several_series() -> None:
    """One a name; where there is not even that, one a file."""
    nameless: dict[str, Any] = {"pid": None, "name": None, "exe": None}
    moments = [
        _moment(0, start_time=None, name="a"),
        _moment(0, start_time=None, name="b"),
        _moment(0, "x.smaps#0", **nameless),
        _moment(0, "y.smaps#0", **nameless),
    ]
    assert len({name_instance(moment) for moment in moments}) == 4
    assert [series.rows for series in split_series(moments)] == [(0,), (1,), (2,), (3,)]


def test_proven_and_unproven_snapshots_are_never_joined() -> None:
    """What could be of one process need not be."""
    assert len(split_series([_moment(0), _moment(1, start_time=None)])) == 2


def test_no_snapshots_are_no_series() -> None:
    """And no error."""
    assert split_series([]) == []
