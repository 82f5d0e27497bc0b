"""Checks of real runs: what a program is known to do more is what its budget says, and noise is no violation.

Each statement was written before the program ran.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot
from mmpscope.analysis.checks.budget import LEAST_SAMPLES
from mmpscope.analysis.checks.snapshots import check
from support.checks import MIB, read_toml
from support.observing import collect_snapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="collects processes of Linux")

_PROGRAM = "import json, mmap, sys; {more}; print('ready', flush=True); sys.stdin.read()"
_MUCH = "much = b'x' * (64 << 20)"
_UNSAFE = "unsafe = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | 2 | 4)"
_MODULE = "import _ctypes"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., LoadedSnapshot]:
    """A function that runs the program once more, with something besides, and returns its snapshot."""
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def run(more: str = "pass", number: int = 0) -> LoadedSnapshot:
        command = [sys.executable, "-c", _PROGRAM.format(more=more)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            path = folder / f"{len(list(folder.iterdir()))}-{number}.mmp"
            return collect_snapshot(process.pid, path)

    return run


def _list_violated(new: LoadedSnapshot, baseline: list[LoadedSnapshot]) -> dict[str, dict[str, Any]]:
    rows = check(new, baseline).table.to_pylist()
    assert {row["verdict"] for row in rows} <= {"ok", "violated"}
    return {f"{row['where']} {row['metric']}": row for row in rows if row["verdict"] == "violated"}


def test_two_runs_of_one_program_hold_the_default_budgets(runs: Any) -> None:
    """Whatever the address space layout is: nothing is violated, in either direction."""
    one, two = runs(number=1), runs(number=2)
    assert _list_violated(one, [two]) == {}
    assert _list_violated(two, [one]) == {}


def test_64_mib_more_are_told_to_within_one(runs: Any) -> None:
    """Private and Total WS, and nothing else."""
    violated = _list_violated(runs(_MUCH), [runs(number=1)])
    assert set(violated) == {"total private", "total total_ws"}
    for row in violated.values():
        assert abs(row["value"] - row["baseline"] - 64 * MIB) < MIB


def test_five_runs_are_a_baseline_and_four_are_not(runs: Any) -> None:
    """Against their spread, one more run holds and 64 MiB more do not; of four, no spread is told."""
    baseline = [runs(number=number) for number in range(1, LEAST_SAMPLES + 1)]
    assert _list_violated(runs(number=6), baseline) == {}
    assert set(_list_violated(runs(_MUCH), baseline)) == {"total private", "total total_ws"}
    assert check(runs(number=6), baseline[1:]).exit_code == 4


def test_memory_that_is_writable_and_executable_is_seen(runs: Any) -> None:
    """One MiB of it, which the program asked for."""
    violated = _list_violated(runs(_UNSAFE), [runs(number=1)])
    assert [row["value"] for row in violated.values()] == [MIB]
    assert set(violated) == {"all memory executable and writable"}


def test_a_module_that_a_run_loads_is_named(runs: Any, tmp_path: Path) -> None:
    """By its path, unless the list allows it."""
    new, old = runs(_MODULE), runs(number=1)
    [row] = check(new, [old], read_toml(tmp_path, "modules_allowed = []\n")).table.to_pylist()
    assert row["verdict"] == "violated"
    assert "_ctypes" in row["reason"]
    text = 'modules_allowed = ["_ctypes*", "libffi*"]\n'
    assert check(new, [old], read_toml(tmp_path, text)).exit_code == 0
