"""Reading `.mmp` files: straight to one snapshot, from any stream, and in words where it is not possible."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from mmpscope.formats.errors import CorruptError, FormatError, NotASnapshotError, UnsupportedVersionError
from mmpscope.formats.mmp import copy_file, decode_table, is_mmp, open_file, verify
from mmpscope.formats.mmp.frames import FileBytes
from support.decoding import describe_file, describe_snapshot
from support.mmp_builder import MmpBuilder, column, numbers, pack, table
from support.small_file import list_frames, make_small_file


class _Counting(io.BytesIO):
    """A stream that counts the bytes read from it."""

    count = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


def _make_series(snapshots: int) -> bytes:
    builder = MmpBuilder()
    builder.add_header()
    for pid in range(snapshots):
        if pid % 10 == 0:
            capture = builder.add_capture({"host": {"n": pid}})
        content = {"process": {"pid": pid, "x": bytes(10_000)}}
        builder.add_snapshot(content, capture=capture, pid=pid)
    builder.close()
    return builder.data


def test_one_snapshot_of_a_thousand_is_read_alone() -> None:
    """Snapshot 900 of 1000 costs the index, its capture and its own frame, not those of the others."""
    stream = _Counting(_make_series(1000))
    with open_file(stream) as file:
        assert len(file.entries) == 1000
        opening = stream.count
        snapshot = file.read(900)
    assert (snapshot.process["pid"], snapshot.capture.host) == (900, {"n": 900})
    assert opening < 60_000
    assert stream.count - opening < 30_000


class _Pipe(io.RawIOBase):
    """A stream that cannot go back."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(memoryview(buffer)[:100])


def test_a_pipe_is_read() -> None:
    """Standard input, which cannot go back, is as good as a file."""
    pipe = io.BufferedReader(_Pipe(make_small_file().data))
    with open_file(pipe) as file:
        assert [file.read(entry.index).process["pid"] for entry in file.entries] == [101, 102, 103, 104, 105]


def test_a_stream_of_someone_else_stays_open(tmp_path: Path) -> None:
    """What the caller opened the caller closes; what we opened we close, also where it is not ours."""
    path = tmp_path / "a.mmp"
    path.write_bytes(make_small_file().data)
    with path.open("rb") as stream:
        open_file(stream).close()
        assert not stream.closed
    path.write_bytes(b"Dear diary")
    with pytest.raises(NotASnapshotError):
        open_file(path)


def test_snapshots_have_numbers_from_zero() -> None:
    """There is no snapshot before the first or after the last."""
    file = open_file(io.BytesIO(make_small_file().data))
    for index in (-1, 5):
        with pytest.raises(IndexError):
            file.read(index)


