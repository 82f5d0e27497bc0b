"""One table of the formats that can be read, and opening any input by its content, never by its name.

Adding a format is a package with a module `format`, and its name in `PACKAGES`.
"""

from __future__ import annotations

import errno
import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from mmpscope.formats.errors import (
    CorruptError,
    FormatError,
    InputError,
    LimitError,
    NotASnapshotError,
    TruncatedError,
)
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.source import Fault, Source

__all__ = ["PACKAGES", "list_formats", "open_source", "verify_source"]

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


PACKAGES = ("mmp", "elfcore", "proc")
"""Where formats live, in the order in which they are tried; the module `format` of each has `FORMATS`.

Text of /proc comes last: one line of it anywhere is enough to be taken for it. A package is imported when it
is asked, so that our own files cost no more than our own reader.
"""


def list_formats() -> Iterator[Format]:
    """Yield every format that can be read, in the order in which they are tried."""
    for package in PACKAGES:
        yield from import_module(f"mmpscope.formats.{package}.format").FORMATS


def open_source(path: str | os.PathLike[str], *, partial: bool = False) -> Source:
    """Open an input of any format; `-` is standard input, and gzip is unpacked on the way.

    With ``partial``, damage is survived and listed in the faults of the source. InputError where the file
    cannot be read, NotASnapshotError where its content is of no known format, other FormatErrors where it is
    damaged.
    """
    with _opening(path, partial) as (known, given, faults):
        source = known.open(given)
    source.faults.extend(faults)
    return source


def verify_source(path: str | os.PathLike[str]) -> list[Fault]:
    """Read everything that an input holds and list what is wrong with it.

    InputError, NotASnapshotError and UnsupportedVersionError where there is nothing to verify.
    """
    with _opening(path, partial=True) as (known, given, faults):
        if known.verify is not None:
            return [*faults, *known.verify(given)]
        source = known.open(given)
        source.close()
        return [*faults, *source.faults]


@contextmanager
def _opening(path: str | os.PathLike[str], partial: bool) -> Iterator[tuple[Format, Input, list[Fault]]]:
    """Find the format of an input; what goes wrong while it is read is said with its name."""
    name = os.fspath(path)
    shown = "standard input" if name == "-" else name
    faults: list[Fault] = []
    try:
        with ExitStack() as opened:
            stream = sys.stdin.buffer if name == "-" else opened.enter_context(Path(name).open("rb"))
            stream, head = _unwrap(stream, partial, faults, opened)
            yield _sniff(head), Input(stream, shown, partial, opened), faults
    except OSError as error:
        raise _explain(error, shown) from error
    except FormatError as error:
        error.path = shown
        raise


def _unwrap(
    stream: BinaryIO, partial: bool, faults: list[Fault], opened: ExitStack
) -> tuple[BinaryIO, bytes]:
    """Return a seekable stream of what is inside, and its first bytes."""
    if not stream.seekable():
        stream = opened.enter_context(_spool(_read_chunks(stream)))
    head = _read_head(stream)
    if head.startswith(_GZIP):
        stream = opened.enter_context(_spool(_unpack(stream, partial, faults)))
        head = _read_head(stream)
    return stream, head


def _sniff(head: bytes) -> Format:
    for known in list_formats():
        if known.sniff(head):
            return known
    what = f"not a snapshot that I can read: {_describe_head(head)}"
    raise NotASnapshotError(what, now="Make one with `mmp collect`.")


def _read_head(stream: BinaryIO) -> bytes:
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    return head


def _read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK_BYTES):
        yield chunk


def _unpack(packed: BinaryIO, partial: bool, faults: list[Fault]) -> Iterator[bytes]:
    """Unpack gzip; a cut or damaged file ends in its error, or in a fault with ``partial``."""
    file = gzip.GzipFile(fileobj=packed)
    try:
        while chunk := file.read1(_CHUNK_BYTES):  # read would lose what comes before a cut
            yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        is_cut = isinstance(error, EOFError)
        what = "the gzip file ends too early" if is_cut else f"the gzip file is damaged ({error})"
        if not partial:
            kind = TruncatedError if is_cut else CorruptError
            raise kind(what, now="Copy it again, or use --partial.") from error
        faults.append(Fault(what, offset=packed.tell(), lost="what follows"))


def _spool(chunks: Iterator[bytes]) -> BinaryIO:
    """Write a pipe or what is unpacked into a temporary file; LimitError where it does not end."""
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile())
        for chunk in chunks:
            if file.tell() + len(chunk) > _MAX_SPOOLED:
                raise LimitError(f"there is more than {_MAX_SPOOLED >> 30} GiB in it")
            file.write(chunk)
        file.seek(0)
        opened.pop_all()
    return file


def _explain(error: OSError, name: str) -> InputError:
    code = error.errno or 0
    reason = _REASONS.get(code, os.strerror(code).lower())
    return InputError(f"{name} cannot be read: {reason}. {_ADVICE.get(code, 'Check the path.')}")


def _describe_head(head: bytes) -> str:
    """Tell how unknown content starts, in characters that do a terminal no harm."""
    text = head[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
    line = text.lstrip("\ufeff").split("\n", 1)[0][:_SHOWN_CHARACTERS]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    if line.startswith("<?xml"):  # both call it .mmp, and people take it for a snapshot of ours
        return "it is XML, as Sysinternals VMMap and PerfView save their own snapshots"
    if b"\0" in head:
        return f"it starts with '{shown}'"
    return f"it starts with '{shown}', and line 1 is not a map line"
