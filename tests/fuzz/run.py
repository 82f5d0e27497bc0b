"""Starts the fuzzer: `python tests/fuzz/run.py --seconds 3600 --report report.md`, or `--help`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])
runpy.run_module("fuzz.session", run_name="__main__")
