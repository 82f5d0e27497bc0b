"""`kill -9` at any moment: each complete snapshot of a series stays readable, a convert is all or nothing."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from mmpscope.formats.mmp.columns import decode_table
from support.collecting import collect, read_snapshots, run_sleeper, start_collect, wait_until

ROOT = Path(__file__).parents[2]
MOMENTS = 50
LATEST_S = 0.2


def test_kill_9_at_50_random_moments_loses_no_complete_snapshot(tmp_path: Path) -> None:
    """As many snapshots as the series said it had written are there and whole, and it can be continued."""
    moments = random.Random(9)
    longest, count, last = 0, 0, tmp_path
    with run_sleeper() as sleeper:
        for attempt in range(MOMENTS):
            output = tmp_path / f"{attempt}.mmp"
            series = start_collect(sleeper.pid, "-o", output, "--interval", "0.001", "-v", "--no-processes")
            if (
                attempt % 2
            ):  # else it may be killed while Python starts, which on a busy machine takes all the time
                wait_until(output.exists)
            time.sleep(moments.uniform(0, LATEST_S))
            series.send_signal(signal.SIGKILL)
            _, err = series.communicate(timeout=30)
            written = err.count("regions, read in")
            if not output.exists():
                assert written == 0
                continue
            snapshots = read_snapshots(output, partial=True)
            assert len(snapshots) >= written
            assert all(decode_table(snapshot.tables["regions"])["start"] for snapshot in snapshots)
            longest, last, count = max(longest, len(snapshots)), output, len(snapshots)
        assert longest > 3  # or nothing was tried
        run = collect(sleeper.pid, "--append", last)
        assert run.returncode == 0, run.stderr
    assert len(read_snapshots(last)) == count + 1


def test_kill_9_of_a_convert_leaves_a_whole_file_or_none() -> None:
    """The output never is a part of one; `python -m benchmarks.kills` tries it 500 times."""
    command = [sys.executable, "-m", "benchmarks.kills", "--only", "convert", "--count", "12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    known = dict(re.findall(r"(\w+)=(\d+)", done.stdout))
    assert (known["kills"], known["lost"]) == ("12", "0")
    assert int(known["complete"]) + int(known["early"]) == 12
    assert int(known["early"]) > 0  # or it was never killed at work
