"""Trends of programs that run: a leak is found, its fixed twin and a JVM that warms up are not called one.

Each statement was written before the program ran. All three are sampled at the same time, so that the load of
the machine is the same for them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.mmp_command import run_mmp

from samples.scenario import PROGRAMS, Scenario, build_program

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="collects processes of Linux"),
    pytest.mark.real,
]
pytest.importorskip("scipy", reason="needs the extra stats")

_EVERY, _COUNT = "250ms", "120"
_PROGRAMS = {
    "leak": ("rounds", "leak", "20"),
    "fixed": ("rounds", "fixed", "20"),
    "java": ("java", "-XX:+UseSerialGC", "-Xmx32m", str(PROGRAMS / "WarmUp.java")),
}


class Sampled(NamedTuple):
    """The series of each program, and the bytes an hour that the leak said it forgot."""

    files: dict[str, Path]
    truth: float


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Sampled:
    """Run the three programs for half a minute, each with a collector of its own."""
    for tool in ("gcc", "java"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    folder = tmp_path_factory.mktemp("trend")
    program = build_program(PROGRAMS / "rounds.c", folder)
    files = {name: folder / f"{name}.mmp" for name in _PROGRAMS}
    running = {
        name: Scenario(str(program) if command[0] == "rounds" else command[0], *command[1:])
        for name, command in _PROGRAMS.items()
    }
    start = time.monotonic()
    collectors = [_collect(running[name].pid, path) for name, path in files.items()]
    codes = [collector.wait() for collector in collectors]
    hours = (time.monotonic() - start) / 3600
    last = {name: scenario.close() for name, scenario in running.items()}["leak"]
    assert codes == [0, 0, 0]
    assert last is not None
    return Sampled(files, last[1]["forgotten"] / hours)


def _collect(pid: int, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mmpscope.collector", str(pid), "--quiet", "--no-processes"]
    return subprocess.Popen([*command, "--interval", _EVERY, "--count", _COUNT, "-o", str(path)])


def _ask(path: Path | str, *words: str) -> dict[str, Any]:
    answer = run_mmp("trend", path, "--json", *words)
    assert answer.err == ""
    document: dict[str, Any] = json.loads(answer.out)
    return document


def _find_total(document: dict[str, Any]) -> dict[str, Any]:
    [row] = [row for row in document["rows"] if row["scope"] == "total"]
    found: dict[str, Any] = row
    return found


def test_a_leak_is_found_at_its_rate(sampled: Sampled) -> None:
    """What the program forgets an hour, to within what its other work moves, and in the heap."""
    document = _ask(sampled.files["leak"])
    total = _find_total(document)
    assert total["verdict"] == "growing"
    assert 0.6 * sampled.truth < total["slope"] < 1.6 * sampled.truth
    assert "mostly Heap" in document["series"][0]["sentence"]


def test_the_leak_is_born_in_the_heap_and_nothing_of_it_dies(sampled: Sampled) -> None:
    """It is the first of the suspects: the heap reaches farther and farther, whatever malloc trims of it."""
    suspects = [row for row in _ask(sampled.files["leak"])["rows"] if row["suspect"]]
    assert suspects
    assert suspects[0]["name"] == "[heap] rw-p"
    assert suspects[0]["births"] > 10
    assert suspects[0]["died"] <= suspects[0]["born"] // 10


def test_the_fixed_twin_is_no_leak(sampled: Sampled) -> None:
    """It is not called growing, and its slope is far from that of the leak."""
    total = _find_total(_ask(sampled.files["fixed"]))
    assert total["verdict"] != "growing"
    assert abs(total["slope"]) < 0.6 * sampled.truth


def test_a_jvm_that_warms_up_is_no_leak(sampled: Sampled) -> None:
    """It fills its cache and its heap, step by step, and then needs no more: the second half is flat."""
    whole, late = (
        _find_total(_ask(path, "--metric", "total_ws"))
        for path in (sampled.files["java"], f"{sampled.files['java']}#60:")
    )
    assert whole["change"] > 4 << 20
    assert whole["verdict"] in ("flat", "cannot tell")
    assert late["verdict"] == "flat"
