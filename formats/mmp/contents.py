"""What a file holds and where: from its index, or from a walk over its frames.

docs/format.md, "The index", has the keys of the index. It is a hint: whoever follows it compares what it
finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError, FormatError
from mmpscope.formats.limits import Limits
from mmpscope.formats.mmp.frames import END_BYTES, FileBytes, Frame, read_end, read_head, read_payload
from mmpscope.formats.mmp.header import VERSION, check_header
from mmpscope.formats.mmp.packing import pack
from mmpscope.formats.mmp.payloads import unpack_map
from mmpscope.formats.mmp.scan import Scan
from mmpscope.formats.model import Fact, Facts
from mmpscope.formats.source import Fault

__all__ = ["Contents", "SnapshotRef", "list_contents", "load_contents", "pack_index", "refer", "unpack_index"]


class SnapshotRef(NamedTuple):
    """Where one snapshot is, and what its frame says of it; ``capture_at`` is where its capture is."""

    offset: int
    seq: int
    pid: int | None
    time_ns: int | None
    capture_at: int | None
    name: str | bytes | None


@dataclass
class Contents:
    """Offsets of headers and notes, and the snapshots, in file order; ``version`` is the last header's."""

    headers: list[int] = field(default_factory=list)
    notes: list[int] = field(default_factory=list)
    snapshots: list[SnapshotRef] = field(default_factory=list)
    version: tuple[int, int] = VERSION
    closed: bool = False
    _captures: dict[int | None, int] = field(default_factory=dict)

    def add(self, kind: str, offset: int, info: Facts) -> None:
        """Take in the next frame of the file."""
        if kind == "mmp":
            self.headers.append(offset)
        elif kind == "note":
            self.notes.append(offset)
        elif kind == "capture":
            self._captures[_take_int(info, "seq")] = offset
        elif kind == "snapshot":
            self.snapshots.append(refer(offset, info, self._captures.get(_take_int(info, "capture"))))


def refer(offset: int, info: Facts, capture_at: int | None) -> SnapshotRef:
    """Return what a snapshot frame says of itself; a key of the wrong type counts as absent."""
    seq, pid, time_ns = (_take_int(info, key) for key in ("seq", "pid", "time_ns"))
    name = info.get("name")
    known_name = name if isinstance(name, (str, bytes)) else None
    return SnapshotRef(offset, -1 if seq is None else seq, pid, time_ns, capture_at, known_name)


def _take_int(info: Facts, key: str) -> int | None:
    value = info.get(key)
    return value if type(value) is int else None


def list_contents(walked: Scan, *, partial: bool) -> Contents:
    """List what a walk found.

    Without ``partial`` the first fault is raised. UnsupportedVersionError where a header is too new; with
    ``partial`` only where it is the first one, else what follows it is left out and a fault added.
    """
    contents = Contents(closed=walked.closed)
    is_readable = True
    for frame, _ in walked.frames:
        if frame.kind == "mmp":
            is_readable = _obey_header(contents, frame, walked.faults if partial else None)
        if is_readable:
            contents.add(frame.kind, frame.offset, frame.info)
    if walked.error is not None and not partial:
        raise walked.error
    return contents


def _obey_header(contents: Contents, frame: Frame, faults: list[Fault] | None) -> bool:
    """Take over the version of a header; False where it is too new but ``faults`` may tell so."""
    try:
        contents.version = check_header(frame.info)
    except FormatError as error:
        if faults is None or not (contents.headers or contents.snapshots):
            raise
        faults.append(Fault(error.what, offset=frame.offset, lost="the snapshots that follow"))
        return False
    return True


def load_contents(data: FileBytes, limits: Limits) -> Contents | None:
    """Load what the index of a closed file lists; None where the file must be walked instead.

    UnsupportedVersionError where a header is too new.
    """
    try:
        end = read_head(data, data.size - END_BYTES, limits)
        index = read_head(data, read_end(data, end), limits)
        contents = unpack_index(read_payload(data, index), limits)
        headers = [read_head(data, offset, limits) for offset in contents.headers]
        for header in headers:
            read_payload(data, header)  # compares the checksum
    except FormatError:
        return None
    frames = [*headers, index, end]
    places = [(row.offset, row.seq) for row in contents.snapshots]
    is_sound = (
        [frame.kind for frame in frames] == ["mmp"] * len(headers) + ["index", "end"]
        and contents.headers[:1] == [0]
        and len({frame.sync for frame in frames}) == 1
        and index.end == end.offset
        and all(one[0] < two[0] and one[1] < two[1] for one, two in zip(places, places[1:]))
    )
    if not is_sound:
        return None
    for header in headers:
        contents.version = check_header(header.info)
    contents.closed = True
    return contents


def pack_index(contents: Contents) -> bytes:
    """Pack the payload of an index frame."""
    snapshots = [list(ref) for ref in contents.snapshots]
    return pack({"headers": contents.headers, "notes": contents.notes, "snapshots": snapshots})


def unpack_index(payload: bytes, limits: Limits) -> Contents:
    """Unpack the payload of an index frame; CorruptError where it is none."""
    content = unpack_map(payload, limits)
    headers, notes, rows = (content.get(key) for key in ("headers", "notes", "snapshots"))
    if not isinstance(rows, list):
        raise CorruptError("the index lists no snapshots")
    return Contents(_read_offsets(headers), _read_offsets(notes), [_read_row(row) for row in rows])


def _read_offsets(value: Fact) -> list[int]:
    if not isinstance(value, list) or not all(type(offset) is int for offset in value):
        raise CorruptError("the index lists something that is no offset")
    return value


def _read_row(row: Fact) -> SnapshotRef:
    """Read one row; items after the sixth come from a newer minor version."""
    if isinstance(row, list) and len(row) >= 6:
        offset, seq, pid, time_ns, capture_at, name = row[:6]
        are_sound = all(isinstance(number, (int, type(None))) for number in (pid, time_ns, capture_at))
        is_named = isinstance(name, (str, bytes, type(None)))
        if isinstance(offset, int) and isinstance(seq, int) and are_sound and is_named:
            return SnapshotRef(offset, seq, pid, time_ns, capture_at, name)
    raise CorruptError("the index has a row that describes no snapshot")
