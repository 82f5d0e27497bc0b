"""When two snapshots are of one process instance, when they are not, and when nobody can say."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.identity import Comparison, Identity, compare_instances, identify
from support.snapshots import make_snapshot

HOST = {"id": "aa", "boot_id": "b1"}
PROCESS = {"pid": 7, "pid_namespace": 4026531836, "stat": {"starttime": 1234}}


def compare(host: dict[str, Any] | None = None, process: dict[str, Any] | None = None) -> Comparison:
    """Compare the process above with one that differs in some facts; a fact of None is absent."""
    a = make_snapshot(host=HOST, process=dict(PROCESS))
    b = make_snapshot(host=HOST | (host or {}), process=PROCESS | (process or {}))
    forward, backward = compare_instances(a, b), compare_instances(b, a)
    assert forward.verdict == backward.verdict
    return forward


def test_all_facts_alike_prove_one_instance() -> None:
    """Boot id, pid namespace, pid and start time are enough, and they are named."""
    comparison = compare()
    assert comparison.verdict == "same instance"
    assert "boot id, pid namespace, pid, start time" in comparison.reason


@pytest.mark.parametrize(
    ("host", "process", "named"),
    [
        ({"boot_id": "b2"}, {}, "boot id"),
        ({"boot_id": "b2", "id": "cc"}, {}, "host"),
        ({"boot_id": None, "id": "cc"}, {}, "host"),
        ({}, {"pid": 8}, "pid is 7 in"),
        ({}, {"pid_namespace": 1}, "pid namespace"),
        ({}, {"stat": {"starttime": 1235}}, "start time is 1234"),
        ({}, {"pid": 8, "stat": None}, "pid is 7"),
    ],
)
def test_one_known_difference_proves_two(host: dict[str, Any], process: dict[str, Any], named: str) -> None:
    """A later process of that pid, another boot, another namespace: different, and the reason says why."""
    comparison = compare(host, process)
    assert comparison.verdict == "different instances"
    assert named in comparison.reason


@pytest.mark.parametrize(
    ("host", "process", "named"),
    [
        ({"boot_id": None}, {}, "boot id"),
        ({}, {"pid": None}, "pid"),
        ({}, {"pid_namespace": None}, "pid namespace"),
        ({}, {"stat": None}, "start time"),
        ({}, {"stat": {}}, "start time"),
    ],
)
def test_an_unknown_fact_leaves_it_unproven(
    host: dict[str, Any], process: dict[str, Any], named: str
) -> None:
    """Where nothing differs and something is unknown, neither is claimed, and what is missing is named."""
    comparison = compare(host, process)
    assert comparison.verdict == "unproven"
    assert comparison.reason.endswith(named)


WINDOWS = {"id": "aa", "boot_id": "started 134404446199018350", "os": "windows"}
STARTED = {"pid": 7, "start_time": 134404446209781960}


def test_windows_has_no_pid_namespaces_to_be_alike() -> None:
    """There boot, pid and start time (a FILETIME) prove one instance, and are what is named."""
    a, b = (make_snapshot(host=WINDOWS, process=STARTED) for _ in range(2))
    comparison = compare_instances(a, b)
    assert (comparison.verdict, comparison.reason) == ("same instance", "boot id, pid, start time are alike")


@pytest.mark.parametrize(
    ("host", "process", "verdict", "reason"),
    [
        ({}, {"start_time": STARTED["start_time"] + 1}, "different instances", "start time is"),
        ({"boot_id": "started 1"}, {}, "different instances", "boot id is"),
        ({}, {"start_time": None}, "unproven", "not in both snapshots: start time"),
        ({"boot_id": None}, {}, "unproven", "not in both snapshots: boot id"),
    ],
)
def test_another_start_or_boot_of_windows_is_another_instance(
    host: dict[str, Any], process: dict[str, Any], verdict: str, reason: str
) -> None:
    """A pid that was given again is told by its start time, and what is unknown proves nothing."""
    before = make_snapshot(host=WINDOWS, process=STARTED)
    comparison = compare_instances(before, make_snapshot(host=WINDOWS | host, process=STARTED | process))
    assert comparison.verdict == verdict
    assert comparison.reason.startswith(reason)


def test_exec_makes_another_instance_of_the_same_process() -> None:
    """exec keeps pid and start time and replaces all memory, also where it starts the same program again."""
    auxv = {"AT_ENTRY": 0x55A0_0000_1000, "AT_RANDOM": 0x7FFC_0000_0019, "AT_UID": 0}
    before = make_snapshot(host=HOST, process=PROCESS | {"exe": "/bin/sh", "auxv": auxv})
    for exe, said in (
        ("/bin/cat", "exec: /bin/sh in a and /bin/cat in b"),
        ("/bin/sh", "exec: /bin/sh, again"),
        (None, "exec: /bin/sh in a and an unknown program in b"),
    ):
        again = {**auxv, "AT_ENTRY": 0x5660_0000_2000}
        after = make_snapshot(host=HOST, process=PROCESS | {"exe": exe, "auxv": again})
        comparison = compare_instances(before, after)
        assert comparison.verdict == "different instances"
        assert said in comparison.reason


def test_what_does_not_come_from_exec_makes_no_other_instance() -> None:
    """The program's file may be renamed or deleted, and a vector that could not be read says nothing."""
    auxv = {"AT_ENTRY": 0x55A0_0000_1000}
    before = make_snapshot(host=HOST, process=PROCESS | {"exe": "/bin/sh", "auxv": auxv})
    for facts in ({"exe": "/bin/sh (deleted)", "auxv": auxv}, {"exe": "/bin/sh"}, {"auxv": 7}):
        assert compare_instances(before, make_snapshot(host=HOST, process=PROCESS | facts)).verdict == (
            "same instance"
        )


def test_a_container_and_its_host_share_a_boot_id() -> None:
    """One kernel, two machine ids: the boot id decides; an unknown host id does not matter either."""
    assert compare({"id": "cc"}).verdict == "same instance"
    assert compare({"id": None}).verdict == "same instance"


def test_text_without_facts_has_no_identity() -> None:
    """A bare smaps text says nothing about its process."""
    assert identify(make_snapshot()) == Identity(None, None, None, None, None)
