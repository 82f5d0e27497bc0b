"""The same work on a real Dask cluster: equal to the local one, also where workers die; refusals in words."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.dask_cluster import find_port, start_cluster
from support.mmp_command import run_program

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra cluster is not installed"),
]

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "samples").glob("*.mmp"))
_PATIENCE_S = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A hundred files that are not all alike, and one that is no snapshot."""
    target = tmp_path / "files"
    target.mkdir()
    for number in range(100):
        shutil.copy(SAMPLES[number % len(SAMPLES)], target / f"{number:03}.mmp")
    (target / "050.mmp").write_bytes(b"no snapshot")
    return target


def test_a_comparison_on_a_cluster_is_the_local_one(folder: Path, tmp_path: Path) -> None:
    """Two workers give the very JSON that one process gives, the file that cannot be read included.

    They run in another folder, and answers go by the names as they were given.
    """
    local = run_program("compare", folder.name, "--json", "--workers", "1", cwd=folder.parent)
    with start_cluster(tmp_path) as cluster:
        done = run_program(
            "compare", folder.name, "--json", "--scheduler", cluster.address, cwd=folder.parent
        )
    assert (done.returncode, done.stderr, done.stdout) == (local.returncode, local.stderr, local.stdout)
    assert b'"files/050.mmp"' in done.stdout


def _start_script(name: str, *words: object) -> subprocess.Popen[bytes]:
    """Start a function of support.cluster_scripts: distributed may warn, which is an error in a test."""
    code = f"import sys; from support.cluster_scripts import {name}; {name}(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "tests")},
    )


def _take_answer(process: subprocess.Popen[bytes]) -> Any:
    out, err = process.communicate(timeout=_PATIENCE_S)
    assert process.returncode == 0, err.decode()
    return json.loads(out)


def test_a_worker_killed_in_mid_run_costs_nothing(folder: Path, tmp_path: Path) -> None:
    """Of two workers one is killed once both have begun: the result is complete, and the local one."""
    local = _take_answer(_start_script("measure", folder, tmp_path / "unused"))
    with start_cluster(tmp_path) as cluster:
        process = _start_script("measure", folder, tmp_path / "begun", cluster.address)
        end = time.monotonic() + _PATIENCE_S
        while not _list_workers(tmp_path / "begun") >= {worker.pid for worker in cluster.workers}:
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.02)
        cluster.kill_worker(0)
        found = _take_answer(process)
    assert found == local
    assert len(found["inputs"]) > 99
    assert [Path(name).name for name in found["errors"]] == ["050.mmp"]


def _list_workers(begun: Path) -> set[int]:
    """Return the processes that have begun to work."""
    return {int(path.name) for path in begun.iterdir()} if begun.is_dir() else set()


def test_a_file_that_kills_its_workers_is_one_error(tmp_path: Path) -> None:
    """It is given up after its worker died twice; all other files have their results, in order."""
    names = [f"{number:02}" for number in range(16)]
    names[5] = "killer"
    with start_cluster(tmp_path, restarting=True) as cluster:
        found = _take_answer(_start_script("name_or_die_there", cluster.address, *names))
    assert found["done"] == [name for name in names if name != "killer"]
    assert found["killed"] == ["killer"]


def test_a_scheduler_that_is_not_there_is_one_sentence() -> None:
    """Exit code 3 within seconds, and no stack trace."""
    address = f"tcp://127.0.0.1:{find_port()}"
    begin = time.monotonic()
    done = run_program("compare", SAMPLES[0], "--scheduler", address)
    assert time.monotonic() - begin < 30
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.count(b"\n") == 1
    assert address.encode() in done.stderr
