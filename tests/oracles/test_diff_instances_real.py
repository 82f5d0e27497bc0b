"""Real pairs of processes, for each the statement that a diff of them has to make, written down before."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis import DiffResult, LoadedSnapshot
from mmpscope.analysis.diffs.matching import UNMATCHED
from support.pair_programs import (
    BLOCK,
    MORE,
    PLUGIN,
    TABLE,
    WORKERS,
    compile_program,
    look,
    rebuild_library,
    run,
    run_java,
    run_node,
    tell,
)

pytestmark = pytest.mark.real

PAGE, MIB = 4096, 1 << 20
APART_S = 5
WARM_S = 2
"""Seconds until a runtime has done what it does first."""
Pair = tuple[LoadedSnapshot, LoadedSnapshot]
Span = tuple[int, int]


@dataclass(frozen=True)
class Unit:
    """What a row of two instances says of one unit: the blocks of the second side are in a range."""

    word: str
    match: str
    blocks: Span


@dataclass(frozen=True)
class Statement:
    """What is true of a pair: modules and threads by word and name, and in which range a figure changes.

    ``matched`` is the least share of committed bytes that is matched; ``forced`` that of the same pair where
    the user says that it is of two processes. ``threads`` is None where a runtime starts and ends its own.
    """

    says: str
    mode: str
    matched: float | None = None
    modules: tuple[tuple[str, str], ...] = ()
    threads: tuple[tuple[str, str], ...] | None = ()
    private: Span = (-MIB, MIB)
    size: Span = (-4 * MIB, 4 * MIB)
    units: tuple[tuple[str, Unit], ...] = ()
    forced: float | None = None


STATEMENTS = {
    "two runs": Statement(
        "two runs of one program: at least 99 % of committed bytes matched, no module and no thread differs, "
        "Private within 1 MiB",
        "different",
        matched=0.99,
    ),
    "library rebuilt": Statement(
        "one library rebuilt: it alone differs, called rebuilt, and is matched all the same",
        "different",
        matched=0.99,
        modules=(("rebuilt", "libshop.so"),),
    ),
    "arenas of threads": Statement(
        "threads that allocate: as many more stacks, one unit; at most one arena each; no module differs",
        "different",
        threads=(("new", "worker"),) * WORKERS,
        private=(0, WORKERS * 16 * MIB),
        size=(WORKERS * 8 * MIB, WORKERS * 160 * MIB),
        units=(
            ("glibc arena", Unit("new", "cohort", (1, WORKERS))),
            ("stacks of worker", Unit("new", "thread", (WORKERS, WORKERS))),
        ),
    ),
    "plugin loaded": Statement(
        "a plugin loaded within one process: one new module, Private grows by its table and little more",
        "same",
        modules=(("new", "plugin.so"),),
        private=(PLUGIN, PLUGIN + MIB // 4),
        size=(PLUGIN, PLUGIN + MIB),
        forced=0.98,
    ),
    "run with plugin": Statement(
        "a run without and one with the plugin: the same, and all but the plugin is matched",
        "different",
        matched=0.98,
        modules=(("new", "plugin.so"),),
        private=(PLUGIN - MIB // 4, PLUGIN + MIB // 4),
        size=(PLUGIN - MIB // 4, PLUGIN + MIB),
    ),
    "forked child": Statement(
        "a child against its parent: two instances of one memory, all but 1 % matched, Private within 1 MiB",
        "different",
        matched=0.99,
        size=(0, 0),
    ),
    "page protected": Statement(
        "mprotect of a page: nothing is added or removed",
        "same",
        private=(0, 0),
        size=(0, 0),
        forced=0.99,
    ),
    "jvm": Statement(
        "a JVM 5 s apart that took 16 MiB outside of its heap: Private grows by these to within 4 MiB, no "
        "module differs",
        "same",
        threads=None,
        private=(MORE - 4 * MIB, MORE + 4 * MIB),
        size=(MORE - 4 * MIB, MORE + 80 * MIB),
        forced=0.9,
    ),
    "node": Statement(
        "node 5 s apart that took a buffer of 16 MiB: Private grows by it to within 2 MiB, no module and no "
        "thread differs",
        "same",
        private=(MORE - 2 * MIB, MORE + 2 * MIB),
        size=(MORE - 2 * MIB, MORE + 8 * MIB),
        forced=0.9,
    ),
    "two runs of a jvm": Statement(
        "two runs of a JVM: 97 % matched, no module differs, Private within 8 MiB",
        "different",
        matched=0.97,
        threads=None,
        private=(-8 * MIB, 8 * MIB),
        size=(-160 * MIB, 160 * MIB),
    ),
    "two runs of node": Statement(
        "two runs of node: 97 % matched, no module and no thread differs, Private within 4 MiB",
        "different",
        matched=0.97,
        private=(-4 * MIB, 4 * MIB),
        size=(-80 * MIB, 80 * MIB),
    ),
}
"""Written before the programs ran."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are."""
    made = tmp_path_factory.mktemp("pair")
    compile_program(made)
    return made


