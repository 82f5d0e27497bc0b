"""`mmp-collect` against the real thing: a full disk, a terminal, and the system calls that it makes."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.collecting import collect, read_snapshots, run_sleeper, wait_until

COLLECT = [sys.executable, "-m", "mmpscope.collector"]


@pytest.mark.real
def test_a_series_on_a_full_disk_keeps_every_whole_snapshot(small_disk: Path) -> None:
    """Disk full is exit 3, says what is kept, and the file is readable to its last whole snapshot."""
    output = small_disk / "a.mmp"
    with run_sleeper() as sleeper:
        run = collect(sleeper.pid, "-o", output, "--interval", "0.001", "--count", 10000)
    assert run.returncode == 3
    assert "No space left on device" in run.stderr
    kept = re.search(r"(\d+) snapshots are in .*; nothing of them is lost", run.stderr)
    assert kept is not None
    assert len(read_snapshots(output)) == int(kept[1]) > 3
    assert [path.name for path in small_disk.iterdir()] == ["a.mmp"]


@pytest.mark.real
def test_one_snapshot_on_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    """Disk full is exit 3 and one line, and neither a file nor a part of one stays."""
    (small_disk / "filler").write_bytes(bytes(126 * 1024))
    run = collect("--self", "-o", small_disk / "a.mmp")
    assert run.returncode == 3
    assert "No space left on device" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@pytest.mark.real
def test_an_append_on_a_full_disk_leaves_the_file_as_it_was(small_disk: Path) -> None:
    """What was in the file before is all there and readable."""
    output = small_disk / "a.mmp"
    collect("--self", "-o", output)
    (small_disk / "filler").write_bytes(bytes(128 * 1024 - output.stat().st_size - 8192))
    run = collect("--self", "--append", output)
    assert run.returncode == 3, run.stderr
    assert len(read_snapshots(output)) == 1


@pytest.mark.real
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_smaps_is_opened_once_and_nothing_is_written_to_the_process(tmp_path: Path) -> None:
    """Each snapshot reads smaps once; the process' files are opened for reading, and nobody is traced."""
    log = tmp_path / "log"
    with run_sleeper() as sleeper:
        command = [
            "strace",
            "-f",
            "-e",
            "trace=openat,open,ptrace,process_vm_readv,process_vm_writev",
            "-o",
            str(log),
        ]
        arguments = [str(sleeper.pid), "-o", str(tmp_path / "a.mmp"), "--interval", "0.01", "--count", "2"]
        run = subprocess.run([*command, *COLLECT, *arguments], capture_output=True, text=True, check=False)
    if "not permitted" in run.stderr:
        pytest.skip("strace may not trace here")
    assert run.returncode == 0, run.stderr
    calls = log.read_text()
    assert len(re.findall(r'openat\(\d+, "smaps",', calls)) == 2
    assert len(re.findall(r'openat\(\d+, "smaps_rollup",', calls)) == 2
    assert not re.search(r"ptrace\(|process_vm_", calls)
    assert not re.search(r'openat\(\d+, "(?!\.)[^"]*", O_(WRONLY|RDWR)', calls)


def _read_until(fd: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        ready, _, _ = select.select([fd], [], [], 30)
        assert ready, seen
        seen += os.read(fd, 4096)
    return seen


@pytest.mark.real
def test_a_terminal_takes_by_enter_and_pauses_by_p(tmp_path: Path) -> None:
    """On a terminal the keys work, nothing typed is echoed, Ctrl-C ends the series, and echo is on again."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        arguments = [*COLLECT, str(sleeper.pid), "-o", str(output), "--interval", "1h"]
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(arguments[0], arguments)
        seen = _read_until(terminal, b"Ctrl-C ends")
        wait_until(output.exists)
        os.write(terminal, b"\n")
        wait_until(lambda: len(read_snapshots(output)) == 2)
        os.write(terminal, b"p")
        seen += _read_until(terminal, b"paused")
        os.write(terminal, b"\x03")
        seen += _read_until(terminal, b"a.mmp\r\n")
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"stopped by SIGINT; 2 snapshots are in" in seen
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
