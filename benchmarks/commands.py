"""Runs whole commands for their wall time and peak memory, taking turns, so that noise hits all alike."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Cost", "call_in_child", "find_script", "measure_commands", "measure_tree", "run_command"]

_LOOK_S = 0.25

ROOT = Path(__file__).resolve().parent.parent


_PARENT = """\
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
wall_s, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, wall_s, usage.ru_maxrss, usage.ru_utime + usage.ru_stime]))
"""


@dataclass(frozen=True)
class Cost:
    """Wall time and, where asked for, time of processors in seconds; peak resident memory in bytes."""

    wall_s: float
    peak_bytes: int
    processor_s: float = 0.0


def find_script(name: str) -> str:
    """Return the path of an installed script of this interpreter's environment."""
    return str(Path(sys.executable).with_name(name))


def run_command(command: list[str]) -> Cost:
    """Run one command with its output thrown away; CalledProcessError where it fails.

    A small parent starts it, and looks at the clock: the peak of a program begins with that of who started it
    (Linux carries ru_maxrss across exec), and whoever calls this may have held much.

    Byte code may be kept even where the environment forbids it: else Python would compile our modules, which
    lie in a checkout, anew in each run, but not those of our peers, which pip has compiled.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    parent = [sys.executable, "-ISc", _PARENT, *command]
    done = subprocess.run(parent, stdout=subprocess.PIPE, cwd=ROOT, env=environment, check=True)
    code, wall_s, peak_kib, processor_s = json.loads(done.stdout)
    if code != 0:
        raise subprocess.CalledProcessError(code, command)
    return Cost(wall_s, peak_kib * 1024, processor_s)


def measure_tree(command: list[str]) -> Cost:
    """Run one command with its output thrown away, and add up the memory of all its processes, by PSS.

    Pages that they share, as those of libraries, count once in all (proc_pid_smaps(5)). It is looked at four
    times a second. CalledProcessError where the command fails.
    """
    start, peak, used = time.perf_counter(), 0, _read_processor_s()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=ROOT, start_new_session=True
    )
    while True:
        try:
            code = process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            peak = max(peak, _sum_session(process.pid))
        else:
            break
    if code != 0:
        raise subprocess.CalledProcessError(code, command)
    return Cost(time.perf_counter() - start, peak, _read_processor_s() - used)


def _read_processor_s() -> float:
    """Return what all children that have ended, and theirs, have used of processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _sum_session(session: int) -> int:
    """Add up the PSS of the processes of a session (proc_pid_stat(5): session)."""
    kib = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                rollup = path.with_name("smaps_rollup").read_text().splitlines()
                kib += next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    return kib * 1024


def measure_commands(commands: dict[str, list[str]], runs: int) -> dict[str, Cost]:
    """Run each command once to warm up, then ``runs`` times in turn; return median time and largest peak."""
    for command in commands.values():
        run_command(command)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            costs[name].append(run_command(command))
    return {
        name: Cost(statistics.median(c.wall_s for c in each), max(c.peak_bytes for c in each))
        for name, each in costs.items()
    }


_CHILD = """\
import importlib, json, sys
module, function, arguments = json.loads(sys.argv[1])
answer = getattr(importlib.import_module(module), function)(*arguments)
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([answer, peak]))
"""


def call_in_child(module: str, function: str, *arguments: str | int) -> tuple[Any, int]:
    """Call a function in a fresh interpreter; return its answer (as JSON carries it) and peak memory."""
    call = json.dumps([module, function, arguments])
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, call], stdout=subprocess.PIPE, cwd=ROOT, check=True, text=True
    )
    answer, peak = json.loads(done.stdout)
    return answer, int(peak)
