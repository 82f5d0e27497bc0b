"""Open a `.mmp` file and read one snapshot at a time.

A closed file is opened by its index, which is checked against the frames that are read; otherwise, and with
``partial``, every frame is walked (`scan`). Decoding columns is left to whoever asks for a table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Union

from mmpscope.formats.errors import CorruptError, FormatError, TruncatedError
from mmpscope.formats.limits import DEFAULT_LIMITS, Limits
from mmpscope.formats.mmp.contents import Contents, SnapshotRef, list_contents, load_contents, refer
from mmpscope.formats.mmp.frames import FileBytes, Frame, name_frame, read_head, read_payload
from mmpscope.formats.mmp.header import check_magic
from mmpscope.formats.mmp.payloads import unpack_capture, unpack_snapshot
from mmpscope.formats.mmp.scan import WHOLE_ONES, scan
from mmpscope.formats.model import Capability, Capture, Snapshot
from mmpscope.formats.source import Entry, Fault

__all__ = ["HEAD_BYTES", "MmpFile", "naming", "open_file", "open_stream"]

HEAD_BYTES = 4096
"""What is looked at to tell whether a file is ours, and what it is otherwise."""

_WITHOUT_INDEX = "--partial reads the file without its index."

PathOrStream = Union[str, "os.PathLike[str]", BinaryIO]


def open_file(source: PathOrStream, *, partial: bool = False, limits: Limits = DEFAULT_LIMITS) -> MmpFile:
    """Open a `.mmp` file, or a binary stream of one.

    With ``partial``, damage is survived and listed in ``faults``. NotASnapshotError where the content is not
    ours, UnsupportedVersionError where it is too new; without ``partial``, TruncatedError where the last
    frame was never finished and CorruptError where a frame is damaged, missing, doubled or out of its place.
    """
    with ExitStack() as opened:
        name, stream = open_stream(source, opened)
        data = FileBytes(stream)
        with naming(name):
            check_magic(data.read(0, HEAD_BYTES))
            contents = None if partial else load_contents(data, limits)
            faults: list[Fault] = []
            if contents is None:
                walked = scan(data, limits)
                contents = list_contents(walked, partial=partial)
                faults = walked.faults
        file = MmpFile(name, data, contents, partial=partial, limits=limits)
        file.faults.extend(faults)
        file.close_with(opened.pop_all())
    return file


def open_stream(source: PathOrStream, opened: ExitStack) -> tuple[str, BinaryIO]:
    """Return name and seekable stream; what is opened for it is entered into ``opened``."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return str(path), opened.enter_context(path.open("rb"))
        except OSError as error:
            raise FormatError(f"it cannot be opened ({error.strerror})", path=str(path)) from error
    name = str(getattr(source, "name", "stream"))
    if source.seekable():
        return name, source
    import shutil  # a pipe is rare, and these would slow down every start of the collector
    import tempfile

    spool = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # it is entered into a context
    shutil.copyfileobj(source, spool)
    return name, spool


