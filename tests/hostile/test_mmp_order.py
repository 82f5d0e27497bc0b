"""Frames lost, doubled or swapped, no byte damaged, are noticed and named; an index is never believed."""

from __future__ import annotations

import io
import struct

import pytest
from mmpscope.formats.errors import CorruptError, FormatError
from mmpscope.formats.mmp import MmpFile, open_file, verify
from support.mmp_builder import MmpBuilder, frame, pack
from support.small_file import list_frames, make_small_file

_BUILDER = make_small_file()
_FRAMES = list_frames(_BUILDER)
_PIECES = _BUILDER.frames
_PIDS = [101, 102, 103, 104, 105]
_PID_AT = dict(zip([i for i, each in enumerate(_FRAMES) if each.kind == "snapshot"], _PIDS, strict=True))


def _open(pieces: list[bytes], *, partial: bool = False) -> MmpFile:
    return open_file(io.BytesIO(b"".join(pieces)), partial=partial)


def _list_pids(pieces: list[bytes]) -> list[int | None]:
    return [entry.pid for entry in _open(pieces, partial=True).entries]


def _read_strictly(pieces: list[bytes]) -> None:
    """Open and read everything."""
    file = _open(pieces)
    assert file.read_notes() == ["a note"]
    for entry in file.entries:
        assert file.read(entry.index).process["pid"] == entry.pid


@pytest.mark.parametrize("lost", range(len(_PIECES) - 2), ids=lambda at: f"{at}-{_FRAMES[at].kind}")
def test_a_lost_frame_is_named(lost: int) -> None:
    """Whichever frame is taken out, strict reading refuses; partial reading offers the rest and says so."""
    pieces = [piece for at, piece in enumerate(_PIECES) if at != lost]
    with pytest.raises(FormatError, match=r"missing|does not continue|does not follow|does not begin"):
        _read_strictly(pieces)
    assert _list_pids(pieces) == [pid for at, pid in _PID_AT.items() if at != lost]
    assert _open(pieces, partial=True).faults
    assert verify(io.BytesIO(b"".join(pieces)))


def test_a_lost_index_or_end_at_the_end_is_no_damage() -> None:
    """Without its last end, or index and end, a file is not closed, and whole."""
    for kept in (len(_PIECES) - 1, len(_PIECES) - 2):
        file = _open(_PIECES[:kept])
        assert (file.closed, len(file.entries), file.faults) == (False, 5, [])
        assert verify(io.BytesIO(b"".join(_PIECES[:kept]))) == []
    assert _open(_PIECES).closed


def test_a_lost_index_before_its_end_is_named() -> None:
    """An end without the index that it points at is noticed."""
    with pytest.raises(CorruptError, match="an end frame does not follow the index"):
        _open([*_PIECES[:-2], _PIECES[-1]])


@pytest.mark.parametrize("doubled", range(len(_PIECES)), ids=lambda at: f"{at}-{_FRAMES[at].kind}")
def test_a_doubled_frame_is_named(doubled: int) -> None:
    """Whichever frame comes twice, it is noticed, and no snapshot is offered twice."""
    pieces = [*_PIECES[: doubled + 1], *_PIECES[doubled:]]
    with pytest.raises(CorruptError, match=r"comes twice|does not follow"):
        _read_strictly(pieces)
    assert _list_pids(pieces) == _PIDS
    assert _open(pieces, partial=True).faults
    assert verify(io.BytesIO(b"".join(pieces)))


@pytest.mark.parametrize("first", range(len(_PIECES) - 1), ids=lambda at: f"{at}-{_FRAMES[at].kind}")
def test_two_swapped_frames_are_named(first: int) -> None:
    """Whichever neighbours change places, it is noticed, and all snapshots are offered.

    Only an index and end that a later one replaced are not looked at by who goes straight to a snapshot.
    """
    pieces = [*_PIECES[:first], _PIECES[first + 1], _PIECES[first], *_PIECES[first + 2 :]]
    if (_FRAMES[first].kind, _FRAMES[first + 1].kind) == ("index", "end") and first + 2 < len(_PIECES):
        _read_strictly(pieces)
    else:
        with pytest.raises(FormatError):
            _read_strictly(pieces)
    assert verify(io.BytesIO(b"".join(pieces)))
    assert sorted(pid or 0 for pid in _list_pids(pieces)) == _PIDS
    faults = _open(pieces, partial=True).faults
    assert any(word in faults[0].what for word in ("missing", "does not follow", "does not continue"))


