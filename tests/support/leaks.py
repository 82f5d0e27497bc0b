"""Series of snapshots written by hand: a process whose memory is known at each moment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capture, Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from support.loaded import make_line
from support.smaps_text import Block, make_block

__all__ = ["BOOT", "MIB", "START_NS", "Look", "make_looks", "make_snapshot", "write_looks"]

MIB = 1 << 20
BOOT = "0d15ea5e-0000-4000-8000-00000000000b"
START_NS = 1_750_000_000_000_000_000
_NS = 1_000_000_000
_FLAGS = b"rd wr mr mw me ac "
_HEAP = 0x1000_0000
_DATA, _DATA_KIB = 0x7E80_0000_0000, 1 << 16
_LIBRARY = "7f0000000000-7f0000004000 r-xp 0 77 /usr/lib/libfoo.so.1"


@dataclass(frozen=True)
class Look:
    """One process at one moment: a main heap, blocks of its own (address and KiB), and who it is.

    ``time_s`` is when by the monotonic clock, ``set_s`` how far the wall clock is off by then.
    """

    time_s: float
    heap_kib: int = 1024
    blocks: tuple[tuple[int, int], ...] = ()
    set_s: float = 0.0
    pid: int = 7
    started: int = 500
    name: str = "server"
    exe: str = "/srv/server"
    page_size: int = 4096
    rlimit: int | None = None
    read_kib: int = 0
    """What is resident of a shared file of 64 MiB; 0: it is not mapped."""
    facts: tuple[tuple[str, Any], ...] = ()
    """What is otherwise than here: `("boot_id", None)` leaves it out."""


def make_looks(heaps_kib: Iterable[int], step_s: float = 60.0, **more: Any) -> list[Look]:
    """Look at one process every ``step_s`` seconds, with a heap of these sizes."""
    return [Look(number * step_s, kib, **more) for number, kib in enumerate(heaps_kib)]


def make_snapshot(look: Look) -> Snapshot:
    """Make what a collector would have written."""
    lines = [(f"{_HEAP:x}-{_HEAP + look.heap_kib * 1024:x} rw-p 0 0 [heap]", look.heap_kib)]
    lines += [(f"{start:x}-{start + kib * 1024:x} rw-p", kib) for start, kib in look.blocks]
    blocks = [
        Block(make_line(line), {"Rss": kib, "Pss": kib, "Private_Dirty": kib, "Anonymous": kib}, _FLAGS)
        for line, kib in sorted(lines, key=lambda pair: int(pair[0].partition("-")[0], 16))
    ]
    if look.read_kib:
        data = f"{_DATA:x}-{_DATA + _DATA_KIB * 1024:x} r--s 0 78 /srv/data"
        blocks.append(Block(make_line(data), {"Rss": look.read_kib, "Pss": look.read_kib}, b"rd mr me sh "))
    blocks.append(Block(make_line(_LIBRARY), {"Rss": 16, "Pss": 16}, b"rd ex mr mw me "))
    moment = {
        "time_ns": START_NS + round((look.time_s + look.set_s) * _NS),
        "mono_ns": round((1000 + look.time_s) * _NS),
    }
    host = {"id": "c0ffee" * 10, "hostname": "till-3", "os": "linux", "machine": "x86_64", "boot_id": BOOT}
    process: dict[str, Any] = {
        "pid": look.pid,
        "name": look.name,
        "exe": look.exe,
        "page_size": look.page_size,
        "pid_namespace": 4026531836,
        "stat": {"starttime": look.started},
        "status": {"VmSize": look.heap_kib << 10},
        "limits": {"Max address space": [look.rlimit, look.rlimit, "bytes"]},
        "elf": {"class": 64, "machine": "x86_64"},
    }
    for name, value in look.facts:
        for facts in (moment, host, process):
            if name in facts:
                facts[name] = value
    parts = [_leave_out(facts) for facts in (host, process, moment)]
    return dataclasses.replace(
        snapshot_from_text(b"".join(map(make_block, blocks))),
        capture=Capture(host=parts[0], system={"max_map_count": 65530}, moment=parts[2]),
        process=parts[1],
        moment=parts[2],
    )


def _leave_out(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def write_looks(path: Path, looks: Sequence[Look]) -> Path:
    """Write them into one file, in the order given."""
    write_file(path, list(map(make_snapshot, looks)))
    return path
