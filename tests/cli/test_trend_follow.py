"""`mmp trend --follow`: a reader beside the writer sees whole snapshots only, and ends when the file does."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.analysis.trends import watching
from mmpscope.analysis.trends.watching import count_whole, watch_file
from mmpscope.formats.mmp import SnapshotWriter
from mmpscope.formats.mmp.lock import is_locked, is_remote
from support.collecting import run_sleeper, start_collect, wait_until
from support.mmp_command import PROGRAM, run_mmp
from support.shop import make_shop

COUNT = 6


def _refuse_to_hear(sentence: str) -> None:
    raise AssertionError(sentence)


class _Clock:
    """A time that passes only while somebody sleeps, who may do something ``meanwhile``."""

    def __init__(self, meanwhile: Callable[[float], None]) -> None:
        self.now = 0.0
        self._meanwhile = meanwhile

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._meanwhile(self.now)


def test_a_file_cut_anywhere_has_its_whole_snapshots_or_is_not_ready(tmp_path: Path) -> None:
    """An unfinished frame is no damage and no snapshot: never more than were whole, and no fault."""
    path, sizes = tmp_path / "a.mmp", []
    [first, *_] = make_shop()
    with SnapshotWriter.create(path, series=True) as writer:
        for _ in range(3):
            writer.write_snapshot(first)
            sizes.append(writer.frames.output.size)
    data = path.read_bytes()
    assert count_whole(str(path)) == (3, True)
    ready = 0
    for cut in [*range(sizes[0], len(data), 101), *sizes]:
        path.write_bytes(data[:cut])
        found = count_whole(str(path))
        if found is not None:
            ready += 1
            assert found == (sum(size <= cut for size in sizes), False)
    assert ready >= 3


def test_a_watched_file_yields_each_growth_and_ends_with_it(tmp_path: Path) -> None:
    """What is appended between two looks is seen at the next one; the end frame is the end."""
    path, seen = tmp_path / "a.mmp", []
    [first, *_] = make_shop()
    writer = SnapshotWriter.create(path, series=True)
    writer.write_snapshot(first)
    for count in watch_file(str(path), 0.0, _refuse_to_hear):
        seen.append(count)
        if count < 4:
            writer.write_snapshot(first)
        else:
            writer.close()
    assert seen == [1, 2, 3, 4]


def test_a_series_is_followed_to_its_end(tmp_path: Path) -> None:
    """Beside a collector that writes, no answer has fewer snapshots than the one before, the last one all.

    What is written while an answer is being made is in it already, and the next may have as many.
    """
    output = tmp_path / "run.mmp"
    with run_sleeper() as sleeper:
        series = start_collect(sleeper.pid, "-o", output, "--interval", "0.5", "--count", COUNT)
        wait_until(output.exists)
        command = [str(PROGRAM), "trend", str(output), "--follow", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        series.communicate(timeout=60)
    assert (done.returncode in (0, 4), done.stderr) == (True, "")
    decoder, text, counts = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        answer, end = decoder.raw_decode(text)
        counts.append(answer["series"][0]["snapshots"])
        text = text[end:].strip()
    assert counts == sorted(counts)
    assert counts[-1] == COUNT


def test_a_writer_that_rests_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its lock for minutes without a snapshot: nothing is said, and the next snapshot is seen."""
    path = tmp_path / "a.mmp"
    [first, *_] = make_shop()
    writer = SnapshotWriter.create(path, series=True)
    writer.write_snapshot(first)

    def go_on(now: float) -> None:
        if now > 300 and not writer.frames.contents.closed:
            writer.write_snapshot(first)
            writer.close()

    monkeypatch.setattr(watching, "time", _Clock(go_on))
    assert list(watch_file(str(path), 0.0, _refuse_to_hear)) == [1, 2]


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_writer_that_is_gone_is_told_once(
    is_torn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has the lock of an unfinished file: that ends it; a torn snapshot is shown to who reads it."""
    path = tmp_path / "a.mmp"
    [first, *_] = make_shop()
    writer = SnapshotWriter.create(path, series=True)
    writer.write_snapshot(first)
    size = writer.frames.output.size
    writer.write_snapshot(first)
    writer.frames.output.close()  # as `kill -9` would
    said: list[str] = []
    seen = []
    monkeypatch.setattr(watching, "time", _Clock(lambda now: None))
    for count in watch_file(str(path), 0.0, said.append):
        seen.append(count)
        if is_torn and len(seen) == 1:
            path.write_bytes(path.read_bytes()[: size + 100])
    assert seen == ([2, watching.TORN] if is_torn else [2])
    assert said == [f"{path}: its writer is gone, and has not finished it"]


def test_a_file_that_was_closed_at_the_last_moment_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer wrote its last snapshot and let go between our look and our question: both are seen."""
    path = tmp_path / "a.mmp"
    [first, *_] = make_shop()
    writer = SnapshotWriter.create(path, series=True)
    writer.write_snapshot(first)

    def let_go(path: str) -> bool:
        writer.write_snapshot(first)
        writer.close()
        return is_locked(path) is True

    monkeypatch.setattr(watching, "is_locked", let_go)
    monkeypatch.setattr(watching, "time", _Clock(lambda now: None))
    assert list(watch_file(str(path), 0.0, _refuse_to_hear)) == [1, 2]


def test_where_locks_say_nothing_the_silence_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 10, 20, 40 seconds, and anew after the next snapshot; the end frame ends it as ever."""
    path = tmp_path / "a.mmp"
    [first, *_] = make_shop()
    writer = SnapshotWriter.create(path, series=True)
    writer.write_snapshot(first)
    said: list[str] = []

    def go_on(now: float) -> None:
        if now > 50 and len(writer.frames.contents.snapshots) == 1:
            writer.write_snapshot(first)
        if now > 65:
            writer.close()

    monkeypatch.setattr(watching, "is_locked", lambda path: None)
    monkeypatch.setattr(watching, "time", _Clock(go_on))
    assert list(watch_file(str(path), 0.0, said.append)) == [1, 2]
    words = r".*written for (\d+) s, and whether somebody still writes cannot be told .* Ctrl-C ends this"
    times = [int(re.sub(words, r"\1", text)) for text in said]
    assert times == pytest.approx([10, 20, 40, 10], abs=2.5)  # it is looked at every other second


def test_a_series_whose_collector_is_killed_ends(tmp_path: Path) -> None:
    """One warning that the writer is gone, and the exit code of the last answer; no Ctrl-C is needed."""
    output = tmp_path / "run.mmp"
    with run_sleeper() as sleeper:
        series = start_collect(sleeper.pid, "-o", output, "--interval", "1h")
        wait_until(output.exists)
        series.kill()
        series.communicate(timeout=60)
        answer = run_mmp("trend", output, "--follow", "--json")
    assert (answer.code, json.loads(answer.out)["series"][0]["snapshots"]) == (4, 1)
    assert answer.err == f"mmp: warning: {output}: its writer is gone, and has not finished it\n"
    output.write_bytes(output.read_bytes()[:-1])
    answer = run_mmp("trend", output, "--follow")
    assert (answer.code, answer.out) == (3, "")
    assert "its writer is gone" in answer.err.splitlines()[0]
    assert "unfinished" in answer.err.splitlines()[1]


def test_a_lock_tells_whether_there_is_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held, free; and unknown where it cannot be asked for, or where another machine may have it."""
    path, mounts = tmp_path / "a.mmp", tmp_path / "mounts"
    [first, *_] = make_shop()
    with SnapshotWriter.create(path, series=True) as writer:
        writer.write_snapshot(first)
        assert is_locked(path) is True
        assert is_locked(path) is True
    assert is_locked(path) is False
    mounts.write_text(
        "24 1 0:45 / / rw,relatime shared:1 - overlay overlay rw\n"
        "31 24 0:51 / /home rw - nfs4 10.0.0.1:/home rw,vers=4.2\n"
        "32 24 0:52 / /mnt/a\\040b rw - fuse.sshfs me@there:/ rw\n"
        "33 24 8:1 / /mnt/usb rw - fuseblk /dev/sda1 rw\n"
    )
    devices = [os.makedev(*numbers) for numbers in ((0, 45), (0, 51), (0, 52), (8, 1), (9, 9))]
    assert [is_remote(device, str(mounts)) for device in devices] == [False, True, True, False, False]
    monkeypatch.setattr("mmpscope.formats.mmp.lock.is_remote", lambda device: True)
    assert is_locked(path) is None

    def refuse(descriptor: int, **how: bool) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("mmpscope.formats.mmp.lock.lock", refuse)
    assert is_locked(path) is None


def test_what_cannot_be_followed_is_refused_at_once(tmp_path: Path) -> None:
    """Several files, none, or an output file: exit code 2 and one sentence."""
    for words in (["a.mmp", "b.mmp"], [str(tmp_path / "none.mmp")], ["-"]):
        answer = run_mmp("trend", *words, "--follow")
        assert (answer.code, answer.err.count("\n")) == (2, 1)
