"""`mmp-collect` for one snapshot: what it writes, what it prints, and each refusal with its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from mmpscope.formats.mmp.columns import decode_table
from support.collecting import collect, read_snapshots, run_sleeper
from support.fakeproc import FakeProc, FakeProcess

LAST_PID = 4194304  # the largest that any Linux gives, and an unlikely one to be in use


def _assert_refused(run: subprocess.CompletedProcess[str], code: int, words: str) -> None:
    assert run.returncode == code, run.stderr
    assert words in run.stderr
    assert run.stdout == ""
    assert "Traceback" not in run.stderr


def test_self_writes_one_snapshot_and_prints_its_file(tmp_path: Path) -> None:
    """Clean input: the file's name on stdout, nothing on stderr, and a snapshot of the collector itself."""
    output = tmp_path / "a.mmp"
    run = collect("--self", "-o", output)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{output}\n", "")
    [snapshot] = read_snapshots(output)
    assert "mmpscope.collector" in snapshot.process["cmdline"]
    assert snapshot.tables.keys() == {"regions", "threads", "modules", "segments"}
    assert snapshot.capture.host["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert "machine-id" not in str(snapshot.capture.host)


def test_a_pid_gets_a_file_named_after_it(tmp_path: Path) -> None:
    """Without -o the file is called by name, pid and time, in the current directory."""
    with run_sleeper() as sleeper:
        run = collect(sleeper.pid, cwd=tmp_path)
        [made] = tmp_path.iterdir()
        assert run.stdout == f"{made.name}\n"
        assert made.name.startswith(f"sleep-{sleeper.pid}-20")
        [snapshot] = read_snapshots(made)
        assert (snapshot.process["pid"], snapshot.process["name"]) == (sleeper.pid, "sleep")
        assert "mmpscope.collector" not in str(decode_table(snapshot.capture.tables["processes"])["cmdline"])


def test_a_name_finds_its_process(tmp_path: Path) -> None:
    """A name that one process has is as good as its pid."""
    program = tmp_path / "odd-name-xyz"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([program, "1000"])
    try:
        run = collect("odd-name", "-o", tmp_path / "a.mmp")
        assert run.returncode == 0, run.stderr
        [snapshot] = read_snapshots(tmp_path / "a.mmp")
        assert snapshot.process["pid"] == process.pid
        with subprocess.Popen([program, "1000"]) as other:
            _assert_refused(collect("odd-name", "-o", tmp_path / "b.mmp"), 2, "2 processes fit 'odd-name'")
            other.kill()
    finally:
        process.kill()
        process.wait()
    assert not (tmp_path / "b.mmp").exists()


def test_an_existing_output_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    """Exit 2 without --force, even for a process that is not there; the file stays as it was."""
    output = tmp_path / "a.mmp"
    output.write_text("precious")
    _assert_refused(collect(LAST_PID, "-o", output), 2, "a.mmp exists. Use --force")
    assert output.read_text() == "precious"
    assert collect("--self", "-o", output, "--force").returncode == 0
    assert len(read_snapshots(output)) == 1


def test_append_adds_to_an_earlier_file(tmp_path: Path) -> None:
    """A second snapshot goes behind the first; another kind of file is refused and not touched."""
    output = tmp_path / "a.mmp"
    with run_sleeper() as sleeper:
        collect(sleeper.pid, "-o", output)
        run = collect(sleeper.pid, "--append", output)
    assert (run.returncode, run.stderr) == (0, "")
    first, second = read_snapshots(output)
    assert first.moment["time_ns"] < second.moment["time_ns"]
    other = tmp_path / "notes.txt"
    other.write_text("Dear diary")
    _assert_refused(collect("--self", "--append", other), 3, "notes.txt")
    assert other.read_text() == "Dear diary"
    _assert_refused(collect("--self", "--append", tmp_path / "none.mmp"), 3, "none.mmp")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "no process is given"),
        (["--no-such-option"], 2, "--no-such-option"),
        (["--self", "123"], 2, "give one of"),
        (["--self", "--light", "--full"], 2, "--light and --full"),
        (["--self", "-o", "a", "--append", "b"], 2, "--output and --append"),
        (["--self", "-f", "--append", "b"], 2, "--force and --append"),
        (["--self", "--command-lines", "--no-processes"], 2, "--no-processes and --command-lines"),
        (["--self", "--interval", "0"], 2, "an interval below"),
        (["--self", "--interval", "soon"], 2, "'soon' is no time"),
        (["--self", "--count", "0"], 2, "'0' is no number from 1 up"),
        (["--self", "--"], 2, "there is no command after --"),
        ([str(LAST_PID)], 3, f"there is no process {LAST_PID}"),
        (["99999999999999999999"], 3, "there is no process 99999999999999999999"),
        (["no-such-name-anywhere"], 3, "no process is called 'no-such-name-anywhere'"),
        (["--proc", "/nowhere", "1"], 3, "Is the proc file system mounted"),
        (["--", "/no/such/program"], 3, "/no/such/program cannot be started"),
        (["--self", "-o", "/nowhere/a.mmp"], 3, "/nowhere/a.mmp"),
    ],
)
def test_a_request_that_cannot_be_followed_is_one_line(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    """Usage is exit 2, what is not there exit 3; one line, no file left behind."""
    run = collect(*arguments, cwd=tmp_path)
    _assert_refused(run, code, words)
    assert len(run.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_thread_is_refused_by_what_it_is(tmp_path: Path) -> None:
    """A kernel thread has a number and a name, and no memory; another proc root is read by --proc."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess(pid=2, comm=b"kthreadd", flags=0x00200000, smaps=b"", rss_kb=None))
    run = collect("--proc", proc.path, 2)
    _assert_refused(run, 3, "process 2 (kthreadd) is a kernel thread: it has no address space")


def test_a_zombie_is_refused_by_what_it_is() -> None:
    """A child that has ended and that nobody has waited for has a number, and no memory."""
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        _assert_refused(collect(process.pid), 3, "is a zombie: it has ended, and has no address space")
    finally:
        process.wait()


# A run as root first loads every module: the other user need not be able to read them.
_AS_NOBODY = """
import os, sys
import mmpscope.collector.__main__ as program
assert program.main(["--self", "-q", "-o", sys.argv.pop(1)]) == 0
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(program.main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run as somebody else")
def test_another_users_process_is_denied_with_what_would_help() -> None:
    """The file that was denied and the ways out are named, and no file is left."""
    with run_sleeper() as sleeper, tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        paths = [str(Path(folder) / name) for name in ("own.mmp", "other.mmp")]
        command = [sys.executable, "-c", _AS_NOBODY, paths[0], str(sleeper.pid), "-o", paths[1]]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        _assert_refused(run, 3, f"/proc/{sleeper.pid}/maps cannot be read: permission denied")
        assert "run this as the same user, or with sudo" in run.stderr
        assert [path.name for path in Path(folder).iterdir()] == ["own.mmp"]


def test_quiet_says_nothing_and_verbose_says_what_was_read(tmp_path: Path) -> None:
    """-q leaves stdout empty too; -v tells regions and time on stderr."""
    quiet = collect("--self", "-q", "-o", tmp_path / "a.mmp")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    verbose = collect("--self", "-v", "-o", tmp_path / "b.mmp")
    assert "regions, read in" in verbose.stderr


def test_ps_lists_what_runs() -> None:
    """The list has this very process, with its user and bits."""
    run = collect("--ps")
    assert (run.returncode, run.stderr) == (0, "")
    head, *rows = run.stdout.splitlines()
    assert head.split()[:3] == ["PID", "USER", "PRIVATE"]
    assert any(row.split()[0] == str(os.getpid()) for row in rows)


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    """`mmp-collect --ps | true` ends quietly."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "mmpscope.collector", "--ps"]
    run = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (run.returncode, run.stderr) == (0, b"")


def test_help_names_examples_and_exit_codes() -> None:
    """--help is the whole manual of a machine that has nothing but the one file."""
    run = collect("--help")
    assert run.returncode == 0
    for words in ("examples:", "--interval", "Exit codes", "SIGUSR1"):
        assert words in run.stdout
    assert collect("--version").stdout.startswith("mmp-collect ")


def test_nothing_heavy_is_imported() -> None:
    """The collector runs on the standard library and msgpack: no analysis, and none of what that needs."""
    code = (
        "import sys, mmpscope.collector.__main__ as program; program.main(['--ps']); "
        "print(sorted({name.partition('.')[0] for name in sys.modules} | "
        "{name for name in sys.modules if name.startswith('mmpscope.')}), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stderr.replace("'", "").strip("[]\n").split(", "))
    assert not loaded & {"pandas", "numpy", "pyarrow", "typer", "click", "rich", "subprocess"}
    assert not {name for name in loaded if name.startswith("mmpscope.analysis")}


def test_a_fault_of_ours_is_one_line_and_exit_70(tmp_path: Path) -> None:
    """What nobody thought of is not a traceback, unless -v asks for it."""
    code = (
        "import sys, mmpscope.collector.session as session, mmpscope.collector.__main__ as program\n"
        "def fail(*_): raise RuntimeError('broken')\n"
        "session.Session.run = fail\n"
        "sys.exit(program.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "--self"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    _assert_refused(run, 70, "a fault of ours, not of the process (RuntimeError: broken). Please report it")
    assert len(run.stderr.splitlines()) == 1
    verbose = subprocess.run([*command, "-v"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "Traceback" in verbose.stderr
