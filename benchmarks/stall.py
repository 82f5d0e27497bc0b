"""How long reading a process holds it up, source by source: `python -m benchmarks.stall --resident 4096`.

No ratio against a peer, so no figure of `python -m benchmarks`: a table for docs/reliability.md. The process
measures itself (stall.c); what it waited for a lock counts, not what it waited for a processor.
"""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mmpscope.formats.mmp import open_file

from benchmarks.commands import find_script
from samples.scenario import Scenario, build_program

__all__ = ["Row", "measure_stalls", "render_rows"]

_IDLE_S = 1.0
_CALLS = ("mmap", "munmap", "fault")


@dataclass(frozen=True)
class Row:
    """One source: what reading it cost us (seconds, in all and of processor), the longest stalls in ns."""

    source: str
    wall_s: float
    processor_s: float
    stalls: tuple[int, int, int]
    note: str = ""


def measure_stalls(mappings: int, resident_mib: int, runs: int, folder: Path) -> list[Row]:
    """Measure each source ``runs`` times: medians of our times, and of the longest stalls in each run."""
    program = build_program(Path(__file__).with_name("stall.c"), folder)
    with Scenario(program, str(mappings), str(resident_mib)) as target:
        files = Path(f"/proc/{target.pid}")
        sources: dict[str, Callable[[], object]] = {"nothing": lambda: time.sleep(_IDLE_S)}
        for name in ("maps", "smaps", "smaps_rollup"):
            sources[name] = (files / name).read_bytes
        sources["small files, threads"] = lambda: _read_small(files)
        output = folder / "a.mmp"
        for options in (["--full"], ["--light"], ["--full", "--freeze"]):
            words = [find_script("mmp-collect"), str(target.pid), "-o", str(output), "-f", "-q", "--yes"]
            sources[" ".join(["mmp-collect", *options])] = lambda words=[*words, *options]: subprocess.run(
                words, check=True
            )
        rows = [_measure(name, read, target, runs) for name, read in sources.items()]
    with open_file(output) as source:
        held_ns = source.read(0).moment.get("held_ns")
    held = "it was not held" if held_ns is None else f"all threads held for {held_ns / 1e6:.1f} ms"
    return [*rows[:-1], Row(rows[-1].source, rows[-1].wall_s, rows[-1].processor_s, rows[-1].stalls, held)]


def _read_small(files: Path) -> None:
    paths = [files / name for name in ("status", "stat", "limits", "cgroup", "auxv", "cmdline")]
    for path in [*paths, *files.glob("task/*/stat"), *files.glob("task/*/syscall")]:
        with suppress(OSError):
            path.read_bytes()


def _measure(name: str, read: Callable[[], object], target: Scenario, runs: int) -> Row:
    walls, processor, stalls = [], [], []
    for _ in range(runs):
        target.step("reset")
        start, used = time.perf_counter(), _read_processor_s()
        read()
        walls.append(time.perf_counter() - start)
        processor.append(_read_processor_s() - used)
        seen = target.step("tell")
        stalls.append([seen[call] for call in _CALLS])
    first, second, third = (int(statistics.median(column)) for column in zip(*stalls, strict=True))
    return Row(name, statistics.median(walls), statistics.median(processor), (first, second, third))


def _read_processor_s() -> float:
    """Return what we and the children that have ended have used of processors."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def render_rows(rows: list[Row]) -> str:
    """Lay the rows out as a table of Markdown, times in ms."""
    heads = ("read", "took, ms", "of processor, ms", *(f"longest {call}, ms" for call in _CALLS), "")
    lines = [heads, ("---", *["---:"] * 5, "---")]
    for row in rows:
        times = (row.wall_s * 1e3, row.processor_s * 1e3, *(stall / 1e6 for stall in row.stalls))
        lines.append((row.source, *(f"{time_ms:.1f}" for time_ms in times), row.note))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    """Measure, and print the table with the command that made it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stall", description=__doc__)
    parser.add_argument("--mappings", metavar="N", type=int, default=1000, help="default 1000")
    parser.add_argument("--resident", metavar="MIB", type=int, default=1024, help="default 1024")
    parser.add_argument("--runs", metavar="N", type=int, default=5, help="default 5")
    given = parser.parse_args()
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if given.mappings > limit - 100:
        print(
            f"vm.max_map_count is {limit}: sysctl vm.max_map_count={given.mappings + 1000}", file=sys.stderr
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="mmp-stall-") as folder:
        rows = measure_stalls(given.mappings, given.resident, given.runs, Path(folder))
    command = f"{parser.prog} --mappings {given.mappings} --resident {given.resident} --runs {given.runs}"
    print(f"`{command}` on Linux {platform.release().split('-')[0]}:\n\n{render_rows(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
