"""Smaps text as the kernel's printing functions make it (fs/proc/task_mmu.c); none of it is our own code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["COUNTERS", "Block", "MapLine", "make_block", "make_text"]

COUNTERS = (
    "Size", "KernelPageSize", "MMUPageSize", "Rss", "Pss", "Pss_Dirty", "Shared_Clean", "Shared_Dirty",
    "Private_Clean", "Private_Dirty", "Referenced", "Anonymous", "KSM", "LazyFree", "AnonHugePages",
    "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb", "Swap", "SwapPss", "Locked",
)  # fmt: skip
"""The keys in kB of Linux 6.18, in its order."""


@dataclass(frozen=True)
class MapLine:
    """The values of one map line; ``text`` is the line without its end."""

    start: int
    end: int
    perms: bytes = b"rw-p"
    offset: int = 0
    device: tuple[int, int] = (0, 0)
    inode: int = 0
    path: bytes | None = None

    @property
    def text(self) -> bytes:
        """Write the line: a blank after the inode, and a name at column 73."""
        fields = b"%08x-%08x %s %08x " % (self.start, self.end, self.perms, self.offset)
        line = fields + b"%02x:%02x %d " % (*self.device, self.inode)
        return line if self.path is None else line.ljust(72) + b" " + self.path


@dataclass(frozen=True)
class Block:
    """One region: its map line, counters in kB, and flags."""

    line: MapLine
    counters: Mapping[str, int] = field(default_factory=dict)
    flags: bytes = b"rd wr mr mw me ac "


def _make_counter(key: str, value: int) -> bytes:
    """Write one line; where the key fills the space of keys, a blank is taken from that of numbers."""
    name = (key + ":").encode().ljust(16)
    return name + (b" %7d kB" if len(key) == 15 else b"%8d kB") % value


def make_block(block: Block) -> bytes:
    """Write one region in full; counters that are not given are 0, and Size is that of the range."""
    values = {"Size": (block.line.end - block.line.start) // 1024, **block.counters}
    lines = [block.line.text]
    lines += [_make_counter(key, values.get(key, 0)) for key in COUNTERS]
    lines += [b"THPeligible:    %8d" % values.get("THPeligible", 0), b"VmFlags: " + block.flags]
    return b"\n".join(lines) + b"\n"


def make_text(count: int, **counters: int) -> bytes:
    """Write a text of ``count`` regions whose counters all differ from region to region."""
    blocks = []
    for number in range(count):
        start = 0x7F00_0000_0000 + number * 0x10000
        values = {key: (number * 37 + at * 1009) % 100_000 for at, key in enumerate(COUNTERS[3:])}
        path = b"/srv/data/file %d.bin" % number if number % 3 else None
        line = MapLine(start, start + 0x3000, offset=number * 4096, inode=number * 7, path=path)
        blocks.append(make_block(Block(line, {**values, **counters})))
    return b"".join(blocks)
