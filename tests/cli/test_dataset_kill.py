"""A build that is killed or interrupted at any moment: what is there is whole, and the next build goes on."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from mmpscope.analysis.datasets.layout import list_parts
from support.datasets import NOVEMBER_NS, ask_rows, build, list_files, read_plainly, write_run
from support.mmp_command import PROGRAM

FILES = 24
MOMENTS = 6


def _write_files(folder: Path) -> str:
    folder.mkdir()
    for pid in range(1, FILES + 1):
        write_run(folder / f"{pid:02}.mmp", range(NOVEMBER_NS, NOVEMBER_NS + 5), pid=pid)
    return f"{folder}/*.mmp"


def _start(root: Path, pattern: str) -> subprocess.Popen[bytes]:
    command = [str(PROGRAM), "dataset", "build", str(root), "--from", pattern, "--workers", "1"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _check_whole(root: Path) -> int:
    """Each file that counts has all of its snapshots in every table; return how many do."""
    if not (root / "mmpscope-dataset.json").exists():
        return 0
    counts = "count(*) AS n, count(DISTINCT snapshot_id) AS ids"
    files = ask_rows(root, "SELECT count(*) AS n, coalesce(sum(snapshots), 0) AS s FROM files")[0]
    captures, regions = (
        ask_rows(root, f"SELECT {counts} FROM {name}")[0] for name in ("captures", "regions")
    )
    assert captures["n"] == captures["ids"] == regions["ids"] == files["s"] == 5 * files["n"]
    number: int = files["n"]
    return number


def _wait_for(root: Path, parts: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until so many parts are there, whole batches or not."""
    while process.poll() is None and sum(1 for _ in root.rglob("*.parquet")) < parts:
        time.sleep(0.001)


def test_kill_9_at_any_moment_leaves_whole_batches(tmp_path: Path) -> None:
    """Killed again and again in the middle of a batch, it ends with the rows of a calm build."""
    pattern = _write_files(tmp_path / "in")
    build(tmp_path / "calm", pattern)
    moments, root, seen = random.Random(7), tmp_path / "ds", set()
    for _ in range(MOMENTS):
        process = _start(root, pattern)
        _wait_for(root, len(list_files(root)) + moments.randrange(15), process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        whole = list_parts(root, 1, "regions")["regions"] if root.exists() else []
        seen.add((_check_whole(root), len(list_files(root)) > 10 * len(whole)))
    assert len(seen) > 2  # or nothing was tried
    build(root, pattern)
    assert _check_whole(root) == FILES
    for table in ("captures", "regions", "names"):
        what = "count(*), sum(size), sum(total_ws), sum(blocks)"
        assert read_plainly(root, table, what) == read_plainly(tmp_path / "calm", table, what)
    assert not list(root.rglob("*.tmp"))


def test_ctrl_c_says_how_far_it_came(tmp_path: Path) -> None:
    """Exit code 130, one sentence, and the same command goes on from there."""
    pattern = _write_files(tmp_path / "in")
    root = tmp_path / "ds"
    process = _start(root, pattern)
    _wait_for(root, 11, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    if process.returncode == 0:  # it was through before the signal came
        assert out
        return
    assert (process.returncode, out) == (130, b"")
    assert b"the same command goes on from there" in err
    assert err.count(b"\n") == 1
    done = _check_whole(root)
    assert build(root, pattern).known == done
    assert _check_whole(root) == FILES


def test_ctrl_c_before_anything_was_read_leaves_nothing(tmp_path: Path) -> None:
    """Exit code 130 and one sentence; the folder of the dataset is gone."""
    root = tmp_path / "new" / "ds"
    command = [
        str(PROGRAM),
        "dataset",
        "build",
        str(root),
        "--from",
        "-",
    ]  # waits for a file that never comes
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (root / "mmpscope-dataset.json").exists() and process.poll() is None:
        time.sleep(0.001)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)  # once more, where it came just before the program went to wait
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == f"mmp: warning: stopped: no file was added yet, and {root} was not made\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_question_can_be_stopped(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    """At once, however much DuckDB has still to do, and its temporary folder goes with it."""
    root, spill = tmp_path / "ds", tmp_path / "tmp"
    spill.mkdir()
    build(root, _write_files(tmp_path / "in"))
    tables = ", ".join(f"regions AS r{number}" for number in range(6))
    sql = f"SELECT count(*) FROM {tables} WHERE hash(r1.size, r5.size) = 7"
    command = [str(PROGRAM), "dataset", "sql", str(root), sql]
    environment = {**os.environ, "TMPDIR": str(spill)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(spill.iterdir()) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.5)  # the views are made, and the question is asked
    process.send_signal(sent)
    try:
        out, err = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    assert (process.returncode, out, err) == (code, b"", b"")
    assert not list(spill.iterdir())
