"""Copy whole frames from one `.mmp` file into a fresh one: what a damaged file still has, or a part of it.

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
from mmpscope.formats.mmp.reader import HEAD_BYTES, PathOrStream, naming, open_stream
from mmpscope.formats.mmp.scan import Scan, scan
from mmpscope.formats.mmp.writer import FrameWriter
from mmpscope.formats.source import Fault

__all__ = ["copy_file"]


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
            _copy_frames(data, walked, FrameWriter(output, os.urandom(16)))
            output.publish()
    return walked.faults


def _copy_frames(data: FileBytes, walked: Scan, writer: FrameWriter) -> None:
    numbers: dict[object, int] = {}
    if walked.frames[0].frame.kind != "mmp":
        writer.write("mmp", HEADER_INFO, b"")
    for frame, _ in walked.frames:
        if frame.kind in ("index", "end"):
            continue
        info = {key: value for key, value in frame.info.items() if key not in ("seq", "prev")}
        if "capture" in info:
            info["capture"] = numbers.get(info["capture"])  # null where that frame is lost
        numbers[frame.info.get("seq")] = writer.write(frame.kind, info, read_payload(data, frame))
    writer.finish()
