"""A real process changes its memory step by step; each step must move the figures that it should, exactly."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from support.observing import Observation, observe

from samples.scenario import PROGRAMS, Scenario, build_program

MIB = 1 << 20

EXACT = {
    "reserve": {"Private Data": {"size": 64}},
    "commit": {"Private Data": {"committed": 16, "private": 16}},
    "write": {"Private Data": {"total_ws": 8, "private_ws": 8}},
    "decommit": {"Private Data": {"committed": -16, "private": -16, "total_ws": -8, "private_ws": -8}},
    "release": {"Private Data": {"size": -64}},
    "memfd_map": {"Shareable": {"size": 8, "committed": 8}},
    "memfd_write": {"Shareable": {"total_ws": 8, "shareable_ws": 8}},
    "memfd_map2": {"Shareable": {"size": 8, "committed": 8}},
    "memfd_read2": {"Shareable": {"total_ws": 8, "shareable_ws": 8}},
    "memfd_unmap": {"Shareable": {"size": -16, "committed": -16, "total_ws": -16, "shareable_ws": -16}},
    "file_map": {"Mapped File": {"size": 8, "committed": 8}},
    "file_read": {"Mapped File": {"total_ws": 8, "shareable_ws": 8}},
    "file_unmap": {"Mapped File": {"size": -8, "committed": -8, "total_ws": -8, "shareable_ws": -8}},
    "file_private_map": {"Mapped File": {"size": 8, "committed": 8, "private": 8}},
    "file_private_write": {"Mapped File": {"total_ws": 1, "private_ws": 1}},
    "mlock": {"Mapped File": {"locked_ws": 1}},
    "munlock": {"Mapped File": {"locked_ws": -1}},
}
"""What each step moves, in MiB: these and no others."""

LATER = ("reserve", "commit", "write", "fork", "end_child", "thread", "malloc_small")
"""Memory of its own for fork to share, then the steps whose figures depend on page and guard size."""

STEPS = [*EXACT, *(f"{name} again" if name in EXACT else name for name in LATER)]


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Observation]]:
    """Run all steps once: an observation after each, by its name, and one of the child while it lives."""
    if shutil.which("gcc") is None:
        pytest.skip("the scenario programs are compiled here, and there is no gcc")
    folder, files = tmp_path_factory.mktemp("program"), tmp_path_factory.mktemp("snapshots")
    program = build_program(PROGRAMS / "reserve_commit.c", folder)
    seen: dict[str, Observation] = {}
    with Scenario(program, folder / "backing.dat") as scenario:
        seen["start"] = observe(scenario.pid, files)
        for name in STEPS:
            said = scenario.step(name.split()[0])
            seen[name] = observe(scenario.pid, files, said)
            if name == "fork":
                seen["child"] = observe(said["child"], files)
        yield seen


def _find_change(moments: dict[str, Observation], step: str) -> dict[str, dict[str, int]]:
    names = ["start", *STEPS]
    return moments[step].since(moments[names[names.index(step) - 1]])


def _find_new_mappings(moments: dict[str, Observation], step: str) -> list[tuple[int, int, str, str]]:
    names = ["start", *STEPS]
    before = moments[names[names.index(step) - 1]].kernel
    return sorted(moments[step].kernel.mappings - before.mappings)


def _find_written(moment: Observation) -> dict[str, Any]:
    """Return the region that holds the 8 MiB written: it lies where no other program memory does."""
    rows: list[dict[str, Any]] = moment.snapshot.regions.to_pylist()
    [row] = [row for row in rows if row["total_ws"] == 8 * MIB and row["type"] == "Private Data"]
    return row


@pytest.mark.parametrize("step", [name for name in STEPS if name.split()[0] in EXACT])
def test_a_step_moves_these_figures_and_no_others(moments: dict[str, Observation], step: str) -> None:
    """Reserve, commit, write, views, locks: Size, Committed, Private and WS move as VMMap's do."""
    expected = {
        type_: {column: amount * MIB for column, amount in change.items()}
        for type_, change in EXACT[step.split()[0]].items()
    }
    assert _find_change(moments, step) == expected


def test_fork_makes_private_pages_shareable_and_keeps_the_total(moments: dict[str, Observation]) -> None:
    """After fork the parent's untouched pages are shared: Private WS falls, Total WS and all else stay."""
    before, after = (_find_written(moments[name]) for name in ("write again", "fork"))
    assert (before["private_ws"], before["shareable_ws"]) == (8 * MIB, 0)
    assert (after["private_ws"], after["shareable_ws"]) == (0, 8 * MIB)
    change = _find_change(moments, "fork")
    assert change["Mapped File"] == {"private_ws": -MIB, "shareable_ws": MIB}
    for columns in change.values():
        assert set(columns) == {"private_ws", "shareable_ws"}
        assert columns["private_ws"] == -columns["shareable_ws"] < 0


