"""Builds the scenario programs and drives one: a line in, the answer out, blocked in read in between.

Used by make_samples.py, the step-by-step tests and the benchmarks; it collects and judges nothing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType

__all__ = ["PROGRAMS", "Answer", "Scenario", "build_program"]

PROGRAMS = Path(__file__).resolve().parent / "programs"
_COMPILE = ("gcc", "-O1", "-Wall", "-Wextra", "-pthread", "-Wl,-z,now")
# -z now: a function's first call would otherwise write its address into the program's data, in mid-step.

Answer = tuple[str, dict[str, int]]
"""The words of a line, and its KEY=VALUE pairs: ("done reserve", {"address": ..., "size": ...})."""


def build_program(source: Path, folder: Path) -> Path:
    """Compile one C file into folder; warnings go to stderr, CalledProcessError where it fails."""
    program = folder / source.stem
    subprocess.run([*_COMPILE, "-o", str(program), str(source)], check=True)
    return program


def _parse_answer(line: str) -> Answer:
    words = line.split()
    pairs = dict(word.split("=", 1) for word in words if "=" in word)
    return " ".join(word for word in words if "=" not in word), {
        key: int(value, 0) for key, value in pairs.items()
    }


class Scenario:
    """A running scenario program; ``answers`` holds what it said before it was ready, ``pid`` its process."""

    def __init__(self, *command: str | Path, cwd: Path | None = None) -> None:
        self._process = subprocess.Popen(
            [str(part) for part in command], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.answers: list[Answer] = []
        while not self.answers or self.answers[-1][0] != "ready":
            self.answers.append(self._read_answer())
        self.pid = self.answers[-1][1]["pid"]

    def _read_answer(self) -> Answer:
        assert self._process.stdout is not None
        words, pairs = _parse_answer(self._process.stdout.readline())
        if not words or words.startswith("failed"):
            self.close()
            raise RuntimeError(f"the scenario program ended: {words or 'no answer'}")
        return words, pairs

    def step(self, command: str = "") -> dict[str, int]:
        """Send one line, wait for the answer and for the program to block in read again, return its pairs."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        _, pairs = self._read_answer()
        self._wait_blocked()
        return pairs

    def _wait_blocked(self) -> None:
        # The answer is written before the program sleeps again. What it still does on the way changes no
        # page, but a snapshot should show it asleep; that takes microseconds.
        stat = Path(f"/proc/{self.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] == "R":
            continue

    def close(self) -> Answer | None:
        """End the program and return its last word, None where it said nothing more."""
        self._process.kill()
        said, _ = self._process.communicate()
        lines = said.splitlines()
        return _parse_answer(lines[-1]) if lines else None

    def __enter__(self) -> Scenario:
        """Return the running program."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program."""
        self.close()
