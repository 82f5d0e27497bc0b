"""Every process at once: one capture, one snapshot of each that opens, and the others by reason."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from mmpscope.collector.__main__ import main
from mmpscope.collector.base import Options, open_collector
from mmpscope.collector.errors import CollectError, UsageError
from mmpscope.collector.everyone import Everyone
from mmpscope.collector.windows.collector import WindowsCollector
from support.collecting import read_notes, read_snapshots
from support.fake_win32 import FakeProgram, FakeWin32, make_demo


def _make(pid: int, **changes: object) -> FakeProgram:
    return FakeProgram(**{**vars(make_demo()), "pid": pid, **changes})


def _collector(system: FakeWin32) -> WindowsCollector:
    return WindowsCollector(Options(every_process=True), system)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> FakeWin32:
    """Give a system of two programs that open and three that do not; the command line collects from it."""
    system = FakeWin32(
        _make(100),
        _make(104, rights=0x1000),
        _make(108, rights=0),
        _make(112),
        _make(116, refused={"query_region": 998}),
    )

    def open_fake(options: Options, root: str | None = None) -> WindowsCollector:
        return WindowsCollector(options, system)

    monkeypatch.setattr("mmpscope.collector.session.open_collector", open_fake)
    return system


def test_what_opens_is_taken_and_the_rest_is_counted_by_reason(system: FakeWin32) -> None:
    """The kernel's own process does not count; refusals are told by what the system said, with pids."""
    everyone = Everyone(_collector(system))
    everyone.check()
    taken: list[int] = []
    list(everyone.visit(lambda target: taken.append(target.pid)))
    assert taken == [100, 112]
    assert everyone.describe_refused() == (
        "3 of 5 processes are not in it: OpenProcess failed with 5 (Access is denied): 104, 108; "
        "query_region failed with 998 (no text): 116"
    )
    assert system.handles == {}


def test_one_file_holds_one_capture_and_a_snapshot_of_each(
    system: FakeWin32, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 0; who is missing is a sentence on stderr and a row of the capture's capability table."""
    path = tmp_path / "all.mmp"
    assert main(["--all", "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{path}\n"
    assert "mmp-collect: 3 of 5 processes are not in it: " in err
    assert f"2 snapshots are in {path}." in err
    first, second = read_snapshots(path)
    assert (first.process["pid"], second.process["pid"]) == (100, 112)
    assert first.capture.moment == second.capture.moment
    [known] = [known for known in first.capture.capability if known.item == "snapshots"]
    assert (known.state, str(known.reason)[:6]) == ("partial", "3 of 5")
    assert (system.asked.count("list_processes"), system.asked.count("list_threads")) == (1, 1)


def test_a_process_that_ends_after_it_opened_is_in_a_note(
    system: FakeWin32, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The capture is written by then: the file tells it all the same, and stderr too."""
    program = system.programs[112]

    def end(address: int) -> None:
        if "query_working_set" in system.asked:  # the first snapshot is being made
            program.is_running = False

    system.on_query = end
    path = tmp_path / "all.mmp"
    assert main(["--all", "-o", str(path)]) == 0
    assert len(read_snapshots(path)) == 1
    [note] = read_notes(path)
    assert note.startswith("4 of 5 processes are not in it: ")
    assert "it ended: 112" in note
    assert note in capsys.readouterr().err


def test_where_none_opens_there_is_no_file(
    system: FakeWin32, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 3 with the reasons."""
    for program in system.programs.values():
        program.rights = 0
    assert main(["--all", "-o", str(tmp_path / "all.mmp")]) == 3
    assert "no process could be read. 5 of 5 processes" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_ctrl_c_ends_it_after_the_snapshot_in_the_making(
    system: FakeWin32, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was collected until then is kept, and the file says that it is not all."""

    def interrupt(address: int) -> None:
        if "query_working_set" in system.asked and address == 0:
            system.on_query = lambda address: None
            os.kill(os.getpid(), signal.SIGINT)

    system.on_query = interrupt
    path = tmp_path / "all.mmp"
    assert main(["--all", "-o", str(path)]) == 0
    assert [snapshot.process["pid"] for snapshot in read_snapshots(path)] == [100]
    assert "stopped by SIGINT" in read_notes(path)
    assert "stopped by SIGINT; 1 snapshot is in" in capsys.readouterr().err


def test_all_adds_to_an_earlier_file_and_may_be_light(system: FakeWin32, tmp_path: Path) -> None:
    """One file a day of a whole machine: --append and --light go with --all."""
    path = tmp_path / "day.mmp"
    assert main(["--all", "--light", "-q", "-o", str(path)]) == 0
    assert main(["--all", "--light", "-q", "--append", str(path)]) == 0
    assert [snapshot.process["pid"] for snapshot in read_snapshots(path)] == [100, 112, 100, 112]


def test_many_pids_of_one_reason_are_cut_short() -> None:
    """A sentence stays one that can be read: eight pids, and how many more."""
    everyone = Everyone(_collector(FakeWin32(*(_make(4 * number, rights=0) for number in range(100, 120)))))
    everyone.check()
    assert str(everyone.describe_refused()).endswith("400, 404, 408, 412, 416, 420, 424, 428 and 12 more")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(debug_privilege=True), "no SeDebugPrivilege on Linux. Leave --debug-privilege out"),
        (Options(heap_blocks=True), "Linux does not list the blocks of heaps. Leave --heap-blocks out"),
    ],
)
def test_options_of_windows_are_refused_on_linux(options: Options, words: str) -> None:
    """One sentence and exit 2, before anything is collected."""
    with pytest.raises(UsageError, match=words):
        open_collector(options)


def test_on_linux_a_pid_that_began_at_another_time_is_another_process() -> None:
    """The start time of the list is compared when the process is opened."""
    collector = open_collector(Options())
    [row] = [row for row in collector.list_processes() if row.pid == os.getpid()]
    assert row.starttime is not None
    collector.open_target(os.getpid(), row.starttime).close()
    with pytest.raises(CollectError, match="ended while I read the list of processes"):
        collector.open_target(os.getpid(), row.starttime + 1)
