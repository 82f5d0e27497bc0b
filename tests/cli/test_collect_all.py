"""`mmp-collect --all` on a proc file system made by hand, and on the real one."""

from __future__ import annotations

import os
from pathlib import Path

from support.collecting import collect, read_snapshots, run_sleeper
from support.fakeproc import FakeProc, FakeProcess


def test_every_process_of_a_proc_root_is_collected_once(tmp_path: Path) -> None:
    """One whose map is gone is named; the file has one capture for all."""
    proc = FakeProc(tmp_path / "proc")
    for pid in (10, 20, 30):
        proc.add(FakeProcess(pid=pid))
    proc.add(FakeProcess(pid=40, state="Z", rss_kb=None))
    (Path(proc.path) / "20" / "maps").unlink()
    run = collect("--all", "--proc", proc.path, "-o", tmp_path / "a.mmp")
    assert (run.returncode, run.stdout) == (0, f"{tmp_path / 'a.mmp'}\n")
    assert "1 of 3 processes are not in it: it ended: 20; 2 snapshots are in" in run.stderr
    snapshots = read_snapshots(tmp_path / "a.mmp")
    assert [snapshot.process["pid"] for snapshot in snapshots] == [10, 30]
    assert snapshots[0].capture.moment == snapshots[1].capture.moment


def test_all_excludes_a_target_and_a_series(tmp_path: Path) -> None:
    """A series is of one process; --all names its targets itself."""
    for words in (
        ["--all", "4711"],
        ["--all", "--self"],
        ["--all", "--interval", "1s"],
        ["--all", "--count", "2"],
    ):
        run = collect(*words, "-o", tmp_path / "a.mmp")
        assert (run.returncode, run.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_the_real_system_gives_us_and_a_sleeper(tmp_path: Path) -> None:
    """What runs is there, each once, whatever else runs on this machine."""
    with run_sleeper() as sleeper:
        run = collect("--all", "--light", "-o", tmp_path / "a.mmp")
    assert run.returncode == 0, run.stderr
    pids = [snapshot.process["pid"] for snapshot in read_snapshots(tmp_path / "a.mmp")]
    assert {sleeper.pid, os.getpid()} <= set(pids)
    assert len(pids) == len(set(pids))