def look_at_one(folder: Path, name: str, *commands: str) -> LoadedSnapshot:
    """Run the program anew, have it do something, and collect it."""
    with run(folder) as process:
        for command in commands:
            tell(process, command)
        return look(process.pid, folder / f"{name}.mmp")


def look_twice(folder: Path, command: str) -> Pair:
    """Run the program, and collect it before and after it did something."""
    with run(folder) as process:
        a = look(process.pid, folder / "a.mmp")
        tell(process, command)
        return a, look(process.pid, folder / "b.mmp")


def _rebuild(folder: Path) -> Pair:
    a = look_at_one(folder, "a")
    rebuild_library(folder)
    return a, look_at_one(folder, "b")


def _fork(folder: Path) -> Pair:
    with run(folder) as process:
        child = tell(process, "fork")
        try:
            return look(process.pid, folder / "a.mmp"), look(child, folder / "b.mmp")
        finally:
            os.kill(child, signal.SIGKILL)


def _wait(start: Callable[[Path], Any], folder: Path) -> Pair:
    with start(folder) as process:
        time.sleep(WARM_S)
        a = look(process.pid, folder / "a.mmp")
        tell(process, "more")
        time.sleep(APART_S)
        return a, look(process.pid, folder / "b.mmp")


def _run_twice(start: Callable[[Path], Any], folder: Path) -> Pair:
    found = []
    for name in "ab":
        with start(folder) as process:
            time.sleep(WARM_S)
            found.append(look(process.pid, folder / f"{name}.mmp"))
    return found[0], found[1]


PAIRS: dict[str, Callable[[Path], Pair]] = {
    "two runs": lambda folder: (look_at_one(folder, "a"), look_at_one(folder, "b")),
    "library rebuilt": _rebuild,
    "arenas of threads": lambda folder: (look_at_one(folder, "a"), look_at_one(folder, "b", "threads")),
    "plugin loaded": lambda folder: look_twice(folder, "plugin"),
    "run with plugin": lambda folder: (look_at_one(folder, "a"), look_at_one(folder, "b", "plugin")),
    "forked child": _fork,
    "page protected": lambda folder: look_twice(folder, "protect"),
    "jvm": lambda folder: _wait(run_java, folder),
    "node": lambda folder: _wait(run_node, folder),
    "two runs of a jvm": lambda folder: _run_twice(run_java, folder),
    "two runs of node": lambda folder: _run_twice(run_node, folder),
}


@pytest.fixture(scope="module")
def take(folder: Path) -> Callable[[str], Pair]:
    """Return a function that makes a pair, once for all tests."""
    made: dict[str, Pair] = {}

    def take_pair(name: str) -> Pair:
        if name not in made:
            made[name] = PAIRS[name](folder)
        return made[name]

    return take_pair


def find_delta(result: DiffResult, metric: str) -> int:
    """Return how a total changed."""
    [delta] = [row["delta"] for row in result.totals.to_pylist() if row["metric"] == metric]
    return int(delta)


def measure_matched(result: DiffResult) -> float:
    """Return the share of committed bytes that was matched."""
    rows = result.matching.to_pylist()
    assert {row["figure"] for row in rows} == {"committed"}
    sums = [(row["match"], int(row["a"] + row["b"])) for row in rows]
    return sum(size for word, size in sums if word != UNMATCHED) / sum(size for _, size in sums)


def list_modules(result: DiffResult) -> list[tuple[str, str]]:
    """Return word and name of the modules that are not the same."""
    return [(row["word"], Path(row["path"]).name) for row in result.modules.to_pylist()]


def list_threads(result: DiffResult) -> list[tuple[str, str]]:
    """Return word and name of the threads that are not the same."""
    return [(row["word"], row["name_b"] or row["name_a"]) for row in result.threads.to_pylist()]


def find_unit(result: DiffResult, text: str) -> dict[str, Any]:
    """Return the row of the unit with some text in its name."""
    [row] = [row for row in result.components.to_pylist() if text in (row["unit"] or "")]
    return dict(row)


