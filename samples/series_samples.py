"""Makes the samples that are series of a running process: `make_samples.py` calls this within its namespaces.

They are packed, since what a process is and where it runs is the same in each of its snapshots.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

from samples.scenario import Scenario

__all__ = ["SERIES", "collect_series"]

SAMPLES = Path(__file__).resolve().parent
SERIES = {
    "linux-rounds-leak-v1.0.mmp.gz": ("./rounds", "leak", "20"),
    "linux-rounds-fixed-v1.0.mmp.gz": ("./rounds", "fixed", "20"),
    "linux-warm-up-v1.0.mmp.gz": ("java", "-XX:+UseSerialGC", "-Xmx32m", "-cp", ".", "WarmUp"),
}
"""The command of each, from the folder of the programs."""

_INTERVAL, _COUNT = "500ms", "60"


def collect_series(demo: Path) -> None:
    """Collect each program for half a minute; CalledProcessError where that fails."""
    for name, command in SERIES.items():
        plain = demo / "series.mmp"
        with Scenario(*command, cwd=demo) as scenario:
            collector = [sys.executable, "-m", "mmpscope.collector", str(scenario.pid), "--quiet"]
            options = ["--interval", _INTERVAL, "--count", _COUNT, "--force", "-o", str(plain)]
            subprocess.run([*collector, *options], check=True, stdin=subprocess.DEVNULL)
        (SAMPLES / name).write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        plain.unlink()
