"""Opening any input: by its content, from a file, a pipe or packed, and in words where it is none of ours."""

from __future__ import annotations

import errno
import gzip
import io
import os
import threading
from pathlib import Path

import pytest
from mmpscope.formats import registry
from mmpscope.formats.errors import (
    CorruptError,
    InputError,
    LimitError,
    NotASnapshotError,
    TruncatedError,
)
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.proc.reader import snapshot_from_text
from mmpscope.formats.registry import open_source
from support.smaps_text import MapLine, make_text

SMAPS = make_text(40)
MAPS = MapLine(0x400000, 0x401000, path=b"/bin/x").text + b"\n"


@pytest.mark.parametrize(
    ("content", "known", "rows"),
    [
        (SMAPS, "smaps text", 40),
        (MAPS, "maps text", 1),
        (b"", "smaps text", 0),
        (SMAPS.replace(b"\n", b"\r\n"), "smaps text", 40),
        (b"\xef\xbb\xbf" + MAPS, "maps text", 1),
        (SMAPS.decode().encode("utf-16"), "smaps text", 40),
        (gzip.compress(SMAPS), "smaps text", 40),
    ],
)
def test_content_decides_and_not_the_name(tmp_path: Path, content: bytes, known: str, rows: int) -> None:
    """A file called .mmp that holds text is text."""
    path = tmp_path / "misleading.mmp"
    path.write_bytes(content)
    source = open_source(path)
    assert (source.name, source.format) == (str(path), known)
    assert source.read(0).tables["regions"].rows == rows
    source.close()


@pytest.mark.parametrize("packed", [False, True])
def test_our_own_files_open_packed_or_not(tmp_path: Path, packed: bool) -> None:
    """A snapshot file is read through the same door, and gzip is unpacked on the way."""
    path = tmp_path / "x.mmp"
    write_file(path, [snapshot_from_text(SMAPS)])
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    source = open_source(path)
    assert source.format == "mmp 1.0"
    assert source.name == str(path)
    assert source.read(0).tables["regions"].rows == 40
    source.close()


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    """What cannot be sought is copied first."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(SMAPS,))
    writer.start()
    source = open_source(path)
    writer.join()
    assert source.read(0).tables["regions"].rows == 40


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named as what it is in messages."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SMAPS)))
    source = open_source("-")
    assert source.name == "standard input"
    assert source.read(0).tables["regions"].rows == 40


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            b"Dear all,\nplease find",
            "it starts with 'Dear all,', and line 1 is not a map line. Make one with",
        ),
        (b"\x1b[31mred\x1b[0m", r"it starts with '\x1b[31mred\x1b[0m'"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", r"it starts with '\x7fELF\x02"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", r"it starts with '\xff\xd8\xff\xe0"),
        ("\u202egnp.exe".encode(), r"it starts with '\u202egnp.exe'"),
        (b"Error: [Errno 13] cannot read smaps", "line 1 is not a map line"),
    ],
)
def test_f15_unknown_content_is_refused_in_words(tmp_path: Path, content: bytes, shown: str) -> None:
    """The message names the file, shows how it starts in harmless characters, and what to do."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotASnapshotError) as caught:
        open_source(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert shown in text
    assert text.endswith("Make one with `mmp collect`.")
    assert text.isprintable()
    assert caught.value.exit_code == 3


def test_smaps_without_map_lines_is_refused_with_its_name(tmp_path: Path) -> None:
    """Counters alone are no regions."""
    path = tmp_path / "x.smaps"
    path.write_bytes(b"16ec0000000-16efa600000\nSize:             956416 kB\n")
    with pytest.raises(NotASnapshotError, match=r"x\.smaps: line 1 is not a map line"):
        open_source(path)


def test_missing_files_and_directories_are_said(tmp_path: Path) -> None:
    """Each with its reason, and an exit code of its own kind."""
    with pytest.raises(InputError, match="no such file") as missing:
        open_source(tmp_path / "none.mmp")
    with pytest.raises(InputError, match="it is a directory"):
        open_source(tmp_path)
    assert missing.value.exit_code == 3


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No permission, at opening or at reading, names the file and what would help."""
    path = tmp_path / "x.mmp"
    path.write_bytes(SMAPS)

    def refuse(*_: object) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(registry, "_read_head", refuse)
    with pytest.raises(InputError, match=r"x\.mmp cannot be read: permission denied\. Use sudo"):
        open_source(path)


def test_a_bomb_ends_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file cannot fill the disk."""
    monkeypatch.setattr(registry, "_MAX_SPOOLED", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(4 << 20)))
    with pytest.raises(LimitError):
        open_source(path)


def test_a_cut_gzip_file_gives_what_there_is_with_partial(tmp_path: Path) -> None:
    """Without partial it is refused; with it, what can be unpacked is read and the loss is listed."""
    packed = gzip.compress(make_text(2000))
    path = tmp_path / "x.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TruncatedError, match="ends too early"):
        open_source(path)
    source = open_source(path, partial=True)
    assert 500 < source.read(0).tables["regions"].rows < 2000
    assert "ends too early" in source.faults[-1].what


def test_a_damaged_gzip_file_is_our_own_error(tmp_path: Path) -> None:
    """Flipped bytes in a packed file raise nothing but what says so."""
    packed = gzip.compress(SMAPS)
    path = tmp_path / "x.gz"
    for at in range(2, len(packed), 7):
        path.write_bytes(packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :])
        try:
            open_source(path).close()
        except (CorruptError, TruncatedError, NotASnapshotError):
            continue


def test_every_format_is_described() -> None:
    """Names are unique, titles are there."""
    names = [known.name for known in registry.list_formats()]
    assert len(set(names)) == len(names)
    assert all(known.title for known in registry.list_formats())
