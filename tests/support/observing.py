"""Looks at a running scenario program from two sides: as we tell it and as the kernel does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mmpscope import analysis
from mmpscope.analysis import LoadedSnapshot

__all__ = ["COLUMNS", "Kernel", "Observation", "collect_snapshot", "observe", "read_kernel"]

COLUMNS = ("size", "committed", "private", "total_ws", "private_ws", "shareable_ws", "locked_ws")
"""The columns that a step may move; which pages other processes share changes without our doing."""

Rows = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Kernel:
    """What the kernel says, in bytes: VmSize, Rss of smaps_rollup; (start, end, rights, name) a mapping."""

    vm_size: int
    rss: int
    mappings: frozenset[tuple[int, int, str, str]]


def _read_kib(path: Path, key: str) -> int:
    return next(int(line.split()[1]) * 1024 for line in path.read_text().splitlines() if line.startswith(key))


def read_kernel(pid: int) -> Kernel:
    """Read the few facts that our figures are held against, by other means than ours."""
    proc = Path(f"/proc/{pid}")
    mappings = set()
    for line in (proc / "maps").read_text().splitlines():
        words = line.split(None, 5)
        start, end = (int(part, 16) for part in words[0].split("-"))
        mappings.add((start, end, words[1], words[5] if len(words) > 5 else ""))
    return Kernel(
        _read_kib(proc / "status", "VmSize:"), _read_kib(proc / "smaps_rollup", "Rss:"), frozenset(mappings)
    )


def collect_snapshot(pid: int, path: Path) -> LoadedSnapshot:
    """Collect one process into a new file with the real command, and load it."""
    command = [sys.executable, "-m", "mmpscope.collector", str(pid), "-o", str(path)]
    subprocess.run(command, check=True, stderr=subprocess.PIPE)
    [snapshot] = analysis.load(path)
    return snapshot


@dataclass
class Observation:
    """One moment: the snapshot, what the kernel said then, and what the program said of its last step."""

    snapshot: LoadedSnapshot
    kernel: Kernel
    said: dict[str, int] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Rows:
        """The summary by type."""
        return {row["type"]: row for row in analysis.summarize(self.snapshot).to_pylist()}

    def since(self, before: Observation) -> Rows:
        """What moved, by type and column; what stayed is left out.

        Total, Free and Unusable follow from the other rows. The Page Table row is left out because the kernel
        makes page tables as pages are first touched, which is no change of the program's own memory.
        """
        moved: Rows = {}
        for name in set(self.summary) - {"Total", "Free", "Unusable", "Page Table"}:
            now, then = self.summary[name], before.summary[name]
            change = {column: (now[column] or 0) - (then[column] or 0) for column in COLUMNS}
            if any(change.values()):
                moved[name] = {column: amount for column, amount in change.items() if amount}
        return moved


def observe(pid: int, folder: Path, said: dict[str, int] | None = None) -> Observation:
    """Collect a process that is blocked, and ask the kernel beside it."""
    path = folder / f"{len(list(folder.iterdir())):03d}.mmp"
    return Observation(collect_snapshot(pid, path), read_kernel(pid), said or {})
