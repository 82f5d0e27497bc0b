"""Looking into files for names: every text of a `.mmp`, unpacked by msgpack and zlib alone."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
from mmpscope.analysis import LoadedSnapshot
from mmpscope.formats.mmp import open_file
from mmpscope.formats.mmp.writer import SnapshotWriter
from mmpscope.formats.model import Snapshot
from mmpscope.formats.redaction import Redactor
from mmpscope.formats.source import Source

__all__ = ["KEY", "load_both", "read_all", "unpack_all", "write_snapshots"]

KEY = bytes(range(32))


def unpack_all(data: bytes) -> bytes:
    """Return the bytes of a file and of everything in it, decompressed."""
    found = [data]
    for frame in msgpack.Unpacker(io.BytesIO(data), max_buffer_size=0, raw=False):
        found += _unpack(frame)
    return b"\n".join(found)


def _unpack(value: Any) -> Iterator[bytes]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key).encode()
            yield from _unpack(item)
        if isinstance(value.get("zlib"), bytes):
            yield from _unpack(msgpack.unpackb(zlib.decompress(value["zlib"])))
    elif isinstance(value, list):
        for item in value:
            yield from _unpack(item)
    elif isinstance(value, str):
        yield value.encode()
    elif isinstance(value, bytes):
        yield value
        try:
            inside = msgpack.unpackb(value)
        except (ValueError, msgpack.exceptions.ExtraData):
            return
        if isinstance(inside, dict):
            yield from _unpack(inside)


def read_all(source: Source) -> list[Snapshot]:
    """Read the snapshots of a source, the first five of many, and close it."""
    with closing(source):
        return [source.read(entry.index) for entry in source.entries[:5]]


def write_snapshots(path: Path, snapshots: list[Snapshot]) -> bytes:
    """Write a file and return its bytes."""
    with SnapshotWriter.create(path) as writer:
        for snapshot in snapshots:
            writer.write_snapshot(snapshot)
    return path.read_bytes()


def load_both(
    snapshots: list[Snapshot], folder: Path, *, rebase: bool = False
) -> list[tuple[LoadedSnapshot, LoadedSnapshot]]:
    """Load snapshots and what becomes of them when they are redacted, written and read again."""
    redactor = Redactor(KEY, rebase=rebase)
    path = folder / "redacted.mmp"
    write_snapshots(path, [redactor.redact(snapshot) for snapshot in snapshots])
    with open_file(path) as file:
        redacted = [file.read(number) for number in range(len(snapshots))]
    return [
        (_load(one, number), _load(two, number))
        for number, (one, two) in enumerate(zip(snapshots, redacted, strict=True))
    ]


def _load(snapshot: Snapshot, number: int) -> LoadedSnapshot:
    # mypy cannot see that the default binds now.
    return LoadedSnapshot(f"x#{number}", lambda: replace(snapshot))
