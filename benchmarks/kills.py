"""What `kill -9` costs at random moments: `python -m benchmarks.kills --count 500`.

A series must keep every snapshot that it said it had written; a convert must leave its file whole or not at
all. Exit code 1 where one does not. Each attempt is a fork of this process, so that it is killed at work and
not while Python starts.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from mmpscope.collector.__main__ import main as collect
from mmpscope.formats.mmp import SnapshotWriter, copy_file, open_file, verify

__all__ = ["Outcome", "kill_converts", "kill_series", "main"]

_LATEST_S = 0.4
_SNAPSHOTS, _TIMES = 20, 2
"""A convert takes a series of so many snapshots so many times."""


@dataclass
class Outcome:
    """``kills`` attempts; ``complete`` snapshots or files that they had made, of which so many were lost.

    ``early`` attempts had nothing yet, ``torn`` left an unfinished frame behind; ``salvaged`` of these were
    repaired to a file without a fault. ``leftovers`` are temporary files, which nobody could take away.
    """

    kills: int = 0
    complete: int = 0
    lost: int = 0
    early: int = 0
    torn: int = 0
    salvaged: int = 0
    leftovers: int = 0


def _run_and_kill(call: Callable[[], object], after_s: float) -> str:
    """Call in a fork, kill that after a while, and return what it wrote to stderr."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            call()
        finally:
            os._exit(0)
    os.close(writer)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    with os.fdopen(reader) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


def kill_series(folder: Path, count: int) -> Outcome:
    """Kill a series of a sleeping process so many times; compare what it said with what is there."""
    moments, outcome = random.Random(9), Outcome(kills=count)
    _make_series(folder)  # what it imports, each fork would have to
    with subprocess.Popen(["sleep", "100000"]) as sleeper:
        for attempt in range(count):
            path = folder / f"{attempt}.mmp"
            words = [str(sleeper.pid), "-f", "-o", str(path), "--interval", "0.001", "-v", "--no-processes"]
            said = _run_and_kill(lambda words=words: collect(words), moments.uniform(0, _LATEST_S))
            _judge_series(path, said.count("regions, read in"), outcome)
        sleeper.kill()
    outcome.leftovers = sum(1 for _ in folder.glob(".mmpscope-*"))
    return outcome


def _judge_series(path: Path, written: int, outcome: Outcome) -> None:
    outcome.complete += written
    if not path.exists():
        outcome.early += 1
        outcome.lost += written
        return
    with open_file(path, partial=True) as source:
        outcome.lost += max(0, written - len(source.entries))
        if source.faults:
            outcome.torn += 1
            good = path.with_suffix(".good.mmp")
            copy_file(path, good, partial=True)
            with open_file(good) as repaired:
                is_whole = len(repaired.entries) == len(source.entries) and not verify(good)
            outcome.salvaged += is_whole
            good.unlink()
    path.unlink()


def kill_converts(folder: Path, count: int) -> Outcome:
    """Kill a convert of a small series so many times; its file has all snapshots or is not there."""
    from mmpscope.analysis.__main__ import main as run_mmp

    moments, outcome = random.Random(9), Outcome(kills=count)
    source = _make_series(folder)
    begin = _convert(run_mmp, source, folder / "first.mmp")
    start = time.monotonic()
    begin()
    latest_s = 1.5 * (time.monotonic() - start)
    for attempt in range(count):
        path = folder / f"{attempt}.mmp"
        _run_and_kill(_convert(run_mmp, source, path), moments.uniform(0, latest_s))
        if not path.exists():
            outcome.early += 1
            continue
        outcome.complete += 1
        with open_file(path) as made:
            outcome.lost += len(made.entries) != _TIMES * _SNAPSHOTS or bool(verify(path))
        path.unlink()
    outcome.leftovers = sum(1 for _ in folder.glob(".mmpscope-*"))
    return outcome


def _convert(run_mmp: Callable[[], int], source: Path, path: Path) -> Callable[[], int]:
    def call() -> int:
        sys.argv = ["mmp", "convert", *[str(source)] * _TIMES, "-o", str(path), "--json"]
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # noqa: PTH123  # a device
            return run_mmp()

    return call


def _make_series(folder: Path) -> Path:
    one, path = folder / "one.mmp", folder / "series.mmp"
    collect(["--self", "-q", "-o", str(one)])
    with open_file(one) as source, SnapshotWriter.create(path) as writer:
        for _ in range(_SNAPSHOTS):
            writer.write_snapshot(source.read(0))
    return path


def main() -> int:
    """Print a line for each kind; 1 where something complete was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--count", metavar="N", type=int, default=500, help="kills of each kind; default 500")
    parser.add_argument("--only", choices=("series", "convert"), help="only this kind")
    given = parser.parse_args()
    lost = 0
    for name, kill in (("series", kill_series), ("convert", kill_converts)):
        if given.only in (None, name):
            with tempfile.TemporaryDirectory(prefix="mmp-kills-") as folder:
                outcome = kill(Path(folder), given.count)
            print(f"{name}: {' '.join(f'{key}={value}' for key, value in vars(outcome).items())}")
            lost += outcome.lost + outcome.torn - outcome.salvaged
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