class MmpFile:
    """One opened file: a `mmpscope.formats.source.Source`.

    ``closed`` tells whether the file ends as its writer meant it to; one that does not can be whole all the
    same (a series that was killed, or still runs). ``data`` are the bytes, for whoever copies frames.
    """

    def __init__(
        self, name: str, data: FileBytes, contents: Contents, *, partial: bool, limits: Limits
    ) -> None:
        self.name = name
        self.faults: list[Fault] = []
        self.data = data
        self._partial = partial
        self._limits = limits
        self._opened = ExitStack()
        self._capture: tuple[int | None, Capture] = (None, Capture())
        self._contents = contents
        self.closed = contents.closed
        self.format = f"mmp {contents.version[0]}.{contents.version[1]}"
        self.entries = [_describe(index, ref) for index, ref in enumerate(contents.snapshots)]

    def read(self, index: int) -> Snapshot:
        """Read one snapshot; IndexError outside the list, FormatError where its bytes are damaged."""
        if index < 0:
            raise IndexError(f"no snapshot {index}")
        ref = self._contents.snapshots[index]
        with naming(self.name, ref.offset):
            with self._tell_cure():
                frame = self._read_frame(ref.offset, "snapshot")
            if refer(frame.offset, frame.info, ref.capture_at) != ref:
                raise CorruptError(
                    f"the index is wrong about snapshot {index}", offset=ref.offset, now=_WITHOUT_INDEX
                )
            capture = self._read_capture(ref, frame)
            with self._tell_cure():
                payload = read_payload(self.data, frame)
            snapshot = unpack_snapshot(payload, capture, self._limits, (self.name, ref.offset))
        if ref.capture_at is None:
            reason = "its frame is lost" if "capture" in frame.info else "the snapshot refers to none"
            snapshot.capability.append(Capability("capture", "unavailable", None, reason))
        return snapshot

    def _read_frame(self, offset: int, kind: str) -> Frame:
        try:
            frame = read_head(self.data, offset, self._limits)
        except TruncatedError as error:  # it was listed, so it is no torn tail
            raise CorruptError(f"{name_frame(kind)} is damaged or gone", offset=offset) from error
        if frame.kind != kind:
            raise CorruptError(f"there is no {kind} frame where one should be", offset=offset)
        return frame

    @contextmanager
    def _tell_cure(self) -> Iterator[None]:
        """Point to --partial, which leaves damaged frames out, where an error has no better advice."""
        try:
            yield
        except CorruptError as error:
            if not self._partial:
                error.now = error.now or WHOLE_ONES
            raise

    def _read_capture(self, ref: SnapshotRef, snapshot: Frame) -> Capture:
        """Return the capture of a snapshot; the last one is kept, as neighbours share it."""
        offset = ref.capture_at
        if offset is None:
            if snapshot.info.get("capture") is not None and not self._partial:
                what = "the capture of a snapshot is missing"
                raise CorruptError(what, offset=snapshot.offset, now=WHOLE_ONES)
            return Capture()
        if self._capture[0] != offset:
            with self._tell_cure():
                frame = self._read_frame(offset, "capture")
            if frame.info.get("seq") != snapshot.info.get("capture"):
                raise CorruptError(
                    "the index is wrong about the capture of a snapshot",
                    offset=snapshot.offset,
                    now=_WITHOUT_INDEX,
                )
            with self._tell_cure():
                payload = read_payload(self.data, frame)
            self._capture = (offset, unpack_capture(payload, self._limits, (self.name, offset)))
        return self._capture[1]

    def read_notes(self) -> list[str]:
        """Return the text of every note, in file order."""
        with naming(self.name), self._tell_cure():
            frames = [self._read_frame(offset, "note") for offset in self._contents.notes]
            return [read_payload(self.data, frame).decode("utf-8", "replace") for frame in frames]

    def count_bare(self) -> int:
        """Count the snapshots of which no capture is there: the facts of their system are not known."""
        return sum(ref.capture_at is None for ref in self._contents.snapshots)

    def count_kinds(self) -> Counter[str]:
        """Count the whole frames of each kind, those that this version does not know among them."""
        with naming(self.name):
            return Counter(frame.kind for frame, _ in scan(self.data, self._limits).frames)

    def close_with(self, opened: ExitStack) -> None:
        """Have ``opened`` closed together with this file."""
        self._opened = opened

    def close(self) -> None:
        """Let go of the file; tables that were not asked for yet can still be read."""
        self._opened.close()

    def __enter__(self) -> MmpFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _describe(index: int, ref: SnapshotRef) -> Entry:
    name = ref.name.decode("utf-8", "backslashreplace") if isinstance(ref.name, bytes) else ref.name
    return Entry(index, ref.pid, ref.time_ns, name, {"offset": ref.offset})


@contextmanager
def naming(path: str, offset: int | None = None) -> Iterator[None]:
    """Add path and offset to an error that has none yet."""
    try:
        yield
    except FormatError as error:
        error.path = error.path or path
        error.offset = offset if error.offset is None else error.offset
        raise
