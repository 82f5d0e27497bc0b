"""Would a request succeed on Windows: holes of 64 KiB, the commit limit, the limits of a job."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.fit import FitAnswer, check_fit
from mmpscope.formats.model import Capability
from support.snapshots import PAGE, make_snapshot, region

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
END = 0x7FFF_0000_0000
PERFORMANCE = {"CommitLimit": 10 * GIB, "CommitTotal": 8 * GIB}
NO_JOB = {"job": {"in_job": False}}
USED = {"memory_counters": {"PrivateUsage": 0, "PagefileUsage": GIB}}


def _make(process: dict[str, Any] | None = None, performance: dict[str, Any] | None = PERFORMANCE) -> Any:
    return make_snapshot(
        [region(0x10000, PAGE)],
        host={"os": "windows"},
        system={} if performance is None else {"performance": performance},
        process=NO_JOB if process is None else process,
        usable_range=(0, END, ""),
        granularity=64 * KIB,
    )


def _find(answer: FitAnswer, name: str) -> tuple[str, int | None, str]:
    [check] = [check for check in answer.checks if check.name == name]
    return check.outcome, check.available, check.reason


def test_the_lowest_hole_of_64_kib_is_taken_and_commit_binds() -> None:
    """None of the limits of Linux is asked; the commit limit is what is nearest to saying no."""
    answer = check_fit(_make(), 100 * KIB)
    assert (answer.outcome, answer.binding.name, answer.address) == ("fits", "commit limit", 0x20000)
    assert [check.name for check in answer.checks] == ["address space", "commit limit", "job"]
    assert _find(answer, "commit limit") == ("fits", 2 * GIB, "CommitLimit 10 GiB, CommitTotal 8 GiB")
    assert _find(answer, "job") == ("fits", None, "in no job")


def test_no_request_is_put_at_null() -> None:
    """Windows gives out no address below 64 KiB, however free it is."""
    snapshot = make_snapshot(
        [region(END - PAGE, PAGE)], host={"os": "windows"}, usable_range=(0, END, ""), granularity=64 * KIB
    )
    assert check_fit(snapshot, PAGE).address == 64 * KIB


def test_beyond_the_commit_limit_the_paging_file_decides() -> None:
    """It may grow and it may not: nobody can tell, and what is left without it is named."""
    answer = check_fit(_make(), 3 * GIB)
    assert (answer.outcome, answer.exit_code, answer.binding.name) == ("cannot tell", 4, "commit limit")
    outcome, available, reason = _find(answer, "commit limit")
    assert (outcome, available) == ("cannot tell", 2 * GIB)
    assert reason.endswith("2 GiB are left, and whether the paging file can grow is not known")


@pytest.mark.parametrize(
    "performance", [None, {}, {"CommitLimit": GIB}, {"CommitLimit": -1, "CommitTotal": "x"}]
)
def test_a_source_without_the_commit_limit_cannot_tell(performance: dict[str, Any] | None) -> None:
    """A minidump and a save of VMMap know the holes alone; too large a hole is refused all the same."""
    answer = check_fit(_make(performance=performance), MIB)
    assert (answer.outcome, answer.binding.name) == ("cannot tell", "commit limit")
    assert answer.binding.reason == "CommitLimit and CommitTotal are not in the snapshot"
    assert check_fit(_make(performance=performance), END).outcome == "does not fit"


def _limit(flags: int, process: int = 0, job: int = 0) -> dict[str, Any]:
    limits = {"LimitFlags": flags, "ProcessMemoryLimit": process, "JobMemoryLimit": job}
    return {"job": {"in_job": True, "limits": limits}, **USED}


@pytest.mark.parametrize(
    ("job", "outcome", "available", "reason"),
    [
        (_limit(0), "fits", None, "no limit of memory"),
        (_limit(0x100, 2 * GIB), "fits", GIB, "limit 2 GiB for each process, of which 1 GiB are committed"),
        (_limit(0x100, GIB + MIB), "does not fit", MIB, "limit 1 GiB"),
        (
            _limit(0x200, job=8 * GIB),
            "cannot tell",
            7 * GIB,
            "limit 8 GiB for all processes of the job; what",
        ),
        (_limit(0x200, job=GIB), "does not fit", 0, "limit 1 GiB for all processes of the job"),
        (_limit(0x300, GIB, 8 * GIB), "does not fit", 0, "limit 1 GiB for each process"),
        ({"job": {"in_job": True}}, "cannot tell", None, "limits of a job are not in the snapshot"),
        ({}, "cannot tell", None, "limits of a job are not in the snapshot"),
        (
            {"job": _limit(0x100, GIB)["job"]},
            "cannot tell",
            None,
            "its limit or the commit of the process is",
        ),
    ],
)
def test_a_job_limits_the_commit_of_a_process_or_of_all_in_it(
    job: dict[str, Any], outcome: str, available: int | None, reason: str
) -> None:
    """JOB_OBJECT_LIMIT_PROCESS_MEMORY and JOB_OBJECT_LIMIT_JOB_MEMORY count where their flags are set."""
    told = _find(check_fit(_make(job), 512 * MIB), "job")
    assert told[:2] == (outcome, available)
    assert told[2].startswith(reason)


def test_limits_of_another_process_say_why_they_are_not_known() -> None:
    """Windows tells them to the processes of a job alone: the collector's reason is passed on."""
    snapshot = _make({"job": {"in_job": True}})
    snapshot.raw.capability.append(Capability("job.limits", "unavailable", None, "only from inside"))
    assert (
        _find(check_fit(snapshot, MIB), "job")[2]
        == "limits of a job are not in the snapshot: only from inside"
    )
