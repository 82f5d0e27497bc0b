"""Whether a request fits: each limit in turn, and which of them binds."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.fit import FitAnswer, check_fit
from mmpscope.analysis.free_schema import FIT
from mmpscope.formats.model import Capability
from support.snapshots import PAGE, make_snapshot, region

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
UNLIMITED = {"Max address space": [None, None, "bytes"], "Max data size": [None, None, "bytes"]}
NO_LIMIT = {"version": 2, "levels": [{"path": "/", "limit": None, "usage": 5 * GIB}]}
PROCESS: dict[str, Any] = {
    "limits": UNLIMITED,
    "status": {"VmSize": 3 * MIB, "VmData": 2 * MIB},
    "cgroup": NO_LIMIT,
}
SYSTEM: dict[str, Any] = {"max_map_count": 65530, "overcommit_memory": 1}
SPACE = (0, 256 * MIB, "")
ROWS = [region(16 * MIB, MIB), region(32 * MIB, PAGE), region(250 * MIB, MIB, "Stack", path="[stack]")]
"""Holes: 16 MiB, 15 MiB, 218 MiB less a page (of which the stack keeps its last MiB free), 5 MiB."""


def ask(
    size: int, align: int | None = None, *, rows: Any = ROWS, system: Any = None, **process: Any
) -> FitAnswer:
    """Ask of the space above, with some facts changed; a fact of None is absent."""
    facts = {name: value for name, value in (PROCESS | process).items() if value is not None}
    snapshot = make_snapshot(rows, process=facts, system=SYSTEM | (system or {}), usable_range=SPACE)
    return check_fit(snapshot, size, align)


def find_outcome(answer: FitAnswer, name: str) -> tuple[str, int | None]:
    """Return outcome and amount of one check."""
    [row] = [row for row in answer.to_table().to_pylist() if row["check"] == name]
    return row["outcome"], row["available"]


def test_what_fits_goes_to_the_highest_hole_below_the_stack() -> None:
    """Linux maps downwards: 10 MiB end where the highest hole below the stack's own ends."""
    answer = ask(10 * MIB)
    assert (answer.outcome, answer.exit_code, answer.fits) == ("fits", 0, True)
    assert answer.address == 32 * MIB - 10 * MIB
    assert answer.tightest == (17 * MIB, 15 * MIB)
    assert answer.binding.name == "address space"


@pytest.mark.parametrize(
    ("kernel", "size", "address"),
    [
        ("6.5.0-14-generic", 10 * MIB, 21 * MIB + 3 * PAGE),
        ("6.8.0", 10 * MIB, 20 * MIB),
        ("6.8.0", 10 * MIB + PAGE, 20 * MIB),
        ("6.18.44", 10 * MIB, 20 * MIB),
        ("6.18.44", 10 * MIB + PAGE, 21 * MIB + 2 * PAGE),
        ("6.18.44", MIB, 30 * MIB + 3 * PAGE),
        ("6.18.44", 14 * MIB, 17 * MIB + 3 * PAGE),  # with 2 MiB more it has no room in this hole
        ("unknown", 10 * MIB, 21 * MIB + 3 * PAGE),
    ],
)
def test_linux_aligns_large_requests_to_huge_pages(kernel: str, size: int, address: int) -> None:
    """The highest place that begins a huge page, if there is room for one more of them."""
    rows = [region(0, 16 * MIB), region(16 * MIB, MIB), region(31 * MIB + 3 * PAGE, 225 * MIB - 3 * PAGE)]
    system = SYSTEM | {"meminfo": {"AnonHugePages": 0}}
    snapshot = make_snapshot(rows, process={**PROCESS, "bits": 64}, system=system, usable_range=SPACE)
    snapshot.raw.capture.host["kernel"] = kernel
    assert check_fit(snapshot, size).address == address
    snapshot.process["bits"] = 32
    assert check_fit(snapshot, size).address == 31 * MIB + 3 * PAGE - size


def test_the_hole_at_the_stack_is_the_last_resort() -> None:
    """What has no room elsewhere goes there, and the answer says so."""
    answer = ask(100 * MIB)
    assert answer.outcome == "fits"
    assert answer.address == 32 * MIB + PAGE
    assert "last" in answer.placement


def test_the_guard_gap_of_the_stack_is_not_free() -> None:
    """Linux keeps 256 pages below a mapping that grows down: 217 MiB less a page fit, not one more."""
    assert ask(217 * MIB - PAGE).outcome == "fits"
    answer = ask(217 * MIB)
    assert (answer.outcome, answer.exit_code, answer.address) == ("does not fit", 1, None)
    assert answer.binding.available == 217 * MIB - PAGE
    by_flag = [*ROWS[:2], region(250 * MIB, MIB, "Stack", VmFlags="rd wr mr mw me gd ac ")]
    assert ask(217 * MIB, rows=by_flag).outcome == "does not fit"
    plain = [*ROWS[:2], region(250 * MIB, MIB, "Stack", VmFlags="rd wr mr mw me ac ")]
    assert ask(217 * MIB, rows=plain).outcome == "fits"


