"""Writing `.mmp` files: whole or not at all, never over another one, and added to without changes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mmpscope.formats.errors import (
    LimitError,
    OutputError,
    OutputExistsError,
)
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp import SnapshotWriter, open_file, verify, write_file
from mmpscope.formats.mmp.output import OutputFile
from mmpscope.formats.model import Capture
from support.decoding import describe_file, describe_snapshot
from support.mmp_builder import split_frames
from support.written import list_names, make_snapshot, read_pids


def _write_and(writer: SnapshotWriter, then: Callable[[], object]) -> None:
    """Write one snapshot, and do something before the writer is left."""
    with writer:
        writer.write_snapshot(make_snapshot(1))
        then()


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Facts, tables, capability and capture come back; the file is closed and sound."""
    path = tmp_path / "a.mmp"
    snapshot = make_snapshot(7, Capture({"id": "x"}, {"a": [1, None]}, {"time_ns": 5}))
    write_file(path, [snapshot])
    with open_file(path) as file:
        assert describe_snapshot(file.read(0)) == describe_snapshot(snapshot)
        assert (file.closed, file.format, file.name) == (True, "mmp 1.0", str(path))
    assert verify(path) == []


def test_a_file_begins_and_ends_as_described(tmp_path: Path) -> None:
    """Seven bytes tell a file of ours from all others, and 39 lead to its index."""
    path = tmp_path / "a.mmp"
    write_file(path, [make_snapshot(7)])
    data = path.read_bytes()
    assert data[:7] == bytes.fromhex("95a36d6d70c410")
    assert data[-39:-35] == bytes.fromhex("95a3656e")
    index_at = int.from_bytes(data[-13:-5], "little")
    assert data[index_at : index_at + 7] == b"\x95\xa5index"


def test_a_capture_is_written_once_for_neighbours(tmp_path: Path) -> None:
    """Snapshots of one capture object share its frame, and once read share the object again."""
    path, shared = tmp_path / "a.mmp", Capture(host={"hostname": "one"})
    write_file(path, [make_snapshot(1, shared), make_snapshot(2, shared), make_snapshot(3)])
    kinds = [
        frame[2 : 2 + (frame[1] & 31)] for frame in split_frames(path.read_bytes(), path.read_bytes()[7:23])
    ]
    assert kinds == [b"mmp", b"capture", b"snapshot", b"snapshot", b"capture", b"snapshot", b"index", b"end"]
    with open_file(path) as file:
        first, second, third = (file.read(at) for at in range(3))
    assert first.capture is second.capture
    assert second.capture is not third.capture


