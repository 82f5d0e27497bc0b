"""`mmp-collect` in broken surroundings: streams that are closed or full, odd names, odd numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.collecting import collect, read_snapshots, run_sleeper

FULL = Path("/dev/full")


def _run_shell(script: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `"$@"` is `mmp-collect` with its arguments."""
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "mmpscope.collector", *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, timeout=30, check=False, env=environment)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_a_series_goes_on_where_nobody_hears_it(tmp_path: Path, redirection: str) -> None:
    """A log on a full disk, or a closed stderr, costs the words and neither a snapshot nor the exit code."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        arguments = (sleeper.pid, "-v", "-o", output, "--interval", "0.01", "--count", 3)
        run = _run_shell(f'"$@" {redirection}', *arguments)
    assert (run.returncode, run.stdout) == (0, f"{output}\n".encode())
    assert len(read_snapshots(output)) == 3


def test_a_reader_that_leaves_does_not_end_a_series(tmp_path: Path) -> None:
    """`2>&1 | head -1` ends what head prints, not the series."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        arguments = (sleeper.pid, "-v", "-o", output, "--interval", "0.05", "--count", 8)
        _run_shell('{ "$@"; echo $? >&3; } 3>"$0.code" 2>&1 | head -1'.replace("$0", str(output)), *arguments)
    assert Path(f"{output}.code").read_text() == "0\n"
    assert len(read_snapshots(output)) == 8


def test_an_error_that_nobody_hears_keeps_its_exit_code() -> None:
    """A script sees exit 3 even where stderr is closed or full, and stdout stays free of the sentence."""
    for redirection in ("2>&-", "2>/dev/full"):
        run = _run_shell(f'"$@" {redirection}', "no-such-name-anywhere")
        assert (run.returncode, run.stdout) == (3, b"")


def test_a_full_stdout_is_said_and_the_file_stays(tmp_path: Path) -> None:
    """Where the name of the result cannot be printed, the sentence tells it: the snapshot is not lost."""
    output = tmp_path / "a.mmp"
    run = _run_shell('"$@" >/dev/full', "--self", "-o", output)
    assert run.returncode == 3
    words = f"standard output cannot be written (No space left on device). The snapshot is in {output}."
    assert run.stderr.decode() == f"mmp-collect: {words}\n"
    assert len(read_snapshots(output)) == 1


def test_a_closed_stdout_is_no_error(tmp_path: Path) -> None:
    """A daemon may have no stdout: the file is written all the same."""
    run = _run_shell('"$@" >&-', "--self", "-o", tmp_path / "a.mmp")
    assert (run.returncode, run.stderr) == (0, b"")
    assert len(read_snapshots(tmp_path / "a.mmp")) == 1


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "C.UTF-8"},
    ],
)
@pytest.mark.parametrize("name", [b"b\xc3\xa9.mmp", b"b\xff.mmp", b"a\nb.mmp"])
def test_a_name_is_printed_byte_for_byte(tmp_path: Path, name: bytes, variables: dict[str, str]) -> None:
    """The path on stdout is for `$(...)`: no locale and no encoding of Python's changes it."""
    output = os.fsencode(tmp_path) + b"/" + name
    run = _run_shell('"$@"', "--self", "-o", os.fsdecode(output), **variables)
    assert (run.returncode, run.stdout, run.stderr) == (0, output + b"\n", b"")


def test_the_list_is_printed_in_any_encoding(tmp_path: Path) -> None:
    """A process with a name beyond ASCII is listed with escapes where the terminal has no more."""
    program = tmp_path / "näme-xyz"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([program, "1000"])
    try:
        run = _run_shell('"$@"', "--ps", PYTHONIOENCODING="ascii")
    finally:
        process.kill()
        process.wait()
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"n\\xe4me-xyz" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--self", "-o", "-"], 2, "a snapshot needs a file"),
        (["--self", "-o", ""], 2, "--output names no file"),
        (["--self", "--append", ""], 2, "--append names no file"),
        (["--self", "--append", "-"], 2, "a snapshot needs a file"),
        ([""], 2, "the name of the process is empty"),
        (["9" * 5000], 3, "there is no process 99999"),
        (["--self", "--count", "9" * 5000], 2, "is no number from 1 up"),
        (["--self", "--append", "fifo"], 3, "fifo: it is no regular file"),
        (["--self", "--append", "/dev/null"], 3, "/dev/null: it is no regular file"),
        (["--self", "--append", "."], 3, ".: it is no regular file"),
    ],
)
def test_odd_requests_get_one_short_line(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    """Nothing is collected, no file is made, and the line fits a screen."""
    os.mkfifo(tmp_path / "fifo")
    run = collect(*arguments, cwd=tmp_path)
    assert run.returncode == code, run.stderr
    assert words in run.stderr
    assert (run.stdout, len(run.stderr.splitlines())) == ("", 1)
    assert len(run.stderr) < 300
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def test_too_little_memory_is_said(tmp_path: Path) -> None:
    """A limit on our memory is no fault of ours; the sentence tells what needs less."""
    code = (
        "import sys, mmpscope.collector.linux.target as target, mmpscope.collector.__main__ as program\n"
        "def refuse(*_): raise MemoryError\n"
        "target.LinuxTarget.take_snapshot = refuse\n"
        "sys.exit(program.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "--self", "-o", str(tmp_path / "a.mmp")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 3
    assert run.stderr == "mmp-collect: there is too little memory for this snapshot. --light needs less.\n"
    assert list(tmp_path.iterdir()) == []
