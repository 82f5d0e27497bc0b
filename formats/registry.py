"""One table of the formats that can be read, and opening any input by its content, never by its name.

A reader is imported when its format is met. Adding a format is one line of `FORMATS` and one module.
"""

from __future__ import annotations

import errno
import gzip
import os
import sys
import tempfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from mmpscope.formats.errors import (
    CorruptError,
    FormatError,
    InputError,
    LimitError,
    NotASnapshotError,
    TruncatedError,
)
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.header import is_mmp
from mmpscope.formats.proc.sniff import is_maps, is_smaps
from mmpscope.formats.source import Source

__all__ = ["FORMATS", "Format", "open_source"]

_HEAD_BYTES = 64 * 1024
_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_SHOWN_CHARACTERS = 20
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EISDIR: "it is a directory",
}
_ADVICE = {
    errno.EACCES: "Use sudo, or ask its owner.",
    errno.EPERM: "Use sudo, or ask its owner.",
    errno.EISDIR: "Give the files in it.",
}
_MAX_SPOOLED = 4 * DEFAULT_LIMITS.payload_bytes
"""Of a pipe or packed file; it goes to a temporary file, not into memory."""


class Format(NamedTuple):
    """``sniff`` tells from the first bytes whether content is of this format, ``open`` reads it.

    ``open`` takes a seekable stream at its start, the name for messages, and whether to survive damage.
    """

    name: str
    title: str
    sniff: Callable[[bytes], bool]
    open: Callable[[BinaryIO, str, bool], Source]


def _open_mmp(stream: BinaryIO, name: str, partial: bool) -> Source:
    from mmpscope.formats.mmp.reader import open_file

    with ExitStack() as opened:
        opened.enter_context(stream)
        file = open_file(stream, partial=partial)
        file.name = name
        file.close_with(opened.pop_all())
    return file


def _open_text(stream: BinaryIO, name: str, partial: bool) -> Source:
    from mmpscope.formats.proc.reader import open_text

    return open_text(stream, name)


FORMATS = (
    Format("mmp", "snapshots of mmpscope", is_mmp, _open_mmp),
    Format("smaps", "text of /proc/PID/smaps", is_smaps, _open_text),
    Format("maps", "text of /proc/PID/maps", is_maps, _open_text),
)
"""In the order in which they are tried; plain text, which may hold anything, comes last."""


def open_source(path: str | os.PathLike[str], *, partial: bool = False) -> Source:
    """Open an input of any format; `-` is standard input, and `.gz` is unpacked on the way.

    With ``partial``, damage is survived and listed in the faults of the source. InputError where the file cannot
    be read, NotASnapshotError where its content is of no known format, other FormatErrors where it is damaged.
    """
    name = os.fspath(path)
    shown = "standard input" if name == "-" else name
    try:
        stream = _seekable(sys.stdin.buffer, shown) if name == "-" else _open_file(name)
    except OSError as error:
        raise _explain(error, shown) from error
    try:
        return _open_stream(stream, shown, partial)
    except OSError as error:
        stream.close()
        raise _explain(error, shown) from error
    except FormatError as error:
        stream.close()
        error.path = shown
        raise


def _open_file(path: str) -> BinaryIO:
    stream = Path(path).open("rb")
    if stream.seekable():
        return stream
    with stream:
        return _seekable(stream, path)


def _open_stream(stream: BinaryIO, name: str, partial: bool) -> Source:
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    if head.startswith(_GZIP):
        packed, stream = stream, _unpack(stream, name)
        packed.close()
        head = stream.read(_HEAD_BYTES)
        stream.seek(0)
    for format in FORMATS:
        if format.sniff(head):
            return format.open(stream, name, partial)
    raise NotASnapshotError(
        f"not a snapshot that I can read: {_describe_head(head)}",
        path=name,
        now="Make one with `mmp collect`.",
    )


def _seekable(source: BinaryIO, name: str) -> BinaryIO:
    """Copy a pipe into a temporary file; LimitError where it is larger than what we read from a pipe."""
    return _spool(iter(lambda: source.read(_CHUNK_BYTES), b""), name)


def _unpack(packed: BinaryIO, name: str) -> BinaryIO:
    """Unpack gzip into a temporary file; a bomb ends in LimitError, a cut or damaged one in its error."""
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            return _spool(iter(lambda: file.read(_CHUNK_BYTES), b""), name)
    except EOFError as error:
        raise TruncatedError("the gzip file ends too early", now="Copy it again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise CorruptError(f"the gzip file is damaged ({error})", now="Copy it again.") from error


def _spool(chunks: Iterator[bytes], name: str) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115  # handed over to the source, which closes it
    try:
        for chunk in chunks:
            if file.tell() + len(chunk) > _MAX_SPOOLED:
                raise LimitError(f"there is more than {_MAX_SPOOLED >> 30} GiB in it")
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _explain(error: OSError, name: str) -> InputError:
    code = error.errno or 0
    reason = _REASONS.get(code, os.strerror(code).lower())
    return InputError(f"{name} cannot be read: {reason}. {_ADVICE.get(code, 'Check the path.')}")


def _describe_head(head: bytes) -> str:
    """Tell how unknown content starts, in characters that do a terminal no harm."""
    text = head[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
    line = text.lstrip("\ufeff").split("\n", 1)[0][:_SHOWN_CHARACTERS]
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)
    if b"\0" in head:
        return f"it starts with '{shown}'"
    return f"it starts with '{shown}', and line 1 is not a map line"
