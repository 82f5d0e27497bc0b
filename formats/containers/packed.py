"""Content that is packed as a whole (gzip, xz, bzip2) or comes through a pipe: unpacked to a temporary file.

Memory is bounded whatever the content says; what unpacks to too much is refused before it fills the disk.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import BinaryIO, NamedTuple, Protocol, cast

from mmpscope.formats.containers.tree import CHUNK_BYTES
from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.source import Fault

__all__ = [
    "HEAD_BYTES",
    "TextBudget",
    "Unwrapped",
    "check_ratio",
    "find_packing",
    "read_chunks",
    "spool",
    "unwrap",
]

HEAD_BYTES = 64 * 1024
"""What formats are told by."""
_MOST_SPOOLED = 4 << 30
_MOST_LAYERS = 3
"""A mail gateway may pack once more what was packed; a file that unpacks to itself never ends."""
_FREE_BYTES = 256 << 20
_MOST_RATIO = 200
"""Real maps shrink to a hundredth at best. Dumps full of zeros reach 1000, and mostly stay below the bytes
that are free; a bomb reaches any number.
"""
_FREE_TEXT, _MOST_TEXT = 64 << 20, 100
"""Bytes of text, and times the packed size: smaps of regions that are all alike shrink to a ninetieth."""
_FREE_LINES, _LINES_A_BYTE = 600_000, 0.6
"""Lines that are no counters: three or four for each region of smaps, one of maps and listings."""
_COUNTER_BYTES = 24
"""No line of a counter is shorter: the kernel pads the names to 15 letters, and the numbers to 8 digits."""
_XZ_MEMORY = 128 << 20
"""`xz -9` needs 65 MiB; the file itself says how much, up to 4 GiB."""
_IN_MEMORY = 1 << 20
_UNPACK_YOURSELF = "If you trust it, unpack it yourself and give what was in it."


class Packing(NamedTuple):
    """How the files of one packer begin, and how they are unpacked piece by piece."""

    name: str
    magic: bytes
    unpack: Callable[[BinaryIO], Iterator[bytes]]


class Unwrapped(NamedTuple):
    """A seekable stream, its first bytes, and how many bytes it had packed; None where it was not."""

    stream: BinaryIO
    head: bytes
    packed: int | None


class TextBudget:
    """What texts that one input unpacks to may come to, given its bytes: bytes, and lines or tags.

    A text is read whole, and each line costs; counters of smaps, which end in kB, cost next to nothing.
    """

    def __init__(self, packed: int) -> None:
        self._bytes = max(_FREE_TEXT, _MOST_TEXT * packed)
        self._lines = max(_FREE_LINES, int(_LINES_A_BYTE * packed))
        self._taken: set[str] = set()

    def take(self, name: str, chunks: Iterable[bytes], weight: int = 1) -> None:
        """Count one text, once however often it is read; LimitError where there is too much of them."""
        if name in self._taken:
            return
        self._taken.add(name)
        for chunk in chunks:
            self._bytes -= len(chunk) * weight
            counters = min(chunk.count(b" kB\n"), len(chunk) // _COUNTER_BYTES)
            self._lines -= max(map(chunk.count, (b"\n", b"\r", b"<"))) - counters
            if self._bytes < 0 or self._lines < 0:
                what = "it unpacks to more text than so few bytes of a process become"
                raise LimitError(what, now=_UNPACK_YOURSELF)


def unwrap(stream: BinaryIO, partial: bool, faults: list[Fault], opened: ExitStack) -> Unwrapped:
    """Return a seekable stream of what is inside, and its first bytes.

    With ``partial`` a cut or damaged packing gives what comes before, and is told in ``faults``. LimitError
    where it unpacks to too much, TruncatedError and CorruptError without ``partial``.
    """
    if not stream.seekable():
        stream = opened.enter_context(spool(read_chunks(stream)))
    head, packed = _read_head(stream), None
    for _ in range(_MOST_LAYERS):
        packing = find_packing(head)
        if packing is None:
            return Unwrapped(stream, head, packed)
        packed = stream.seek(0, os.SEEK_END) if packed is None else packed
        stream.seek(0)
        stream = opened.enter_context(spool(_unpack(packing, stream, partial, faults)))
        head = _read_head(stream)
    if find_packing(head) is not None:
        raise LimitError(f"it is packed more than {_MOST_LAYERS} times over", now=_UNPACK_YOURSELF)
    return Unwrapped(stream, head, packed)


def find_packing(head: bytes) -> Packing | None:
    """Tell what content is packed with, by how it begins."""
    return next((packing for packing in _PACKINGS if head.startswith(packing.magic)), None)


def check_ratio(unpacked: int, packed: int) -> None:
    """LimitError where something unpacks to so much that it can only be meant to."""
    if unpacked > max(_FREE_BYTES, packed * _MOST_RATIO):
        what = f"it unpacks to more than {_MOST_RATIO} times its size, {unpacked >> 20:,} MiB and more"
        raise LimitError(what, now=_UNPACK_YOURSELF)


def spool(chunks: Iterator[bytes]) -> BinaryIO:
    """Copy pieces into a temporary file, in memory while it is small; LimitError where they do not end."""
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > _MOST_SPOOLED:
                raise LimitError(f"there is more than {_MOST_SPOOLED >> 30} GiB in it", now=_UNPACK_YOURSELF)
            file.write(chunk)
        file.seek(0)
        opened.pop_all()
    return cast("BinaryIO", file)


def _read_head(stream: BinaryIO) -> bytes:
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    return head


def read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a stream piece by piece."""
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _unpack(packing: Packing, packed: BinaryIO, partial: bool, faults: list[Fault]) -> Iterator[bytes]:
    """Unpack all of it; what is wrong with it ends in its error, or in a fault with ``partial``."""
    size = 0
    try:
        for chunk in packing.unpack(packed):
            size += len(chunk)
            check_ratio(size, packed.tell())
            yield chunk
    except (CorruptError, TruncatedError) as error:
        if not partial:
            error.now = "Copy it again, or use --partial."
            raise
        faults.append(Fault(error.what, offset=packed.tell(), lost="what follows"))


