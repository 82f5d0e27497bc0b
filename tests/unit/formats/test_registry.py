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
    InputError,
    NotASnapshotError,
    UnknownFormatError,
)
from mmpscope.formats.mmp.writer import write_file
from mmpscope.formats.proc.reader import snapshot_from_text
from mmpscope.formats.registry import open_source, verify_source
from support.corpus import find_corpus_file
from support.smaps_text import MapLine, make_text

SMAPS = make_text(40)
MAPS = MapLine(0x400000, 0x401000, path=b"/bin/x").text + b"\n"


@pytest.mark.parametrize(
    ("content", "known", "rows"),
    [
        (SMAPS, "smaps text", 40),
        (MAPS, "maps text", 1),
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
            "it starts with 'Dear all,', and line 1 is not a map line. `mmp formats` lists",
        ),
        (b"\x1b[31mred\x1b[0m", r"it starts with '\x1b[31mred\x1b[0m'"),
        (b"\x00\x01\xfe\xff\0", r"it starts with '\x00\x01\xfe\xff\x00'"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "it looks like a JPEG image"),
        (b"\x89PNG\r\n\x1a\n\0", "it looks like a PNG image"),
        (b"%PDF-1.7\n", "it looks like a PDF document"),
        (b"MZ\x90\0", "it looks like a Windows program, not a dump of one"),
        (b" <!DOCTYPE html>\n<html>", "it looks like an HTML page (it starts with '<!DOCTYPE html>"),
        (b'{"pid": 12}', """it looks like JSON (it starts with '{"pid": 12}')"""),
        (b"<svg width='1'></svg>", "it looks like XML of another tool"),
        (b"name;size;count\na;1;2\nb;3;4\n", "it looks like a CSV of another tool"),
        (
            b"Name:\tsh\nUmask:\t0022\n",
            "it looks like /proc/PID/status, which has no map: give the smaps beside it",
        ),
        (b"W/google-breakpad( 3): -----BEGIN", "it looks like a microdump of Breakpad, which has no map"),
        (b"a,b\n", "it starts with 'a,b', and line 1 is not a map line"),
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
    assert text.endswith("`mmp formats` lists what can be read.")
    assert text.isprintable()
    assert caught.value.exit_code == 3


def test_smaps_without_map_lines_is_refused_with_its_name(tmp_path: Path) -> None:
    """Counters alone are no regions."""
    path = tmp_path / "x.smaps"
    path.write_bytes(b"16ec0000000-16efa600000\nSize:             956416 kB\n")
    with pytest.raises(NotASnapshotError, match=r"x\.smaps: line 1 is not a map line"):
        open_source(path)


def test_missing_files_and_directories_are_said(tmp_path: Path) -> None:
    """Each with its reason, and an exit code of its own kind; a captured /proc alone is one input."""
    with pytest.raises(InputError, match="no such file") as missing:
        open_source(tmp_path / "none.mmp")
    with pytest.raises(InputError, match="it is a directory"):
        open_source(tmp_path)
    with pytest.raises(InputError, match="it is a directory"):
        verify_source(tmp_path)
    assert missing.value.exit_code == 3


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No permission, at opening or at reading, names the file and what would help."""
    path = tmp_path / "x.mmp"
    path.write_bytes(SMAPS)

    def refuse(*_: object) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(registry, "unwrap", refuse)
    with pytest.raises(InputError, match=r"x\.mmp cannot be read: permission denied\. Use sudo"):
        open_source(path)


def test_the_table_of_another_tool_is_refused_in_words() -> None:
    """Not every CSV with addresses and sizes comes from VMMap."""
    with pytest.raises(UnknownFormatError, match="it looks like a CSV of another tool"):
        open_source(find_corpus_file("vmmap/not-vmmap.csv"))


def test_damage_that_keeps_a_file_from_opening_is_a_fault_for_verify(tmp_path: Path) -> None:
    """Whoever asks what is wrong with a file wants to hear it, not an error."""
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK\3\4" + bytes(100))
    [fault] = verify_source(path)
    assert "its list of members" in fault.what
    assert fault.lost == "all of it"


def test_every_format_is_described() -> None:
    """Names are unique; docs/formats.md has no empty cell."""
    formats = list(registry.list_formats())
    assert len({known.name for known in formats}) == len(formats)
    silent = [
        known.name
        for known in formats
        if not (known.title and known.known_by and known.tools and known.gives)
    ]
    assert silent == []


def test_all_packages_of_readers_are_registered() -> None:
    """A reader that nobody asks might as well not be there."""
    folder = Path(registry.__file__).parent
    assert sorted(registry.PACKAGES) == sorted(path.parent.name for path in folder.glob("*/format.py"))


def test_each_file_of_the_corpus_is_taken_by_one_package() -> None:
    """The order of the table decides nothing but speed, but for text of /proc, which comes last."""
    folder = find_corpus_file("README.md").parent
    contested = {}
    for path in (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        head = path.read_bytes()[: 64 * 1024]
        takers = {
            package
            for package in registry.PACKAGES[:-1]
            if any(known.sniff(head) for known in registry._load(package))
        }
        if len(takers) > 1:
            contested[path.name] = takers
    assert contested == {}


@pytest.mark.parametrize("name", ["e.txt", "maps/e", "e.csv", "e"])
def test_an_empty_file_is_no_snapshot(tmp_path: Path, name: str) -> None:
    """Only of maps and smaps emptiness says something: a process without memory."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(UnknownFormatError, match="it is empty"):
        open_source(path)
    smaps = tmp_path / "2.smaps"
    smaps.touch()
    assert len(open_source(smaps).entries) == 1
