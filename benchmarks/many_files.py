"""Makes the many files of the compare and dataset figures: real captures, varied, written by our own writer.

Deterministic by seed. One file in ``_TWINS`` has regions that no other has; the rest differ in who, where and
when they are alone, as reading a file costs the same whether or not another one has the same regions.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchmarks.commands import ROOT, call_in_child
from benchmarks.figures import Options

if TYPE_CHECKING:
    from mmpscope.formats.mmp.columns import Plain
    from mmpscope.formats.model import Fact, Facts, Snapshot, Table

__all__ = ["FILES", "REGIONS", "count_files", "make_many", "vary_samples", "write_many"]

FILES = 10_000
REGIONS = 500
_BASES = ("linux-java-v1.0.mmp", "linux-python-v1.0.mmp", "linux-arenas-v1.0.mmp")
_TWINS = 50
_HOSTS = 40
_COPIES_AT = 0x10_0000_0000
"""Where copies of unnamed memory are put: below everything that Linux maps by itself."""
_PAGE = 4096
_RESIDENTS = ("Rss", "Pss", "Pss_Dirty", "Private_Dirty", "Referenced", "Anonymous")
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
        call_in_child(__name__, "write_many", str(folder), count)
    return folder


def write_many(folder: str, count: int) -> None:
    """Write ``count`` files of one snapshot of about ``REGIONS`` regions each."""
    from mmpscope.formats.mmp import write_file

    for number, snapshot in enumerate(vary_samples(count)):
        write_file(Path(folder, f"{number:06d}.mmp"), [snapshot])


def vary_samples(count: int, regions: int = REGIONS) -> Iterator[Snapshot]:
    """Yield ``count`` snapshots of about ``regions`` regions each, made from the samples in turn."""
    chance = random.Random(_SEED)
    bases = [_read_sample(name) for name in _BASES]
    recent: dict[int, Snapshot] = {}
    for number in range(count):
        kind = number % len(bases)
        if number % _TWINS < len(bases):
            recent[kind] = _vary_regions(bases[kind], regions, chance)
        yield _vary_identity(recent[kind], number, chance)


def _read_sample(name: str) -> Snapshot:
    from mmpscope.formats.mmp import open_file

    with open_file(ROOT / "samples" / name) as file:
        return file.read(len(file.entries) - 1)


def _vary_regions(base: Snapshot, regions: int, chance: random.Random) -> Snapshot:
    """Move the unnamed memory of a snapshot in copies to free addresses, and vary what is resident."""
    from mmpscope.formats.mmp import decode_table, encode_table
    from mmpscope.formats.mmp.columns import Plain

    stored = base.tables["regions"]
    columns = {name: list(values) for name, values in decode_table(stored).items()}
    _add_copies(columns, regions, chance)
    _vary_residents(columns, chance)
    order = sorted(range(len(columns["start"])), key=columns["start"].__getitem__)
    plain: dict[str, Plain] = {
        name: Plain(stored.columns[name].type, [values[row] for row in order], stored.columns[name].text)
        for name, values in columns.items()
    }
    plain["size"] = plain["size"]._replace(len_of="start")
    tables: Mapping[str, Table] = {**base.tables, "regions": encode_table(plain, len(order))}
    return replace(base, tables=tables)


def _add_copies(columns: dict[str, list[Fact]], regions: int, chance: random.Random) -> None:
    unnamed = [row for row, path in enumerate(columns["path"]) if path is None]
    at = _COPIES_AT
    for number in range(max(0, regions - len(columns["start"]))):
        row = unnamed[number % len(unnamed)]
        at += chance.randrange(1, 256) * _PAGE
        for name, values in columns.items():
            values.append(at if name == "start" else values[row])
        at += cast("int", columns["size"][row])


def _vary_residents(columns: dict[str, list[Fact]], chance: random.Random) -> None:
    """Take some private dirty pages off each region that has them, in every counter that counts them."""
    for row, private in enumerate(cast("list[int]", columns["Private_Dirty"])):
        if private and private == columns["Anonymous"][row] == columns["Pss_Dirty"][row]:
            less = chance.randrange(private // _PAGE + 1) * _PAGE
            for name in _RESIDENTS:
                columns[name][row] -= min(less, columns[name][row])


def _vary_identity(base: Snapshot, number: int, chance: random.Random) -> Snapshot:
    """Give a snapshot a process, a host and a moment of its own."""
    host = f"host-{number % _HOSTS:02d}"
    pid, time_ns = 1000 + number, base.moment["time_ns"] + chance.randrange(_HOUR_NS)
    known: Facts = {"id": _digest(host), "hostname": host, "boot_id": _digest(f"boot of {host}")}
    capture = replace(base.capture, host={**base.capture.host, **known})
    stat = {**base.process["stat"], "starttime": 10_000 + number}
    return replace(
        base,
        capture=capture,
        process={**base.process, "pid": pid, "stat": stat},
        moment={**base.moment, "time_ns": time_ns},
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