def _unpack_gzip(packed: BinaryIO) -> Iterator[bytes]:
    import gzip

    with gzip.GzipFile(fileobj=packed, mode="rb") as file:
        yield from _translate("gzip", lambda: file.read1(CHUNK_BYTES), (zlib.error, gzip.BadGzipFile))


def _unpack_bzip2(packed: BinaryIO) -> Iterator[bytes]:
    import bz2

    reader = _StreamReader(packed, bz2.BZ2Decompressor)
    yield from _translate("bzip2", reader.read1, (OSError,))


def _unpack_xz(packed: BinaryIO) -> Iterator[bytes]:
    import lzma

    # not LZMAFile, which takes no limit of memory
    reader = _StreamReader(packed, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))
    yield from _translate("xz", reader.read1, (lzma.LZMAError,))


class _Unpacker(Protocol):
    """What the unpackers of `bz2` and `lzma` share."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _StreamReader:
    """Unpacks streams that follow each other in one file, as packers append them."""

    def __init__(self, packed: BinaryIO, start: Callable[[], _Unpacker]) -> None:
        self._packed = packed
        self._start = start
        self._unpacker = start()
        self._rest = b""

    def read1(self) -> bytes:
        """Return the next bytes, none at the end; EOFError where it ends too early."""
        while not self._unpacker.eof or self._next_stream():
            if self._unpacker.needs_input and not self._rest:
                self._rest = self._packed.read(HEAD_BYTES)
                if not self._rest:
                    raise EOFError
            data, self._rest = self._unpacker.decompress(self._rest, CHUNK_BYTES), b""
            if data:
                return data
        return b""

    def _next_stream(self) -> bool:
        """Begin the stream behind the one that ended and its padding of zeros; False at the end of all."""
        self._rest = self._unpacker.unused_data.lstrip(b"\0")
        while not self._rest:
            chunk = self._packed.read(HEAD_BYTES)
            if not chunk:
                return False
            self._rest = chunk.lstrip(b"\0")
        self._unpacker = self._start()
        return True


def _translate(name: str, read: Callable[[], bytes], damage: tuple[type[Exception], ...]) -> Iterator[bytes]:
    """Yield what is read until there is no more; what an unpacker raises becomes our errors."""
    try:
        while chunk := read():
            yield chunk
    except EOFError as error:
        raise TruncatedError(f"the {name} file ends too early") from error
    except damage as error:
        if isinstance(error, OSError) and error.errno:  # of the disk: what bz2 and gzip raise has no number
            raise
        if "emory usage limit" in str(error):  # the only way in which liblzma tells it
            what = f"it cannot be unpacked in {_XZ_MEMORY >> 20} MiB of memory"
            raise LimitError(what, now=_UNPACK_YOURSELF) from error
        raise CorruptError(f"the {name} file is damaged ({error})") from error


_PACKINGS = (
    Packing("gzip", b"\x1f\x8b", _unpack_gzip),
    Packing("xz", b"\xfd7zXZ\0", _unpack_xz),
    Packing("bzip2", b"BZh", _unpack_bzip2),
)
