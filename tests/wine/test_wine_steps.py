"""A Windows program changes its memory step by step; each step moves the figures that it should, exactly."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mmpscope import analysis
from mmpscope.analysis import DiffResult, LoadedSnapshot
from support.mmp_command import run_mmp
from support.wine_collecting import WineCollector, make_once

pytestmark = pytest.mark.real

PROGRAM = Path(__file__).parents[2] / "samples" / "programs" / "windows_steps.py"
MIB = 1 << 20
COLUMNS = ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws")
WORKING_SETS = {"total_ws", "private_ws", "shareable_ws"}

Moved = dict[str, dict[str, int]]
"""Amounts by type and column."""

EXACT: dict[str, Moved] = {
    "reserve": {"Private Data": {"size": 64}},
    "commit": {"Private Data": {"committed": 32, "private": 32}},
    "touch": {"Private Data": {"total_ws": 16, "private_ws": 16}},
    "decommit": {"Private Data": {"committed": -32, "private": -32, "total_ws": -16, "private_ws": -16}},
    "release": {"Private Data": {"size": -64}},
    "section create": {},
    "section first view": {"Shareable": {"size": 16, "committed": 16}},
    "section first touch": {"Shareable": {"total_ws": 8, "shareable_ws": 8}},
    "section second view": {"Shareable": {"size": 16, "committed": 16}},
    "section second touch": {"Shareable": {"total_ws": 8, "shareable_ws": 8}},
    "section first unmap": {
        "Shareable": {"size": -16, "committed": -16, "total_ws": -8, "shareable_ws": -8},
    },
    "section second unmap": {
        "Shareable": {"size": -16, "committed": -16, "total_ws": -8, "shareable_ws": -8},
    },
    "section close": {},
    "file create": {},
    "file first view": {"Mapped File": {"size": 16, "committed": 16}},
    "file first touch": {"Mapped File": {"total_ws": 8, "shareable_ws": 8}},
    "file second view": {"Mapped File": {"size": 16, "committed": 16}},
    "file second touch": {"Mapped File": {"total_ws": 8, "shareable_ws": 8}},
    "file first unmap": {
        "Mapped File": {"size": -16, "committed": -16, "total_ws": -8, "shareable_ws": -8},
    },
    "file second unmap": {
        "Mapped File": {"size": -16, "committed": -16, "total_ws": -8, "shareable_ws": -8},
    },
    "file close": {},
}
"""What each step moves, in MiB, and nothing else. The second touch reads what the first has written."""

each_step = pytest.mark.parametrize("step", EXACT)


class Step(NamedTuple):
    """One step: the address and size that it was about, the snapshots before and after it."""

    address: int
    size: int
    before: LoadedSnapshot
    after: LoadedSnapshot

    def diff(self) -> DiffResult:
        """Compare the two."""
        return analysis.diff(self.before, self.after)

    def find(self, snapshot: LoadedSnapshot) -> list[dict[str, Any]]:
        """Find the regions of the allocation that the step was about."""
        rows: list[dict[str, Any]] = snapshot.regions.to_pylist()
        inside = [row["AllocationBase"] for row in rows if row["address"] <= self.address < row["end"]]
        return [row for row in rows if row["AllocationBase"] in inside]

    def sum_change(self) -> dict[str, int]:
        """Tell what moved in that allocation."""
        sums = [
            {column: sum(row[column] for row in self.find(snapshot)) for column in COLUMNS}
            for snapshot in (self.before, self.after)
        ]
        moved = {column: sums[1][column] - sums[0][column] for column in COLUMNS}
        return {column: amount for column, amount in moved.items() if amount}


@pytest.fixture(scope="module")
def series(collector: WineCollector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the file of all steps, and what the program said of each."""

    def make(folder: Path) -> None:
        mapped = folder / "mapped.bin"
        with mapped.open("wb") as file:
            file.truncate(16 * MIB)
        done = collector.run_program(PROGRAM, folder / "steps.mmp", mapped)
        assert (done.returncode, done.stderr) == (0, "")
        (folder / "steps.jsonl").write_text(done.stdout)

    return make_once(tmp_path_factory, "steps", make)


@pytest.fixture(scope="module")
def steps(series: Path) -> dict[str, Step]:
    """Each step by its name."""
    told = [json.loads(line) for line in (series / "steps.jsonl").read_text().splitlines()]
    moments = pairwise(analysis.load(series / "steps.mmp"))
    return {
        row["step"]: Step(row["address"], row["size"], before, after)
        for row, (before, after) in zip(told[1:], moments, strict=True)
    }


def _find_moved(step: Step) -> Moved:
    """Tell what moved by type and column; Total, Free and Unusable follow from the other rows."""
    moved: Moved = {}
    for row in step.diff().types.to_pylist():
        change = {column: row[f"{column}_delta"] for column in COLUMNS if row[f"{column}_delta"]}
        if change and row["type"] not in ("Total", "Free", "Unusable"):
            moved[row["type"]] = change
    return moved


def _to_bytes(wanted: dict[str, int]) -> dict[str, int]:
    return {column: amount * MIB for column, amount in wanted.items()}


@each_step
def test_each_step_moves_what_it_should_and_nothing_else(steps: dict[str, Step], step: str) -> None:
    """By type: Size, Committed and Private to the byte; working sets to the byte where they are not private.

    Private working sets of other memory move as well: the collector is the program, and Python writes to
    pages of its own between two looks.
    """
    wanted = {name: _to_bytes(row) for name, row in EXACT[step].items()}
    assert _leave_private_pages_out(_find_moved(steps[step])) == _leave_private_pages_out(wanted)


