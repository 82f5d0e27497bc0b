"""Figure: how long a command takes before it does anything, against importing what it is built on."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.commands import ROOT, find_script, measure_commands
from benchmarks.figures import Figure, Options

__all__ = ["measure"]


def _find_small_sample() -> Path:
    samples = sorted((ROOT / "samples").glob("*.mmp"), key=lambda path: (path.stat().st_size, path.name))
    return samples[0]


def measure(options: Options) -> list[Figure]:
    """Compare whole processes, wall time."""
    costs = measure_commands(
        {
            "mmp --help": [find_script("mmp"), "--help"],
            "import typer": [sys.executable, "-c", "import typer"],
            "mmp summary": [find_script("mmp"), "summary", str(_find_small_sample())],
            "import pyarrow.compute, typer, rich": [
                sys.executable,
                "-c",
                "import pyarrow.compute, typer, rich",
            ],
        },
        options.runs if options.quick else 3 * options.runs,
    )
    pairs = (("mmp --help", "import typer"), ("mmp summary", "import pyarrow.compute, typer, rich"))
    return [Figure(ours, costs[ours].wall_s, peer, costs[peer].wall_s, "s", 1.5) for ours, peer in pairs]
