"""`mmp-collect` as a series and as a launcher: plans, signals, and what ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.collecting import collect, read_notes, read_snapshots, run_sleeper, start_collect, wait_until


def _times_ns(path: Path) -> list[int]:
    return [snapshot.moment["mono_ns"] for snapshot in read_snapshots(path)]


def test_a_series_writes_count_snapshots_at_its_interval(tmp_path: Path) -> None:
    """--interval and --count: so many snapshots go into one file, on the grid, and not a word more."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        run = collect(sleeper.pid, "-o", output, "--interval", "100ms", "--count", 4)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{output}\n", "")
    times = _times_ns(output)
    assert len(times) == 4
    assert 0.25 < (times[3] - times[0]) / 1e9 < 3
    assert read_notes(output) == []


def test_a_duration_ends_a_series(tmp_path: Path) -> None:
    """--duration ends it, the snapshot at its very end included."""
    with run_sleeper() as sleeper:
        run = collect(sleeper.pid, "-o", tmp_path / "a.mmp", "--interval", "0.2", "--duration", "0.5s")
    assert run.returncode == 0
    assert 2 <= len(read_snapshots(tmp_path / "a.mmp")) <= 3


def test_a_series_shares_its_capture(tmp_path: Path) -> None:
    """What holds for the whole system is not written again with every snapshot."""
    with run_sleeper() as sleeper:
        collect(sleeper.pid, "-o", tmp_path / "a.mmp", "--interval", "0.01", "--count", 5)
    snapshots = read_snapshots(tmp_path / "a.mmp")
    assert len({snapshot.capture.moment["mono_ns"] for snapshot in snapshots}) == 1


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_leaves_a_valid_file_and_says_so(tmp_path: Path, name: str) -> None:
    """Ctrl-C and SIGTERM end a series with exit 0 and a closed file that tells what ended it."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper, start_collect(sleeper.pid, "-o", output, "--interval", "1h") as series:
        wait_until(output.exists)
        series.send_signal(signal.Signals[name])
        out, err = series.communicate(timeout=30)
    assert (series.returncode, out) == (0, f"{output}\n")
    assert err == f"mmp-collect: stopped by {name}; 1 snapshot is in {output}.\n"
    assert read_notes(output) == [f"stopped by {name}"]


def test_sigusr1_takes_one_now(tmp_path: Path) -> None:
    """A series of one an hour can be asked for more by a signal, from a script or a colleague's shell."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper, start_collect(sleeper.pid, "-o", output, "--interval", "1h") as series:
        # A signal that comes before the first snapshot is done asks for that one.
        wait_until(lambda: output.exists() and len(read_snapshots(output, partial=True)) == 1)
        for count in (2, 3):
            series.send_signal(signal.SIGUSR1)
            wait_until(lambda count=count: len(read_snapshots(output, partial=True)) == count)  # type: ignore[misc]  # bound now
        series.terminate()
        series.communicate(timeout=30)
    assert len(read_snapshots(output)) == 3


def test_the_end_of_the_process_ends_the_series(tmp_path: Path) -> None:
    """The file is closed, exit 0, and both stderr and the file say that the process ended."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper, start_collect(sleeper.pid, "-o", output, "--interval", "1h") as series:
        wait_until(output.exists)
        sleeper.kill()
        _, err = series.communicate(timeout=30)
        assert series.returncode == 0
        assert f"process {sleeper.pid} ended; 1 snapshot is in" in err
        assert read_notes(output) == [f"process {sleeper.pid} ended"]


def test_interrupted_before_the_first_snapshot_is_130_and_no_file(tmp_path: Path) -> None:
    """Whoever stops a single snapshot in the making gets exit 130, and no half a file."""
    code = (
        "import os, signal, sys\n"
        "import mmpscope.collector.linux.target as target, mmpscope.collector.__main__ as program\n"
        "stop = lambda *_: os.kill(os.getpid(), signal.SIGTERM) or signal.pause()\n"
        "target.LinuxTarget.take_snapshot = stop\n"
        "sys.exit(program.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "--self", "-o", str(tmp_path / "a.mmp")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 130
    assert run.stderr == "mmp-collect: interrupted before the first whole snapshot; nothing was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_append_continues_a_series(tmp_path: Path) -> None:
    """A second series goes behind the first, which stays as it was."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        collect(sleeper.pid, "-o", output, "--interval", "0.01", "--count", 2)
        first = output.read_bytes()
        collect(sleeper.pid, "--append", output, "--interval", "0.01", "--count", 3)
    assert output.read_bytes().startswith(first)
    assert len(read_snapshots(output)) == 5


