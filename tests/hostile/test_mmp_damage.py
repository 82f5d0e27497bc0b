"""A file cut at every byte, and with every byte flipped: what is whole is read, what is lost is named."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import pytest
from mmpscope.formats.errors import CorruptError, FormatError, TruncatedError
from mmpscope.formats.mmp import MmpFile, open_file, verify
from support.decoding import describe_snapshot
from support.small_file import PlacedFrame, list_frames, make_small_file

_BUILDER = make_small_file()
_DATA = _BUILDER.data
_FRAMES = list_frames(_BUILDER)
_SNAPSHOTS = [frame for frame in _FRAMES if frame.kind == "snapshot"]


def _open(data: bytes, *, partial: bool = False) -> MmpFile:
    return open_file(io.BytesIO(data), partial=partial)


def _read_all(file: MmpFile) -> list[dict[str, Any]]:
    return [describe_snapshot(file.read(entry.index)) for entry in file.entries]


_WHOLE = _read_all(_open(_DATA))


def _check_offered(data: bytes, expected: list[int], lost_captures: set[str]) -> list[str]:
    """Check that partial reading offers just these snapshots, each as it was, and return the faults."""
    file = _open(data, partial=True)
    offered = _read_all(file)
    assert [snapshot["process"]["pid"] for snapshot in offered] == [101 + index for index in expected]
    for snapshot, index in zip(offered, expected, strict=True):
        original = dict(_WHOLE[index])
        if original["capture"]["host"]["hostname"] in lost_captures:
            reason = ["capture", "unavailable", None, "its frame is lost"]
            assert snapshot["capability"] == [*original["capability"], reason]
            assert snapshot["capture"]["host"] == {}
            original.update(capture=snapshot["capture"], capability=snapshot["capability"])
        assert snapshot == original
    return [f"{fault.what} at {fault.offset}: {fault.lost}" for fault in file.faults]


@pytest.mark.parametrize("frame", _FRAMES, ids=[f"{frame.kind}@{frame.start}" for frame in _FRAMES])
def test_cut_at_every_byte(frame: PlacedFrame) -> None:
    """Cut inside a frame, every snapshot before it is read and the loss named; between frames, none."""
    whole = [index for index, snapshot in enumerate(_SNAPSHOTS) if snapshot.end <= frame.start]
    for size in range(frame.start, frame.end):
        data = _DATA[:size]
        if size == 0:
            continue
        faults = _check_offered(data, whole, set())
        if size == frame.start:
            assert faults == []
            assert len(_open(data).entries) == len(whole)
            continue
        with pytest.raises(TruncatedError) as error:
            _open(data)
        assert error.value.offset == frame.start
        assert f"lost: {size - frame.start} bytes" in str(error.value)
        assert len(faults) == 1
        assert f"at {frame.start}: {size - frame.start} bytes" in faults[0]
        assert verify(io.BytesIO(data))


@pytest.mark.parametrize("mask", [0x01, 0xFF])
@pytest.mark.parametrize("frame", _FRAMES, ids=[f"{frame.kind}@{frame.start}" for frame in _FRAMES])
def test_every_byte_flipped(frame: PlacedFrame, mask: int) -> None:
    """One damaged byte costs one frame: all other snapshots are read as they were, and the frame is named."""
    others = [index for index, snapshot in enumerate(_SNAPSHOTS) if snapshot != frame]
    captures = [each for each in _FRAMES if each.kind == "capture"]
    lost = {name for name, capture in zip(("one", "two"), captures, strict=True) if capture == frame}
    for position in range(frame.start, frame.end):
        data = bytearray(_DATA)
        data[position] ^= mask
        faults = _check_offered(bytes(data), others, lost)
        assert f"at {frame.start}: " in faults[0]
        assert verify(io.BytesIO(data))
        _check_strict(bytes(data))


def _check_strict(data: bytes) -> None:
    """Without partial there is our own error, or the snapshots as they were."""
    try:
        file = _open(data)
    except FormatError:
        return
    assert len(file.entries) == len(_WHOLE)
    for index, original in enumerate(_WHOLE):
        try:
            assert describe_snapshot(file.read(index)) == original
        except CorruptError:
            continue


def test_every_two_neighbouring_frames_damaged() -> None:
    """Damage that crosses a frame boundary costs both frames and no other."""
    for one, two in pairwise(_FRAMES):
        data = bytearray(_DATA)
        data[one.end - 3 : one.end + 3] = bytes(6)
        pids = [index for index, snapshot in enumerate(_SNAPSHOTS) if snapshot not in (one, two)]
        file = _open(bytes(data), partial=True)
        assert [entry.pid for entry in file.entries] == [101 + index for index in pids]
        assert file.faults[0].offset == one.start


def test_a_damaged_length_does_not_hide_what_follows() -> None:
    """A payload that announces more than the file has is told from a torn tail by what comes after it."""
    frame = _SNAPSHOTS[1]
    at = _DATA.index(b"\xc4", frame.start + 60)
    data = bytearray(_DATA)
    while data[at] not in (0xC4, 0xC5):
        at += 1
    data[at + 1] = 0xFF
    with pytest.raises(CorruptError):
        _open(bytes(data[: _FRAMES[5].end])).read(1)
    assert [entry.pid for entry in _open(bytes(data), partial=True).entries] == [101, 103, 104, 105]


def test_bytes_between_frames_are_named() -> None:
    """Foreign bytes between two frames cost no frame, and are told with their number."""
    at = _FRAMES[3].start
    file = _open(_DATA[:at] + b"foreign" + _DATA[at:], partial=True)
    assert [entry.pid for entry in file.entries] == [101, 102, 103, 104, 105]
    assert (file.faults[0].offset, file.faults[0].lost) == (at, "7 bytes")


def test_a_file_behind_a_damaged_beginning() -> None:
    """Even with its whole header gone a file is walked from its first whole frame on."""
    data = _DATA[:5] + bytes(_FRAMES[0].end - 5) + _DATA[_FRAMES[0].end :]
    assert [entry.pid for entry in _open(data, partial=True).entries] == [101, 102, 103, 104, 105]
    with pytest.raises(CorruptError):
        _open(data)
