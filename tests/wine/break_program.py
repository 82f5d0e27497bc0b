"""Runs on Windows: the collector on a series, and SIGBREAK once it has taken its first snapshots.

Arguments: the collector, then its own, the output last. The signal is raised within, since the C library of
Wine hands on no Ctrl-Break from a console.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from mmpscope.collector.__main__ import main

assert sys.platform == "win32"  # for mypy too, which passes over the rest elsewhere


def press_break(path: Path) -> None:
    """Wait for the first snapshot, and a little."""
    while not path.exists():
        time.sleep(0.05)
    time.sleep(0.5)
    signal.raise_signal(signal.SIGBREAK)


threading.Thread(target=press_break, args=(Path(sys.argv[-1]),), daemon=True).start()
sys.exit(main(sys.argv[2:]))
