"""Makes the many files of the compare and dataset figures: real captures, varied, written by our own writer.

The captures are of Python with libraries that are installed here anyway. Variation is deterministic by seed.
One file in ``_TWINS`` has regions that no other has; the rest differ in who, where and when they are alone,
as reading a file costs the same whether or not another one has the same regions.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Options
from benchmarks.million import decode_columns, encode_regions, read_snapshot, vary_counters

if TYPE_CHECKING:
    from mmpscope.formats.mmp.columns import Plain
    from mmpscope.formats.model import Facts, Snapshot

__all__ = ["FILES", "count_files", "make_many", "vary_captures", "write_many"]

FILES = 10_000
_PROGRAMS = {
    "pandas": "import pandas; print(flush=True); input()",
    "pyarrow": "import pyarrow.parquet; print(flush=True); input()",
}
"""Of some 650 and 310 mappings: 500 on average."""
_TWINS = 50
_HOSTS = 40
_MOVED_FROM, _MOVED_TO = 0x7000_0000_0000, 0x8000_0000_0000
"""What Linux puts where it likes on x86_64: libraries, stacks, unnamed memory; it is moved down together."""
_MOST_PAGES = 1 << 20
_PAGE = 4096
_RESIDENTS = ("Rss", "Pss", "Pss_Dirty", "Private_Dirty", "Referenced", "Anonymous")
_ADDRESSES = {"regions": ("start",), "modules": ("base", "low", "high"), "threads": ("sp", "ip")}
_SEED = 6
_HOUR_NS = 3600 * 10**9


def count_files(options: Options) -> int:
    """Return how many files the figures are about: 10,000, or 100 for a quick run."""
    return 100 if options.quick else FILES


def make_many(options: Options, count: int) -> Path:
    """Write ``count`` files into a folder of that many, unless it is there, and return the folder."""
    folder = options.folder / f"many-{count}"
    if not folder.is_dir():
        folder.mkdir()
        captures = [_collect(options, name) for name in _PROGRAMS]
        call_in_child(__name__, "write_many", str(folder), count, *map(str, captures))
    return folder


def _collect(options: Options, name: str) -> Path:
    """Collect a Python program that waits, unless that was done before."""
    output = options.folder / f"{name}.mmp"
    if not output.exists():
        command = [sys.executable, "-c", _PROGRAMS[name]]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            collect = [find_script("mmp-collect"), str(process.pid), "-o", str(output), "--quiet"]
            subprocess.run(collect, check=True)
            process.kill()
    return output


def write_many(folder: str, count: int, *captures: str) -> None:
    """Write ``count`` files of one snapshot each."""
    from mmpscope.formats.mmp import write_file

    for number, snapshot in enumerate(vary_captures(captures, count)):
        write_file(Path(folder, f"{number:06d}.mmp"), [snapshot])


def vary_captures(captures: Sequence[str], count: int) -> Iterator[Snapshot]:
    """Yield ``count`` snapshots made from captures in turn."""
    chance = random.Random(_SEED)
    bases = [read_snapshot(path) for path in captures]
    recent = dict(enumerate(bases))
    for number in range(count):
        kind = number % len(bases)
        if number % _TWINS < len(bases):
            recent[kind] = _vary_memory(bases[kind], chance)
        yield _vary_identity(recent[kind], (number, Path(captures[kind]).stem), chance)


def _vary_memory(base: Snapshot, chance: random.Random) -> Snapshot:
    """Move a process to other addresses, and take some of what is resident off it."""
    from mmpscope.formats.mmp import encode_table

    distance = chance.randrange(_MOST_PAGES) * _PAGE
    tables = dict(base.tables)
    for name, moved in _ADDRESSES.items():
        columns = decode_columns(base.tables[name])
        for column in moved:
            columns[column] = columns[column]._replace(
                values=[_move(value, distance) for value in columns[column].values]
            )
        if name == "regions":
            _vary_residents(columns, chance)
            tables[name] = encode_regions(columns)
        else:
            tables[name] = encode_table(columns, base.tables[name].rows)
    return replace(base, tables=tables)


def _move(address: int | None, distance: int) -> int | None:
    if address is None or not _MOVED_FROM <= address < _MOVED_TO:
        return address
    return address - distance


def _vary_residents(columns: dict[str, Plain], chance: random.Random) -> None:
    values = columns["Private_Dirty"].values
    vary_counters(columns, chance, [row for row, private in enumerate(values) if private])


def _vary_identity(base: Snapshot, who: tuple[int, str], chance: random.Random) -> Snapshot:
    """Give a snapshot a process, a host and a moment of its own; ``who`` are its number and its program."""
    number, name = who
    host = f"host-{number % _HOSTS:02d}"
    pid, time_ns = 1000 + number, base.moment["time_ns"] + chance.randrange(_HOUR_NS)
    known: Facts = {"id": _digest(host), "hostname": host, "boot_id": _digest(f"boot of {host}")}
    capture = replace(base.capture, host={**base.capture.host, **known})
    stat = {**base.process["stat"], "starttime": 10_000 + number}
    return replace(
        base,
        capture=capture,
        process={**base.process, "pid": pid, "name": name, "exe": f"/srv/bin/{name}", "stat": stat},
        moment={**base.moment, "time_ns": time_ns},
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