@pytest.fixture(params=["unnamed", "hidden", "remote"])
def manner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write as where the file system has files without a name (Linux), and as elsewhere."""
    if request.param == "hidden":
        monkeypatch.setattr("mmpscope.formats.mmp.output._UNNAMED", None)
    elif request.param == "remote":
        monkeypatch.setattr("mmpscope.formats.mmp.output.is_remote", lambda device: True)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    return str(request.param)


@pytest.mark.usefixtures("manner")
def test_a_one_shot_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    """Until the writer is closed there is nothing under the name; afterwards nothing else in the folder."""
    path = tmp_path / "a.mmp"
    with SnapshotWriter.create(path) as writer:
        writer.write_snapshot(make_snapshot(1))
        assert not path.exists()
    assert list_names(tmp_path) == ["a.mmp"]


@pytest.mark.skipif(os.name == "nt", reason="files have no modes there")
def test_nobody_else_reads_a_file_before_it_has_its_name(tmp_path: Path, manner: str) -> None:
    """A temporary file is private, a new one is as the umask has it; what replaces a private one is."""
    path = tmp_path / "a.mmp"
    before = os.umask(0o022)
    try:
        output = OutputFile.create(path, force=False)
        assert os.fstat(output._descriptor).st_mode & 0o777 == 0o600
        assert len(list(tmp_path.iterdir())) == (0 if manner == "unnamed" else 1)
        output.publish()
        output.close()
        assert path.stat().st_mode & 0o777 == 0o644
        path.chmod(0o600)
        write_file(path, [make_snapshot(1)], force=True)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.usefixtures("manner")
def test_an_error_leaves_no_one_shot_file(tmp_path: Path) -> None:
    """Left by an error, a one-shot file is gone, its temporary name too."""
    with pytest.raises(KeyboardInterrupt):
        _write_and(SnapshotWriter.create(tmp_path / "a.mmp"), _interrupt)
    assert list_names(tmp_path) == []


@pytest.mark.usefixtures("manner")
def test_an_existing_file_is_not_touched(tmp_path: Path) -> None:
    """Without force an existing file is refused at once, and one that appears meanwhile at the end."""
    path = tmp_path / "a.mmp"
    path.write_text("mine")
    with pytest.raises(OutputExistsError, match=r"exists\. Use --force"):
        SnapshotWriter.create(path)
    path.unlink()
    with pytest.raises(OutputExistsError):
        _write_and(SnapshotWriter.create(path), lambda: path.write_text("mine"))
    assert path.read_text() == "mine"
    assert list_names(tmp_path) == ["a.mmp"]


@pytest.mark.usefixtures("manner")
def test_force_replaces_what_a_link_names(tmp_path: Path) -> None:
    """With force the file behind a symbolic link is replaced, and the link stays one."""
    path, link = tmp_path / "a.mmp", tmp_path / "link.mmp"
    path.write_text("old")
    link.symlink_to(path)
    with pytest.raises(OutputExistsError):
        write_file(link, [])
    write_file(link, [make_snapshot(1)], force=True)
    assert link.is_symlink()
    assert read_pids(path) == [1]


@pytest.mark.usefixtures("manner")
def test_force_replaces_what_appears_meanwhile(tmp_path: Path) -> None:
    """A file of that name that came while ours was written is replaced as one that was there before."""
    path = tmp_path / "a.mmp"
    with SnapshotWriter.create(path, force=True) as writer:
        writer.write_snapshot(make_snapshot(1))
        path.write_text("new")
    assert read_pids(path) == [1]
    assert list_names(tmp_path) == ["a.mmp"]


def test_a_dangling_link_is_something_that_exists(tmp_path: Path) -> None:
    """A link to nowhere is not followed without force."""
    (tmp_path / "link.mmp").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputExistsError):
        write_file(tmp_path / "link.mmp", [])


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path, force: bool) -> None:
    """A folder, a pipe or /dev/null is refused, forced or not."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OutputError, match="no regular file"):
            write_file(path, [], force=force)
    assert Path("/dev/null").is_char_device()


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    """255 bytes of name are no trouble, 256 are an error in words."""
    write_file(tmp_path / ("x" * 255), [make_snapshot(1)])
    with pytest.raises(OutputError, match=r"it cannot be created \(File name too long\)"):
        write_file(tmp_path / ("x" * 256), [])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """The error says which path, why, and what to do."""
    with pytest.raises(OutputError, match=r"no/a\.mmp: it cannot be created \(No such file or directory\)"):
        write_file(tmp_path / "no" / "a.mmp", [])


def test_a_file_system_without_links_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be linked to its name (FAT) it is renamed, still not over another one."""
    monkeypatch.setattr("mmpscope.formats.mmp.output._UNNAMED", None)

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "a.mmp"
    write_file(path, [make_snapshot(1)])
    assert read_pids(path) == [1]
    path.unlink()
    with pytest.raises(OutputExistsError):
        _write_and(SnapshotWriter.create(path), lambda: path.write_text("mine"))
    assert path.read_text() == "mine"


def test_a_file_can_be_renamed_where_open_files_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: the file is closed for its renaming, and a series goes on in it."""
    monkeypatch.setattr("mmpscope.formats.mmp.output._IS_WINDOWS", True)
    monkeypatch.setattr("mmpscope.formats.mmp.output._UNNAMED", None)
    with SnapshotWriter.create(tmp_path / "a.mmp", series=True) as writer:
        writer.write_snapshot(make_snapshot(1))
        writer.write_snapshot(make_snapshot(2))
    assert read_pids(tmp_path / "a.mmp") == [1, 2]
    assert list_names(tmp_path) == ["a.mmp"]


