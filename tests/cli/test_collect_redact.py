"""`mmp collect --redact`: names become tokens before anything is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mmpscope.formats.mmp import open_file
from support.mmp_command import run_mmp
from support.rebasing import Places, find_leaks, list_numbers, list_regions
from support.redacting import KEY, unpack_all

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="collects a process of Linux")

CANARY = "Zyxwvut"
_PROGRAM = """
import mmap, sys, threading, time
file = open(sys.argv[1], "r+b")
kept = mmap.mmap(file.fileno(), 0)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
open("/proc/self/comm", "w").write("Zyxwvut")
time.sleep(0.7)
"""


def _collect(folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Watch a program with canaries in its name, arguments, environment and maps."""
    secret = folder / CANARY
    secret.mkdir()
    (secret / f"lib{CANARY}.so").write_bytes(bytes(4096))
    (secret / f"{CANARY}.py").write_text(_PROGRAM)
    script, file = secret / f"{CANARY}.py", secret / f"lib{CANARY}.so"
    command = [sys.executable, str(script), str(file), f"--password={CANARY}"]
    collector = [sys.executable, "-m", "mmpscope.collector", "--redact", "--command-lines", *options, "--"]
    return subprocess.run(
        [*collector, *command],
        check=False,
        capture_output=True,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "SECRET": CANARY},
        timeout=120,
    )


def test_no_name_reaches_the_file_of_a_redacted_run(tmp_path: Path) -> None:
    """Not by the process, its files, its command, the list of processes, a note, or the name of the file."""
    run = _collect(tmp_path, "--interval", "200ms")
    assert run.returncode == 0, run.stderr
    [path] = tmp_path.glob("*.mmp")
    assert path.name.startswith("process-")
    assert CANARY.encode() not in unpack_all(path.read_bytes())
    with open_file(path) as file:
        last = file.read(len(file.entries) - 1)
        assert last.process["name"] not in (CANARY, "python3")
        assert [row.item for row in last.capture.capability].count("redaction") == 1
        assert file.read_notes()[0].startswith("process ")
    assert b"random key" in run.stderr
    assert run_mmp("summary", path).code == 0


def test_a_key_makes_the_tokens_of_later_runs_the_same(tmp_path: Path) -> None:
    """The collector makes the key file that `mmp redact` reads, and takes it again for the next run."""
    key = tmp_path / "key"
    hosts = []
    for name in ("a.mmp", "b.mmp"):
        command = [
            sys.executable,
            "-m",
            "mmpscope.collector",
            "--self",
            "--redact",
            "--key",
            str(key),
            "-o",
            name,
        ]
        assert (
            subprocess.run(command, check=False, capture_output=True, cwd=tmp_path, timeout=60).returncode
            == 0
        )
        with open_file(tmp_path / name) as file:
            hosts.append(file.read(0).capture.host["hostname"])
    assert hosts[0] == hosts[1]
    assert key.stat().st_mode & 0o777 == 0o600


def _collect_twice(folder: Path, pid: int) -> tuple[Path, Path]:
    """Collect a process as it is, and with names and addresses that tell nothing, under our key."""
    (folder / "key").write_bytes(KEY)
    plain, moved = folder / "plain.mmp", folder / "moved.mmp"
    for path, options in ((plain, []), (moved, ["--redact", "--rebase", "--key", str(folder / "key")])):
        command = [sys.executable, "-m", "mmpscope.collector", str(pid), *options, "-o", str(path)]
        run = subprocess.run(command, check=False, capture_output=True, timeout=60)
        assert run.returncode == 0, run.stderr
    return plain, moved


def test_no_address_of_a_process_is_in_a_rebased_file(tmp_path: Path) -> None:
    """In no fact and no column; a file that is rebased later under the same key has the same addresses."""
    program = "import ctypes, threading; threading.Thread(target=input).start(); print(1, flush=True)"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            plain, moved = _collect_twice(tmp_path, process.pid)
        finally:
            process.kill()
    with open_file(plain) as one, open_file(moved) as two:
        original, redacted = one.read(0), two.read(0)
    assert len([pair for pair in list_numbers(original) if pair[1] in Places(list_regions(original))]) > 50
    assert find_leaks(original, redacted) == []
    later = tmp_path / "later.mmp"
    answer = run_mmp("redact", plain, "-o", later, "--rebase", "--key", tmp_path / "key")
    assert answer.code == 0, answer.err
    told = json.loads(run_mmp("diff", moved, later, "--json").out)
    assert told["mode_reason"].startswith("same instance")
    assert told["modules"] == []


@pytest.mark.parametrize(
    "options",
    [["--key", "k"], ["--rebase"], ["--redact", "--append", "x.mmp"], ["--redact", "--key", ""]],
)
def test_options_that_make_no_sense_are_refused(options: list[str], tmp_path: Path) -> None:
    """A key of nothing, and tokens of two keys in one file."""
    command = [sys.executable, "-m", "mmpscope.collector", "--self", *options]
    run = subprocess.run(command, check=False, capture_output=True, cwd=tmp_path, timeout=60)
    assert run.returncode == 2
    assert list(tmp_path.iterdir()) == []