def test_alignment_costs_room() -> None:
    """A hole counts from its first aligned address: 15 MiB at 17 MiB hold nothing aligned to 32 MiB."""
    answer = ask(8 * MIB, 16 * MIB)
    assert answer.address == 0  # 17 to 32 MiB has no multiple of 16 MiB
    assert ask(16 * MIB, 16 * MIB, rows=[region(0, PAGE), region(32 * MIB, 224 * MIB)]).address == 16 * MIB
    assert (
        ask(17 * MIB, 16 * MIB, rows=[region(0, PAGE), region(32 * MIB, 224 * MIB)]).outcome == "does not fit"
    )


def test_a_size_is_rounded_up_to_pages() -> None:
    """One byte takes a page."""
    assert (ask(1).size, ask(PAGE + 1).size) == (PAGE, 2 * PAGE)


@pytest.mark.parametrize(
    ("size", "align"), [(0, None), (-1, None), (2**63 + 1, None), (1, 3 * PAGE), (1, 2**64)]
)
def test_impossible_requests_are_refused_in_words(size: int, align: int | None) -> None:
    """No size below 1 or above 2^63, no alignment that is not a power of two."""
    with pytest.raises(UsageError, match="cannot be asked for"):
        ask(size, align)


@pytest.mark.parametrize(
    ("limit", "outcome"), [(4, "does not fit"), (5, "cannot tell"), (8, "cannot tell"), (9, "fits")]
)
def test_f33_the_mapping_count_is_known_to_within_two(limit: int, outcome: str) -> None:
    """F33: seven mappings and a gate area against limits near 7; within the tolerance nothing is claimed."""
    rows = [region(at * MIB, PAGE) for at in range(1, 8)]
    rows.append(region(0xFFFF_FFFF_FF60_0000, PAGE, path="[vsyscall]", subtype="gate"))
    answer = ask(PAGE, rows=rows, system={"max_map_count": limit})
    assert find_outcome(answer, "mapping count")[0] == outcome
    assert answer.outcome == outcome


def test_rlimit_as_is_weighed_with_all_mappings() -> None:
    """VmSize and the request must stay within the soft limit; to the byte."""
    limits = UNLIMITED | {"Max address space": [8 * MIB, None, "bytes"]}
    assert find_outcome(ask(5 * MIB, limits=limits), "RLIMIT_AS") == ("fits", 5 * MIB)
    answer = ask(5 * MIB + 1, limits=limits)
    assert find_outcome(answer, "RLIMIT_AS") == ("does not fit", 5 * MIB)
    assert (answer.outcome, answer.binding.name) == ("does not fit", "RLIMIT_AS")


def test_rlimit_data_is_weighed_with_private_writable_memory() -> None:
    """VmData and the request must stay within the soft limit; what is over it already leaves 0, not less."""
    limits = UNLIMITED | {"Max data size": [MIB, None, "bytes"]}
    assert find_outcome(ask(PAGE, limits=limits), "RLIMIT_DATA") == ("does not fit", 0)


def test_the_commit_limit_binds_only_when_overcommit_is_off() -> None:
    """With vm.overcommit_memory 2 what is left of CommitLimit counts, with 1 nothing does."""
    meminfo = {"CommitLimit": GIB, "Committed_AS": GIB - 4 * MIB, "MemTotal": GIB, "SwapTotal": 0}
    off = {"overcommit_memory": 2, "meminfo": meminfo}
    assert find_outcome(ask(4 * MIB, system=off), "commit limit") == ("fits", 4 * MIB)
    assert ask(4 * MIB + 1, system=off).binding.name == "commit limit"
    assert find_outcome(ask(8 * MIB, system=off | {"overcommit_memory": 1}), "overcommit rule") == (
        "fits",
        None,
    )


def test_the_heuristic_refuses_only_more_than_ram_and_swap() -> None:
    """With vm.overcommit_memory 0 the sum of all RAM and swap is the limit, whatever is used of it."""
    meminfo = {"MemTotal": 6 * MIB, "SwapTotal": 2 * MIB, "CommitLimit": 1, "Committed_AS": GIB}
    system = {"overcommit_memory": 0, "meminfo": meminfo}
    assert find_outcome(ask(8 * MIB, system=system), "overcommit rule") == ("fits", 8 * MIB)
    assert find_outcome(ask(8 * MIB + 1, system=system), "overcommit rule") == ("does not fit", 8 * MIB)


