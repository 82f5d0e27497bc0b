"""What the collector itself has used: processor, memory, and room on the disk."""

from __future__ import annotations

import re
import time
from pathlib import Path

__all__ = ["describe_usage"]

_PEAK = re.compile(r"^VmHWM:\s*(\d+) kB", re.MULTILINE)


def describe_usage(path: str) -> str:
    """Say what this process has used so far, and how large its file is; memory where the system tells it."""
    words = [f"used {time.process_time():.2f} s of processor"]
    try:
        peak = _PEAK.search(Path("/proc/self/status").read_text())
    except OSError:  # not on Linux
        peak = None
    if peak is not None:
        words.append(f"{int(peak[1]) / 1024:.1f} MiB of memory")
    return f"{', '.join(words)}; {path} has {Path(path).stat().st_size} bytes"
