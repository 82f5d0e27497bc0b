"""`mmp-collect --all` of very many processes, in a made /proc; `python -m benchmarks.crowd` has 100,000."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mmpscope.collector.__main__ import main
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.formats.mmp import open_file, verify
from support.collecting import read_notes, start_collect, wait_until
from support.mmp_builder import split_frames

from benchmarks.crowded_proc import make_crowded_proc

MANY = 2000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the proc root of many processes."""
    return make_crowded_proc(tmp_path_factory.mktemp("crowd"), MANY)


def _count_kinds(path: Path) -> Counter[bytes]:
    data = path.read_bytes()
    return Counter(frame[2 : 2 + (frame[1] & 31)] for frame in split_frames(data, data[7:23]))


def _collect_few_files(root: Path, output: Path) -> float:
    """Collect all with at most 24 files open, and return the peak of memory, in MiB."""
    words = f'ulimit -n 24; exec "$0" -m mmpscope.collector --all -v --proc {root} -o {output}'
    done = subprocess.run(["sh", "-c", words, sys.executable], capture_output=True, text=True, check=False)
    used = re.search(r", (\d+\.\d) MiB of memory", done.stderr)
    assert used is not None, done.stderr[-500:]
    return float(used[1])


def test_of_many_processes_the_list_is_written_once_and_little_is_kept(crowd: Path, tmp_path: Path) -> None:
    """One capture with a list of all, a snapshot of each; 24 open files and 6 MiB more will do."""
    output, few = tmp_path / "a.mmp", make_crowded_proc(tmp_path / "few", MANY // 10)
    mib = _collect_few_files(crowd, output)
    assert _count_kinds(output) == {b"mmp": 1, b"capture": 1, b"snapshot": MANY, b"index": 1, b"end": 1}
    with open_file(output) as source:
        assert source.read(0).capture.tables["processes"].rows == MANY
        assert source.read(MANY - 1).process["pid"] == 1000 + MANY - 1
    assert mib - _collect_few_files(few, tmp_path / "few.mmp") < 6


def test_what_a_process_costs_does_not_grow_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many files are opened for the hundredth as for the first, and as many bytes written."""
    opened: list[str] = []
    read, begin = ProcDir.read, ProcDir.__init__

    def count_read(self: ProcDir, name: str, size: int = -1) -> bytes:
        opened.append(name)
        return read(self, name, size)

    def count_begin(self: ProcDir, path: str, parent: ProcDir | None = None) -> None:
        opened.append(path)
        begin(self, path, parent)

    monkeypatch.setattr(ProcDir, "read", count_read)
    monkeypatch.setattr(ProcDir, "__init__", count_begin)
    counts, sizes = [], []
    for number in (20, 60, 100):
        root = make_crowded_proc(tmp_path / str(number), number)
        output = tmp_path / f"{number}.mmp"
        opened.clear()
        assert main(["--all", "-q", "--proc", str(root), "-o", str(output)]) == 0
        counts.append(len(opened))
        sizes.append(output.stat().st_size)
    assert counts[2] - counts[1] == counts[1] - counts[0] > 40
    assert (sizes[2] - sizes[1]) == pytest.approx(sizes[1] - sizes[0], rel=0.03)


def test_ctrl_c_in_the_middle_leaves_whole_snapshots(crowd: Path, tmp_path: Path) -> None:
    """Exit code 0, a file that is closed and sound, and a note that it is not all."""
    output = tmp_path / "a.mmp"
    with start_collect("--all", "--proc", crowd, "-o", output) as run:
        wait_until(output.exists)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 0, said
    assert "stopped by SIGINT" in read_notes(output)
    assert verify(output) == []
    with open_file(output) as source:
        assert 1 <= len(source.entries) < MANY
        assert f"{len(source.entries)} snapshot" in said


@pytest.mark.parametrize("name", ["open_target", "list_processes"])
def test_ctrl_c_while_they_are_looked_for_ends_at_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first snapshot there is nothing to keep: exit code 130, however many are still to come."""
    work, calls = getattr(LinuxCollector, name), []

    def interrupt(*given: object) -> object:
        calls.append(name)
        os.kill(os.getpid(), signal.SIGINT)
        return work(*given)

    monkeypatch.setattr(LinuxCollector, name, interrupt)
    root = make_crowded_proc(tmp_path, 5)
    assert main(["--all", "--proc", str(root), "-o", str(tmp_path / "a.mmp")]) == 130
    assert calls == [name]
    assert "nothing was written" in capsys.readouterr().err
    assert not (tmp_path / "a.mmp").exists()