def test_pages_of_a_forked_child_are_shared(moments: dict[str, Observation]) -> None:
    """The child has the same 8 MiB resident, none of it private, all of it mapped by two processes."""
    row = _find_written(moments["child"])
    assert (row["total_ws"], row["private_ws"]) == (8 * MIB, 0)
    assert (row["shared_ws"], row["cow_shared"]) == (8 * MIB, 8 * MIB)


def test_the_end_of_the_child_gives_all_pages_back(moments: dict[str, Observation]) -> None:
    """When the child is gone, the parent's figures are what they were before the fork."""
    assert moments["end_child"].since(moments["write again"]) == {}


def test_a_thread_adds_its_stack_and_nothing_else(moments: dict[str, Observation]) -> None:
    """Size grows by stack and guard; only the stack is committed, only what it used is resident."""
    said = moments["thread"].said
    new = _find_new_mappings(moments, "thread")
    mapped = sum(end - start for start, end, _, _ in new)
    usable = sum(end - start for start, end, rights, _ in new if "w" in rights)
    change = _find_change(moments, "thread")
    assert set(change) == {"Stack"}
    used = change["Stack"].pop("total_ws")
    assert 0 < used <= 64 * 1024
    assert change["Stack"] == {"size": mapped, "committed": usable, "private": usable, "private_ws": used}
    assert said["stack"] <= mapped <= said["stack"] + said["guard"]


def test_a_thread_stack_names_its_thread_and_holds_its_guard(moments: dict[str, Observation]) -> None:
    """The stack's row has the thread id in Details; guard and stack are parts of one allocation."""
    new = _find_new_mappings(moments, "thread")
    rows = [row for row in moments["thread"].snapshot.regions.to_pylist() if row["address"] >= new[0][0]]
    rows = [row for row in rows if row["end"] <= new[-1][1]]
    assert {row["type"] for row in rows} == {"Stack"}
    assert {row["allocation"] for row in rows} == {new[0][0]}
    [stack] = [row for row in rows if "w" in row["protection"]]
    assert str(moments["thread"].said["tid"]) in stack["details"]
    if len(new) == 1:
        pytest.skip("this C library guards its stacks within the mapping (MADV_GUARD_INSTALL)")
    assert [(row["address"], row["committed"]) for row in rows if row is not stack] == [(new[0][0], 0)]


def test_small_allocations_grow_the_heap_and_nothing_else(moments: dict[str, Observation]) -> None:
    """malloc below its mmap threshold moves the program break: Heap grows by that, all of it written."""
    grown = moments["malloc_small"].said["grown"]
    assert grown > 4 * MIB - 64 * 1024
    expected = dict.fromkeys(("size", "committed", "private", "total_ws", "private_ws"), grown)
    assert _find_change(moments, "malloc_small") == {"Heap": expected}


@pytest.mark.parametrize("step", ["start", *STEPS])
def test_totals_are_what_the_kernel_says(moments: dict[str, Observation], step: str) -> None:
    """Without Page Table and Unusable, Size is VmSize and Total WS is Rss of smaps_rollup, to the byte."""
    summary, kernel = moments[step].summary, moments[step].kernel
    own = [summary[name] for name in ("Total", "Page Table", "Unusable")]
    size = own[0]["size"] - sum(row["size"] for row in own[1:])
    total_ws = own[0]["total_ws"] - sum(row["total_ws"] or 0 for row in own[1:])
    assert (size, total_ws) == (kernel.vm_size, kernel.rss)


@pytest.mark.parametrize("step", ["start", *STEPS])
def test_regions_and_gaps_are_the_whole_usable_range(moments: dict[str, Observation], step: str) -> None:
    """Every byte of the usable range is in one region or in one gap."""
    snapshot, summary = moments[step].snapshot, moments[step].summary
    low, high, _ = snapshot.usable_range
    covered = sum(row["size"] for row in snapshot.regions.to_pylist() if row["end"] <= high)
    assert covered + summary["Free"]["size"] + summary["Unusable"]["size"] == high - low


@pytest.mark.parametrize("step", STEPS)
def test_rows_add_up_to_the_total_at_every_step(moments: dict[str, Observation], step: str) -> None:
    """Total is the sum of all types but Free, in every column that adds up."""
    summary: dict[str, dict[str, int]] = moments[step].summary
    parts = [row for name, row in summary.items() if name not in ("Total", "Free")]
    for column in ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "locked_ws"):
        assert summary["Total"][column] == sum(row[column] or 0 for row in parts), column


def test_the_program_is_at_a_place_that_no_rule_takes_for_an_arena(moments: dict[str, Observation]) -> None:
    """The reservation is not 64 MiB-aligned, so that its rows show plain reservations, not glibc arenas."""
    assert moments["reserve"].said["address"] % (64 * MIB) != 0
