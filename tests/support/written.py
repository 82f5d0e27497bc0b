"""Small snapshots to write, and what is found of them afterwards."""

from __future__ import annotations

from pathlib import Path

from mmpscope.formats.mmp import Plain, encode_table, open_file
from mmpscope.formats.model import Capture, Snapshot

__all__ = ["list_names", "make_snapshot", "read_pids"]


def make_snapshot(pid: int, capture: Capture | None = None) -> Snapshot:
    """Make a snapshot with one table."""
    columns = {
        "start": Plain("uint", [pid << 12, pid << 13]),
        "size": Plain("uint", [4096, 8192], len_of="start"),
        "path": Plain("text", [b"/bin/x", None], "utf-8"),
    }
    process = {"pid": pid, "name": "demo"}
    moment = {"time_ns": pid * 10, "mono_ns": pid}
    return Snapshot(
        capture or Capture(host={"id": "x"}), process, moment, {"regions": encode_table(columns, 2)}
    )


def list_names(folder: Path) -> list[str]:
    """List the names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def read_pids(path: Path, *, partial: bool = False) -> list[int | None]:
    """Read the pid of every snapshot of a file."""
    with open_file(path, partial=partial) as file:
        return [file.read(entry.index).process["pid"] for entry in file.entries]