def test_a_series_appears_with_its_first_snapshot(tmp_path: Path) -> None:
    """Each snapshot of a series can be read once it is written; without one there is no file."""
    path = tmp_path / "a.mmp"
    with SnapshotWriter.create(path, series=True) as writer:
        assert not path.exists()
        writer.write_snapshot(make_snapshot(1))
        assert read_pids(path) == [1]
        writer.write_snapshot(make_snapshot(2))
        with open_file(path) as file:
            assert (len(file.entries), file.closed) == (2, False)
    with SnapshotWriter.create(tmp_path / "none.mmp", series=True):
        pass
    assert list_names(tmp_path) == ["a.mmp"]


def test_a_series_that_ends_in_an_error_is_closed(tmp_path: Path) -> None:
    """Ctrl-C, say, leaves a series with all its snapshots, its index and its end."""
    path = tmp_path / "a.mmp"
    with pytest.raises(KeyboardInterrupt):
        _write_and(SnapshotWriter.create(path, series=True), _interrupt)
    with open_file(path) as file:
        assert (len(file.entries), file.closed) == (1, True)


def test_one_frame_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A series hands each frame to the system at once, so that it is there whole or not at all."""
    sizes: list[int] = []
    write = os.write

    def take(file: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(file, data)

    monkeypatch.setattr(os, "write", take)
    with SnapshotWriter.create(tmp_path / "a.mmp", series=True) as writer:
        writer.write_snapshot(make_snapshot(1))
    data = (tmp_path / "a.mmp").read_bytes()
    assert sizes == [len(frame) for frame in split_frames(data, data[7:23])]


def test_a_write_that_takes_only_a_part_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes seven bytes at a time gets them all."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    write_file(tmp_path / "a.mmp", [make_snapshot(1)])
    assert read_pids(tmp_path / "a.mmp") == [1]


def _fill_disk_after(monkeypatch: pytest.MonkeyPatch, bytes_left: int) -> None:
    write, left = os.write, [bytes_left]

    def take(file: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(file, data[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr(os, "write", take)


def test_a_full_disk_costs_a_one_shot_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path and the reason are named, and an old file of that name is untouched."""
    path = tmp_path / "a.mmp"
    path.write_text("old")
    _fill_disk_after(monkeypatch, 300)
    with pytest.raises(
        OutputError, match=r"a\.mmp: it cannot be written \(No space left on device\). Make room"
    ):
        write_file(path, [make_snapshot(1)], force=True)
    assert path.read_text() == "old"
    assert list_names(tmp_path) == ["a.mmp"]


def test_a_full_disk_costs_a_series_one_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame that did not fit is taken back; what was written before is whole, and not closed."""
    path = tmp_path / "a.mmp"
    writer, written = SnapshotWriter.create(path, series=True), []

    def fill() -> None:
        written.append(path.read_bytes())
        _fill_disk_after(monkeypatch, 50)
        writer.write_snapshot(make_snapshot(2))

    with pytest.raises(OutputError):
        _write_and(writer, fill)
    assert [path.read_bytes()] == written
    assert verify(path) == []


def test_a_limit_of_the_system_is_named(tmp_path: Path) -> None:
    """A file size limit, a real one, ends in our own error and leaves nothing."""
    script = """
import resource, signal, sys
from mmpscope.formats.errors import OutputError
from mmpscope.formats.mmp import write_file
from mmpscope.formats.model import Capture, Snapshot
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    write_file(sys.argv[1], [Snapshot(Capture(), {"x": bytes(1000)})])
except OutputError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "a.mmp")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "a.mmp: it cannot be written (File too large)" in done.stdout
    assert list_names(tmp_path) == []


