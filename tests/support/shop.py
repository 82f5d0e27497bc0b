"""A made process, fixed to the byte, at two moments five minutes apart: what golden outputs are printed from.

It has one of everything that a command shows: a program with a .bss, a library, a heap, an arena, a thread
with its stack, shared memory, a mapped file, something swapped out, something that could not be read.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capability, Capture, Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from support.loaded import make_line, make_raw_table
from support.smaps_text import Block, make_block

__all__ = ["PID", "make_shop", "write_shop"]

PID = 4242
_START_NS = 1_750_000_000_123_456_789
_FIVE_MINUTES_NS = 300_000_000_000
_PROGRAM = "/srv/shop/bin/shop"
_LIBRARY = "/usr/lib/x86_64-linux-gnu/libc.so.6"
_STACK_POINTER = 0x7F0A6080_0E90

_File = tuple[str, dict[str, int], str]


def _file(line: str, rss: int, dirty: int = 0, *, shared: int = 0, flags: str = "rd mr mw me") -> _File:
    """One region of a mapped file: ``rss`` kB resident, ``dirty`` of it written, ``shared`` of it shared."""
    clean = rss - dirty - shared
    counters = {"Rss": rss, "Pss": rss - shared // 2, "Shared_Clean": shared, "Private_Clean": clean}
    return line, {**counters, "Private_Dirty": dirty, "Anonymous": dirty, "Referenced": rss}, flags


def _memory(line: str, rss: int, *, flags: str = "rd wr mr mw me ac", **more: int) -> _File:
    """One region of memory of its own, ``rss`` kB of it written."""
    counters = {"Rss": rss, "Pss": rss, "Private_Dirty": rss, "Anonymous": rss, "Referenced": rss}
    return line, {**counters, **more}, flags


def _list_regions(is_later: bool) -> list[_File]:
    writable = "rd wr mr mw me ac"
    regions = [
        _file(f"400000-401000 r--p 0 64 {_PROGRAM}", 4),
        _file(f"401000-406000 r-xp 1000 64 {_PROGRAM}", 16, flags="rd ex mr mw me"),
        _file(f"406000-407000 r--p 6000 64 {_PROGRAM}", 4),
        _file(f"407000-408000 rw-p 6000 64 {_PROGRAM}", 4, 4, flags=writable),
        _memory("408000-40a000 rw-p", 8),
        _memory(f"1c2b000-{'1c8b000' if is_later else '1c6b000'} rw-p 0 0 [heap]", 384 if is_later else 256),
        _memory(
            "7f0a30000000-7f0a30021000 rw-p",
            132,
            flags="rd wr mr mw me nr",
            LazyFree=64 if is_later else 0,
        ),
        _memory("7f0a30021000-7f0a34000000 ---p", 0, flags="mr mw me nr"),
        _file("7f0a50000000-7f0a50040000 r--s 0 65 /srv/shop/data/prices.db", 128, shared=128),
        _memory("7f0a60000000-7f0a60001000 ---p", 0, flags="mr mw me"),
        _memory("7f0a60001000-7f0a60801000 rw-p", 24),
        _file(f"7f0a70000000-7f0a70026000 r--p 0 66 {_LIBRARY}", 152, shared=152),
        _file(
            f"7f0a70026000-7f0a7017c000 r-xp 26000 66 {_LIBRARY}", 1100, shared=1100, flags="rd ex mr mw me"
        ),
        _file(f"7f0a7017c000-7f0a701d1000 r--p 17c000 66 {_LIBRARY}", 180, shared=180),
        _file(f"7f0a701d1000-7f0a701d7000 rw-p 1d1000 66 {_LIBRARY}", 24, 24, flags=writable),
        _memory("7f0a80000000-7f0a80400000 rw-p", 2048, AnonHugePages=2048, Swap=1024, SwapPss=1024),
        _memory("7ffe40000000-7ffe40021000 rw-p 0 0 [stack]", 40, flags="rd wr mr mw me gd ac"),
        _file("7ffe40100000-7ffe40104000 r--p 0 0 [vvar]", 0, flags="rd mr pf io de dd"),
        _file("7ffe40104000-7ffe40106000 r-xp 0 0 [vdso]", 8, shared=8, flags="rd ex mr mw me de"),
        _file("ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]", 0, flags="ex"),
    ]
    if is_later:
        regions.append(_memory("7f0a90000000-7f0a90800000 rw-p", 8192))
    else:
        regions.append(
            (
                "7f0a40000000-7f0a40100000 rw-s 0 67 /memfd:cache (deleted)",
                {"Rss": 1024, "Pss": 1024},
                "rd wr sh",
            )
        )
    return sorted(regions, key=lambda region: int(region[0].split("-")[0], 16))


_MODULES = [
    {
        "path": _PROGRAM,
        "dev_major": 0xFE,
        "dev_minor": 0,
        "inode": 0x64,
        "base": 0,
        "low": 0x400000,
        "high": 0x40A000,
        "build_id": "5e1f" * 10,
        "file_size": 30_104,
        "elf_class": 64,
        "machine": 62,
        "type": 2,
    },
    {
        "path": _LIBRARY,
        "dev_major": 0xFE,
        "dev_minor": 0,
        "inode": 0x66,
        "base": 0x7F0A70000000,
        "low": 0x7F0A70000000,
        "high": 0x7F0A701D7000,
        "build_id": "93ac" * 10,
        "file_size": 1_926_232,
        "elf_class": 64,
        "machine": 62,
        "type": 3,
    },
]
_SEGMENTS = [
    {"module": 0, "offset": 0, "vaddr": 0x400000, "filesz": 0x4F0, "memsz": 0x4F0, "flags": 4},
    {"module": 0, "offset": 0x1000, "vaddr": 0x401000, "filesz": 0x4A10, "memsz": 0x4A10, "flags": 5},
    {"module": 0, "offset": 0x6000, "vaddr": 0x406000, "filesz": 0x1A00, "memsz": 0x3800, "flags": 6},
]
_PROCESSES = [
    {
        "pid": 1,
        "ppid": 0,
        "user": "root",
        "uid": 0,
        "name": "init",
        "threads": 1,
        "rss": 9 << 20,
        "starttime": 3,
    },
    {
        "pid": PID,
        "ppid": 1,
        "user": "shop",
        "uid": 1000,
        "name": "shop",
        "threads": 2,
        "rss": 5 << 20,
        "private": 3 << 20,
        "starttime": 98_765,
        "elf_class": 64,
    },
]


def _make_capture(time_ns: int) -> Capture:
    return Capture(
        host={
            "id": "c0ffee" * 10,
            "hostname": "till-3",
            "os": "linux",
            "kernel": "6.12.0",
            "machine": "x86_64",
            "os_release": "Debian GNU/Linux 13 (trixie)",
            "boot_id": "0d15ea5e-0000-4000-8000-000000000001",
            "page_size": 4096,
            "clk_tck": 100,
        },
        system={
            "meminfo": {
                "MemTotal": 8 << 30,
                "SwapTotal": 2 << 30,
                "CommitLimit": 6 << 30,
                "Committed_AS": 1 << 30,
            },
            "max_map_count": 65530,
            "mmap_min_addr": 65536,
            "overcommit_memory": 0,
            "overcommit_ratio": 50,
        },
        moment={"time_ns": time_ns},
        tables={"processes": make_raw_table(_PROCESSES)},
        capability=[Capability("processes", "ok")],
    )


def _make_process() -> dict[str, Any]:
    unlimited = [None, None, "bytes"]
    return {
        "pid": PID,
        "name": "shop",
        "exe": _PROGRAM,
        "cmdline": [_PROGRAM, "--till", "3"],
        "uid": 1000,
        "gid": 1000,
        "page_size": 4096,
        "status": {"VmPTE": 96 << 10},
        "stat": {"starttime": 98_765},
        "limits": {"Max address space": unlimited, "Max data size": unlimited},
        "elf": {"class": 64, "machine": "x86_64"},
        "personality": 0,
        "pid_namespace": 4026531836,
        "range": {
            "start": 0x10000,
            "end": 0x7FFF_FFFF_F000,
            "source": "vm.mmap_min_addr; TASK_SIZE of x86_64",
        },
    }


def _make_snapshot(is_later: bool) -> Snapshot:
    time_ns = _START_NS + is_later * _FIVE_MINUTES_NS
    text = [
        make_block(Block(make_line(line), counters, f"{flags} ".encode()))
        for line, counters, flags in _list_regions(is_later)
    ]
    threads = [
        {"tid": PID, "name": "shop", "state": "S", "starttime": 98_765, "sp": 0x7FFE4001_FA10},
        {"tid": PID + 1, "name": "ticker", "state": "S", "starttime": 98_770, "sp": _STACK_POINTER},
    ]
    tables: dict[str, list[dict[str, Any]]] = {"threads": threads, "modules": _MODULES, "segments": _SEGMENTS}
    return dataclasses.replace(
        read := snapshot_from_text(b"".join(text)),
        capture=_make_capture(time_ns),
        process=_make_process(),
        moment={"time_ns": time_ns, "map_moved": False, "read_ns": 1_200_000, "cost": {"smaps": 900_000}},
        tables={**read.tables, **{name: make_raw_table(rows) for name, rows in tables.items()}},
        capability=[
            Capability("smaps", "ok"),
            Capability("cgroup", "unavailable", 13, "permission denied"),
            Capability("modules.mtime_ns", "skipped", None, "not asked for"),
        ],
    )


def make_shop() -> list[Snapshot]:
    """Make both moments, the earlier first."""
    return [_make_snapshot(is_later=False), _make_snapshot(is_later=True)]


def write_shop(folder: Path) -> Path:
    """Write both into one file and return its path."""
    path = folder / "shop.mmp"
    write_file(path, make_shop())
    return path