def check_sums(result: DiffResult) -> None:
    """Rows add up to the totals, whatever the process was."""
    for row in result.totals.to_pylist():
        if row["delta"] is not None:
            deltas = result.components[f"{row['metric']}_delta"].to_pylist()
            assert sum(delta for delta in deltas if delta is not None) == row["delta"], row["metric"]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_pair_is_what_its_statement_says(name: str, take: Callable[[str], Pair]) -> None:
    """Mode, share that was matched, modules, threads, Size, Private, units: all as written down."""
    stated = STATEMENTS[name]
    result = analysis.diff(*take(name))
    assert result.mode == stated.mode, stated.says
    if stated.matched is not None:
        assert measure_matched(result) >= stated.matched, stated.says
    assert list_modules(result) == [*stated.modules], stated.says
    if stated.threads is not None:
        assert list_threads(result) == [*stated.threads], stated.says
    for metric, (low, high) in (("private", stated.private), ("size", stated.size)):
        assert low <= find_delta(result, metric) <= high, stated.says
    for text, unit in stated.units:
        row = find_unit(result, text)
        assert (row["word"], row["match"]) == (unit.word, unit.match), stated.says
        assert unit.blocks[0] <= row["blocks_b"] <= unit.blocks[1], stated.says
    check_sums(result)


@pytest.mark.parametrize("name", [name for name, stated in STATEMENTS.items() if stated.forced is not None])
def test_one_process_is_known_again_where_addresses_say_nothing(
    name: str, take: Callable[[str], Pair]
) -> None:
    """What is true of one process is true where the user calls it two, and its memory is matched."""
    stated = STATEMENTS[name]
    forced, proven = analysis.diff(*take(name), "different"), analysis.diff(*take(name))
    assert stated.forced is not None
    assert measure_matched(forced) >= stated.forced, stated.says
    assert list_modules(forced) == [*stated.modules], stated.says
    assert forced.totals.equals(proven.totals)
    check_sums(forced)


def test_addresses_of_two_runs_differ(take: Callable[[str], Pair]) -> None:
    """Address space layout randomization is on, so that the statement on two runs says something."""
    bases = [side.modules.column("address").to_pylist() for side in take("two runs")]
    assert bases[0] != bases[1]


def test_the_rebuilt_library_is_matched_by_its_path(take: Callable[[str], Pair]) -> None:
    """Its table, as large as nothing else that is a file, among the bytes matched that way."""
    result = analysis.diff(*take("library rebuilt"))
    by_path = [row["a"] for row in result.matching.to_pylist() if row["match"] == "path"]
    assert sum(by_path) >= TABLE


def test_nothing_is_new_or_gone_in_a_child(take: Callable[[str], Pair]) -> None:
    """It has every unit of its parent, and no other."""
    words = analysis.diff(*take("forked child")).components["word"].to_pylist()
    assert not {"new", "gone"} & set(words)


def test_a_protected_page_is_one_change_of_one_page(take: Callable[[str], Pair]) -> None:
    """The kernel cut a mapping in three; the answer is the page, and two mappings more."""
    result = analysis.diff(*take("page protected"))
    [row] = result.ranges.to_pylist()
    assert (row["word"], row["size_a"], row["size_b"], row["size_delta"]) == ("changed", PAGE, PAGE, 0)
    assert (row["protection_a"], row["protection_b"]) == ("rw-p", "r--p")
    [cut] = [row for row in result.components.to_pylist() if row["regions_a"] != row["regions_b"]]
    assert (cut["word"], cut["regions_a"], cut["regions_b"], cut["size_delta"]) == ("changed", 1, 3, 0)
    before, after = (side.count for side in result.map_count)
    assert (before is not None, after) == (True, (before or 0) + 2)


def test_a_protected_page_is_one_page_between_two_processes_too(take: Callable[[str], Pair]) -> None:
    """The block that was cut stays one block of its size: one page has other rights, and nothing moved."""
    result = analysis.diff(*take("page protected"), "different")
    rows = [row for row in result.components.to_pylist() if row["size_delta"]]
    assert sorted((row["protection_b"], row["size_delta"]) for row in rows) == [
        ("r--p", PAGE),
        ("rw-p", -PAGE),
    ]
    [block] = [row for row in rows if row["size_delta"] < 0]
    assert (block["word"], block["blocks_a"], block["blocks_b"]) == ("shrunk", 1, 1)
    assert block["size_a"] == BLOCK - 2 * PAGE
