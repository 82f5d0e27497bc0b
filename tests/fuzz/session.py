"""Fuzz all targets, or some: each for its share of the time, in a process of its own.

    python tests/fuzz/run.py --seconds 3600 --report report.md

Prints a table in Markdown; inputs that a target did not survive are kept in a folder. Exit code 1: there are
some.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from fuzz.targets import list_targets
from fuzz.watching import MOST_SECONDS
from fuzz.worker import Task
from fuzz.worker import main as work

__all__ = ["main"]

_LAUNCHER = Path(__file__).with_name("run.py")
_STARTING_S = 600  # to instrument all that is imported, at the lowest priority on a busy machine
_MOST_RESTARTS = 20


@dataclass
class Result:
    """What came of one target."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    finds: dict[str, str] = field(default_factory=dict)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line."""
    options = _parse(words)
    if options.worker:
        work(Task(*json.loads(options.worker)))
        return 0
    names = [target.name for target in list_targets() if _is_wanted(target.name, options.target)]
    if not names:
        known = ", ".join(target.name for target in list_targets())
        print(f"there is no target {' or '.join(options.target)}. There are: {known}", file=sys.stderr)
        return 2
    share = options.seconds * options.jobs / len(names)
    keep = Path(options.finds)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: _fuzz(name, share, options.engine, keep), names))
    table = "\n".join(_write_table(results, options.engine)) + "\n"
    print(table, end="")
    if options.report:
        Path(options.report).write_text(table)
    return int(any(result.finds for result in results))


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    has_atheris = importlib.util.find_spec("atheris") is not None
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="time in all, shared by the targets")
    parser.add_argument("--target", action="append", default=[], help="one target, or FORMAT for both of it")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument("--engine", choices=("atheris", "own"), default="atheris" if has_atheris else "own")
    parser.add_argument("--finds", default="fuzz-finds", help="folder for inputs that were not survived")
    parser.add_argument("--report", help="file for the table")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def _is_wanted(name: str, chosen: Sequence[str]) -> bool:
    return not chosen or name in chosen or name.partition("+")[0] in chosen


def _fuzz(name: str, seconds: float, engine: str, keep: Path) -> Result:
    """Fuzz one target; a process that an input kills is replaced, and the input is a find."""
    result = Result(name)
    for attempt in range(_MOST_RESTARTS):
        left = seconds - result.seconds
        if attempt and left < 1:
            break
        with tempfile.TemporaryDirectory() as folder:
            task = Task(name, left, engine, crc32(name.encode()) + attempt, folder)
            death = _run_worker(task)
            _gather(result, Path(folder), death, keep)
        if death is None:
            break
    return result


def _run_worker(task: Task) -> str | None:
    """Return how a worker died, None where it came to its end."""
    log = Path(task.folder, "log")
    command = [sys.executable, str(_LAUNCHER), "--worker", json.dumps(task)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            process.wait(_STARTING_S + task.seconds + 3 * MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "nothing could end it" if Path(task.folder, "current").exists() else "it did not start"
    if process.returncode == 0:
        return None
    return f"the process died with {process.returncode}"


def _gather(result: Result, folder: Path, death: str | None, keep: Path) -> None:
    """Add what a worker reports, and keep the inputs of what it found."""
    report = folder / "report.json"
    told: dict[str, Any] = {"executions": 0, "seconds": 1, "finds": []}
    if report.exists():
        told = json.loads(report.read_text())
    result.executions += told["executions"]
    result.seconds += told["seconds"]
    finds = [
        (where, trace, folder / f"find-{number}") for number, (where, trace) in enumerate(told["finds"], 1)
    ]
    if death is not None:
        finds.append((death, (folder / "log").read_text("utf-8", "replace")[-3000:], folder / "current"))
    for where, trace, path in finds:
        if where in result.finds:
            continue
        result.finds[where] = trace
        data = path.read_bytes() if path.exists() else b""
        keep.mkdir(parents=True, exist_ok=True)
        stem = f"{result.target}.{crc32(where.encode()):08x}"
        (keep / stem).write_bytes(data)
        (keep / f"{stem}.txt").write_text(f"{where}\n\n{trace}", "utf-8", "backslashreplace")
    print(f"{result.target}: {result.executions:,} executions", file=sys.stderr)


def _write_table(results: Sequence[Result], engine: str) -> Iterator[str]:
    means = "atheris" if engine == "atheris" else "our own mutations"
    yield f"Fuzzed on {time.strftime('%Y-%m-%d')} with {means}.\n"
    yield "| target | executions | seconds | a second | finds |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for each in results:
        rate = each.executions / max(each.seconds, 1)
        found = "; ".join(each.finds) or "none"
        yield f"| {each.target} | {each.executions:,} | {each.seconds:.0f} | {rate:,.0f} | {found} |"
    executions, seconds = sum(r.executions for r in results), sum(r.seconds for r in results)
    finds = sum(len(r.finds) for r in results)
    rate = executions / max(seconds, 1)
    yield f"| all {len(results)} | {executions:,} | {seconds:.0f} | {rate:,.0f} | {finds or 'none'} |"


if __name__ == "__main__":
    sys.exit(main())
