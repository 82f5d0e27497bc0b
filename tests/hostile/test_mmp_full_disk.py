"""The disk is full at any byte of any write: what was whole before stays whole, and nothing is half there."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from mmpscope.formats.errors import OutputError
from mmpscope.formats.mmp import Plain, SnapshotWriter, copy_file, encode_table, open_file, verify, write_file
from mmpscope.formats.model import Capture, Snapshot

COUNT = 4
STEP = 7


def _make_snapshots() -> list[Snapshot]:
    capture = Capture(host={"id": "x"})
    table = encode_table({"start": Plain("uint", [4096, 8192])}, 2)
    return [Snapshot(capture, {"pid": pid}, {"time_ns": pid}, {"regions": table}) for pid in range(COUNT)]


def _write_series(path: Path, *, append: bool = False) -> list[int]:
    """Write a series, and return the size of the file after each snapshot."""
    sizes = []
    opened = SnapshotWriter.append(path) if append else SnapshotWriter.create(path, series=True)
    with opened as writer:
        for snapshot in _make_snapshots():
            writer.write_snapshot(snapshot)
            sizes.append(writer.frames.output.size)
    return sizes


@contextmanager
def _room_for(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond ``size``: a write is cut there, and the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _read_pids(path: Path) -> list[int]:
    with open_file(path) as source:
        return [source.read(entry.index).process["pid"] for entry in source.entries]


def test_a_series_keeps_each_whole_snapshot_wherever_the_disk_is_full(tmp_path: Path) -> None:
    """As many snapshots are there as fitted, undamaged, and the series goes on when there is room."""
    sizes = _write_series(tmp_path / "calm.mmp")
    total, path = (tmp_path / "calm.mmp").stat().st_size, tmp_path / "a.mmp"
    tried = 0
    for room in range(0, total, STEP):
        with _room_for(room), pytest.raises(OutputError, match=r"cannot be (written|created)"):
            _write_series(path)
        kept = sum(size <= room for size in sizes)
        assert path.exists() == (kept > 0)
        tried += 1
        if kept:
            assert _read_pids(path) == list(range(kept))
            _write_series(path, append=True)
            assert _read_pids(path) == [*range(kept), *range(COUNT)]
            assert verify(path) == []
            path.unlink()
        assert [name.name for name in tmp_path.iterdir()] == ["calm.mmp"]
    assert tried > 100


def test_an_append_leaves_the_file_readable_wherever_the_disk_is_full(tmp_path: Path) -> None:
    """What was there before is there, and so is each snapshot that fitted."""
    path = tmp_path / "a.mmp"
    _write_series(path)
    before = path.read_bytes()
    sizes = _write_series(path, append=True)
    total = path.stat().st_size
    assert all(one < two for one, two in pairwise(sizes))
    for room in range(len(before), total, STEP):
        path.write_bytes(before)
        with _room_for(room), pytest.raises(OutputError, match="cannot be written"):
            _write_series(path, append=True)
        kept = sum(size <= room for size in sizes)
        assert _read_pids(path) == [*range(COUNT), *range(kept)]


def test_one_shot_files_are_whole_or_not_there(tmp_path: Path) -> None:
    """Neither a file nor a part of one stays of a single write or a copy that does not fit."""
    calm, path = tmp_path / "calm.mmp", tmp_path / "a.mmp"
    write_file(calm, _make_snapshots())
    for room in range(0, calm.stat().st_size, STEP):
        with _room_for(room), pytest.raises(OutputError):
            write_file(path, _make_snapshots())
        with _room_for(room), pytest.raises(OutputError):
            copy_file(calm, path)
        assert [name.name for name in tmp_path.iterdir()] == ["calm.mmp"]
    with _room_for(calm.stat().st_size):
        write_file(path, _make_snapshots())
    assert verify(path) == []
