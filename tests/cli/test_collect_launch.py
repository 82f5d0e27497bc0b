"""`mmp-collect -- COMMAND` where the collection fails first: the program is not to suffer."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.collecting import read_snapshots, start_collect


@pytest.mark.real
def test_a_full_disk_is_said_at_once_and_the_program_goes_on(small_disk: Path) -> None:
    """The sentence does not wait for the program; our exit does, and tells its exit code and our 3."""
    output = small_disk / "a.mmp"
    command = ("sh", "-c", "sleep 3; exit 4")
    with start_collect("-o", output, "--interval", "0.001", "--", *command) as series:
        assert series.stderr is not None
        lines = [series.stderr.readline(), series.stderr.readline()]
        said_at = time.monotonic()
        rest = series.communicate(timeout=30)[1]
    assert time.monotonic() - said_at > 0.3
    assert "nothing of them is lost" in lines[0]
    assert "No space left on device" in lines[1]
    assert lines[1].endswith("The program goes on without snapshots; I end when it does.\n")
    assert rest.endswith("ended with exit code 4; the snapshots had ended before it.\n")
    assert series.returncode == 3
    assert len(read_snapshots(output)) > 3


def test_the_end_of_a_program_is_seen_without_pidfd(tmp_path: Path) -> None:
    """Kernels before 5.3 cannot tell when a process ends: with its plan fulfilled we look now and then."""
    code = (
        "import os, sys, mmpscope.collector.__main__ as program\n"
        "def refuse(*_): raise OSError(38, 'Function not implemented')\n"
        "os.pidfd_open = refuse\n"
        "sys.exit(program.main(sys.argv[1:]))\n"
    )
    arguments = ["-o", str(tmp_path / "a.mmp"), "--count", "1", "--", "sh", "-c", "sleep 0.5; exit 5"]
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert run.returncode == 0
    assert "ended with exit code 5; 1 snapshot is in" in run.stderr
