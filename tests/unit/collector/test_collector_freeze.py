"""`--freeze`: all threads stand still while they are read, and run on as they were, whatever we do."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.errors import UsageError
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.freeze import Freeze
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import NotApplicableError
from mmpscope.collector.request import parse_request
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Snapshot
from support.collecting import collect, read_snapshots, run_sleeper, start_collect, wait_until
from support.fakeproc import FakeProc, FakeProcess
from support.restless import (
    count_threads,
    end_at_once,
    is_free,
    read_states,
    start_churn,
    start_vforked,
    start_waiting,
)

from samples.scenario import Scenario

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="the programs are compiled, and there is no gcc"),
]

_HOLDER = """\
import sys
from mmpscope.collector.linux.freeze import Freeze
from mmpscope.collector.linux.procfs import ProcDir
with Freeze(ProcDir("/proc/" + sys.argv[1]), int(sys.argv[1]), 60.0):
    print("held", flush=True)
    sys.stdin.read()
"""


def _freeze(pid: int, limit_s: float = 10.0) -> Freeze:
    return Freeze(ProcDir(f"/proc/{pid}"), pid, limit_s)


def _hold_from_outside(pid: int) -> subprocess.Popen[str]:
    """Start another process that holds ``pid``, and return when it does."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def _take(pid: int, options: Options) -> tuple[Snapshot, list[str]]:
    collector = LinuxCollector(options)
    target = collector.open_target(pid)
    try:
        return target.take_snapshot(collector.take_capture([])), target.notices
    finally:
        target.close()


def _find(snapshot: Snapshot, item: str) -> tuple[str, int | None, str | None]:
    [known] = [known for known in snapshot.capability if known.item == item]
    return known.state, known.code, known.reason


def test_every_thread_stands_still_and_runs_on(tmp_path: Path) -> None:
    """Threads that begin while the others are stopped are caught too; afterwards nobody traces them."""
    with start_churn(tmp_path) as churn:
        for _ in range(10):
            with _freeze(churn.pid) as freeze:
                assert read_states(churn.pid) == {"t"}
                before = count_threads(churn.pid), Path(f"/proc/{churn.pid}/maps").read_bytes()
                time.sleep(0.01)
                assert (count_threads(churn.pid), Path(f"/proc/{churn.pid}/maps").read_bytes()) == before
            assert freeze.held_ns >= 10_000_000
            assert not freeze.has_expired
            assert is_free(churn.pid)
        done = churn.step()
        wait_for_more = done["rounds"], done["started"]
        wait_until(lambda: _is_beyond(churn, wait_for_more))


def _is_beyond(churn: Scenario, before: tuple[int, int]) -> bool:
    done = churn.step()
    return done["rounds"] > before[0] and done["started"] > before[1]


def _sum_column(snapshot: Snapshot, name: str) -> int:
    return sum(value or 0 for value in decode_table(snapshot.tables["regions"])[name])


def test_a_held_process_is_one_moment(tmp_path: Path) -> None:
    """The map never moves, and the counters of its parts add up to the kernel's totals to the byte."""
    with start_churn(tmp_path) as churn:
        for _ in range(10):
            snapshot, notices = _take(churn.pid, Options(freeze=True))
            assert (notices, _find(snapshot, "freeze")[0]) == ([], "ok")
            assert snapshot.moment["map_moved"] is False
            assert 0 < snapshot.moment["held_ns"] <= snapshot.moment["read_ns"]
            assert _sum_column(snapshot, "Rss") == snapshot.process["smaps_rollup"]["Rss"]
            threads = decode_table(snapshot.tables["threads"])
            assert set(threads["state"]) == {b"t"}
            assert all(pointer is not None for pointer in threads["sp"])


