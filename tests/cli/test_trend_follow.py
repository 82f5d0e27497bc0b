"""`mmp trend --follow`: a reader beside the writer sees whole snapshots only, and ends when the file does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from mmpscope.analysis.trends.watching import count_whole, watch_file
from mmpscope.formats.mmp import SnapshotWriter
from support.collecting import run_sleeper, start_collect, wait_until
from support.mmp_command import PROGRAM, run_mmp
from support.shop import make_shop

COUNT = 6


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
    for count in watch_file(str(path), 0.0):
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


def test_what_cannot_be_followed_is_refused_at_once(tmp_path: Path) -> None:
    """Several files, none, or an output file: exit code 2 and one sentence."""
    for words in (["a.mmp", "b.mmp"], [str(tmp_path / "none.mmp")], ["-"]):
        answer = run_mmp("trend", *words, "--follow")
        assert (answer.code, answer.err.count("\n")) == (2, 1)
