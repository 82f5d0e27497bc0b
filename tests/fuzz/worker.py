"""One process that fuzzes one target for some seconds, with atheris or with our own mutations.

It reports through a folder: `report.json` after every few inputs, one file of each find, and `current`, the
input at hand, for the case that the process itself does not survive it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzz.mutation import TOKENS, Mutator
from fuzz.watching import limit_memory, try_input

if TYPE_CHECKING:
    from fuzz.targets import Target

__all__ = ["Task", "main"]

_REPORT_EVERY = 0.5
_NICENESS = 10
_LONGEST_INPUT = 1 << 16


class Task(NamedTuple):
    """What a worker is asked for: ``seed`` of its random choices, ``engine`` is atheris or own."""

    target: str
    seconds: float
    engine: str
    seed: int
    folder: str


def main(task: Task) -> None:
    """Fuzz until the time is over, and leave at once."""
    os.nice(max(0, _NICENESS - os.nice(0)))
    warnings.simplefilter("error")  # as tests do
    target = _find_target(task)
    session = _Session(target, task)
    with limit_memory(target.memory):
        if task.engine == "atheris":
            _run_atheris(session, target, task)
        else:
            _run_own(session, target, task)


def _find_target(task: Task) -> Target:
    """Import everything, which atheris instruments while it is imported, and pick the target."""
    if task.engine == "atheris":
        atheris = _import_atheris()
        with atheris.instrument_imports(include=["mmpscope"]):
            _import_all("mmpscope.formats")
            if "+" in task.target:
                _import_all("mmpscope.analysis")
    from fuzz.targets import list_targets

    if task.target.endswith("+analysis") or task.target.startswith("commands"):
        importlib.import_module("pandas")  # pyarrow does with the first value: no input's time or memory
    return next(target for target in list_targets() if target.name == task.target)


def _import_atheris() -> Any:
    """Import what only this needs; it ships no types."""
    return importlib.import_module("atheris")


def _import_all(package: str) -> None:
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


class _Session:
    """Counts, keeps one input of each kind of find, and ends the process when the time is over."""

    def __init__(self, target: Target, task: Task) -> None:
        self._target = target
        self._folder = Path(task.folder)
        self._current = os.open(self._folder / "current", os.O_RDWR | os.O_CREAT)
        self._started = time.monotonic()
        self._end = self._started + task.seconds
        self._next_report = 0.0
        self._executions = 0
        self._finds: dict[str, str] = {}

    def run(self, data: bytes) -> None:
        """Try one input."""
        os.ftruncate(self._current, 0)
        os.pwrite(self._current, data, 0)
        find = try_input(self._target.run, data)
        self._executions += 1
        if find is not None and find.where not in self._finds:
            self._finds[find.where] = find.told
            (self._folder / f"find-{len(self._finds)}").write_bytes(find.data)
        now = time.monotonic()
        if now >= self._next_report:
            self._report(now)
        if now >= self._end:
            self._report(now)
            os._exit(0)  # the loop of atheris knows no other end

    def _report(self, now: float) -> None:
        self._next_report = now + _REPORT_EVERY
        report = {
            "executions": self._executions,
            "seconds": now - self._started,
            "finds": [[where, told] for where, told in self._finds.items()],
        }
        draft = self._folder / "draft"
        draft.write_text(json.dumps(report))
        draft.replace(self._folder / "report.json")


def _run_own(session: _Session, target: Target, task: Task) -> None:
    seeds = target.seeds()
    for data in seeds:
        session.run(data)
    mutator = Mutator(seeds, Random(task.seed))
    while True:
        session.run(mutator.make())


def _run_atheris(session: _Session, target: Target, task: Task) -> None:
    atheris = _import_atheris()
    folder = Path(task.folder, "seeds")
    folder.mkdir()
    for number, data in enumerate(target.seeds()):
        (folder / str(number)).write_bytes(data[:_LONGEST_INPUT])
    words = Path(task.folder, "words")
    words.write_text("".join(f'"{_escape(token)}"\n' for token in TOKENS))
    options = [
        f"-seed={task.seed + 1}",
        f"-dict={words}",
        f"-max_len={_LONGEST_INPUT}",
        "-len_control=0",
        "-verbosity=0",
    ]
    # Time and memory are watched by us; libFuzzer would end at the first find. Its clock is that of the wall,
    # and atheris takes 0 for a second: a busy machine would be a find.
    options += ["-timeout=86400", "-rss_limit_mb=0", "-detect_leaks=0", "-print_final_stats=0"]
    consume: Callable[[bytes], None] = session.run
    atheris.Setup([sys.argv[0], *options, str(folder)], consume)
    atheris.Fuzz()


def _escape(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)
