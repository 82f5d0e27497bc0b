"""Large processes written by hand: many regions with names and figures of all sizes, alone or as a series."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path

from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from support.leaks import Look, make_snapshot
from support.smaps_text import Block, MapLine, make_block

__all__ = ["make_crowd", "write_crowds"]

_LOW = 0x7F00_0000_0000
_PARTS = ((b"r--p", 4), (b"r-xp", 24), (b"r--p", 8), (b"rw-p", 2))
"""Rights and pages of the parts of a library."""


def make_crowd(regions: int, seed: int = 0) -> bytes:
    """Write smaps of about as many regions: a third of them parts of libraries, the rest anonymous memory."""
    chance = random.Random(seed)  # no secret
    blocks, at = [], _LOW
    for number in range(regions // 6):
        if number % 2:
            at += 4096 * chance.randrange(1, 900)
            path = b"/usr/lib/x86_64-linux-gnu/libpart-%d.so.%d" % (number, number % 7)
            for offset, (rights, pages) in enumerate(_PARTS):
                blocks.append(_make(at, pages * 4, rights, pages * 4, path, number + 1, offset))
                at += pages * 4096
        else:
            for _ in range(8):
                at += 4096 * chance.choice((1, 1, 2, 16, 500))
                kib = 4 * chance.randrange(1, 600)
                blocks.append(_make(at, kib, b"rw-p", 4 * chance.randrange(kib // 4 + 1)))
                at += kib * 1024
    return b"".join(blocks)


def _make(
    at: int, kib: int, rights: bytes, used: int, path: bytes | None = None, inode: int = 0, offset: int = 0
) -> bytes:
    line = MapLine(at, at + kib * 1024, rights, offset << 12, (8, 1) if inode else (0, 0), inode, path)
    anonymous = used if rights == b"rw-p" else 0
    counters = {"Rss": used, "Pss": used, "Private_Dirty": anonymous, "Private_Clean": used - anonymous}
    flags = b"rd wr mr mw me ac " if rights == b"rw-p" else b"rd ex mr mw me "
    return make_block(Block(line, {**counters, "Anonymous": anonymous}, flags))


def write_crowds(path: Path, regions: int, snapshots: int = 1) -> Path:
    """Write a series of one large process that takes a little more memory in each snapshot."""
    write_file(path, _make_series(regions, snapshots))
    return path


def _make_series(regions: int, snapshots: int) -> Iterator[Snapshot]:
    text = make_crowd(regions)
    for number in range(snapshots):
        grown = (0x10_0000_0000 + (number << 24), 64 + number * 4)
        look = make_snapshot(Look(number * 60.0, 1024 + 8 * number, (grown,)))
        few = b"".join(
            _make(start, kib, b"rw-p", kib) for start, kib in ((0x1000_0000, 1024 + 8 * number), grown)
        )
        raw = snapshot_from_text(few + text)
        yield dataclasses.replace(raw, capture=look.capture, process=look.process, moment=look.moment)
