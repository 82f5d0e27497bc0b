"""Scenario programs whose right answers are known before we look: holes of known sizes, arenas, a leak."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from mmpscope import analysis
from support.observing import Observation, observe

from samples.scenario import PROGRAMS, Scenario, build_program

MIB = 1 << 20
EVERY = ("size", "committed", "private", "total_ws", "private_ws")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for programs and snapshots."""
    if shutil.which("gcc") is None:
        pytest.skip("the scenario programs are compiled here, and there is no gcc")
    return tmp_path_factory.mktemp("scenarios")


@pytest.fixture(scope="module")
def fragmented(folder: Path) -> Iterator[tuple[Scenario, Observation]]:
    """The fragmented program, blocked, and what we see of it."""
    with Scenario(build_program(PROGRAMS / "fragmented.c", folder)) as scenario:
        yield scenario, observe(scenario.pid, folder)


def _pick(scenario: Scenario, words: str) -> list[dict[str, int]]:
    return [pairs for said, pairs in scenario.answers if said == words]


def test_free_blocks_are_the_holes_that_were_made(fragmented: tuple[Scenario, Observation]) -> None:
    """Within the window, free space is exactly the holes, each at its address and of its size."""
    scenario, seen = fragmented
    [window] = _pick(scenario, "window")
    holes = {(hole["start"], hole["size"]) for hole in _pick(scenario, "hole")}
    rows = analysis.find_free(seen.snapshot).to_pylist()
    inside = {
        (row["address"], row["size"]) for row in rows if window["start"] <= row["address"] < window["end"]
    }
    assert inside == holes


def test_nothing_else_is_free_but_what_the_kernel_keeps(fragmented: tuple[Scenario, Observation]) -> None:
    """The program reserved all the rest, except for the gap that the kernel leaves below a stack."""
    scenario, seen = fragmented
    free = seen.summary["Free"]
    kept = 1 * MIB
    assert free["size"] == kept + sum(hole["size"] for hole in _pick(scenario, "hole"))
    assert free["largest"] == max(hole["size"] for hole in _pick(scenario, "hole"))


def test_fit_answers_are_the_kernel_answers(fragmented: tuple[Scenario, Observation]) -> None:
    """For every size that the program asked the kernel for, we say the same: it fits, or it does not."""
    scenario, seen = fragmented
    requests = _pick(scenario, "request")
    assert len(requests) >= 7
    for request in requests:
        assert analysis.check_fit(seen.snapshot, request["size"]).fits == bool(request["fits"]), request


def test_every_arena_is_found(folder: Path) -> None:
    """Each thread's glibc arena is a Heap allocation at its address, with its no-access tail inside."""
    with Scenario(build_program(PROGRAMS / "arenas.c", folder)) as scenario:
        seen = observe(scenario.pid, folder)
        rows = {row["address"]: row for row in analysis.list_allocations(seen.snapshot).to_pylist()}
        arenas = _pick(scenario, "arena")
    assert len(arenas) == 4
    for arena in arenas:
        row = rows[arena["address"]]
        assert row["type"] == "Heap", row
        assert row["size"] == 64 * MIB
        assert arena["allocated"] <= row["total_ws"] <= row["committed"]


def test_a_leak_shows_in_the_heap_at_its_rate(folder: Path) -> None:
    """Each step of the leak grows Heap, and nothing else, by what the program says."""
    with Scenario(build_program(PROGRAMS / "leak.c", folder)) as scenario:
        seen = [observe(scenario.pid, folder, scenario.step()) for _ in range(4)]
    for before, after in pairwise(seen):
        grown = after.said["grown"] - before.said["grown"]
        assert grown > 0
        assert after.since(before) == {"Heap": dict.fromkeys(EVERY, grown)}