def test_a_restless_process_that_is_not_held_is_flagged_and_never_counted_twice(tmp_path: Path) -> None:
    """Nothing crashes, regions are in order and apart, figures stay within their region, moves are told."""
    with start_churn(tmp_path, threads=4) as churn:
        moved = 0
        for _ in range(30):
            snapshot, _ = _take(churn.pid, Options())
            moved += snapshot.moment["map_moved"]
            regions = decode_table(snapshot.tables["regions"])
            spans = [
                (start, start + size) for start, size in zip(regions["start"], regions["size"], strict=True)
            ]
            assert all(one[1] <= two[0] for one, two in pairwise(spans))
            for name in ("Rss", "Anonymous", "Private_Dirty"):
                assert all(
                    0 <= value <= size
                    for value, size in zip(regions[name], regions["size"], strict=True)
                    if value is not None
                )
        assert moved > 0


def test_kill_9_of_the_holder_frees_the_process(tmp_path: Path) -> None:
    """The kernel lets go of every thread, and the process works on."""
    with start_churn(tmp_path) as churn:
        for _ in range(5):
            holder = _hold_from_outside(churn.pid)
            assert read_states(churn.pid) == {"t"}
            end_at_once(holder)
            wait_until(lambda: is_free(churn.pid))
        done = churn.step()
        wait_until(lambda: _is_beyond(churn, (done["rounds"], done["started"])))


def test_no_signal_is_lost_even_by_kill_9(tmp_path: Path) -> None:
    """A signal that is on its way when the process is held arrives when it is let go: all are counted."""
    moments, sent = random.Random(4), 0
    with start_churn(tmp_path, threads=0) as churn:
        for attempt in range(12):
            for _ in range(moments.randrange(1, 60)):
                os.kill(churn.pid, signal.SIGRTMIN)
                sent += 1
            if attempt % 3 == 0:
                holder = _hold_from_outside(churn.pid)
                os.kill(churn.pid, signal.SIGRTMIN)
                end_at_once(holder)
            else:
                with _freeze(churn.pid):
                    os.kill(churn.pid, signal.SIGRTMIN)
            sent += 1
        wait_until(lambda: churn.step()["signals"] >= sent)
        assert churn.step()["signals"] == sent


def test_a_stopped_process_stays_stopped(tmp_path: Path) -> None:
    """SIGSTOP before, or while it is held, has its effect afterwards; SIGCONT ends it."""
    with start_churn(tmp_path) as churn:
        os.kill(churn.pid, signal.SIGSTOP)
        wait_until(lambda: read_states(churn.pid) == {"T"})
        with _freeze(churn.pid):
            assert read_states(churn.pid) == {"t"}
        wait_until(lambda: read_states(churn.pid) == {"T"})
        os.kill(churn.pid, signal.SIGCONT)
        wait_until(lambda: "T" not in read_states(churn.pid))
        with _freeze(churn.pid):
            os.kill(churn.pid, signal.SIGSTOP)
        wait_until(lambda: read_states(churn.pid) == {"T"})
        os.kill(churn.pid, signal.SIGCONT)
        done = churn.step()
        wait_until(lambda: _is_beyond(churn, (done["rounds"], done["started"])))


def test_a_hold_interrupts_the_same_calls_as_sigstop(tmp_path: Path) -> None:
    """signal(7) lists calls that fail with EINTR after a stop without any handler; others go on waiting."""
    with start_waiting(tmp_path) as waiting:
        with _freeze(waiting.pid):
            pass
        seen = waiting.step()
    assert [seen[call] for call in ("epoll_wait", "sigtimedwait", "poll", "nanosleep")] == [4, 4, 0, 0]
    assert seen["semtimedop"] == 4  # EINTR


def test_the_limit_ends_it_whatever_we_do(tmp_path: Path) -> None:
    """A reading that takes too long goes on with a process that runs."""
    with start_churn(tmp_path) as churn, _freeze(churn.pid, 0.2) as freeze:
        wait_until(lambda: is_free(churn.pid))
    assert freeze.has_expired
    assert freeze.held_ns >= 200_000_000