def test_two_series_do_not_write_into_one_file(tmp_path: Path) -> None:
    """A file that a series adds to is locked: a second writer is refused, exit 3."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper, start_collect(sleeper.pid, "-o", output, "--interval", "1h") as series:
        wait_until(output.exists)
        run = collect(sleeper.pid, "--append", output)
        assert (run.returncode, run.stdout) == (3, "")
        assert "another program is adding to it" in run.stderr
        series.terminate()
        series.communicate(timeout=30)
    assert len(read_snapshots(output)) == 1


def test_a_series_that_runs_is_not_replaced(tmp_path: Path) -> None:
    """--force takes the place of a file, not of a writer: what it wrote afterwards would have no name."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper, start_collect(sleeper.pid, "-o", output, "--interval", "1h") as series:
        wait_until(output.exists)
        run = collect(sleeper.pid, "-f", "-o", output)
        assert (run.returncode, run.stdout) == (3, "")
        assert "another program is adding to it" in run.stderr
        series.terminate()
        series.communicate(timeout=30)
    assert collect(sleeper.pid, "-f", "-o", output).returncode == 3  # it is gone
    assert len(read_snapshots(output)) == 1


def test_launch_samples_from_the_start_and_keeps_the_exit_code(tmp_path: Path) -> None:
    """The program runs with its own arguments, its end and exit code are said and stored; ours is 0."""
    output = tmp_path / "a.mmp"
    run = collect("-o", output, "--interval", "0.05", "--", "sh", "-c", "echo out; sleep 0.4; exit 7")
    assert (run.returncode, run.stdout) == (0, "out\n")
    snapshots = read_snapshots(output)
    assert len(snapshots) >= 3
    pid = snapshots[0].process["pid"]
    assert snapshots[0].process["name"] == "sh"
    assert snapshots[0].process["cmdline"][0] == "sh"
    assert f"process {pid} ended with exit code 7; {len(snapshots)} snapshots are in {output}." in run.stderr
    assert read_notes(output) == [f"process {pid} ended with exit code 7: sh -c echo out; sleep 0.4; exit 7"]


def test_the_first_snapshot_of_a_launched_program_is_of_that_program(tmp_path: Path) -> None:
    """Between fork and the end of exec the map is our own or half made: neither is the program's."""
    for attempt in range(10):
        output = tmp_path / f"{attempt}.mmp"
        run = collect("-o", output, "--no-processes", "--", "sleep", "0.3")
        assert run.returncode == 0, run.stderr
        first = read_snapshots(output)[0]
        assert first.process["name"] == "sleep"
        assert Path(first.process["exe"]).name == Path("/bin/sleep").resolve().name
        assert first.tables["modules"].rows >= 1


def test_a_launched_program_ended_by_a_signal_is_said(tmp_path: Path) -> None:
    """Its end by a signal has a name, and is no failure of ours."""
    run = collect("-o", tmp_path / "a.mmp", "--", "sh", "-c", "sleep 0.3; kill -9 $$")
    assert run.returncode == 0
    assert "was ended by signal 9 (SIGKILL)" in run.stderr


def test_a_program_too_short_to_be_seen_is_said(tmp_path: Path) -> None:
    """A program that ended before anything could be read leaves no file, exit 3; its code is always said."""
    output = tmp_path / "a.mmp"
    run = collect("-o", output, "--", "false")
    assert "ended with exit code 1" in run.stderr
    if output.exists():  # it lived long enough this time
        assert run.returncode == 0
        assert len(read_snapshots(output)) >= 1
    else:
        assert run.returncode == 3
        assert "before I could read its memory" in run.stderr


def test_a_plan_fulfilled_still_waits_for_the_programs_exit_code(tmp_path: Path) -> None:
    """--count ends the snapshots, not the program; its exit code is stored all the same."""
    run = collect("-o", tmp_path / "a.mmp", "--count", 1, "--", "sh", "-c", "sleep 0.4; exit 5")
    assert "ended with exit code 5; 1 snapshot is in" in run.stderr


def test_stopping_the_collector_leaves_the_program_alone(tmp_path: Path) -> None:
    """SIGTERM to the collector is not the program's end."""
    output = tmp_path / "a.mmp"
    with start_collect("-o", output, "--", "sleep", "1000") as series:
        wait_until(output.exists)
        pid = read_snapshots(output)[0].process["pid"]
        try:
            series.terminate()
            assert series.wait(timeout=30) == 0
            assert Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
        finally:
            os.kill(pid, signal.SIGKILL)  # it holds the other end of our pipes
        assert f"process {pid} is still running, and was left alone" in series.communicate()[1]


def test_options_of_the_program_are_not_ours(tmp_path: Path) -> None:
    """What stands behind -- reaches the program as it was typed, another -- included."""
    run = collect("-o", tmp_path / "a.mmp", "--", "sh", "-c", "echo $0 $1; sleep 0.2", "--light", "--")
    assert run.stdout == "--light --\n"
