"""The limits that a process can run into: what counts against each, and why one is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.measures.measure import measure
from mmpscope.formats.model import Capture
from support.loaded import load_map

LEVELS = [
    {"path": "/a/b", "limit": None, "usage": 100},
    {"path": "/a", "limit": 1000, "usage": 900},
    {"path": "/", "limit": 500, "usage": 300},
]


def _read(snapshot: LoadedSnapshot, name: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = measure(snapshot, "f:0").limits.to_pylist()
    [row] = [row for row in rows if row["limit"] == name]
    return row


def _with_system(snapshot: LoadedSnapshot, os: str = "linux", **system: Any) -> LoadedSnapshot:
    raw = snapshot.raw
    raw.capture = Capture(host={"os": os}, system=system)
    return snapshot.with_raw(raw)


def test_of_a_cgroup_the_level_with_the_least_left_counts() -> None:
    """The kernel charges all levels: 100 bytes are left at /a, 200 at the root."""
    row = _read(load_map("10000-12000 rw-p", cgroup={"levels": LEVELS}), "cgroup memory")
    assert (row["used"], row["maximum"], row["reason"]) == (900, 1000, "/a")


def test_a_cgroup_without_a_limit_still_tells_what_is_used() -> None:
    """No maximum is no fault: null, with the reason."""
    row = _read(load_map("10000-12000 rw-p", cgroup={"levels": LEVELS[:1]}), "cgroup memory")
    assert (row["used"], row["maximum"], row["reason"]) == (100, None, "no level has a limit")


def test_unlimited_and_unknown_are_told_apart() -> None:
    """Both are null; the reason says which."""
    facts = {"limits": {"Max address space": [None, None, "bytes"]}, "status": {"VmSize": 8192}}
    unlimited = _read(load_map("10000-12000 rw-p", **facts), "RLIMIT_AS")
    assert (unlimited["used"], unlimited["maximum"], unlimited["reason"]) == (8192, None, "unlimited")
    assert "not in the snapshot" in _read(load_map("10000-12000 rw-p"), "RLIMIT_AS")["reason"]


def test_the_commit_limit_binds_only_under_strict_overcommit() -> None:
    """CommitLimit is printed in every mode, and means something in mode 2 alone."""
    meminfo = {"Committed_AS": 10, "CommitLimit": 20}
    strict = _with_system(load_map("10000-12000 rw-p"), overcommit_memory=2, meminfo=meminfo)
    loose = _with_system(load_map("10000-12000 rw-p"), overcommit_memory=0, meminfo=meminfo)
    assert (_read(strict, "commit limit")["used"], _read(strict, "commit limit")["maximum"]) == (10, 20)
    assert _read(loose, "commit limit")["maximum"] is None


def test_the_address_space_is_used_by_all_that_is_not_free() -> None:
    """So used and free add up to the usable range."""
    snapshot = load_map("10000-12000 rw-p", range={"start": 0x10000, "end": 0x20000, "source": "test"})
    row = _read(snapshot, "address space")
    assert (row["used"], row["maximum"], row["unit"]) == (0x2000, 0x10000, "bytes")


def test_mappings_are_counted_against_their_limit() -> None:
    """Gate areas, which the kernel does not count, left out."""
    lines = ("10000-12000 rw-p", "20000-21000 r--p", "ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]")
    row = _read(_with_system(load_map(*lines), max_map_count=65530), "mapping count")
    assert (row["used"], row["maximum"], row["unit"]) == (2, 65530, "mappings")


def test_windows_has_limits_of_its_own() -> None:
    """No cgroup, no rlimit, no count of mappings; the commit of the whole system."""
    performance = {"CommitTotal": 5, "CommitLimit": 9}
    snapshot = _with_system(load_map("10000-12000 rw-p"), os="windows", performance=performance)
    limits = {row["limit"]: row["maximum"] for row in measure(snapshot, "f:0").limits.to_pylist()}
    assert limits["commit limit"] == 9
    assert set(limits) == {"commit limit", "address space"}


def test_growth_ends_with_the_memory_of_the_machine_at_the_latest() -> None:
    """What is in memory and in swap, against all there is of both."""
    status = {"VmRSS": 30, "VmSwap": 12, "VmData": 7}
    process = load_map("10000-12000 rw-p", status=status, limits={"Max data size": [100, None, "bytes"]})
    assert "MemTotal is not" in _read(process, "memory and swap")["reason"]
    data = _read(process, "RLIMIT_DATA")
    row = _read(_with_system(process, meminfo={"MemTotal": 1000, "SwapTotal": 24}), "memory and swap")
    assert (row["used"], row["maximum"]) == (42, 1024)
    assert (data["used"], data["maximum"]) == (7, 100)


@pytest.mark.parametrize(("later_s", "used"), [(0, 10), (1, 10), (2, None)])
def test_what_a_system_used_some_time_before_is_not_what_it_uses(later_s: int, used: int | None) -> None:
    """A series reads the facts of the system once: its commit charge stood still, at 0 bytes an hour."""
    raw = load_map("10000-12000 rw-p").raw
    moment = {"time_ns": 10**18}
    raw.capture = Capture({"os": "linux"}, {"overcommit_memory": 2, "meminfo": {"Committed_AS": 10}}, moment)
    raw.moment = {"time_ns": 10**18 + later_s * 10**9}
    row = _read(load_map("10000-12000 rw-p").with_raw(raw), "commit limit")
    assert row["used"] == used
    assert used is not None or "was read 2 s before" in row["reason"]
