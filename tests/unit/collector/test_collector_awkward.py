"""Processes at awkward moments: another program executed meanwhile, a main thread that has gone first."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.errors import CollectError
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.target import LinuxTarget
from support.fakeproc import SMAPS, FakeProc, FakeProcess


def _open(proc: FakeProc, process: FakeProcess) -> tuple[LinuxCollector, LinuxTarget]:
    proc.add(process)
    collector = LinuxCollector(Options(), str(proc.path))
    return collector, collector.open_target(process.pid)


def _execute_while_read(
    monkeypatch: pytest.MonkeyPatch, proc: FakeProc, process: FakeProcess, times: int
) -> None:
    """Let execve replace the program while smaps is read, which then just ends: the kernel gives no error."""
    read = ProcDir.read
    left = [times]

    def read_and_execute(self: ProcDir, name: str, size: int = -1) -> bytes:
        data = read(self, name, size)
        if name == "smaps" and left[0]:
            left[0] -= 1
            numbers = process.format_stat().split()
            numbers[25] = b"%d" % (0x500000 + left[0])  # startcode, field 26 of proc_pid_stat(5)
            proc.write(f"{process.pid}/stat", b" ".join(numbers))
            return data[: data.index(b"01000000-")]
        return data

    monkeypatch.setattr(ProcDir, "read", read_and_execute)


def test_a_program_executed_meanwhile_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the old program's map is no snapshot: the new one is read from its beginning."""
    proc, process = FakeProc(tmp_path), FakeProcess()
    collector, target = _open(proc, process)
    _execute_while_read(monkeypatch, proc, process, 1)
    snapshot = target.take_snapshot(collector.take_capture())
    assert snapshot.tables["regions"].rows == SMAPS.count(b"VmFlags")
    assert "regions" not in {known.item for known in snapshot.capability}
    target.close()


def test_a_process_that_executes_without_end_is_flagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some tries what there is stays, with the reason that it may not be whole."""
    proc, process = FakeProc(tmp_path), FakeProcess()
    collector, target = _open(proc, process)
    _execute_while_read(monkeypatch, proc, process, 1000)
    snapshot = target.take_snapshot(collector.take_capture())
    [known] = [known for known in snapshot.capability if known.item == "regions"]
    assert (known.state, known.reason) == (
        "partial",
        "the process started another program each time that its map was read",
    )
    target.close()


def test_a_main_thread_that_ended_before_the_others_is_no_zombie(tmp_path: Path) -> None:
    """pthread_exit in main leaves a process that works, and a map that nobody can read through its pid."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess(state="Z", threads=4, smaps=b""))
    with pytest.raises(
        CollectError, match=r"the main thread of process 4711 .demo. has ended and others go on"
    ):
        LinuxCollector(Options(), str(proc.path)).open_target(4711)


def test_a_main_thread_that_ends_in_a_series_is_not_the_end_of_the_process(tmp_path: Path) -> None:
    """The process is alive, and its next snapshot is refused with what happened."""
    proc, process = FakeProc(tmp_path), FakeProcess(threads=4)
    collector, target = _open(proc, process)
    process.state = "Z"
    proc.write("4711/stat", process.format_stat())
    assert target.is_alive()
    with pytest.raises(CollectError, match="others go on"):
        target.take_snapshot(collector.take_capture())
    target.close()
