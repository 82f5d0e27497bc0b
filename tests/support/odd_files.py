"""Inputs that no command can read, each with words of the sentence by which it is refused."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

from support.mmp_builder import MmpBuilder
from support.small_file import make_small_file

__all__ = ["SONG", "UNREADABLE", "cut_file", "hurt_file", "write_unreadable"]

SONG = """\
<?xml version="1.0"?>
<lmms-project version="20"><head bpm="140"/><song><track name="Region"/></song></lmms-project>
"""
"""What LMMS saves as .mmp."""


def cut_file() -> bytes:
    """Return a file that ends inside its last snapshot."""
    data = make_small_file(closed=False).data
    return data[:-20]


def hurt_file() -> bytes:
    """Return a closed file of which the second of five snapshots has a flipped bit."""
    builder = make_small_file()
    damaged = bytearray(builder.data)
    damaged[sum(map(len, builder.frames[:3])) + 60] ^= 1
    return bytes(damaged)


def _newer_file() -> bytes:
    builder = MmpBuilder()
    builder.add_header({"version": [2, 1]})
    return builder.data


def _needy_file() -> bytes:
    builder = MmpBuilder()
    builder.add_header({"required": ["telepathy"]})
    return builder.data


UNREADABLE: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "notes.txt": (lambda: b"Dear diary,\nnothing happened.\n", "it starts with 'Dear diary,'"),
    "song.mmp": (lambda: b"PK\x03\x04" + bytes(60), "the zip file ends too early"),
    "lmms.mmp": (SONG.encode, "it is XML, but has no element Snapshot or Region as VMMap saves them"),
    "errors.smaps": (lambda: b"Error: [Errno 13] cannot read smaps\n", "line 1 is not a map line"),
    "newer.mmp": (_newer_file, "2.1"),
    "needy.mmp": (_needy_file, "telepathy"),
    "cut.mmp": (cut_file, "at byte"),
    "hurt.mmp": (hurt_file, "at byte"),
    "cut.mmp.gz": (lambda: gzip.compress(make_small_file().data)[:-9], "the gzip file ends too early"),
}
"""Content, and words that the one line on stderr holds besides the file's name."""


def write_unreadable(folder: Path, name: str) -> Path:
    """Write one of them."""
    path = folder / name
    path.write_bytes(UNREADABLE[name][0]())
    return path
