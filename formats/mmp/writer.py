"""Write `.mmp` files: one at a time, a series that grows, or more snapshots into an existing file.

A one-shot file appears under its name whole or not at all. A series can be killed at any moment: each
snapshot is one write, and what was written before stays readable. docs/format.md, "Writing and appending",
has the rules.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from mmpscope.formats.errors import LimitError, MmpError, OutputError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.contents import Contents, list_contents, pack_index
from mmpscope.formats.mmp.frames import FileBytes, pack_end, pack_frame
from mmpscope.formats.mmp.header import HEADER_INFO, check_magic
from mmpscope.formats.mmp.output import OutputFile
from mmpscope.formats.mmp.payloads import pack_capture, pack_snapshot
from mmpscope.formats.mmp.reader import HEAD_BYTES, naming
from mmpscope.formats.mmp.scan import scan
from mmpscope.formats.model import Capture, Facts, Snapshot

__all__ = ["FrameWriter", "SnapshotWriter", "write_file"]


class FrameWriter:
    """Number frames, link each to the one before, and keep what the index will list."""

    def __init__(self, output: OutputFile, sync: bytes) -> None:
        self.output = output
        self.contents = Contents()
        self._sync = sync
        self._seq = 0
        self._prev: int | None = None

    @classmethod
    def resume(cls, output: OutputFile) -> FrameWriter:
        """Go on behind the last whole frame of a file, cutting a frame that was never finished.

        The errors of `open_file`, nothing being changed, where the file is damaged, too new or not ours.
        """
        with naming(str(output.path)), output.opened() as stream:
            data = FileBytes(stream)
            check_magic(data.read(0, HEAD_BYTES))
            walked = scan(data, DEFAULT_LIMITS)
            if walked.torn and walked.frames:
                walked.error = None
            contents = list_contents(walked, partial=False)
        output.cut(walked.end)
        resumed = cls(output, walked.frames[0].frame.sync)
        resumed.contents, resumed._seq, resumed._prev = contents, walked.next_seq, walked.crc
        resumed.govern([frame.info for frame, _ in walked.frames if frame.kind == "mmp"][-1])
        return resumed

    def write(self, kind: str, info: Facts, payload: bytes) -> int:
        """Write one frame and return its number; LimitError where no reader would take it."""
        if len(payload) > DEFAULT_LIMITS.payload_bytes:
            raise LimitError(
                f"a {kind} of {len(payload):,} bytes is beyond the limit", path=str(self.output.path)
            )
        seq = self._seq
        link = {} if self._prev is None else {"prev": self._prev}
        numbered = {"seq": seq, **link, **info}
        data, crc = pack_frame(kind, self._sync, numbered, payload)
        offset = self.output.size
        self.output.write(data)
        self._seq, self._prev = seq + 1, crc
        self.contents.closed = False
        self.contents.add(kind, offset, numbered)
        return seq

    def govern(self, last_header: Facts) -> None:
        """Write our header behind one of another writer, which must not govern what we write."""
        if any(last_header.get(key) != value for key, value in HEADER_INFO.items()):
            self.write("mmp", HEADER_INFO, b"")

    def finish(self) -> None:
        """Write index and end, unless they are there."""
        if self.contents.closed:
            return
        index_at = self.output.size
        self.write("index", {}, pack_index(self.contents))
        data, self._prev = pack_end(self._sync, index_at)
        self.output.write(data)
        self.contents.closed = True


class SnapshotWriter:
    """Write snapshots into one file; a context manager.

    Made by `create` or `append`. Left without an error, the file is closed with its index. Left by an error,
    a one-shot file is gone; a series and an appended file keep every snapshot that was written. ``frames``
    takes what is copied from other files (`copying.add_frames`).
    """

    def __init__(self, frames: FrameWriter, *, series: bool) -> None:
        self.frames = frames
        self._is_series = series
        self._capture: Capture | None = None
        self._capture_seq: int | None = None

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, force: bool = False, series: bool = False
    ) -> SnapshotWriter:
        """Begin a new file, which appears when it is closed, or with its first snapshot for a ``series``.

        OutputExistsError where the path exists and ``force`` is not given, OutputError where it cannot be
        written.
        """
        output = OutputFile.create(path, force=force)
        writer = cls(FrameWriter(output, os.urandom(16)), series=series)
        try:
            if series:
                output.lock()
            writer.frames.write("mmp", HEADER_INFO, b"")
        except OutputError:
            output.close()
            raise
        return writer

    @classmethod
    def append(cls, path: str | os.PathLike[str]) -> SnapshotWriter:
        """Add to an existing file, behind its last whole frame; a torn last frame is cut.

        OutputError where the file cannot be written or someone else adds to it, FormatError where it is
        damaged elsewhere, too new or not ours; nothing is changed then.
        """
        output = OutputFile.extend(path)
        try:
            return cls(FrameWriter.resume(output), series=True)
        except MmpError:
            output.close()
            raise

    def write_capture(self, capture: Capture) -> None:
        """Write a capture; snapshots of it that follow refer to it."""
        time_ns = capture.moment.get("time_ns")
        info = {} if time_ns is None else {"time_ns": time_ns}
        self._capture_seq = self.frames.write("capture", info, pack_capture(capture))
        self._capture = capture

    def write_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot, and its capture before it unless that very object was the last one written."""
        if snapshot.capture is not self._capture:
            self.write_capture(snapshot.capture)
        facts = {**snapshot.process, **snapshot.moment}
        known = {
            key: facts[key] for key in ("pid", "name", "time_ns", "mono_ns") if facts.get(key) is not None
        }
        self.frames.write("snapshot", {"capture": self._capture_seq, **known}, pack_snapshot(snapshot))
        if self._is_series:
            self.frames.output.publish()

    def write_note(self, text: str) -> None:
        """Write a note for whoever reads the file."""
        self.frames.write("note", {}, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Write index and end and let the file appear; a series without a snapshot leaves no file."""
        try:
            if self.frames.contents.snapshots or not self._is_series:
                self.frames.finish()
                self.frames.output.publish()
                self.frames.output.sync()
        finally:
            self.frames.output.close()

    def __enter__(self) -> SnapshotWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif self._is_series:
            with contextlib.suppress(OutputError):  # the error that brought us here is the one to tell
                self.close()
        else:
            self.frames.output.close()


def write_file(path: str | os.PathLike[str], snapshots: Iterable[Snapshot], *, force: bool = False) -> None:
    """Write a file of ``snapshots``, whole or not at all; the errors of `SnapshotWriter.create`."""
    with SnapshotWriter.create(path, force=force) as writer:
        for snapshot in snapshots:
            writer.write_snapshot(snapshot)
