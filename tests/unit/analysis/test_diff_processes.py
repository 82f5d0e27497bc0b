"""Several processes compared: who is who, what adds up over them, and what is not known of some."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from mmpscope.analysis import summary
from mmpscope.analysis.diffs import process_sides
from mmpscope.analysis.diffs.processes import ProcessesDiff, choose_roles, diff_processes
from mmpscope.analysis.errors import UsageError
from support.process_sets import Proc, load_set

MB = 1000  # kB as F29 counts: only their ratio matters


def _compare(a: Sequence[Proc], b: Sequence[Proc], **more: Any) -> ProcessesDiff:
    return diff_processes(load_set(a), load_set(b, at=60), **more)


def _rows(result: ProcessesDiff) -> list[dict[str, Any]]:
    return list(result.roles.to_pylist())


def _only(result: ProcessesDiff) -> dict[str, Any]:
    [row] = _rows(result)
    return dict(row)


def _total(result: ProcessesDiff) -> dict[str, Any]:
    return dict(result.total.to_pylist()[0])


def _workers(count: int, first: int = 100, **more: Any) -> list[Proc]:
    return [Proc(first + number, args=("--worker",), **more) for number in range(count)]


def test_f29_four_processes_of_10_mb_rss_and_4_mb_pss_are_16_mb() -> None:
    """F29: the total of a group is its PSS, 16 MB; 40 MB of RSS is not in the answer unless asked for."""
    result = _compare(_workers(4, pss=4 * MB, rss=10 * MB), [])
    assert _total(result)["pss_a"] == 16 * MB * 1024
    assert (_total(result)["total_ws_a"], _only(result)["total_ws_a"]) == (None, None)


def test_f29_rss_is_summed_on_request() -> None:
    """Asked for by name, RSS is added up: 40 MB."""
    result = _compare(_workers(4, pss=4 * MB, rss=10 * MB), [], metric="total_ws")
    assert _total(result)["total_ws_a"] == 40 * MB * 1024


def test_one_instance_is_known_by_boot_pid_and_start() -> None:
    """A process that ran all the time is the same, whatever it calls itself by now."""
    row = _only(_compare([Proc(7, args=("-a",))], [Proc(7, args=("-b",), pss=130)]))
    assert (row["word"], row["match"], row["confidence"]) == ("grown", "same instance", "high")
    assert row["pss_delta"] == 30 * 1024


def test_a_restarted_process_is_known_by_program_arguments_and_parent() -> None:
    """Another pid with the same role is that role restarted, not one gone and one new."""
    row = _only(_compare([Proc(7)], [Proc(8, pss=90)]))
    assert (row["word"], row["match"]) == ("restarted", "executable+arguments+parent")
    assert (row["pid_a"], row["pid_b"], row["pss_delta"]) == (7, 8, -10 * 1024)


def test_nothing_restarts_from_one_machine_to_another() -> None:
    """Between two hosts every process is another one: that says nothing, so the word is that of its size."""
    a = load_set([Proc(7, boot="boot-1")], host="host-1")
    b = load_set([Proc(8, boot="boot-2", pss=120)], host="host-2")
    assert _only(diff_processes(a, b))["word"] == "grown"


def test_a_reused_pid_is_not_the_process() -> None:
    """The same pid with another start time and program is another process."""
    result = _compare([Proc(7, start=5)], [Proc(7, exe="/usr/bin/other", start=9)])
    assert sorted((row["word"], row["name"]) for row in _rows(result)) == [
        ("gone", "server"),
        ("new", "other"),
    ]


def test_workers_are_matched_as_a_group() -> None:
    """Of four workers and six that nothing tells apart, nobody can say which is which: one row, 4 and 6."""
    row = _only(_compare(_workers(4), _workers(6, 200)))
    assert (row["instances_a"], row["instances_b"]) == (4, 6)
    assert (row["pid_a"], row["pid_b"], row["snapshot_a"]) == (None, None, None)
    assert row["pss_delta"] == 200 * 1024


def test_workers_that_went_on_are_told_from_those_that_did_not() -> None:
    """Two of four workers ran all the time: they are the same, and the others are a group of their own."""
    result = _compare(_workers(4), [*_workers(2), *_workers(3, 200)])
    found = sorted((row["match"], row["instances_a"], row["instances_b"]) for row in _rows(result))
    assert found == [
        ("executable+arguments+parent", 2, 3),
        ("same instance", 1, 1),
        ("same instance", 1, 1),
    ]


@pytest.mark.parametrize(
    ("before", "after", "match", "confidence"),
    [
        (Proc(7, parent=1), Proc(8, parent=90), "executable+arguments", "high"),
        (
            Proc(7, args=("--id=7",)),
            Proc(8, args=("--id=8",)),
            "executable+arguments without numbers",
            "medium",
        ),
        (Proc(7, args=("-x",)), Proc(8, args=("-y",)), "executable+parent", "medium"),
        (Proc(7, args=("-x",)), Proc(8, args=("-y",), parent=90), "executable", "medium"),
        (Proc(7, exe="/opt/1/server"), Proc(8, exe="/opt/2/server"), "name", "low"),
    ],
)
def test_less_sure_ways_say_so(before: Proc, after: Proc, match: str, confidence: str) -> None:
    """What differs between two runs costs confidence: another parent, other arguments, another path."""
    row = _only(_compare([before], [after]))
    assert (row["match"], row["confidence"]) == (match, confidence)


def test_an_updated_program_is_the_same_program() -> None:
    """Linux writes (deleted) behind the program of a process whose file was replaced: the same role."""
    row = _only(_compare([Proc(7, exe="/usr/bin/server (deleted)")], [Proc(8)]))
    assert row["match"].startswith("executable+arguments")


def test_two_scripts_of_one_interpreter_are_two_roles() -> None:
    """Programs of Python have one executable: what it runs tells them apart."""
    a = Proc(7, exe="/usr/bin/python3", args=("a.py",))
    b = Proc(8, exe="/usr/bin/python3", args=("b.py",))
    assert {row["word"] for row in _rows(_compare([a], [b]))} == {"gone", "new"}


def test_unproven_processes_of_one_pid_and_name_are_matched_with_doubt() -> None:
    """Without a boot id one pid and name are a sign, and no proof."""
    row = _only(_compare([Proc(7, boot=None)], [Proc(7, boot=None)]))
    assert (row["match"], row["confidence"]) == ("pid+name", "medium")


def test_different_by_word_of_the_user_matches_by_role_alone() -> None:
    """Mode different: the user knows that no process is the one of before."""
    row = _only(_compare([Proc(7)], [Proc(7)], mode="different"))
    assert row["match"] == "executable+arguments+parent"


def test_same_by_word_of_the_user_matches_by_pid() -> None:
    """Mode same: the user knows that the pids are those of before."""
    row = _only(_compare([Proc(7, boot="boot-1")], [Proc(7, boot="boot-2")], mode="same"))
    assert row["match"] == "same instance"


def test_what_was_not_read_before_is_unknown_and_not_new() -> None:
    """A process that the earlier list has, and no snapshot, did not appear: its change is unknown."""
    result = _compare([Proc(7, is_read=False), Proc(9)], [Proc(7), Proc(9)])
    [row] = [each for each in _rows(result) if each["pid_b"] == 7]
    assert (row["word"], row["pss_a"], row["pss_delta"], row["instances_a"]) == ("unknown", None, None, 1)
    assert "permission denied" in row["note"]


def test_what_was_not_read_after_is_unknown_and_not_gone() -> None:
    """The same the other way round: no drop."""
    result = _compare([Proc(7), Proc(9)], [Proc(7, is_read=False), Proc(9)])
    [row] = [each for each in _rows(result) if each["pid_a"] == 7]
    assert (row["word"], row["pss_b"], row["pss_delta"]) == ("unknown", None, None)


def test_who_ended_before_its_turn_was_not_refused() -> None:
    """The collector names who refused by pid; why the others are missing it does not know."""
    quick = [Proc(pid, f"/bin/q{pid}", is_read=False, is_quick=True) for pid in (20, 21)]
    after = [Proc(9), Proc(8, is_read=False), *quick]
    result = _compare([replace(each, is_read=True, is_quick=False) for each in after], after)
    notes = {row["pid_a"]: row["note"] for row in _rows(result)}
    assert notes[8] == "in b: it ran, and there is no snapshot of it (permission denied (13))"
    ended = "in b: it ran, and there is no snapshot of it; it may have ended before its turn"
    assert (notes[20], notes[21], notes[9]) == (ended, ended, None)


def test_of_many_who_refused_the_rest_is_told_as_far_as_it_can_be() -> None:
    """Eight are named; who else refused is known where all of the rest did, and else may be either."""
    many = [Proc(pid, f"/bin/p{pid}", is_read=False) for pid in range(20, 31)]
    for quick, told in ((0, "(permission denied (13))"), (1, "(permission denied (13), or it ended")):
        after = [*many, *(Proc(50 + at, "/bin/q", is_read=False, is_quick=True) for at in range(quick))]
        before = [Proc(9), *(replace(each, is_read=True, is_quick=False) for each in after)]
        notes = {row["pid_a"]: row["note"] for row in _rows(_compare(before, [Proc(9), *after]))}
        assert "snapshot of it (permission denied (13))" in notes[20]
        assert told in notes[30]


def test_processes_that_were_not_read_are_counted_apart() -> None:
    """What both sides say of themselves adds up: who was read, and who was not, of each role and in total."""
    quick = [Proc(20, "/bin/q", is_read=False, is_quick=True)]
    result = _compare([Proc(9), Proc(20, "/bin/q")], [Proc(9), *quick])
    counted = [
        (row["instances_a"], row["unread_a"], row["instances_b"], row["unread_b"]) for row in _rows(result)
    ]
    assert sorted(counted) == [(1, 0, 1, 0), (1, 0, 1, 1)]
    total = _total(result)
    assert total["instances_b"] - total["unread_b"] == len(result.sides[1].members) == 1


def test_a_zombie_is_gone() -> None:
    """A process that ended and waits for its parent is still in the list, and has no memory: it is gone."""
    result = _compare([Proc(7), Proc(9)], [Proc(7, is_read=False, is_zombie=True), Proc(9)])
    assert {row["pid_a"]: row["word"] for row in _rows(result)} == {7: "gone", 9: "same"}


def test_what_neither_side_read_is_no_row() -> None:
    """The rest of the machine is no part of the answer."""
    others = [Proc(pid, is_read=False) for pid in range(50, 60)]
    assert _compare([Proc(7), *others], [Proc(7), *others]).roles.num_rows == 1


def test_a_side_without_counters_is_unknown_never_a_drop() -> None:
    """Maps alone tell no PSS: the role is unknown, the total leaves it out on both sides and says so."""
    result = _compare([Proc(7), Proc(9)], [Proc(7, pss=None), Proc(9, pss=150)])
    words = {row["pid_a"]: row["word"] for row in _rows(result)}
    assert words == {7: "unknown", 9: "grown"}
    total = _total(result)
    assert (total["pss_a"], total["pss_b"], total["pss_delta"]) == (100 * 1024, 150 * 1024, 50 * 1024)
    assert "without 1 of 2 roles" in total["note"]
    assert "pss" in total["unknown"].split(", ")


def test_sums_of_unlike_parts_are_not_compared() -> None:
    """Private memory with page tables and without is no change; without them on both sides it is."""
    known, lacking = [Proc(7)], [Proc(7, page_tables=False)]
    found = [_only(_compare(a, b)) for a, b in ((known, lacking), (lacking, lacking), (known, known))]
    assert [row["private_delta"] for row in found] == [None, 0, 0]
    assert [row["unknown"] for row in found] == ["private", None, None]


def test_what_is_new_is_new_whatever_it_costs() -> None:
    """A process that appeared is new, also where nobody knows how much it takes."""
    result = _compare([Proc(9)], [Proc(9), Proc(7, exe="/bin/x", pss=None)])
    [row] = [each for each in _rows(result) if each["pid_b"] == 7]
    assert (row["word"], row["pss_delta"]) == ("new", None)
    assert row["note"]


def test_new_is_sure_only_where_the_other_side_lists_all() -> None:
    """Without a list of what ran, a process of one side alone may have run unread."""
    sure = diff_processes(load_set([Proc(9)]), load_set([Proc(9), Proc(7, exe="/bin/x")]))
    doubt = diff_processes(load_set([Proc(9)], listing=False), load_set([Proc(9), Proc(7, exe="/bin/x")]))
    found = [[r["confidence"] for r in _rows(each) if r["word"] == "new"] for each in (sure, doubt)]
    assert found == [["high"], ["low"]]


def test_private_memory_ranks_where_no_process_tells_pss() -> None:
    """Windows knows no PSS: private memory adds up as well, and the answer says what it did."""
    result = _compare([Proc(7, pss=None)], [Proc(7, pss=None)])
    assert (result.metric, "PSS" in (result.metric_reason or "")) == ("private", True)


def test_a_figure_that_adds_up_to_nothing_is_refused() -> None:
    """Sizes of address spaces share what they map: there is no sum of them worth the name."""
    with pytest.raises(UsageError, match="size is no figure of several processes"):
        _compare([Proc(7)], [Proc(7)], metric="size")


def test_a_set_against_itself_is_empty() -> None:
    """diff(a, a) has no change, in no row and not in total."""
    processes = [Proc(7), *_workers(3), Proc(5, pss=None)]
    result = _compare(processes, processes)
    assert (result.is_empty, _total(result)["pss_delta"]) == (True, 0)
    assert {row["word"] for row in _rows(result) if row["pid_a"] != 5} == {"same"}


def test_folded_rows_add_up_to_the_total() -> None:
    """What is not listed is in the row of the others: with it, rows add up to the total."""
    before = [Proc(pid, args=(f"-{chr(pid)}",)) for pid in range(97, 107)]
    after = [replace(each, pss=100 + 3 * each.pid) for each in before]
    result = _compare(before, after)
    rows = choose_roles(result, 3).to_pylist()
    assert [row["word"] for row in rows] == ["grown"] * 3 + ["others"]
    assert sum(row["pss_delta"] for row in rows) == _total(result)["pss_delta"]
    assert sum(row["rows"] for row in rows) == 10


def test_small_changes_are_folded() -> None:
    """--min leaves small changes to the others."""
    result = _compare([Proc(7), Proc(9)], [Proc(7, pss=101), Proc(9, pss=200)])
    rows = choose_roles(result, 0, 50 * 1024).to_pylist()
    assert [(row["word"], row["pid_a"]) for row in rows] == [("grown", 9), ("others", None)]


def test_regions_of_one_process_are_let_go_before_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is that of one process and not of all: a host has hundreds."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    seen: list[int] = []
    read = summary.sum_up

    def watch(snapshot: Any) -> Any:
        alive.add(snapshot)
        gc.collect()
        seen.append(len(alive))
        return read(snapshot)

    monkeypatch.setattr(process_sides, "sum_up", watch)
    _compare(_workers(5), _workers(6, 200))
    assert seen == [1] * 11
