"""Sets of small processes of one machine, each written down in a line, as loaded snapshots and as a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mmpscope.analysis import LoadedSnapshot
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.model import Capability, Capture, Snapshot
from mmpscope.formats.proc.reader import snapshot_from_text
from support.loaded import make_raw_table
from support.smaps_text import Block, MapLine, make_block

__all__ = ["NOON_NS", "Proc", "load_one", "load_set", "make_set", "write_set"]

NOON_NS = 1_750_000_000_000_000_000
_HEAP = 0x1000_0000
_SIZE_KB = 1 << 20


@dataclass(frozen=True)
class Proc:
    """One process: figures in kB, ``pss`` None for a source without counters (maps alone).

    ``is_read`` false: the list of processes has it, and there is no snapshot of it, since it refused, or,
    with ``is_quick``, ended before its turn; with ``is_zombie`` it has ended, and has no memory there either.
    """

    pid: int
    exe: str = "/usr/bin/server"
    args: tuple[str, ...] = ("--port", "80")
    pss: int | None = 100
    rss: int = 0
    swap: int = 0
    parent: int = 1
    start: int = 0
    boot: str | None = "boot-1"
    is_read: bool = True
    is_zombie: bool = False
    is_quick: bool = False
    called: str | None = None
    page_tables: bool = True

    @property
    def name(self) -> str:
        """The name that the kernel gives it."""
        return self.called or self.exe.rpartition("/")[2]


def make_set(
    processes: Iterable[Proc], *, listing: bool = True, at: int = 0, host: str = "host-1"
) -> list[Snapshot]:
    """Make the snapshots of one capture, ``at`` seconds after noon; ``listing``: with a list of processes."""
    found = list(processes)
    init = {"pid": 1, "ppid": 0, "name": "init", "starttime": 1, "rss": 4096}
    rows = [
        {
            "pid": each.pid,
            "ppid": each.parent,
            "name": each.name,
            "starttime": each.start or each.pid,
            "rss": None if each.is_zombie else max(each.rss, each.pss or 0) * 1024,
        }
        for each in found
    ]
    tables = {"processes": make_raw_table([init, *rows])} if listing else {}
    missing = [each.pid for each in found if not each.is_read and not each.is_quick]
    missing = [1, *missing] if missing else []
    more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    pids = ", ".join(map(str, missing[:8])) + more
    reason = f"{len(missing)} of {len(found) + 1} processes are not in it: permission denied (13): {pids}"
    captures = {
        boot: Capture(
            host={
                "id": host,
                "os": "linux",
                "hostname": "shop",
                **({} if boot is None else {"boot_id": boot}),
            },
            moment={"time_ns": NOON_NS + at * 10**9},
            tables=tables,
            capability=[Capability("snapshots", "partial", None, reason)] if missing and listing else [],
        )
        for boot in {each.boot for each in found}
    }
    return [_make(each, captures[each.boot], at) for each in found if each.is_read]


def _make(process: Proc, capture: Capture, at: int) -> Snapshot:
    line = MapLine(_HEAP, _HEAP + _SIZE_KB * 1024, path=b"[heap]")
    if process.pss is None:
        text = line.text + b"\n"
    else:
        rss = max(process.rss, process.pss)
        shared = rss - process.pss
        counters = {"Rss": rss, "Pss": process.pss, "Private_Dirty": rss - shared, "Shared_Dirty": shared}
        text = make_block(Block(line, {**counters, "Anonymous": rss, "Swap": process.swap}))
    facts = {
        "pid": process.pid,
        "name": process.name,
        "exe": process.exe,
        "cmdline": [process.exe, *process.args],
        "pid_namespace": 4026531836,
        "stat": {"ppid": process.parent, "starttime": process.start or process.pid},
        "status": {"VmPTE": 0} if process.page_tables else {},
    }
    moment = {"time_ns": NOON_NS + at * 10**9, "mono_ns": (1000 + at) * 10**9}
    return replace(snapshot_from_text(text), capture=capture, process=facts, moment=moment)


def load_set(processes: Iterable[Proc], **how: object) -> list[LoadedSnapshot]:
    """Load the snapshots of one capture."""
    snapshots = make_set(processes, **how)  # type: ignore[arg-type]  # handed on as they are
    return [load_one(f"set.mmp#{number}", snapshot) for number, snapshot in enumerate(snapshots)]


def load_one(label: str, snapshot: Snapshot) -> LoadedSnapshot:
    """Load a snapshot that was made, under a label."""
    return LoadedSnapshot(label, lambda: snapshot)


def write_set(path: Path, *captures: Sequence[Snapshot]) -> Path:
    """Write captures into one file."""
    write_file(path, [snapshot for capture in captures for snapshot in capture])
    return path