def _leave_private_pages_out(moved: Moved) -> Moved:
    """Leave out the working sets of types whose pages Python itself touches."""
    kept = {
        name: {
            column: amount
            for column, amount in row.items()
            if column not in WORKING_SETS or name in ("Shareable", "Mapped File")
        }
        for name, row in moved.items()
    }
    return {name: row for name, row in kept.items() if row}


@each_step
def test_each_step_moves_its_own_memory_to_the_byte(steps: dict[str, Step], step: str) -> None:
    """Of the allocation that the step was about every column moves as it should, working sets too."""
    [wanted] = EXACT[step].values() or [{}]
    assert steps[step].sum_change() == _to_bytes(wanted)


@each_step
def test_the_series_is_of_one_instance(steps: dict[str, Step], step: str) -> None:
    """Two snapshots of one process are compared by address."""
    assert steps[step].diff().mode == "same"


def test_a_large_heap_block_is_committed_and_private(steps: dict[str, Step]) -> None:
    """HeapAlloc of 24 MiB raises Heap, or Private Data where the snapshot says that not all heaps are known.

    The system rounds up, and puts its own header before the block: at most 128 KiB.
    """
    for name, sign in (("heap alloc", 1), ("heap free", -1)):
        moved = _find_moved(steps[name])
        [kind] = [kind for kind, row in moved.items() if "size" in row]
        sizes = {column: sign * moved[kind][column] for column in ("size", "committed", "private")}
        assert len(set(sizes.values())) == 1
        assert 24 * MIB <= sizes["size"] <= 24 * MIB + 128 * 1024
        after = steps[name].after
        if kind != "Heap":
            reasons = {row.item: row.reason for row in after.raw.capability if row.state != "ok"}
            assert kind == "Private Data"
            assert "heap" in (reasons["heaps"] or "")


def test_a_thread_brings_a_stack_with_its_id(steps: dict[str, Step]) -> None:
    """Stack grows by exactly the stack of the new thread, whose details name the thread; then it goes."""
    start = steps["thread start"]
    tid = start.address
    [thread] = [row for row in start.after.decode("threads").to_pylist() if row["tid"] == tid]
    rows = [
        row
        for row in start.after.regions.to_pylist()
        if thread["stack_start"] <= row["address"] < thread["stack_start"] + thread["stack_size"]
    ]
    assert {row["type"] for row in rows} == {"Stack"}
    assert all(f"tid {tid}" in row["details"] for row in rows)
    assert sum(row["size"] for row in rows) == thread["stack_size"]
    assert _find_moved(start)["Stack"]["size"] == thread["stack_size"]
    assert _find_moved(steps["thread end"])["Stack"]["size"] == -thread["stack_size"]
    assert [(row["word"], row["tid"]) for row in start.diff().threads.to_pylist()] == [("new", tid)]


def test_a_thread_has_a_guard_that_counts_as_its_stack(steps: dict[str, Step]) -> None:
    """The part with PAGE_GUARD, below what is used, has type Stack as well."""
    start = steps["thread start"]
    stacks = [row for row in start.after.regions.to_pylist() if row["type"] == "Stack"]
    assert any(row["Protect"] & 0x100 for row in stacks)


def test_a_library_is_an_image_with_its_sections(steps: dict[str, Step]) -> None:
    """LoadLibrary raises Image by SizeOfImage, all of it parts of that file; FreeLibrary takes it back."""
    load = steps["load library"]
    [module] = [row for row in load.after.decode("modules").to_pylist() if row["low"] == load.address]
    size = module["high"] - module["low"]
    rows = load.find(load.after)
    assert module["path"].lower() == "c:\\windows\\system32\\cabinet.dll"
    assert {row["type"] for row in rows} == {"Image"}
    assert sum(row["size"] for row in rows) == size
    assert _find_moved(load)["Image"]["size"] == size
    assert _find_moved(steps["free library"])["Image"]["size"] == -size
    assert [row["word"] for row in load.diff().modules.to_pylist()] == ["new"]
    assert [row["word"] for row in steps["free library"].diff().modules.to_pylist()] == ["gone"]


def test_sections_of_a_library_are_named_in_its_regions(steps: dict[str, Step]) -> None:
    """The table of sections has .text and .data of the new library; details of its regions name them."""
    load = steps["load library"]
    modules = load.after.decode("modules").to_pylist()
    number = next(at for at, row in enumerate(modules) if row["low"] == load.address)
    names = {row["name"] for row in load.after.decode("sections").to_pylist() if row["module"] == number}
    assert {".text", ".data"} <= names
    details = " ".join(row["details"] or "" for row in load.find(load.after))
    assert ".text" in details


def test_a_mapped_file_has_its_path(steps: dict[str, Step], series: Path) -> None:
    """Both views of the file name it, with its drive letter."""
    rows = steps["file second view"].find(steps["file second view"].after)
    assert {row["path"] for row in rows} == {"Z:" + str(series / "mapped.bin").replace("/", "\\")}


def test_mmp_diff_of_two_numbers_of_the_file(series: Path) -> None:
    """`mmp diff steps.mmp#0 steps.mmp#-1` on Linux reads the series and answers."""
    answer = run_mmp("diff", f"{series / 'steps.mmp'}#0", f"{series / 'steps.mmp'}#-1")
    assert (answer.code, answer.err) == (0, "")
    assert "mode same" in answer.out
