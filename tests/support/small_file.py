"""A small `.mmp` file with all that damage can hit: two captures, five snapshots, a note, an append."""

from __future__ import annotations

from typing import NamedTuple

from support.mmp_builder import MmpBuilder, column, numbers, table, texts

__all__ = ["PlacedFrame", "list_frames", "make_small_file"]


class PlacedFrame(NamedTuple):
    """One frame and where it is in the file."""

    kind: str
    start: int
    end: int


def _add_snapshot(builder: MmpBuilder, capture: int, pid: int) -> None:
    regions = {
        "start": column("uint", "chain", of="size", width=2, scale=4096, data=numbers([pid, 3], 2)),
        "size": column("uint", "const", value=8192),
        "path": column("text", "dict", width=1, data=numbers([1, 0], 1), values=texts([b"/bin/x", None])),
    }
    content = {"process": {"pid": pid}, "tables": {"regions": table(regions, 2)}}
    builder.add_snapshot(content, capture=capture, pid=pid, time_ns=pid * 1000)


def make_small_file(*, closed: bool = True) -> MmpBuilder:
    """Build the file; the last two snapshots were appended to what was closed before."""
    builder = MmpBuilder()
    builder.add_header()
    first = builder.add_capture({"host": {"hostname": "one"}})
    for pid in (101, 102, 103):
        _add_snapshot(builder, first, pid)
    builder.add("note", b"a note")
    builder.close()
    second = builder.add_capture({"host": {"hostname": "two"}})
    for pid in (104, 105):
        _add_snapshot(builder, second, pid)
    if closed:
        builder.close()
    return builder


def list_frames(builder: MmpBuilder) -> list[PlacedFrame]:
    """List the frames with their places."""
    placed: list[PlacedFrame] = []
    at = 0
    for data in builder.frames:
        kind = data[2 : 2 + (data[1] & 0x1F)].decode()
        placed.append(PlacedFrame(kind, at, at + len(data)))
        at += len(data)
    return placed
