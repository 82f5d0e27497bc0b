"""Makes the large inputs of the load and diff figures: real regions, moved, their counters varied.

The regions are those of the mapper, as collected; each repetition moves them up and takes some pages off what
is resident, so that counter blocks stay consistent and yet differ. Runs in its own child: it needs memory.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchmarks.commands import call_in_child, find_script
from benchmarks.figures import Options
from benchmarks.mapper import start_mapper

if TYPE_CHECKING:
    from mmpscope.formats.mmp.columns import Plain
    from mmpscope.formats.model import Snapshot, Table

__all__ = [
    "REGIONS",
    "decode_columns",
    "decode_regions",
    "encode_regions",
    "make_changed",
    "make_million",
    "read_snapshot",
    "repeat_regions",
    "vary_counters",
    "write_changed",
    "write_text",
]

REGIONS = 1_000_000
_MAPPER_LOW, _MAPPER_HIGH = 0x200000000000, 0x300000000000
_PAGE = 4096
_RESIDENTS = ("Rss", "Pss", "Pss_Dirty", "Private_Dirty", "Referenced", "Anonymous")
_SEED = 1


def make_million(options: Options) -> Path:
    """Collect the mapper and write million.mmp: 1,000,000 regions, 2,000 for a quick run."""
    collected, output = options.folder / "mapper.mmp", options.folder / "million.mmp"
    with start_mapper(options) as mapper:
        command = [find_script("mmp-collect"), str(mapper.pid), "-o", str(collected), "--force", "--quiet"]
        subprocess.run(command, check=True)
    count = 2_000 if options.quick else REGIONS
    call_in_child(__name__, "repeat_regions", str(collected), str(output), count)
    return output


def make_changed(million: Path) -> Path:
    """Write changed.mmp beside million.mmp: the same instance later, one region in a hundred changed."""
    output = million.with_name("changed.mmp")
    call_in_child(__name__, "write_changed", str(million), str(output))
    return output


def read_snapshot(path: str) -> Snapshot:
    """Read the first snapshot of a file."""
    from mmpscope.formats.registry import open_source

    source = open_source(path)
    try:
        return source.read(0)
    finally:
        source.close()


def decode_regions(snapshot: Snapshot) -> dict[str, Plain]:
    """Decode the regions, so that values can be changed in place."""
    return decode_columns(snapshot.tables["regions"])


def decode_columns(table: Table) -> dict[str, Plain]:
    """Decode a table, so that values can be changed in place."""
    from mmpscope.formats.mmp.columns import Plain, decode_table

    return {
        name: Plain(table.columns[name].type, values, table.columns[name].text)
        for name, values in decode_table(table).items()
    }


def encode_regions(columns: dict[str, Plain]) -> Table:
    """Encode a table of regions as the collector does."""
    from mmpscope.formats.mmp.columns import encode_table

    columns["size"] = columns["size"]._replace(len_of="start")
    return encode_table(columns, len(columns["start"].values))


def _write(snapshot: Snapshot, columns: dict[str, Plain], path: str) -> None:
    from mmpscope.formats.mmp import write_file

    snapshot.tables = {**snapshot.tables, "regions": encode_regions(columns)}
    write_file(path, [snapshot], force=True)


def repeat_regions(collected: str, output: str, count: int) -> None:
    """Write a snapshot of ``count`` regions made from those of a collected mapper."""
    snapshot = read_snapshot(collected)
    columns = decode_regions(snapshot)
    starts, sizes = columns["start"].values, columns["size"].values
    rows = [row for row, start in enumerate(starts) if _MAPPER_LOW <= start < _MAPPER_HIGH]
    span = starts[rows[-1]] + sizes[rows[-1]] - starts[rows[0]]
    copies = -(-count // len(rows))
    repeated = {
        name: plain._replace(values=([plain.values[row] for row in rows] * copies)[:count])
        for name, plain in columns.items()
    }
    moved = [start + row // len(rows) * span for row, start in enumerate(repeated["start"].values)]
    repeated["start"] = repeated["start"]._replace(values=moved)
    vary_counters(repeated, random.Random(_SEED), range(len(rows), count))
    _write(snapshot, repeated, output)


def vary_counters(columns: dict[str, Plain], chance: random.Random, rows: Iterable[int]) -> None:
    """Take some private dirty pages off each of these rows, in every counter that counts them."""
    residents = [cast("list[int]", columns[name].values) for name in _RESIDENTS]
    private, anonymous = columns["Private_Dirty"].values, columns["Anonymous"].values
    for row in rows:
        if private[row] and private[row] == anonymous[row]:
            less = chance.randrange(private[row] // _PAGE + 1) * _PAGE
            for values in residents:
                values[row] -= min(less, values[row])


def write_changed(million: str, output: str) -> None:
    """Write the snapshot again with one region in a hundred changed: counters, size, or gone."""
    snapshot = read_snapshot(million)
    columns = decode_regions(snapshot)
    count = len(columns["start"].values)
    chance = random.Random(_SEED)
    changed = chance.sample(range(count), count // 100)
    vary_counters(columns, chance, changed[::3])
    sizes = cast("list[int]", columns["size"].values)
    for row in changed[1::3]:
        sizes[row] = max(sizes[row] - _PAGE, _PAGE)
    gone = set(changed[2::3])
    kept = [row for row in range(count) if row not in gone]
    for name, plain in columns.items():
        columns[name] = plain._replace(values=[plain.values[row] for row in kept])
    snapshot.moment["time_ns"] += 10**9
    _write(snapshot, columns, output)


def _make_blocks(columns: dict[str, Plain]) -> Iterator[str]:
    plain = {name: column.values for name, column in columns.items()}
    counters = [name for name in plain if name[0].isupper() and name != "VmFlags"]
    for row in range(len(plain["start"])):
        start = plain["start"][row]
        device = f"{plain['dev_major'][row]:02x}:{plain['dev_minor'][row]:02x}"
        path = (plain["path"][row] or b"").decode("utf-8", "replace")
        yield (
            f"{start:08x}-{start + plain['size'][row]:08x} {plain['perms'][row].decode()} "
            f"{plain['offset'][row]:08x} {device} {plain['inode'][row]} {path}\n"
        )
        for name in counters:
            if name in ("THPeligible", "ProtectionKey"):
                yield f"{name + ':':<16}{plain[name][row]:8}\n"
            else:
                yield f"{name + ':':<16}{plain[name][row] // 1024:8} kB\n"
        yield f"VmFlags: {plain['VmFlags'][row].decode()}\n"


def write_text(million: str, output: str) -> None:
    """Write the regions of a snapshot as the kernel words them in smaps."""
    with Path(output).open("w") as text:
        text.writelines(_make_blocks(decode_regions(read_snapshot(million))))
