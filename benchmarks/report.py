"""Figures: the largest reports, of 60,000 regions and of 1,000 snapshots of 2,000: page size, peak memory.

Whether such a page is painted in time is a test in a browser (tests/browser/test_large_map.py).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.commands import call_in_child, find_script, run_command
from benchmarks.figures import Figure, Options
from benchmarks.long_series import SNAPSHOTS, make_series
from benchmarks.mapper import start_mapper

__all__ = ["measure"]

_REGIONS = 60_000
_MIB = 2**20
_MOST_MIB = 6
_PEAK_MIB = 600


def measure(options: Options) -> list[Figure]:
    """Compare with fixed limits: what a bug tracker takes as an attachment, what a laptop has to spare."""
    large = options.folder / "large.mmp"
    count = 2_000 if options.quick else _REGIONS
    call_in_child("benchmarks.million", "repeat_regions", str(_collect(options)), str(large), count)
    snapshots = 20 if options.quick else SNAPSHOTS
    series, _ = make_series(options, snapshots)
    return [
        *_report(large, f"report of {count:,} regions"),
        *_report(series, f"report of {snapshots:,} snapshots of 2,000"),
    ]


def _collect(options: Options) -> Path:
    path = options.folder / "report-mapper.mmp"
    with start_mapper(options) as mapper:
        command = [find_script("mmp-collect"), str(mapper.pid), "-o", str(path), "--force", "--quiet"]
        subprocess.run(command, check=True)
    return path


def _report(path: Path, name: str) -> list[Figure]:
    page = path.with_suffix(".html")
    cost = run_command([find_script("mmp"), "report", str(path), "-o", str(page), "--force"])
    return [
        Figure(f"{name}, page", page.stat().st_size / _MIB, "the limit", _MOST_MIB, "MiB", 1.0),
        Figure("... peak memory", cost.peak_bytes / _MIB, "the limit", _PEAK_MIB, "MiB", 1.0),
    ]