def test_tables_are_read_one_by_one() -> None:
    """A damaged table costs only who asks for it."""
    good = table({"tid": column("uint", "const", value=1)}, 1)
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"tables": {"regions": {**good, "raw": 7}, "threads": good}})
    snapshot = open_file(io.BytesIO(builder.data)).read(0)
    assert list(snapshot.tables) == ["regions", "threads"]
    assert decode_table(snapshot.tables["threads"]) == {"tid": [1]}
    with pytest.raises(
        CorruptError, match=r"stream: a table does not decompress .*, at byte 84, in table regions"
    ):
        snapshot.tables["regions"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error says which path and why."""
    with pytest.raises(FormatError, match=r"no\.mmp: it cannot be opened \(No such file or directory\)"):
        open_file(tmp_path / "no.mmp")
    with pytest.raises(FormatError, match="Is a directory"):
        open_file(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"Dear diary", "it starts with 'Dear diary'"),
        (b"\x7fELF\x02", r"it starts with '\\x7fELF\\x02'"),
        (b'<?xml version="1.0"?><root><Snapshot/></root>', "VMMap and PerfView write XML files"),
        (b"\xef\xbb\xbf <root>", "VMMap and PerfView"),
        ("\ufeff<?xml?><root>".encode("utf-16-le"), "VMMap and PerfView"),
        (
            b'<?xml version="1.0"?>\n<!DOCTYPE lmms-project>\n<lmms-project version="1.0">',
            "a song made with LMMS",
        ),
    ],
)
def test_f50_a_file_that_is_not_ours_is_told_by_its_content(content: bytes, words: str) -> None:
    """What has the same ending, or any other, is refused in words that say what it is."""
    with pytest.raises(NotASnapshotError, match=words):
        open_file(io.BytesIO(content))
    assert not is_mmp(content)


def test_a_newer_minor_version_is_read() -> None:
    """Version 1.9 with optional features is read; what it adds is kept aside."""
    builder = MmpBuilder()
    builder.add_header({"version": [1, 9], "optional": ["shiny"], "new": 1})
    builder.add_snapshot({"process": {"pid": 1}, "new": [1]}, pid=1, new={"a": 1})
    builder.close()
    file = open_file(io.BytesIO(builder.data))
    assert file.format == "mmp 1.9"
    assert file.read(0).extra == {"new": [1]}


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({"version": [2, 0]}, r"it is version 2\.0 of the format, and this program reads 1\.0"),
        ({"version": [0, 9]}, r"it is version 0\.9"),
        (
            {"version": [1, 7], "required": ["folds"]},
            r"it is version 1\.7 and requires what 1\.0 lacks: folds",
        ),
    ],
)
@pytest.mark.parametrize("closed", [False, True])
def test_a_version_that_we_cannot_read_is_named(
    info: dict[str, Any], words: str, closed: bool, partial: bool
) -> None:
    """A newer major version or an unknown required feature is refused, naming both versions."""
    builder = MmpBuilder()
    builder.add_header(info)
    builder.add_snapshot({})
    if closed:
        builder.close()
    with pytest.raises(UnsupportedVersionError, match=words):
        open_file(io.BytesIO(builder.data), partial=partial)


@pytest.mark.parametrize(
    "info", [{"version": 1}, {"version": []}, {"version": ["1", "0"]}, {"required": "x"}]
)
def test_a_header_without_version_is_damage(info: dict[str, Any]) -> None:
    """A header that does not say what it governs is refused."""
    builder = MmpBuilder()
    builder.add_header(info)
    with pytest.raises(CorruptError, match="the header"):
        open_file(io.BytesIO(builder.data))


@pytest.mark.parametrize("closed", [False, True])
def test_what_a_newer_version_appended_is_not_misread(closed: bool) -> None:
    """A header that comes again governs what follows: refused, but with partial what came before is read."""
    builder = make_small_file()
    builder.add_header({"version": [2, 1]})
    builder.add_snapshot({"process": {"pid": 9}}, pid=9)
    if closed:
        builder.close()
    with pytest.raises(UnsupportedVersionError, match=r"2\.1"):
        open_file(io.BytesIO(builder.data))
    file = open_file(io.BytesIO(builder.data), partial=True)
    assert [entry.pid for entry in file.entries] == [101, 102, 103, 104, 105]
    assert (file.faults[0].lost, len(file.faults)) == ("the snapshots that follow", 1)


def test_names_are_shown_and_kept() -> None:
    """A process name that is no UTF-8 is shown with escapes in the list, and is exact in the snapshot."""
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"process": {"name": b"caf\xe9"}}, name=b"caf\xe9")
    file = open_file(io.BytesIO(builder.data))
    assert file.entries[0].name == "caf\\xe9"
    assert file.read(0).process["name"] == b"caf\xe9"


def test_a_long_info_is_read() -> None:
    """An info of up to 64 KiB is no trouble, be it longer than the first look at a frame."""
    for size in (4000, 4090, 5000, 60_000):
        builder = MmpBuilder()
        builder.add_header()
        builder.add_snapshot({"process": {"pid": 1}}, pid=1, long="x" * size)
        builder.add("note", b"after")
        assert open_file(io.BytesIO(builder.data)).read_notes() == ["after"]


def test_a_file_that_shrinks_while_it_is_read() -> None:
    """A file cut by someone else between opening and reading ends in our own error."""
    stream = io.BytesIO(make_small_file().data)
    file = open_file(stream)
    stream.truncate(200)
    with pytest.raises(FormatError):
        file.read(4)


def test_an_error_of_the_disk_is_named() -> None:
    """What the system says when a read fails is passed on with the place."""

    class _Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(FormatError, match=r"it cannot be read \(Input/output error\)"):
        FileBytes(_Broken(b"abc")).read(0, 1)


def test_a_copy_saves_what_is_whole(tmp_path: Path) -> None:
    """A damaged file is refused by a plain copy; a partial one is sound and has every whole snapshot."""
    builder = make_small_file()
    hit = [frame for frame in list_frames(builder) if frame.kind in ("capture", "snapshot")][:2]
    data = bytearray(builder.data)
    for frame in hit:
        data[frame.end - 10] ^= 1
    (tmp_path / "damaged.mmp").write_bytes(data)
    with pytest.raises(CorruptError):
        copy_file(tmp_path / "damaged.mmp", tmp_path / "copy.mmp")
    assert not (tmp_path / "copy.mmp").exists()
    faults = copy_file(tmp_path / "damaged.mmp", tmp_path / "copy.mmp", partial=True)
    assert [fault.offset for fault in faults] == [hit[0].start]
    with open_file(tmp_path / "copy.mmp") as file:
        assert [entry.pid for entry in file.entries] == [102, 103, 104, 105]
        assert file.closed
        lost = file.read(0)
        assert lost.capability[0].item == "capture"
        assert file.read(3).capture.host == {"hostname": "two"}
    assert verify(tmp_path / "copy.mmp") == []


def test_a_copy_of_a_sound_file_reads_the_same(tmp_path: Path) -> None:
    """A copy differs in its sync and its numbers, not in what it says."""
    (tmp_path / "a.mmp").write_bytes(make_small_file().data)
    assert copy_file(tmp_path / "a.mmp", tmp_path / "b.mmp") == []
    with open_file(tmp_path / "a.mmp") as one, open_file(tmp_path / "b.mmp") as two:
        assert describe_file(one) == describe_file(two)


def test_verify_reads_every_column() -> None:
    """A fault deep inside a column is listed with its snapshot, table and name."""
    regions = {
        "good": column("uint", "const", value=1),
        "bad": column("uint", "plain", width=2, data=numbers([1], 2)),
        "new": column("uint", "runs", runs=b""),
    }
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"tables": {"regions": table(regions, 2)}})
    (fault,) = verify(io.BytesIO(builder.data))
    assert fault.lost == "column bad of table regions of snapshot 0"


def test_the_tables_of_a_snapshot_outlive_its_file(tmp_path: Path) -> None:
    """A table that was not asked for before the file was closed can still be read."""
    path = tmp_path / "a.mmp"
    path.write_bytes(make_small_file().data)
    with open_file(path) as file:
        snapshot = file.read(0)
    assert describe_snapshot(snapshot)["tables"]["regions"]["rows"] == 2


def test_a_payload_of_a_newer_version_keeps_its_facts() -> None:
    """Facts, capability items and keys that are new are handed on."""
    builder = MmpBuilder()
    builder.add_header()
    payload = {
        "process": {"new": {"deep": [1, {"a": None}]}},
        "capability": [["new thing", "odd state", 5, "why", 1]],
    }
    builder.add("snapshot", pack(payload))
    snapshot = open_file(io.BytesIO(builder.data)).read(0)
    assert snapshot.process == payload["process"]
    assert snapshot.capability[0].state == "odd state"


def test_an_index_may_do_without_its_end() -> None:
    """A writer that was killed between the two leaves an index that more frames can follow."""
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"process": {"pid": 1}}, pid=1)
    listed = {"headers": [0], "notes": [], "snapshots": [[len(builder.frames[0]), 1, 1, None, None, None]]}
    builder.add("index", pack(listed))
    builder.add_snapshot({"process": {"pid": 2}}, pid=2)
    builder.close()
    for partial in (False, True):
        file = open_file(io.BytesIO(builder.data), partial=partial)
        assert ([entry.pid for entry in file.entries], file.faults) == ([1, 2], [])
    assert verify(io.BytesIO(builder.data)) == []


def test_the_payload_of_a_header_is_ignored() -> None:
    """A later minor version may put something there."""
    builder = MmpBuilder()
    builder.add("mmp", b"\xff what is this", version=[1, 9])
    builder.add_snapshot({"process": {"pid": 1}}, pid=1)
    builder.close()
    assert len(open_file(io.BytesIO(builder.data)).entries) == 1
    assert verify(io.BytesIO(builder.data)) == []


def test_where_info_and_payload_differ_the_payload_counts() -> None:
    """The info is for listing only."""
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"process": {"pid": 2, "name": "b"}}, pid=1, name="a")
    builder.close()
    file = open_file(io.BytesIO(builder.data))
    assert [(entry.pid, entry.name) for entry in file.entries] == [(1, "a")]
    assert file.read(0).process == {"pid": 2, "name": "b"}
    assert verify(io.BytesIO(builder.data)) == []
