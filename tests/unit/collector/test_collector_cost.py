"""What a reading costs is told before it: estimates, a budget that leaves sources out, and a question."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest
from mmpscope.collector.__main__ import main
from mmpscope.collector.base import Options, open_collector
from mmpscope.collector.cost import Cost, add_costs
from mmpscope.collector.errors import UsageError
from mmpscope.collector.linux import cost
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.cost import Budget, estimate_cost
from mmpscope.collector.speech import ask
from mmpscope.formats.model import Snapshot
from support.collecting import read_snapshots
from support.fakeproc import FakeProc, FakeProcess


@pytest.fixture
def dear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProc:
    """Give a process of three mappings, on a machine where the counters of each take 1000 s."""
    monkeypatch.setattr(cost, "_SMAPS_S", 1000.0)
    proc = FakeProc(tmp_path / "proc")
    proc.add(FakeProcess())
    return proc


def _take(proc: FakeProc, options: Options) -> Snapshot:
    collector = LinuxCollector(options, str(proc.path))
    return collector.open_target(4711).take_snapshot(collector.take_capture([]))


def test_an_estimate_counts_mappings_memory_and_the_largest_mapping() -> None:
    """Two walks of 2 GiB, eight and one microseconds a mapping; a stall is the walk of the largest."""
    maps = b"1000-40001000 rw-p 00000000 00:00 0\n50000000-50001000 r--p 00000000 08:01 7 /a b-c d\n"
    known = estimate_cost(maps, b"Name:\tx\nVmRSS:\t 1048576 kB\nVmSwap:\t 1048576 kB\nThreads:\t10\n")
    assert (known.mappings, known.resident) == (2, 2 << 30)
    assert known.smaps_s == pytest.approx(0.07 + 16e-6)
    assert known.rollup_s == pytest.approx(0.07 + 2e-6)
    assert known.stall_s == pytest.approx(0.035)  # 1 GiB of the two is in one mapping at most
    assert known.threads_s == pytest.approx(600e-6)
    assert "2 mappings with 2.0 GiB in memory takes about 0.1 s" in known.describe()
    assert "wait up to 35 ms" in known.describe()


def test_a_sum_of_costs_has_the_longest_wait_not_their_sum() -> None:
    """Processes are read one after the other: times add up, but no process waits for another one."""
    costs = [Cost(10, 1 << 30, 1.0, 0.5, 0.25, 0.030), Cost(20, 3 << 30, 2.0, 1.5, 0.5, 0.070)]
    known = add_costs(costs)
    assert known == Cost(30, 4 << 30, 3.0, 2.0, 0.75, 0.070, 2)
    assert known.describe() == (
        "reading the counters of 30 mappings of 2 processes with 4.0 GiB in memory takes about 5.0 s, in "
        "which mmap and munmap of each of them may wait up to 70 ms"
    )


def test_no_budget_refuses_nothing_and_a_spent_one_all() -> None:
    """What fits into what is left is read; the reason has what was expected, left and granted."""
    assert Budget(None).refuse(1e9) is None
    assert Budget(100.0).refuse(1.0) is None
    reason = Budget(0.001).refuse(2.5)
    assert reason is not None
    assert reason.startswith("about 2.5 s were expected of it, and 0.00")
    assert reason.endswith("s of the budget of 0.001 s were left")


def test_a_budget_leaves_out_what_does_not_fit_and_says_so(dear: FakeProc) -> None:
    """smaps would take 3000 s and is skipped; the cheap sources are read, and the map is whole."""
    snapshot = _take(dear, Options(full=True, budget_s=600.0))
    known = {item.item: item for item in snapshot.capability}
    assert known["smaps"].state == "skipped"
    assert str(known["smaps"].reason).startswith("about 3000 s were expected of it, and ")
    assert (known["maps"].state, known["threads"].state) == ("ok", "ok")
    assert snapshot.tables["regions"].rows == 3


def test_a_budget_that_is_large_enough_changes_nothing(tmp_path: Path) -> None:
    """Every source is read as without one."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess())
    calm, limited = (_take(proc, Options(budget_s=limit_s)) for limit_s in (None, 1e6))
    assert calm.capability == limited.capability
    assert {item.state for item in limited.capability if item.item in ("smaps", "threads", "modules")} <= {
        "ok",
        "partial",
    }


