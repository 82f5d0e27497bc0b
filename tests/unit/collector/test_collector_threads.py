"""Threads: odd names, pointers that may not be looked at, threads that end meanwhile."""

from __future__ import annotations

import errno
import threading
import time
from pathlib import Path

import pytest
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.threads import read_threads
from mmpscope.collector.recorder import Recorder
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Capability
from mmpscope.formats.proc.stat_line import parse_registers, parse_stat
from support.fakeproc import FakeProc, FakeProcess, refuse

THREAD = FakeProcess(comm=b"worker 1", starttime=6000)


def _read(directory: ProcDir) -> tuple[dict[str, list[object]], list[Capability]]:
    recorder = Recorder()
    return decode_table(read_threads(directory, recorder)), recorder.capability


def _add_threads(folder: Path, syscalls: dict[int, bytes | None]) -> ProcDir:
    proc = FakeProc(folder)
    directory = proc.add(FakeProcess(threads=1 + len(syscalls)))
    for tid, line in syscalls.items():
        proc.write(f"4711/task/{tid}/stat", THREAD.format_stat(tid))
        if line is not None:
            proc.write(f"4711/task/{tid}/syscall", line)
    return directory


def test_threads_have_names_start_times_and_pointers(tmp_path: Path) -> None:
    """A thread in a system call, one blocked outside of one and one that runs: the last has no pointers."""
    directory = _add_threads(tmp_path, {4712: b"-1 0x7f0000001000 0x7f1234\n", 4713: b"running\n"})
    threads, capability = _read(directory)
    assert threads == {
        "tid": [4711, 4712, 4713],
        "name": [b"demo", b"worker 1", b"worker 1"],
        "state": [b"S", b"S", b"S"],
        "starttime": [5000, 6000, 6000],
        "sp": [0x7FFD00020F00, 0x7F0000001000, None],
        "ip": [0x401234, 0x7F1234, None],
    }
    [known] = capability
    assert (known.item, known.state) == ("threads.sp", "partial")
    assert known.reason is not None
    assert known.reason.startswith("1 of 3 threads were running")


def test_refused_pointers_are_null_and_the_threads_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where syscall may not be read (Yama) the other columns are there, and the reason with its errno."""
    directory = _add_threads(tmp_path, {4712: b"running\n"})
    refuse(monkeypatch, errno.EPERM, "syscall")
    threads, capability = _read(directory)
    assert threads["tid"] == [4711, 4712]
    assert threads["sp"] == [None, None]
    reason = "operation not permitted (EPERM)"
    assert capability == [Capability("threads.sp", "unavailable", errno.EPERM, reason)]
    (tmp_path / "proc/sys/kernel/yama").mkdir()
    (tmp_path / "proc/sys/kernel/yama/ptrace_scope").write_text("1\n")
    reason += "; kernel.yama.ptrace_scope is 1, sudo would help"
    assert _read(directory)[1] == [Capability("threads.sp", "unavailable", errno.EPERM, reason)]


def test_a_kernel_without_the_syscall_file_keeps_its_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An absent syscall file does not make threads look as if they had ended."""
    directory = _add_threads(tmp_path, {4712: None})
    refuse(monkeypatch, errno.ENOENT, "syscall")
    threads, capability = _read(directory)
    assert threads["tid"] == [4711, 4712]
    assert [known.state for known in capability] == ["unavailable"]


def test_a_thread_that_ends_meanwhile_is_left_out(tmp_path: Path) -> None:
    """A thread listed and gone when it is read is no row, and no error."""
    directory = _add_threads(tmp_path, {})
    (Path(directory.path) / "task/4712").mkdir()
    assert _read(directory)[0]["tid"] == [4711]


@pytest.mark.parametrize("comm", [b"a) b (c", b") S 1 (", b"", b"x y\n", b"\xff\xfe", b"(((((("])
def test_odd_comm_a_b_c_is_cut_at_the_last_bracket(comm: bytes) -> None:
    """A name may hold brackets, blanks, line feeds and bytes that are no UTF-8."""
    stat = parse_stat(FakeProcess(comm=comm, ppid=77, starttime=123).format_stat())
    assert (stat.pid, stat.comm, stat.state) == (4711, comm, b"S")
    assert (stat.numbers["ppid"], stat.starttime) == (77, 123)


@pytest.mark.parametrize("line", [b"", b"12 (x", b"12 (x) S 1 2 3", b"no stat line at all"])
def test_what_is_no_stat_line_is_refused(line: bytes) -> None:
    """A cut or foreign line is a ValueError, never half a result."""
    with pytest.raises(ValueError, match=r"stat line|invalid literal"):
        parse_stat(line)


def test_what_is_no_syscall_line_is_refused() -> None:
    """A line of too few fields has no pointers to take."""
    with pytest.raises(ValueError, match="syscall line"):
        parse_registers(b"0 0x1")


def test_own_blocked_thread_has_its_pointer_inside_a_mapping() -> None:
    """A thread of ours that waits has a stack pointer inside a writable mapping of maps."""
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait, daemon=True)
    thread.start()
    sp, deadline = None, time.monotonic() + 10
    try:
        with ProcDir("/proc/self") as directory:
            while sp is None and time.monotonic() < deadline:  # until it has come to wait
                threads = _read(directory)[0]
                sp = threads["sp"][threads["tid"].index(thread.native_id)]
            maps = directory.read("maps").decode(errors="replace").splitlines()
    finally:
        wait.set()
        thread.join()
    assert isinstance(sp, int)
    ranges = [line.split()[0].split("-") for line in maps if " rw" in line]
    assert any(int(start, 16) <= sp < int(end, 16) for start, end in ranges)
