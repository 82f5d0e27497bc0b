"""Processes that do not hold still, and what the kernel says of their threads."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.collecting import wait_until

from samples.scenario import Scenario, build_program

__all__ = [
    "count_threads",
    "end_at_once",
    "is_free",
    "read_states",
    "start_churn",
    "start_vforked",
    "start_waiting",
]

_PROGRAMS = Path(__file__).with_name("programs")
_TRACER = re.compile(r"^TracerPid:\s*(\d+)", re.MULTILINE)


def start_churn(folder: Path, threads: int = 2) -> Scenario:
    """Start a process whose threads map, unmap, begin and end at full speed; one without them only counts."""
    return Scenario(build_program(_PROGRAMS / "churn.c", folder), str(threads))


def start_vforked(folder: Path) -> Scenario:
    """Start a process that waits in the kernel, uninterruptible, until its input is closed."""
    started = Scenario(build_program(_PROGRAMS / "vforked.c", folder))
    wait_until(lambda: read_states(started.pid) == {"D"})
    return started


def start_waiting(folder: Path) -> Scenario:
    """Start a process with a thread in each of some calls that wait."""
    started = Scenario(build_program(_PROGRAMS / "waiting.c", folder))
    wait_until(lambda: count_threads(started.pid) == 6 and read_states(started.pid) == {"S"})
    return started


def read_states(pid: int) -> set[str]:
    """Return the states of all threads, as in `t`; those that end meanwhile are left out."""
    found = set()
    for path in Path(f"/proc/{pid}/task").iterdir():
        try:
            found.add((path / "stat").read_text().rpartition(")")[2].split()[0])
        except OSError:
            continue
    return found


def count_threads(pid: int) -> int:
    """Return how many threads there are."""
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


def is_free(pid: int) -> bool:
    """Whether nobody traces any thread, and none stands still for it."""
    for path in Path(f"/proc/{pid}/task").iterdir():
        try:
            tracer = _TRACER.search((path / "status").read_text())
        except OSError:
            continue
        if tracer is None or tracer[1] != "0":
            return False
    return "t" not in read_states(pid)


def end_at_once(process: subprocess.Popen[str]) -> None:
    """End a process as `kill -9` does, and wait until it is gone."""
    process.kill()
    process.communicate(timeout=30)