@pytest.mark.parametrize("version", [1, 2])
def test_page_cache_of_the_own_cgroup_counts_as_available(version: int) -> None:
    """The kernel gives it up before it fails: limit 10, usage 9, of which 3 are cache, leave 4 MiB."""
    prefix = "total_" if version == 1 else ""
    stat = {f"{prefix}active_file": MIB, f"{prefix}inactive_file": 2 * MIB}
    levels = [
        {"path": "/a", "limit": 10 * MIB, "usage": 9 * MIB},
        {"path": "/", "limit": None, "usage": None},
    ]
    cgroup = {"version": version, "memory.stat": stat, "levels": levels}
    assert find_outcome(ask(4 * MIB, cgroup=cgroup), "cgroup") == ("fits", 4 * MIB)
    answer = ask(4 * MIB + 1, cgroup=cgroup)
    assert (answer.outcome, answer.binding.name) == ("does not fit", "cgroup")
    assert "/a" in answer.binding.reason
    assert "touched" in answer.binding.reason


def test_the_levels_above_bind_as_well() -> None:
    """Above the own level: beside the usage it fits, over the limit it does not, between nobody can tell."""
    levels = [
        {"path": "/a/b", "limit": None, "usage": 0},
        {"path": "/a", "limit": 10 * MIB, "usage": 4 * MIB},
    ]
    cgroup = {"version": 2, "memory.stat": {}, "levels": levels}
    outcomes = [find_outcome(ask(size * MIB, cgroup=cgroup), "cgroup")[0] for size in (6, 7, 10, 11)]
    assert outcomes == ["fits", "cannot tell", "cannot tell", "does not fit"]


def test_a_process_in_no_cgroup_is_under_no_limit() -> None:
    """Not applicable is an answer; not read is none, and the reason is told."""
    snapshot = make_snapshot(ROWS, process={k: v for k, v in PROCESS.items() if k != "cgroup"}, system=SYSTEM)
    snapshot.raw.capability.append(Capability("cgroup", "not applicable"))
    assert check_fit(snapshot, PAGE).outcome == "fits"
    snapshot.raw.capability[:] = [Capability("cgroup", "unavailable", 13, "permission denied")]
    answer = check_fit(snapshot, PAGE)
    assert (answer.outcome, answer.exit_code, answer.fits) == ("cannot tell", 4, False)
    assert "permission denied" in answer.binding.reason


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("mapping count", {"system": {"max_map_count": None}}),
        ("RLIMIT_AS", {"limits": None}),
        ("RLIMIT_DATA", {"limits": {"Max address space": [None, None, "bytes"]}}),
        ("RLIMIT_AS", {"limits": UNLIMITED | {"Max address space": [GIB, GIB, "bytes"]}, "status": None}),
        ("commit limit", {"system": {"overcommit_memory": None}}),
        ("commit limit", {"system": {"overcommit_memory": 2, "meminfo": {"CommitLimit": GIB}}}),
        ("cgroup", {"cgroup": None}),
        ("cgroup", {"cgroup": {"levels": [{"path": "/a", "limit": GIB, "usage": None}]}}),
    ],
)
def test_a_missing_fact_is_no_yes(name: str, changes: dict[str, Any]) -> None:
    """Each limit without its facts leaves the answer open, names itself, and has exit code 4."""
    answer = ask(PAGE, **changes)
    assert find_outcome(answer, name) == ("cannot tell", None)
    assert (answer.outcome, answer.exit_code, answer.binding.name) == ("cannot tell", 4, name)


def test_a_sure_no_goes_before_what_is_unknown() -> None:
    """Without any fact but the map, too large a request still gets its answer."""
    answer = check_fit(make_snapshot(ROWS, usable_range=SPACE), GIB)
    assert (answer.outcome, answer.binding.name) == ("does not fit", "address space")


def test_of_two_refusals_the_tighter_binds() -> None:
    """The one that leaves least is named."""
    limits = {"Max address space": [5 * MIB, None, "bytes"], "Max data size": [3 * MIB, None, "bytes"]}
    assert ask(4 * MIB, limits=limits).binding.name == "RLIMIT_DATA"


def test_an_old_layout_is_not_guessed_at() -> None:
    """With ADDR_COMPAT_LAYOUT mappings go upwards from an address that no file tells."""
    answer = ask(PAGE, personality=0x0200000)
    assert (answer.outcome, answer.address) == ("fits", None)
    assert ask(PAGE, personality=0x0040000).address is not None  # ADDR_NO_RANDOMIZE changes nothing here


def test_the_checks_are_a_table() -> None:
    """Every check is a row, in the order of the kernel."""
    table = ask(PAGE).to_table()
    assert table.column_names == [field.name for field in FIT]
    names = ["address space", "mapping count", "RLIMIT_AS", "RLIMIT_DATA", "overcommit rule", "cgroup"]
    assert table.column("check").to_pylist() == names


def test_f20_without_an_address_space_nothing_is_told_of_a_request() -> None:
    """An empty map has no hole, which does not mean that it is full."""
    answer = ask(MIB, rows=[])
    assert (answer.exit_code, answer.binding.name, answer.address) == (4, "address space", None)
    assert "no address space" in answer.binding.reason
    assert find_outcome(answer, "mapping count") == ("cannot tell", None)