def test_a_snapshot_beyond_the_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The capability is partial with the limit in its reason, and the user hears of it."""
    read = ProcDir.read

    def read_slowly(self: ProcDir, name: str, size: int = -1) -> bytes:
        if name == "smaps":
            time.sleep(0.5)
        return read(self, name, size)

    monkeypatch.setattr(ProcDir, "read", read_slowly)
    with run_sleeper() as sleeper:
        snapshot, [notice] = _take(sleeper.pid, Options(freeze=True, freeze_limit_s=0.2))
    text = "it was let go after 0.2 s, before all was read: it may have changed"
    assert _find(snapshot, "freeze") == ("partial", None, text)
    assert notice == f"process {sleeper.pid}: it was not held to the end: {text}"


def test_one_that_cannot_stop_is_let_go_whole(tmp_path: Path) -> None:
    """A thread in an uninterruptible wait is named in the reason, and the snapshot is taken all the same."""
    with start_vforked(tmp_path) as waiting:
        snapshot, [notice] = _take(waiting.pid, Options(freeze=True, freeze_limit_s=0.3))
        wait_until(lambda: is_free(waiting.pid))
    state, _, reason = _find(snapshot, "freeze")
    assert (state, reason) == (
        "unavailable",
        f"thread {waiting.pid} did not stop: the kernel is at work for it",
    )
    assert notice.startswith(f"process {waiting.pid}: it was not held, and ran on while it was read")
    assert snapshot.tables["regions"].rows > 3
    assert "held_ns" not in snapshot.moment


def test_one_that_is_traced_names_its_tracer() -> None:
    """Only one may trace: whose debugger it is stands in the reason, and the debugger keeps it."""
    with run_sleeper() as sleeper:
        holder = _hold_from_outside(sleeper.pid)
        snapshot, _ = _take(sleeper.pid, Options(freeze=True))
        assert read_states(sleeper.pid) == {"t"}
        end_at_once(holder)
    reason = f"it is traced by process {holder.pid}, and only one can"
    assert _find(snapshot, "freeze") == ("unavailable", 1, reason)


def test_we_do_not_hold_ourselves_or_a_stranger(tmp_path: Path) -> None:
    """Our own process cannot be held, and the pids of another proc root are not those that we could hold."""
    with pytest.raises(NotApplicableError, match="cannot hold itself"), _freeze(os.getpid()):
        pass
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess())
    collector = LinuxCollector(Options(freeze=True), str(proc.path))
    snapshot = collector.open_target(4711).take_snapshot(collector.take_capture())
    reason = "its proc root has other pids than our own system calls"
    assert _find(snapshot, "freeze") == ("not applicable", None, reason)
    with pytest.raises(UsageError, match="cannot hold itself"):
        parse_request(["--self", "--freeze"], "mmp-collect")


def test_ctrl_z_waits_until_the_process_is_let_go() -> None:
    """A collector that is stopped could not let go: SIGTSTP is held back while it holds, and not after."""
    with run_sleeper() as sleeper:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        with _freeze(sleeper.pid):
            assert signal.SIGTSTP in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_kill_9_of_a_series_that_holds_leaves_the_process_running(tmp_path: Path) -> None:
    """Killed at any moment, before, in or after a hold, the command leaves nobody stopped or traced."""
    moments = random.Random(5)
    with start_churn(tmp_path) as churn:
        for attempt in range(6):
            output = tmp_path / f"{attempt}.mmp"
            series = start_collect(churn.pid, "-o", output, "--freeze", "--interval", "0.001")
            wait_until(output.exists)
            time.sleep(moments.uniform(0, 0.2))
            end_at_once(series)
            wait_until(lambda: is_free(churn.pid))
            assert {_find(one, "freeze")[0] for one in read_snapshots(output, partial=True)} == {"ok"}
        done = churn.step()
        wait_until(lambda: _is_beyond(churn, (done["rounds"], done["started"])))


def test_a_program_that_we_started_may_be_held(tmp_path: Path) -> None:
    """A child that the kernel stops for us is not taken for one that has ended."""
    output = tmp_path / "a.mmp"
    run = collect("--freeze", "--interval", "0.01", "-o", output, "--", "sleep", "1")
    assert run.returncode == 0, run.stderr
    assert "ended with exit code 0" in run.stderr
    snapshots = read_snapshots(output)
    assert len(snapshots) > 3
    assert {_find(one, "freeze")[0] for one in snapshots} == {"ok"}
