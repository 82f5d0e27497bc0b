"""Copy whole frames from `.mmp` files into a fresh one: what a damaged file still has, or several in one.

Payloads are not unpacked: whatever this version does not know comes along as it is.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from mmpscope.formats.limits import DEFAULT_LIMITS, Limits
from mmpscope.formats.mmp.contents import list_contents
from mmpscope.formats.mmp.frames import FileBytes, read_payload
from mmpscope.formats.mmp.header import HEADER_INFO, check_magic
from mmpscope.formats.mmp.output import OutputFile
from mmpscope.formats.mmp.reader import HEAD_BYTES, MmpFile, PathOrStream, naming, open_stream
from mmpscope.formats.mmp.scan import Scan, scan
from mmpscope.formats.mmp.writer import FrameWriter
from mmpscope.formats.source import Fault

__all__ = ["add_frames", "copy_file"]


def copy_file(
    source: PathOrStream,
    target: str | os.PathLike[str],
    *,
    partial: bool = False,
    force: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Fault]:
    """Copy the whole frames of a file and return the faults that were survived (none without ``partial``).

    Numbers and links are made anew, unknown kinds and info keys kept. The errors of `open_file` and of
    `SnapshotWriter.create`.
    """
    with ExitStack() as opened:
        name, stream = open_stream(source, opened)
        with naming(name):
            data = FileBytes(stream)
            check_magic(data.read(0, HEAD_BYTES))
            walked = scan(data, limits)
            list_contents(walked, partial=partial)
            output = OutputFile.create(target, force=force)
            opened.callback(output.close)
            writer = FrameWriter(output, os.urandom(16))
            if walked.frames[0].frame.kind != "mmp":
                writer.write("mmp", HEADER_INFO, b"")
            _copy_frames(data, walked, writer)
            writer.finish()
            output.publish()
    return walked.faults


def add_frames(
    file: MmpFile, writer: FrameWriter, *, partial: bool = False, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Copy the whole frames of an opened file behind those that ``writer`` has written.

    Without ``partial``, TruncatedError or CorruptError where it is damaged; nothing is written then.
    """
    with naming(file.name):
        walked = scan(file.data, limits)
        list_contents(walked, partial=partial)
        headers = [frame.info for frame, _ in walked.frames if frame.kind == "mmp"]
        _copy_frames(file.data, walked, writer)
        if headers:
            writer.govern(headers[-1])


def _copy_frames(data: FileBytes, walked: Scan, writer: FrameWriter) -> None:
    numbers: dict[object, int] = {}
    for frame, _ in walked.frames:
        if frame.kind in ("index", "end"):
            continue
        info = {key: value for key, value in frame.info.items() if key not in ("seq", "prev")}
        if "capture" in info:
            info["capture"] = numbers.get(info["capture"])  # null where that frame is lost
        numbers[frame.info.get("seq")] = writer.write(frame.kind, info, read_payload(data, frame))
