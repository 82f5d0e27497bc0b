"""Figure: collecting one process of 33,000 mappings, against reading its smaps and against other tools."""

from __future__ import annotations

import importlib.util
import shutil
import sys

from benchmarks.commands import find_script, measure_commands
from benchmarks.figures import Figure, Options
from benchmarks.mapper import start_mapper

__all__ = ["measure"]

_PEAK_MIB = 120
_PSUTIL = "import sys, psutil; psutil.Process(int(sys.argv[1])).memory_maps(grouped=False)"


def _make_commands(pid: int, options: Options) -> dict[str, list[str]]:
    output = str(options.folder / "collected.mmp")
    commands = {
        "mmp-collect": [find_script("mmp-collect"), str(pid), "-o", output, "--force", "--quiet"],
        "cat smaps": ["cat", f"/proc/{pid}/smaps"],
    }
    if importlib.util.find_spec("psutil"):
        commands["psutil memory_maps"] = [sys.executable, "-c", _PSUTIL, str(pid)]
    if shutil.which("pmap"):
        commands["pmap -XX"] = ["pmap", "-XX", str(pid)]
    return commands


def measure(options: Options) -> list[Figure]:
    """Compare whole processes, wall time; the peers' own ratios to ``cat`` are given for scale."""
    with start_mapper(options) as mapper:
        costs = measure_commands(_make_commands(mapper.pid, options), options.runs)
    ours, cat = costs.pop("mmp-collect"), costs.pop("cat smaps")
    peak_mib = ours.peak_bytes / 2**20
    return [
        Figure("mmp-collect, wall", ours.wall_s, "cat smaps", cat.wall_s, "s", 4.0),
        *(Figure(f"{name}, wall", cost.wall_s, "cat smaps", cat.wall_s, "s") for name, cost in costs.items()),
        Figure("mmp-collect, peak memory", peak_mib, "the limit", _PEAK_MIB, "MiB", 1.0),
    ]
