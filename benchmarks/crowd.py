"""What `mmp-collect --all` costs where very many processes run: `python -m benchmarks.crowd`.

They are made (benchmarks/crowded_proc.py): it is the collector's own work for each that is measured, without
that of a kernel. A table for docs/reliability.md: what one costs should not depend on how many there are.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mmpscope.formats.mmp import open_file

from benchmarks.commands import find_script, run_command
from benchmarks.crowded_proc import make_crowded_proc

__all__ = ["Row", "measure_crowd", "render_row"]

_FEW_FILES = 'ulimit -n 24; exec "$0" "$@"'
_KIB, _MIB = 1 << 10, 1 << 20
_HEAD = """\
| processes | of processor, s | ms each | most memory, MiB | file, MiB | KiB each |
| ---: | ---: | ---: | ---: | ---: | ---: |"""


@dataclass(frozen=True)
class Row:
    """One run: seconds of processor, most memory in bytes, and bytes of the file."""

    processes: int
    processor_s: float
    peak_bytes: int
    file_bytes: int


def measure_crowd(processes: int, regions: int, folder: Path, options: list[str]) -> Row:
    """Collect so many made processes with at most 24 files open; ValueError where one is not in the file."""
    root, output = make_crowded_proc(folder, processes, regions), folder / "a.mmp"
    collect = [find_script("mmp-collect"), "--all", "-q", *options, "--proc", str(root), "-o", str(output)]
    cost = run_command(["sh", "-c", _FEW_FILES, *collect])
    with open_file(output) as source:
        if len(source.entries) != processes:
            raise ValueError(f"{len(source.entries)} of {processes} processes are in the file")
    return Row(processes, cost.processor_s, cost.peak_bytes, output.stat().st_size)


def render_row(row: Row) -> str:
    """Lay a row out for a table of Markdown."""
    each_ms, each_kib = row.processor_s * 1e3 / row.processes, row.file_bytes / _KIB / row.processes
    return (
        f"| {row.processes:,} | {row.processor_s:.1f} | {each_ms:.2f} | {row.peak_bytes / _MIB:.1f} "
        f"| {row.file_bytes / _MIB:.1f} | {each_kib:.2f} |"
    )


def main() -> int:
    """Measure a hundredth, a tenth and all of the processes, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__)
    parser.add_argument("--processes", metavar="N", type=int, default=100_000, help="default 100000")
    parser.add_argument("--regions", metavar="N", type=int, default=3, help="of each; default 3")
    parser.add_argument("--light", action="store_true", help="without counters, threads and modules")
    given = parser.parse_args()
    print(_HEAD)
    for divisor in (100, 10, 1):
        with tempfile.TemporaryDirectory(prefix="mmp-crowd-") as folder:
            options = ["--light"] if given.light else []
            row = measure_crowd(given.processes // divisor, given.regions, Path(folder), options)
        print(render_row(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
