"""Runs the one-file collector under Wine as a customer would on Windows, and programs to look at."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot
from support.wine import WinePython, to_windows

__all__ = ["PROGRAMS", "Target", "WineCollector", "make_once", "run_target"]

PROGRAMS = Path(__file__).parents[1] / "wine"


class WineCollector:
    """The collector in one Windows Python; paths among the arguments are made those of Windows."""

    def __init__(self, python: WinePython, pyz: Path) -> None:
        self.python = python
        self._pyz = pyz

    def rename(self, name: str) -> WineCollector:
        """Give the same collector in a Python of another name."""
        return WineCollector(self.python.rename(name), self._pyz)

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return self.python.run(*self._translate(arguments))

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        """Start it."""
        return self.python.start(*self._translate(arguments))

    def run_program(self, program: str | Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run a program, by name one beside the tests; it finds the collector in its first argument."""
        path, pyz = to_windows(PROGRAMS / program), to_windows(self._pyz)
        return self.python.run(path, pyz, *map(_translate, arguments))

    def collect(self, path: Path, *arguments: object) -> LoadedSnapshot:
        """Collect one snapshot and load it; CalledProcessError where the collector says no."""
        done = self.run(*arguments, "-f", "-o", path)
        if done.returncode or done.stderr:
            raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
        [snapshot] = analysis.load(path)
        return snapshot

    def _translate(self, arguments: tuple[object, ...]) -> list[str]:
        return [to_windows(self._pyz), *map(_translate, arguments)]


def _translate(argument: object) -> str:
    return to_windows(argument) if isinstance(argument, Path) else str(argument)


class Target:
    """A running target_program.py; ``facts`` is what it said of itself."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.facts: dict[str, Any] = self._ask("facts")
        self.pid: int = self.facts["pid"]

    def walk(self) -> set[tuple[int, ...]]:
        """Have it tell its own map; rows are those of VirtualQuery, without free ranges."""
        return {tuple(row) for row in self._ask("map")}

    def _ask(self, question: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n".encode())
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def run_target(python: WinePython) -> Iterator[Target]:
    """Run a target, and end it afterwards."""
    with python.start(to_windows(PROGRAMS / "target_program.py"), has_input=True) as process:
        try:
            yield Target(process)
        finally:
            process.kill()


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Fill a folder in one of pytest's worker processes; the others wait for it and read the same one."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, is_full = base / name, base / f"{name}.full"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_full.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            is_full.touch()
    return folder
