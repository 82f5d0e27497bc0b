"""The regular files of a tar archive: v7, ustar, GNU long names and large sizes, pax names and sizes.

Not `tarfile`: it allocates what a header declares, recurses from header to header, and before Python 3.13.6
never ends where a size is negative.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from mmpscope.formats.containers.tree import CHUNK_BYTES, MOST_MEMBERS, clean_name, join_chunks
from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.source import Fault

__all__ = ["TarTree", "is_tar"]

_BLOCK = 512
_CHECKSUM = slice(148, 156)
_MOST_HEADER = 64 * 1024
"""Bytes of a long name or of pax records."""
_REGULAR = (b"0", b"\0", b"7")
_KINDS = {b"1": "hard link", b"2": "symbolic link", b"3": "device", b"4": "device", b"6": "named pipe"}
_SPARSE = b"S"
_LONG_NAME, _PAX = b"L", b"x"
_WORDLESS = b"5KgDMNV"
"""Directories, and headers that say nothing which matters here: long link names, defaults, labels."""
_MOST_DIGITS = 19
_RECORD = re.compile(rb"(\d{1,9}) ")


def is_tar(head: bytes) -> bool:
    """Whether this is a tar archive: the checksum of its first header is right."""
    return len(head) >= _BLOCK and _is_header(head[:_BLOCK])


class TarTree:
    """A tar archive as a `mmpscope.formats.containers.tree.Archive`.

    The headers are read when it is made. Without ``partial``, CorruptError where one is damaged and
    TruncatedError where the archive ends inside a member; with it, what comes before is there. LimitError
    for more members than a machine has files of processes.
    """

    def __init__(self, stream: BinaryIO, name: str, *, partial: bool = False) -> None:
        self.kind = "tar"
        self.name = name
        self.faults: list[Fault] = []
        self._stream = stream
        self._places: dict[str, tuple[int, int]] = {}
        log = FaultLog()
        try:
            for member in _walk(stream):
                self._add(member, log)
        except (CorruptError, TruncatedError) as error:
            if not partial:
                raise
            log.add(error.what, offset=error.offset, lost="what follows")
        self.faults = log.list()
        self.names: Sequence[str] = list(self._places)

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of one file; LimitError above ``most``."""
        return join_chunks(self.read_chunks(name), name, most)

    def read_chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of one file piece by piece."""
        offset, left = self._places[name]
        while left:
            self._stream.seek(offset)  # each time: others read from the same stream
            chunk = self._stream.read(min(left, CHUNK_BYTES))
            if not chunk:
                return  # the archive is cut here, and was opened all the same
            yield chunk
            offset, left = offset + len(chunk), left - len(chunk)

    def _add(self, member: _Member, log: FaultLog) -> None:
        name = clean_name(member.name)
        if member.kind in _KINDS:
            log.add(f"a {_KINDS[member.kind]} is left out", offset=member.header)
        elif member.kind not in _REGULAR or member.is_sparse:
            what = "sparse file" if member.is_sparse else "member of an unknown kind"
            log.add(f"a {what} is left out", offset=member.header)
        elif name is None:
            log.add("a name that leads out of the archive is left out", offset=member.header)
        elif len(self._places) == MOST_MEMBERS:
            raise LimitError(f"it has more than {MOST_MEMBERS:,} members", now="Unpack what you need of it.")
        else:
            self._places.pop(name, None)
            self._places[name] = (member.start, member.size)


class _Member(NamedTuple):
    header: int
    name: str
    kind: bytes
    is_sparse: bool
    start: int
    size: int


def _walk(stream: BinaryIO) -> Iterator[_Member]:
    """Yield the members in order; headers that only describe the next one are taken into account."""
    end, at = stream.seek(0, os.SEEK_END), 0
    described: dict[bytes, bytes] = {}
    while header := _read_header(stream, at):
        kind, start = header[156:157], at + _BLOCK
        size = _read_number(header[124:136], at)
        if kind in (_LONG_NAME, _PAX):
            described |= _read_description(stream, kind, start, size)
        else:
            size = _read_size(described[b"size"], at) if b"size" in described else size
            if kind not in _WORDLESS:
                name = (described.get(b"path") or _read_name(header)).decode("utf-8", "backslashreplace")
                yield _Member(at, name, kind, kind == _SPARSE or _SPARSE in described, start, size)
            described = {}
        if start + size > end:
            raise TruncatedError(f"the tar file ends inside a member of {size:,} bytes", offset=at)
        at = start + -(-size // _BLOCK) * _BLOCK


def _read_header(stream: BinaryIO, at: int) -> bytes | None:
    """Return the header at an offset; None at the end, which may lack its blocks of zeros."""
    stream.seek(at)
    header = stream.read(_BLOCK)
    if not header.strip(b"\0"):
        return None
    if len(header) < _BLOCK:
        raise TruncatedError("the tar file ends inside a header", offset=at)
    if not _is_header(header):
        raise CorruptError("the header of a member is damaged", offset=at)
    return header


def _is_header(block: bytes) -> bool:
    """Compare the checksum, which counts itself as blanks; some old writers summed signed bytes."""
    try:
        stated = int(block[_CHECKSUM].strip(b" \0"), 8)
    except ValueError:
        return False
    plain = block[: _CHECKSUM.start] + block[_CHECKSUM.stop :]
    blanks = 8 * ord(" ")
    signed = sum(byte - 256 if byte > 127 else byte for byte in plain)
    return stated in (sum(plain) + blanks, signed + blanks)


def _read_number(field: bytes, at: int) -> int:
    """Read octal digits, or the binary number that GNU tar writes for 8 GiB and more."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    return _read_size(field.strip(b" \0") or b"0", at, 8)


def _read_size(digits: bytes, at: int, base: int = 10) -> int:
    try:
        if not digits.isdigit() or len(digits) > _MOST_DIGITS:  # int takes a sign and underscores, too
            raise ValueError
        return int(digits, base)
    except ValueError as error:
        raise CorruptError("the size of a member is damaged", offset=at) from error


def _read_name(header: bytes) -> bytes:
    name, prefix = (header[part].split(b"\0", 1)[0] for part in (slice(0, 100), slice(345, 500)))
    is_ustar = header[257:263] == b"ustar\0"  # GNU's own header has times where ustar has the prefix
    return prefix + b"/" + name if is_ustar and prefix else name


def _read_description(stream: BinaryIO, kind: bytes, start: int, size: int) -> dict[bytes, bytes]:
    """Read what a header says of the next one: its long name, or records of keys and values."""
    if size > _MOST_HEADER:
        raise CorruptError(f"a name or description of {size:,} bytes", offset=start)
    stream.seek(start)
    data = stream.read(size)
    return {b"path": data.rstrip(b"\0")} if kind == _LONG_NAME else dict(_split_records(data))


def _split_records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what counts of a pax header: records `LENGTH KEY=VALUE` with a line end each (POSIX.1-2001)."""
    at = 0
    while found := _RECORD.match(data, at):
        end = at + int(found[1])
        if not found.end() < end <= len(data):
            return
        key, _, value = data[found.end() : end - 1].partition(b"=")
        if key in (b"path", b"size"):
            yield key, value
        elif key.startswith(b"GNU.sparse"):
            yield _SPARSE, value
        at = end
