"""Minidumps byte for byte, from minidumpapiset.h and minidump_format.h alone: what tests read is not written
with the code under test.

A builder appends records to one buffer and knows where each of them lies; `finish` puts header and directory
in front. Nothing stops a test from stating other counts and places than those that are true.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "AMD64",
    "ARM64",
    "COMMIT",
    "END",
    "FREE",
    "IMAGE",
    "LINUX",
    "MAPPED",
    "PRIVATE",
    "RESERVE",
    "SMALL",
    "TIME",
    "WINDOWS",
    "X86",
    "Block",
    "DumpBuilder",
    "fill_space",
    "make_context",
    "make_small_dump",
]

WINDOWS, LINUX = 2, 0x8201
X86, AMD64, ARM64 = 0, 9, 12
COMMIT, RESERVE, FREE = 0x1000, 0x2000, 0x10000
PRIVATE, MAPPED, IMAGE = 0x20000, 0x40000, 0x1000000

_HEADER_BYTES = 32
_ROOM_FOR_STREAMS = 24
TIME = 1_700_000_000


@dataclass(frozen=True)
class Block:
    """One MINIDUMP_MEMORY_INFO."""

    base: int
    size: int
    state: int = COMMIT
    protect: int = 4
    type: int = PRIVATE
    allocation: int | None = None

    def pack(self) -> bytes:
        """The 48 bytes of its first version; padding is not zero, as that of a stack is not."""
        allocation = self.base if self.allocation is None else self.allocation
        if self.state == FREE:
            allocation = 0
        return struct.pack(
            "<QQIIQIIII", self.base, allocation, self.protect, 0xDEAD, self.size, self.state, self.protect,
            self.type, 0xBEEF,
        )  # fmt: skip


def fill_space(blocks: Sequence[Block], end: int) -> list[Block]:
    """Put free ranges between blocks, from 0 to ``end``."""
    filled: list[Block] = []
    at = 0
    for block in sorted(blocks, key=lambda one: one.base):
        if block.base > at:
            filled.append(Block(at, block.base - at, FREE, 1, 0))
        filled.append(block)
        at = block.base + block.size
    if end > at:
        filled.append(Block(at, end - at, FREE, 1, 0))
    return filled


@dataclass
class DumpBuilder:
    """A dump under construction: ``streams`` is its directory as (type, size, offset)."""

    time: int = TIME
    flags: int = 0
    data: bytearray = field(default_factory=lambda: bytearray(_HEADER_BYTES + 12 * _ROOM_FOR_STREAMS))
    streams: list[tuple[int, int, int]] = field(default_factory=list)

    def put(self, record: bytes) -> int:
        """Append bytes and tell where they lie."""
        self.data += bytes(-len(self.data) % 4)
        self.data += record
        return len(self.data) - len(record)

    def string(self, text: str) -> int:
        """Append a MINIDUMP_STRING."""
        data = text.encode("utf-16-le", "surrogatepass")
        return self.put(struct.pack("<I", len(data)) + data + b"\0\0")

    def stream(self, number: int, record: bytes) -> int:
        """Append a stream and list it in the directory."""
        place = self.put(record)
        self.streams.append((number, len(record), place))
        return place

    def system(self, architecture: int = AMD64, platform: int = WINDOWS, csd: str = "") -> None:
        """SystemInfo of a machine with 8 processors and Windows 10.0.19045."""
        name = self.string(csd)
        packed = struct.pack("<HHHBBIIIII", architecture, 6, 0x5E03, 8, 1, 10, 0, 19045, platform, name)
        self.stream(7, packed + bytes(28))

    def misc(
        self, pid: int = 4242, flags: int = 0x103, build: str = "19041.1 (WinBuild)", size: int = 1364
    ) -> None:
        """MiscInfo, cut to ``size``: 24 bytes are its first version, 832 the fourth, 1364 the fifth."""
        packed = struct.pack("<6I", size, flags, pid, TIME - 60, 7, 3).ljust(232, b"\0")
        packed += build.encode("utf-16-le").ljust(520, b"\0")
        self.stream(15, packed.ljust(1364, b"\0")[:size])

    def memory_info(
        self, blocks: Sequence[Block], *, entry: int = 48, header: int = 16, count: int | None = None
    ) -> int:
        """MemoryInfoList with entries of ``entry`` bytes behind a header of ``header``."""
        stated = len(blocks) if count is None else count
        packed = struct.pack("<IIQ", header, entry, stated).ljust(max(header, 16), b"\xee")
        return self.stream(16, packed + b"".join(block.pack().ljust(entry, b"\xee") for block in blocks))

    def modules(self, modules: Sequence[tuple[int, int, int, bytes]], *, padding: bytes = b"") -> None:
        """ModuleList of (base, size, place of the name, CodeView record), all of version 1.2.3.4."""
        version = struct.pack("<IIII", 0xFEEF04BD, 0x10000, 0x10002, 0x30004).ljust(52, b"\0")
        packed = b""
        for base, size, name, record in modules:
            place = self.put(record)
            packed += struct.pack("<QIIII", base, size, 0x1234, 0x5F000000, name) + version
            packed += struct.pack("<IIIIQQ", len(record), place, 0, 0, 0, 0)
        self.stream(4, struct.pack("<I", len(modules)) + padding + packed)

    def unloaded(self, modules: Sequence[tuple[int, int, int]], entry: int = 24) -> None:
        """UnloadedModuleList of (base, size, place of the name)."""
        packed = [
            struct.pack("<QIIII", base, size, 1, 2, name).ljust(entry, b"\xee")
            for base, size, name in modules
        ]
        self.stream(14, struct.pack("<III", 12, entry, len(modules)) + b"".join(packed))

    def threads(self, threads: Sequence[tuple[int, int, int, int, bytes]], *, padding: bytes = b"") -> None:
        """ThreadList of (id, TEB, start and size of the stack, context)."""
        packed = b""
        for tid, teb, stack, size, context in threads:
            place = self.put(context)
            packed += struct.pack("<IIIIQQIIII", tid, 0, 0, 0, teb, stack, size, 0, len(context), place)
        self.stream(3, struct.pack("<I", len(threads)) + padding + packed)

    def thread_infos(self, infos: Sequence[tuple[int, int, int]]) -> None:
        """ThreadInfoList of (id, creation time, start address)."""
        packed = [
            struct.pack("<IIIIQQQQQQ", tid, 0, 0, 259, created, 0, 5, 6, start, 0xFF)
            for tid, created, start in infos
        ]
        self.stream(17, struct.pack("<III", 12, 64, len(infos)) + b"".join(packed))

    def thread_names(self, names: Sequence[tuple[int, int]]) -> None:
        """ThreadNames of (id, place of the name)."""
        packed = b"".join(struct.pack("<IQ", tid, name) for tid, name in names)
        self.stream(24, struct.pack("<I", len(names)) + packed)

    def finish(self, *, count: int | None = None) -> bytes:
        """Write header and directory, and return the dump."""
        stated = len(self.streams) if count is None else count
        header = struct.pack(
            "<4sIIIIIQ", b"MDMP", 0x6AF1A793, stated, _HEADER_BYTES, 0, self.time, self.flags
        )
        entries = b"".join(struct.pack("<III", *stream) for stream in self.streams)
        dump = bytearray(self.data)
        dump[: len(header)] = header
        dump[_HEADER_BYTES : _HEADER_BYTES + len(entries)] = entries
        return bytes(dump)


def make_context(architecture: int, sp: int, ip: int) -> bytes:
    """A CONTEXT (winnt.h) with flags, stack and instruction pointer set, and noise elsewhere."""
    size, flags_at, flags, sp_at, ip_at, word = {
        X86: (716, 0, 0x1003F, 196, 184, "<I"),
        AMD64: (1232, 48, 0x10001F, 152, 248, "<Q"),
        ARM64: (912, 0, 0x400007, 256, 264, "<Q"),
    }[architecture]
    context = bytearray(b"\xa5" * size)
    struct.pack_into("<I", context, flags_at, flags)
    struct.pack_into(word, context, sp_at, sp)
    struct.pack_into(word, context, ip_at, ip)
    return bytes(context)


SMALL = (
    Block(0x10000, 0x10000, type=MAPPED),
    Block(0x20000, 0x1000, COMMIT, 0x104),
    Block(0x21000, 0xF000, RESERVE, 0, allocation=0x20000),
    Block(0x7FF6_1234_0000, 0x1000, COMMIT, 2, IMAGE),
    Block(0x7FF6_1234_1000, 0x5000, COMMIT, 0x20, IMAGE, 0x7FF6_1234_0000),
)
END = 0x7FFF_FFFF_0000


def make_small_dump(blocks: Sequence[Block] = SMALL, end: int = END, architecture: int = AMD64) -> bytes:
    """A 64-bit Windows dump with a map, a process and nothing else."""
    builder = DumpBuilder()
    builder.system(architecture)
    builder.misc()
    builder.memory_info(fill_space(blocks, end))
    return builder.finish()
