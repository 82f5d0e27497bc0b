"""One table of the formats that can be read, and opening any input by its content, never by its name.

Adding a format is a package with a module `format`, and its name in `PACKAGES`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from mmpscope.formats.containers.packed import TextBudget, read_chunks, spool, unwrap
from mmpscope.formats.errors import CorruptError, FormatError, InputError, TruncatedError, UnknownFormatError
from mmpscope.formats.interface import Format, Input
from mmpscope.formats.limits import Allowance
from mmpscope.formats.mmp.plausible import OVERLAPS, check_snapshot
from mmpscope.formats.source import Fault, Source
from mmpscope.formats.whole import measure_stream

__all__ = [
    "PACKAGES",
    "explain_refusal",
    "find_format",
    "list_formats",
    "open_source",
    "read_all",
    "verify_content",
    "verify_source",
]

_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
}
_ADVICE = {
    errno.EACCES: "Use sudo, or ask its owner.",
    errno.EPERM: "Use sudo, or ask its owner.",
}


PACKAGES = ("mmp", "minidump", "containers", "elfcore", "vmmap", "macos", "windbg", "android", "pmap", "proc")
"""Where formats live, in the order in which they are tried; the module `format` of each has `FORMATS`.

Text of /proc comes last: one line of it anywhere is enough to be taken for it. A package is imported when it
is asked, so that our own files cost no more than our own reader.
"""


def list_formats() -> Iterator[Format]:
    """Yield every format that can be read, in the order in which they are tried."""
    for package in PACKAGES:
        yield from _load(package)


@cache
def _load(package: str) -> tuple[Format, ...]:
    formats: tuple[Format, ...] = import_module(f"mmpscope.formats.{package}.format").FORMATS
    return formats


def find_format(head: bytes, name: str) -> Format | None:
    """Tell by its first 64 KiB (or all) of which format content is.

    The name decides only where there is no content: maps and smaps are empty for a process without memory, an
    `.mmp` file is only left empty by a disk that is full (TruncatedError), and nothing else has a meaning.
    """
    if not head and name.endswith(".mmp"):
        what = "the file is empty: a full disk or a copy that was broken off leaves such a file"
        raise TruncatedError(what, now="Copy it again, or collect again.")
    if not head and "maps" not in name.lower().rpartition("/")[2]:
        return None
    return next((known for known in list_formats() if known.sniff(head)), None)


def open_source(
    path: str | os.PathLike[str],
    *,
    partial: bool = False,
    beside: Mapping[str, bytes] | None = None,
    stream: BinaryIO | None = None,
) -> Source:
    """Open an input of any format; `-` is standard input, packed content is unpacked on the way.

    A folder is an input only where it is a captured /proc. With ``partial``, damage is survived and listed in
    the faults of the source. ``beside`` are other files of the process, as `Input` has them. ``stream`` is
    content that is open already, which is then only called ``path``. InputError where the system does not
    let us read it, UnknownFormatError where no reader takes its content, other FormatErrors where it is
    damaged.
    """
    if stream is None and Path(path).is_dir():
        return _open_folder(path)
    with _opening(path, partial, stream) as (known, given, faults):
        source = known.open(given._replace(beside=beside or {}))
    source.faults.extend(faults)
    return source


def verify_source(path: str | os.PathLike[str], *, thorough: bool = False) -> list[Fault]:
    """Read everything that an input holds and list what is wrong with it.

    Tables that so few bytes cannot be of are not decoded, which is one of the faults, unless it is to be
    ``thorough``. InputError, NotASnapshotError and UnsupportedVersionError where there is nothing to verify.
    """
    if Path(path).is_dir():
        return read_all(_open_folder(path))
    allowance = None if thorough else Allowance(Path(path).stat().st_size if Path(path).is_file() else 0)
    with _opening(path, partial=True) as (known, given, faults):
        return [*faults, *verify_content(known, given._replace(allowance=allowance))]


def verify_content(known: Format, given: Input) -> list[Fault]:
    """Read all of content whose format is known, and list what is wrong; raises as `verify_source` does."""
    try:
        return read_all(known.open(given)) if known.verify is None else known.verify(given)
    except (CorruptError, TruncatedError) as error:
        return [Fault(error.what, error.offset, lost="all of it")]


def read_all(source: Source) -> list[Fault]:
    """Read every snapshot of a source, close it, and list what is wrong with it."""
    faults: list[Fault] = []
    with closing(source):
        for entry in source.entries:
            try:
                snapshot = source.read(entry.index)
                faults += check_snapshot(snapshot, f"snapshot {entry.index}")
            except FormatError as error:
                faults.append(Fault(error.what, error.offset, lost=f"snapshot {entry.index}"))
    if any(fault.what.startswith(OVERLAPS) for fault in source.faults):  # its reader found them, with lines
        faults = [fault for fault in faults if not fault.what.startswith(OVERLAPS)]
    return [*source.faults, *faults]


def _open_folder(path: str | os.PathLike[str]) -> Source:
    from mmpscope.formats.containers.captured import open_folder  # few inputs are folders

    with _explaining(os.fspath(path)):
        return open_folder(path)


@contextmanager
def _opening(
    path: str | os.PathLike[str], partial: bool, stream: BinaryIO | None = None
) -> Iterator[tuple[Format, Input, list[Fault]]]:
    """Unpack an input and find its format; what goes wrong while it is read is said with its name."""
    name = os.fspath(path)
    shown = "standard input" if name == "-" else name
    faults: list[Fault] = []
    with _explaining(shown), ExitStack() as opened:
        if stream is not None:
            opened.enter_context(stream)
        else:
            stream = sys.stdin.buffer if name == "-" else opened.enter_context(Path(name).open("rb"))
        is_piped = name == "-" or not stream.seekable()
        if not is_piped and not measure_stream(stream):
            stream = opened.enter_context(spool(read_chunks(stream)))
        stream, head, packed = unwrap(stream, partial, faults, opened)
        if is_piped and not head:  # unlike an empty file, which may be a process without memory
            raise InputError(f"{shown} is empty: the command before it printed nothing")
        known = find_format(head, name)
        if known is None:
            from mmpscope.formats.unknown import describe_unknown

            what = f"not a snapshot that I can read: {describe_unknown(head)}"
            raise UnknownFormatError(what, now="`mmp formats` lists what can be read.")
        texts = TextBudget(measure_stream(stream) if packed is None else packed)
        if packed is not None and known.weight:
            texts.take(shown, read_chunks(stream), known.weight)
            stream.seek(0)
        yield known, Input(stream, shown, partial, opened, texts=texts), faults


def explain_refusal(shown: str, error: OSError) -> InputError:
    """Say in one sentence why the system does not let us read an input, and what to do."""
    code = error.errno or 0
    reason = _REASONS.get(code, os.strerror(code).lower())
    return InputError(f"{shown} cannot be read: {reason}. {_ADVICE.get(code, 'Check the path.')}")


@contextmanager
def _explaining(shown: str) -> Iterator[None]:
    """Tell which input it is that cannot be read."""
    try:
        yield
    except OSError as error:
        raise explain_refusal(shown, error) from error
    except FormatError as error:
        error.path = shown
        raise