def test_nobody_else_adds_at_the_same_time(tmp_path: Path) -> None:
    """A series and an append hold a lock; a second writer is refused, a reader is not."""
    path = tmp_path / "a.mmp"
    with SnapshotWriter.create(path, series=True) as writer:
        writer.write_snapshot(make_snapshot(1))
        with pytest.raises(OutputError, match="another program is adding to it"):
            SnapshotWriter.append(path)
    with SnapshotWriter.append(path) as writer:
        with pytest.raises(OutputError, match="another program is adding to it"):
            SnapshotWriter.append(path)
        writer.write_snapshot(make_snapshot(2))
    with SnapshotWriter.append(path) as writer:
        writer.write_snapshot(make_snapshot(3))
    assert read_pids(path) == [1, 2, 3]


def test_a_snapshot_that_no_reader_would_take_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payload beyond the default limit is not written."""
    monkeypatch.setattr("mmpscope.formats.mmp.writer.DEFAULT_LIMITS", Limits(payload_bytes=500))
    snapshot = make_snapshot(1)
    snapshot.process["x"] = bytes(600)
    with pytest.raises(LimitError, match="a snapshot of"):
        write_file(tmp_path / "a.mmp", [snapshot])


def test_notes_are_kept(tmp_path: Path) -> None:
    """Notes come back in their order, also after an append."""
    path = tmp_path / "a.mmp"
    with SnapshotWriter.create(path) as writer:
        writer.write_note("first \N{SNOWMAN}")
        writer.write_snapshot(make_snapshot(1))
    with SnapshotWriter.append(path) as writer:
        writer.write_note("second")
    with open_file(path) as file:
        assert file.read_notes() == ["first \N{SNOWMAN}", "second"]
    with open_file(path, partial=True) as file:
        assert len(describe_file(file)["notes"]) == 2


_SERIES = """
import sys
from mmpscope.formats.mmp import SnapshotWriter
from mmpscope.formats.model import Capture, Snapshot
with SnapshotWriter.create(sys.argv[1], series=True) as writer:
    print("ready", flush=True)
    for pid in range(1, 100000):
        writer.write_snapshot(Snapshot(Capture(host={"n": pid}), {"pid": pid, "x": bytes(pid * 37 % 5000)}))
        print(pid, flush=True)
"""


_ONE_SHOT = """
import sys, time
from mmpscope.formats.mmp import SnapshotWriter
from mmpscope.formats.model import Capture, Snapshot
with SnapshotWriter.create(sys.argv[1], force=True) as writer:
    writer.write_snapshot(Snapshot(Capture(), {"pid": 7}))
    print("ready", flush=True)
    time.sleep(1000)
"""


@pytest.mark.real
def test_a_killed_one_shot_writer_leaves_nothing(tmp_path: Path) -> None:
    """After kill -9 the folder is as it was: what has no name is gone with its writer."""
    (tmp_path / "a.mmp").write_text("old")
    try:
        os.close(os.open(tmp_path, os.O_RDWR | os.O_TMPFILE))
    except (OSError, AttributeError):
        pytest.skip("there are no files without a name in the temporary folder")
    command = [sys.executable, "-c", _ONE_SHOT, str(tmp_path / "a.mmp")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.kill()
    assert list_names(tmp_path) == ["a.mmp"]
    assert (tmp_path / "a.mmp").read_text() == "old"


@pytest.mark.parametrize("count", [1, 3, 10, 40, 41, 100])
def test_a_killed_series_keeps_what_was_written(tmp_path: Path, count: int) -> None:
    """After kill -9 every snapshot that the writer had finished is there, and the file can be added to."""
    path = tmp_path / "a.mmp"
    with subprocess.Popen(
        [sys.executable, "-c", _SERIES, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(count + 1):
            last = process.stdout.readline()
        process.kill()
    pids = read_pids(path, partial=True)
    assert pids == list(range(1, len(pids) + 1))
    assert len(pids) >= int(last)
    with SnapshotWriter.append(path) as writer:
        writer.write_snapshot(make_snapshot(7))
    assert read_pids(path) == [*pids, 7]
    assert verify(path) == []
