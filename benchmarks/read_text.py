"""Figures: reading 100 MB of smaps text, against splitting its lines; and refusing a line of 100 MB."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Figure, Options
from benchmarks.mapper import start_mapper

__all__ = ["measure"]

_REGIONS = 135_000
"""As many as take 100 MB, a little over 750 bytes each."""
_LINE_BYTES = 100_000_000
_MIB = 1 << 20
_MEMORY_LIMIT = 512 * _MIB


def measure(options: Options) -> list[Figure]:
    """Compare calls within one process, wall time, and peak memory of processes of their own."""
    text, line = options.folder / "large.smaps", options.folder / "line.smaps"
    _make_text(options, text)
    times, _ = call_in_child(__name__, "time_reading", str(text), options.runs)
    _, peak = call_in_child(__name__, "read_once", str(text))
    _, least = call_in_child(__name__, "split_once", str(text))
    call_in_child(__name__, "write_line", str(line), _MIB if options.quick else _LINE_BYTES)
    refusal, refusing = call_in_child(__name__, "time_refusal", str(line))
    size = f"{text.stat().st_size / 1e6:.0f} MB of smaps"
    text.unlink()
    line.unlink()
    return [
        Figure(f"open {size}", times["open"], "split its lines", times["split"], "s", 4.0),
        Figure("... and encode its table", times["read"], "split its lines", times["split"], "s"),
        Figure("... peak memory", peak / _MIB, "split its lines", least / _MIB, "MiB"),
        Figure("refuse a line of 100 MB", refusal, "split 100 MB of lines", times["split"], "s", 4.0),
        Figure("refuse a line, peak memory", refusing / _MIB, "the limit", _MEMORY_LIMIT / _MIB, "MiB", 1.0),
    ]


def _make_text(options: Options, output: Path) -> None:
    """Collect the mapper, and write its regions, repeated at other addresses, as its kernel prints them."""
    collected, repeated = options.folder / "mapper.mmp", options.folder / "large.mmp"
    with start_mapper(options) as mapper:
        command = [find_script("mmp-collect"), str(mapper.pid), "-o", str(collected), "--force", "--quiet"]
        subprocess.run(command, check=True)
    count = 2_000 if options.quick else _REGIONS
    call_in_child("benchmarks.million", "repeat_regions", str(collected), str(repeated), count)
    call_in_child(__name__, "write_text", str(repeated), str(output))
    repeated.unlink()


def write_text(snapshot: str, output: str) -> None:
    """Write the very text that regions were read from."""
    from mmpscope.formats.proc.smaps import render_smaps
    from mmpscope.formats.registry import open_source

    source = open_source(snapshot)
    Path(output).write_bytes(render_smaps(source.read(0).tables["regions"]))
    source.close()


def write_line(output: str, size: int) -> None:
    """Write a map line, and a line that does not end."""
    line = b"00400000-00401000 r-xp 00000000 00:00 0 \n"
    Path(output).write_bytes(line + b"x" * size)


def split_once(path: str) -> int:
    """Split a text into its lines; return how many there are."""
    return len(Path(path).read_bytes().splitlines())


def read_once(path: str) -> int:
    """Open a text and read its snapshot; return the number of regions."""
    from mmpscope.formats.registry import open_source

    return open_source(path).read(0).tables["regions"].rows


def open_once(path: str) -> int:
    """Open a text, which parses it; return the number of snapshots."""
    from mmpscope.formats.registry import open_source

    return len(open_source(path).entries)


def time_reading(path: str, runs: int) -> dict[str, float]:
    """Return median seconds of splitting lines, of opening, and of opening and encoding the table."""
    calls: dict[str, Callable[[str], int]] = {"split": split_once, "open": open_once, "read": read_once}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call(path)
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[1:]) for name, each in taken.items()}


def time_refusal(path: str) -> float:
    """Return the seconds until a text with an endless line is refused."""
    from mmpscope.formats.errors import LimitError
    from mmpscope.formats.registry import open_source

    start = time.perf_counter()
    try:
        open_source(path)
    except LimitError:
        return time.perf_counter() - start
    raise AssertionError("a line of 100 MB was not refused")
