"""Files of every released version, frozen: later readers have to read in them what is written beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from compat.golden_v1_0 import build
from mmpscope.formats.mmp import copy_file, open_file, verify
from support.decoding import describe_file
from support.mmp_builder import split_frames

_FOLDER = Path(__file__).parent
_GOLDEN = _FOLDER / "v1.0.mmp"
_SHA256 = "5a35e7d3ebc2121b739e211840259e7704d6ae92d335195e247d7a7b76c94062"


def test_the_golden_file_of_version_1_0_is_frozen() -> None:
    """The file is the one that was released with version 1.0, to the byte."""
    assert hashlib.sha256(_GOLDEN.read_bytes()).hexdigest() == _SHA256


def test_the_golden_file_reads_as_it_is_written_down() -> None:
    """Every fact, table, column and note of v1.0.mmp is what v1.0.json says, by its index and by a walk."""
    expected = json.loads((_FOLDER / "v1.0.json").read_text(encoding="utf-8"))
    for partial in (False, True):
        with open_file(_GOLDEN, partial=partial) as file:
            assert describe_file(file) == expected


def test_the_golden_file_can_be_built_again(tmp_path: Path) -> None:
    """What the file was built from, with an msgpack and frames of its own, still reads the same."""
    again = tmp_path / "again.mmp"
    again.write_bytes(build())
    with open_file(again) as file, open_file(_GOLDEN) as golden:
        assert describe_file(file) == describe_file(golden)


def test_the_golden_file_has_no_faults() -> None:
    """A file made by the builder from the description alone is found sound by `verify`."""
    assert verify(_GOLDEN) == []


def test_a_copy_of_the_golden_file_keeps_what_is_unknown(tmp_path: Path) -> None:
    """Unknown frames, info keys, payload keys, tables, columns and encodings are in a copy as they were."""
    copy = tmp_path / "copy.mmp"
    assert copy_file(_GOLDEN, copy) == []
    original, copied = _GOLDEN.read_bytes(), copy.read_bytes()
    sync = copied[7:23]
    kept = [frame for frame in split_frames(original, original[7:23]) if frame[2:5] not in (b"end", b"ind")]
    found = [frame for frame in split_frames(copied, sync) if frame[2:5] not in (b"end", b"ind")]
    assert len(found) == len(kept)
    for frame, like in zip(found, kept, strict=True):
        assert frame[:4] == like[:4]
        assert b"weather" not in like or b"\xa3sky\xa4grey\xc4\x02\x00\xff" in frame
        assert b"\xa7new key" not in like or b"\xa7new key" in frame
    with open_file(copy) as file, open_file(_GOLDEN) as golden:
        assert describe_file(file) == describe_file(golden)