def test_what_is_dear_needs_a_yes(
    dear: FakeProc, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nobody to ask it is refused with the ways out, and --yes goes on with the estimate told."""
    monkeypatch.setattr("sys.stdin", None)
    output = tmp_path / "a.mmp"
    words = ["4711", "--proc", str(dear.path), "-o", str(output)]
    assert main([*words, "--full"]) == 2
    said = capfd.readouterr().err
    assert "reading the counters of 3 mappings" in said
    assert "--yes goes on, --light leaves them out" in said
    assert not output.exists()
    assert main([*words, "--full", "--yes"]) == 0
    assert "reading the counters of 3 mappings" in capfd.readouterr().err
    assert len(read_snapshots(output)) == 1
    assert main([*words, "--force", "--max-regions", "2"]) == 0  # a light one, which asks nothing
    assert "3 mappings are more than 2; --full reads" in capfd.readouterr().err


def test_what_takes_long_is_told_and_to_hold_so_long_is_asked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A usual look goes on with its estimate told; --freeze, which stops the process for it, needs a yes."""
    monkeypatch.setattr("mmpscope.collector.session._MUCH_S", -1.0)
    monkeypatch.setattr("sys.stdin", None)
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess())
    words = ["4711", "--proc", str(proc.path), "--force", "-o", str(tmp_path / "a.mmp")]
    assert main(words) == 0
    assert "may wait up to" in capfd.readouterr().err
    for calm in (["--light"], ["--budget", "1h"], ["--max-regions", "2"], ["--quiet"]):
        assert main([*words, *calm]) == 0
        assert "may wait up to" not in capfd.readouterr().err
    assert main([*words, "--freeze"]) == 2
    said = capfd.readouterr().err
    assert "and is held still meanwhile" in said
    assert "--yes goes on" in said


def test_all_processes_are_added_up_before_it_is_asked(
    dear: FakeProc, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--all --full` tells one sum, of those that open; a no leaves no file, a yes or a budget goes on."""
    dear.add(FakeProcess(pid=4712))
    dear.add(FakeProcess(pid=4713))
    (dear.path / "4713" / "maps").unlink()
    output = tmp_path / "a.mmp"
    words = ["--all", "--proc", str(dear.path), "-o", str(output)]
    monkeypatch.setattr("sys.stdin", None)
    assert main([*words, "--full"]) == 2
    said = capfd.readouterr().err
    assert "all processes: reading the counters of 6 mappings of 2 processes with 0.0 GiB" in said
    assert "takes about 6000.0 s" in said
    assert "--yes goes on, --light leaves them out" in said
    asked: list[str] = []

    def refuse(prog: str, question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("mmpscope.collector.session.ask", refuse)
    assert main([*words, "--full"]) == 130
    assert [text.endswith("--light leaves them out. Go on? [y/N] ") for text in asked] == [True]
    assert not output.exists()
    assert main([*words, "--full", "--yes"]) == 0
    assert "of 2 processes" in capfd.readouterr().err
    assert len(read_snapshots(output)) == 2
    for calm in (["--force"], ["--force", "--full", "--budget", "1h"]):  # what asks nothing
        assert main([*words, *calm]) == 0
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("typed", "is_yes"), [(b"y\n", True), (b"YES\n", True), (b"\n", False), (b"n\n", False)]
)
def test_a_terminal_is_asked(typed: bytes, is_yes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a yes is a yes, and the question stands on stderr."""
    control, terminal = pty.openpty()
    with os.fdopen(terminal) as given, os.fdopen(os.dup(terminal), "w") as told:
        monkeypatch.setattr("sys.stdin", given)
        monkeypatch.setattr("sys.stderr", told)
        os.write(control, typed)
        assert ask("mmp", "Go on? ") is is_yes
        seen = b""
        while b"mmp: Go on? " not in seen:  # the terminal echoes what was typed, too
            seen += os.read(control, 100)
    os.close(control)


def test_windows_refuses_what_it_cannot_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a budget nor a hold is promised where there is none."""
    monkeypatch.setattr("sys.platform", "win32")
    for options in (Options(freeze=True), Options(budget_s=1.0)):
        with pytest.raises(UsageError, match="Leave --"):
            open_collector(options)
