"""Figures: a series of 1,000 snapshots in one file: its size, and what it costs to read one of them.

The process is the mapper with 2,000 mappings; between two snapshots one region in twenty changes.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Figure, Options
from benchmarks.mapper import start_mapper
from benchmarks.million import decode_regions, encode_regions, read_snapshot, vary_counters

if TYPE_CHECKING:
    from mmpscope.formats.model import Snapshot

__all__ = ["SNAPSHOTS", "make_series", "measure", "read_one", "write_series"]

SNAPSHOTS = 1_000
_MAPPINGS = 2_000
_CHANGED = 20
"""One region in so many has other counters than a snapshot before."""
_SECOND_NS = 10**9
_SEED = 9


def measure(options: Options) -> list[Figure]:
    """Compare bytes: of a snapshot with its text as gzip has it, of reading snapshot 900 with its own."""
    count = 20 if options.quick else SNAPSHOTS
    series, text = make_series(options, count)
    one = series.with_name("one.mmp")
    call_in_child(__name__, "write_series", str(series.with_name("series-base.mmp")), str(one), 1)
    wanted = count * 9 // 10
    (read, own), peak = call_in_child(__name__, "read_one", f"{series}#{wanted}")
    (_, _), peak_of_one = call_in_child(__name__, "read_one", f"{one}#0")
    gzip = len(subprocess.run(["gzip", "-6", "-c", text], stdout=subprocess.PIPE, check=True).stdout)
    size, mib = series.stat().st_size, 2**20
    return [
        Figure("series, a snapshot", size / count, "gzip -6 of its smaps", gzip, "bytes", 0.3),
        Figure(f"... to read number {wanted}", read, "bytes of the file", size, "bytes", 0.01),
        Figure(f"... to read number {wanted}", read, "bytes of that snapshot", own, "bytes"),
        Figure("... peak memory", peak / mib, "file of one snapshot", peak_of_one / mib, "MiB", 1.1),
    ]


def make_series(options: Options, count: int) -> tuple[Path, Path]:
    """Write series.mmp of ``count`` snapshots; return it and the smaps text of its first one."""
    base, series = options.folder / "series-base.mmp", options.folder / "series.mmp"
    text = options.folder / "series.smaps"
    with start_mapper(options, _MAPPINGS) as mapper:
        text.write_bytes(Path(f"/proc/{mapper.pid}/smaps").read_bytes())
        command = [find_script("mmp-collect"), str(mapper.pid), "-o", str(base), "--force", "--quiet"]
        subprocess.run(command, check=True)
    call_in_child(__name__, "write_series", str(base), str(series), count)
    return series, text


def write_series(base: str, output: str, count: int) -> None:
    """Write a series that begins with a collected snapshot, a second between two."""
    from mmpscope.formats.mmp import SnapshotWriter

    with SnapshotWriter.create(output, force=True, series=True) as writer:
        for snapshot in _change_steadily(read_snapshot(base), count):
            writer.write_snapshot(snapshot)


def _change_steadily(snapshot: Snapshot, count: int) -> Iterator[Snapshot]:
    chance, columns = random.Random(_SEED), decode_regions(snapshot)
    rows = len(columns["start"].values)
    for number in range(count):
        vary_counters(columns, chance, chance.sample(range(rows), rows // _CHANGED))
        later = {name: snapshot.moment[name] + number * _SECOND_NS for name in ("time_ns", "mono_ns")}
        tables = {**snapshot.tables, "regions": encode_regions(columns)}
        yield replace(snapshot, tables=tables, moment={**snapshot.moment, **later})


def read_one(source: str) -> tuple[int, int]:
    """Read the raw regions of one snapshot; return the bytes that were read, and those of its payload."""
    from mmpscope import analysis
    from mmpscope.formats.mmp.payloads import pack_snapshot

    analysis.load(source)[0].raw_regions.slice(0, 0)  # what is imported on the way is no part of the file
    before = _count_read()
    (snapshot,) = analysis.load(source)
    assert snapshot.raw_regions.num_rows
    return _count_read() - before, len(pack_snapshot(snapshot.raw))


def _count_read() -> int:
    """Return the bytes that this process has read by now, from the page cache or not (proc_pid_io(5))."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))
