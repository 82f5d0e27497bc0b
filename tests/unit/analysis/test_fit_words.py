"""How the answer to `mmp free --fits` reads: amounts as people write them, and never a contradiction."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.fit import FitAnswer, check_fit
from mmpscope.analysis.reporters.fit_report import report_fit
from support.snapshots import PAGE, make_snapshot, region

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
OFF = {"overcommit_memory": 2, "meminfo": {"CommitLimit": 8 * GIB, "Committed_AS": 6 * GIB + 512 * MIB}}
HEURISTIC = {"overcommit_memory": 0, "meminfo": {"MemTotal": 25_276_059_648, "SwapTotal": 0}}
FULL = {"version": 2, "levels": [{"path": "/a", "limit": 3 * GIB, "usage": 2 * GIB}], "memory.stat": {}}
SHORT = {"Max address space": [8 * MIB, None, "bytes"], "Max data size": [None, None, "bytes"]}


def _make(process: dict[str, Any], system: dict[str, Any]) -> Any:
    return make_snapshot(
        [region(16 * MIB, MIB)],
        process={"status": {"VmSize": 3 * MIB, "VmData": MIB}, **process},
        system={"max_map_count": 65530, **system},
        usable_range=(0, 1 << 46, ""),
    )


def _find_reason(answer: FitAnswer, name: str) -> str:
    return next(check.reason for check in answer.checks if check.name == name)


@pytest.mark.parametrize(
    ("name", "process", "system", "told"),
    [
        ("overcommit rule", {}, HEURISTIC, "MemTotal 23.5 GiB, SwapTotal 0 bytes"),
        ("commit limit", {}, OFF, "CommitLimit 8 GiB, Committed_AS 6.5 GiB"),
        ("RLIMIT_AS", {"limits": SHORT}, {}, "limit 8 MiB, VmSize 3 MiB"),
        ("RLIMIT_AS", {"limits": SHORT, "status": {}}, {}, "limit 8 MiB; VmSize is not in the snapshot"),
        ("cgroup", {"cgroup": FULL}, {}, "limit 3 GiB, usage 2 GiB at /a, of which 0 bytes are page cache"),
        ("mapping count", {}, {}, "vm.max_map_count 65,530"),
        ("address space", {}, {}, "aligned to 2 MiB"),
    ],
)
def test_amounts_in_reasons_are_words_of_people(
    name: str, process: dict[str, Any], system: dict[str, Any], told: str
) -> None:
    """23.5 GiB, not 25276059648 bytes; the exact number is in the column `available`."""
    assert told in _find_reason(check_fit(_make(process, system), PAGE, 2 * MIB), name)


def test_an_amount_is_exact_where_rounding_would_contradict() -> None:
    """A page more than the 5 MiB that are left reads as 5 MiB too: then the bytes stand beside it."""
    snapshot = _make({"limits": SHORT}, {})
    sentence = report_fit(snapshot, check_fit(snapshot, 5 * MIB + PAGE)).facts["sentence"]
    assert isinstance(sentence, str)
    assert sentence.startswith(
        "5 MiB does not fit: the RLIMIT_AS allows 5 MiB (5,242,880 of 5,246,976 bytes)"
    )
    far = report_fit(snapshot, check_fit(snapshot, 6 * MIB)).facts["sentence"]
    assert isinstance(far, str)
    assert far.startswith("6 MiB does not fit: the RLIMIT_AS allows 5 MiB at most")
