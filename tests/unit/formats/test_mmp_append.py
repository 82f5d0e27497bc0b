"""Adding to a `.mmp` file: what is stored stays byte for byte, and what is not sound is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.formats.errors import (
    CorruptError,
    FormatError,
    MmpError,
    NotASnapshotError,
    OutputError,
    UnsupportedVersionError,
)
from mmpscope.formats.mmp import SnapshotWriter, open_file, verify, write_file
from support.mmp_builder import MmpBuilder, split_frames
from support.small_file import list_frames, make_small_file
from support.written import list_names, make_snapshot, read_pids


def test_appending_keeps_the_stored_bytes(tmp_path: Path) -> None:
    """What was in the file stays as it was, unknown parts included; a newer writer says so in a header."""
    path = tmp_path / "a.mmp"
    builder = make_small_file()
    builder.add("weather", b"\xff", sky="grey")
    builder.close()
    path.write_bytes(builder.data)
    with SnapshotWriter.append(path) as writer:
        writer.write_snapshot(make_snapshot(6))
    data = path.read_bytes()
    assert data.startswith(builder.data)
    added = split_frames(data[len(builder.data) :])
    assert [frame[2 : 2 + (frame[1] & 31)] for frame in added][:3] == [b"mmp", b"capture", b"snapshot"]
    assert read_pids(path) == [101, 102, 103, 104, 105, 6]
    assert verify(path) == []


def test_appending_to_a_file_of_ours_needs_no_header(tmp_path: Path) -> None:
    """The header in force stays in force where the same writer goes on."""
    path = tmp_path / "a.mmp"
    write_file(path, [make_snapshot(1)])
    with SnapshotWriter.append(path) as writer:
        writer.write_snapshot(make_snapshot(2))
    assert path.read_bytes().count(b"producer") == 1
    assert verify(path) == []


def test_appending_nothing_changes_nothing(tmp_path: Path) -> None:
    """A closed file to which nothing is added stays as it is; one that was not closed gets its index."""
    path = tmp_path / "a.mmp"
    write_file(path, [make_snapshot(1)])
    before = path.read_bytes()
    with SnapshotWriter.append(path):
        pass
    assert path.read_bytes() == before
    path.write_bytes(before[: before.rindex(b"\x95\xa5index")])
    with SnapshotWriter.append(path):
        pass
    with open_file(path) as file:
        assert file.closed


def test_appending_cuts_a_torn_tail(tmp_path: Path) -> None:
    """A frame that was never finished is cut, wherever it was torn, and the next one takes its number."""
    path = tmp_path / "a.mmp"
    builder = make_small_file()
    last = [frame for frame in list_frames(builder) if frame.kind == "snapshot"][-1]
    for size in range(last.start + 1, last.end, 10):
        path.write_bytes(builder.data[:size])
        with SnapshotWriter.append(path) as writer:
            writer.write_snapshot(make_snapshot(6))
        assert read_pids(path) == [101, 102, 103, 104, 6]
        assert verify(path) == []


def _damage(data: bytes) -> bytes:
    return data[:300] + b"XX" + data[302:]


def _make_newer(data: bytes) -> bytes:
    builder = MmpBuilder()
    builder.add_header({"version": [2, 0]})
    return builder.data


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_damage, CorruptError),
        (_make_newer, UnsupportedVersionError),
        (lambda data: data[:40], FormatError),
        (lambda data: b"", NotASnapshotError),
        (lambda data: b"Dear diary", NotASnapshotError),
    ],
)
def test_appending_to_what_is_not_sound_changes_nothing(
    tmp_path: Path, change: Callable[[bytes], bytes], error: type[MmpError]
) -> None:
    """A damaged, newer or foreign file is refused and left as it is."""
    path = tmp_path / "a.mmp"
    path.write_bytes(change(make_small_file().data))
    before = path.read_bytes()
    with pytest.raises(error, match=r"a\.mmp"):
        SnapshotWriter.append(path)
    assert path.read_bytes() == before


def test_appending_to_no_file_is_named(tmp_path: Path) -> None:
    """Adding to a file that is not there makes none."""
    with pytest.raises(OutputError, match="cannot be opened"):
        SnapshotWriter.append(tmp_path / "no.mmp")
    assert list_names(tmp_path) == []