def test_frames_of_another_file_are_not_taken_in() -> None:
    """A frame with another sync is refused, whole as it is."""
    alien = frame("snapshot", {"seq": 3, "pid": 999}, pack({"process": {"pid": 999}}), bytes(16))
    pieces = [*_PIECES[:3], alien, *_PIECES[3:]]
    assert _list_pids(pieces) == _PIDS
    assert "does not belong to this file" in _open(pieces, partial=True).faults[0].what


def _close_with_index(index: object) -> list[bytes]:
    """Return the small file with another index at its end, itself undamaged."""
    builder = make_small_file(closed=False)
    at = len(builder.data)
    builder.add("index", pack(index))
    return [*builder.frames, frame("end", {}, struct.pack("<Q", at))]


@pytest.mark.parametrize(
    "row",
    [
        [_FRAMES[2].start, 2, 102, 102000, _FRAMES[1].start, None],
        [_FRAMES[2].start, 3, 101, 101000, _FRAMES[1].start, None],
        [_FRAMES[2].start, 2, 101, 101000, _FRAMES[2].start, None],
        [_FRAMES[2].start, 2, 101, 101000, _FRAMES[8].start, None],
        [_FRAMES[2].start, 2, 101, 101000, None, None],
        [_FRAMES[2].start, 2, 101, 101000, _FRAMES[1].start, "other"],
        [_FRAMES[1].start, 1, None, None, None, None],
        [_FRAMES[2].start + 1, 2, 101, 101000, _FRAMES[1].start, None],
        [1 << 63, 2, 101, 101000, _FRAMES[1].start, None],
        [-1, 2, 101, 101000, _FRAMES[1].start, None],
    ],
)
def test_an_index_that_lies_is_found_out(row: list[object]) -> None:
    """What the index says is compared with the frame it points at, before anything is taken from that."""
    pieces = _close_with_index({"headers": [0], "notes": [], "snapshots": [row]})
    with pytest.raises(CorruptError):
        _open(pieces).read(0)
    assert verify(io.BytesIO(b"".join(pieces)))
    assert _list_pids(pieces) == _PIDS


@pytest.mark.parametrize(
    "index",
    [
        [],
        {},
        {"headers": [], "notes": [], "snapshots": []},
        {"headers": [84], "notes": [], "snapshots": []},
        {"headers": [0, 10**18], "notes": [], "snapshots": []},
        {"headers": [0], "notes": [], "snapshots": [[1, 2, 3]]},
        {"headers": [0], "notes": [], "snapshots": [["0", 2, 3, 4, 5, None]]},
        {"headers": [0], "notes": [], "snapshots": [7]},
        {"headers": ["0"], "notes": [], "snapshots": []},
    ],
)
def test_a_useless_index_is_walked_around(index: object) -> None:
    """An index that is no index costs time, not snapshots, and `verify` names it."""
    pieces = _close_with_index(index)
    assert [entry.pid for entry in _open(pieces).entries] == _PIDS
    assert any("index" in fault.what for fault in verify(io.BytesIO(b"".join(pieces))))


def test_a_capture_that_never_was_is_named() -> None:
    """A reference to a capture that is not there is damage; a snapshot that refers to none is not."""
    builder = MmpBuilder()
    builder.add_header()
    builder.add_snapshot({"process": {"pid": 1}}, capture=77, pid=1)
    builder.add_snapshot({"process": {"pid": 2}}, pid=2)
    with pytest.raises(CorruptError, match="capture"):
        _open(builder.frames).read(0)
    assert _open(builder.frames).read(1).process == {"pid": 2}
    snapshot = _open(builder.frames, partial=True).read(0)
    assert [(item.item, item.state) for item in snapshot.capability] == [("capture", "unavailable")]
