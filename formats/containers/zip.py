"""The files of a zip archive; knows nothing of what they hold."""

from __future__ import annotations

import errno
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, cast

from mmpscope.formats.containers.packed import check_ratio
from mmpscope.formats.containers.tree import CHUNK_BYTES, MOST_MEMBERS, clean_name, join_chunks
from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.source import Fault

__all__ = ["ZipTree"]

_MOST_LIST = 8 << 20
"""Bytes of the list of members, which `zipfile` reads at once: 46 and the name for each."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What packers use unless told otherwise. `zipfile` unpacks the others without a limit of memory."""
_MOST_TOLD = 120
"""Characters of what `zipfile` says: it quotes names of members, which may have 64 KiB."""
_IS_ENCRYPTED = 1
_UNIX = 3
_FILE_TYPES = 28  # the four bits of st_mode that tell the type of a file, in the upper half of the attributes
_REGULAR = 0o10
_DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    LookupError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What `zipfile` raises for damaged lists and members, none of it documented but the first.

A method of packing that it does not know is a RuntimeError of a kind of its own.
"""


class ZipTree:
    """A zip archive as a `mmpscope.formats.containers.tree.Archive`.

    TruncatedError where the list of members, which is at the end, is missing; CorruptError where it is
    damaged; LimitError for too many members, and where they would unpack to far more than there is.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.kind = "zip"
        self.name = name
        self._members: dict[str, zipfile.ZipInfo] = {}
        log = FaultLog()
        with _translated():
            self._zip = zipfile.ZipFile(cast("BinaryIO", _Sparing(stream)))
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise LimitError(f"it has more than {MOST_MEMBERS:,} members", now="Unpack what you need of it.")
        for member in members:
            self._add(member, log)
        check_ratio(sum(member.file_size for member in self._members.values()), _measure(stream))
        self.faults: list[Fault] = log.list()
        self.names: Sequence[str] = list(self._members)

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of one file; LimitError above ``most``, CorruptError where it is damaged."""
        return join_chunks(self.read_chunks(name), name, most)

    def read_chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of one file, no more than the list says; CorruptError where it is damaged."""
        with _translated(), self._zip.open(self._members[name]) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def _add(self, member: zipfile.ZipInfo, log: FaultLog) -> None:
        if member.filename.endswith("/"):  # is_dir() of Python 3.11 fails where a name is empty
            return
        name = clean_name(member.filename.replace("\\", "/"))  # as .NET wrote them for years
        kind = member.external_attr >> _FILE_TYPES
        if name is None:
            log.add("a name that leads out of the archive is left out", offset=member.header_offset)
        elif member.create_system == _UNIX and kind not in (0, _REGULAR):
            log.add("a link or device is left out", offset=member.header_offset)
        elif member.flag_bits & _IS_ENCRYPTED:
            log.add("an encrypted file is left out", offset=member.header_offset)
        elif member.compress_type not in _METHODS:
            what = f"a file is left out that is packed with method {member.compress_type}"
            log.add(what, offset=member.header_offset)
        else:
            self._members[name] = member


class _Sparing:
    """A stream that reads no more at once than a list of members may have."""

    def __init__(self, stream: BinaryIO) -> None:
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable
        self._read = stream.read

    def read(self, size: int = -1) -> bytes:
        """Read, at most up to the limit where no size is given; LimitError for a larger one."""
        if size > _MOST_LIST:
            what = f"its list of members is larger than {_MOST_LIST >> 20} MiB"
            raise LimitError(what, now="Unpack what you need of it.")
        return self._read(_MOST_LIST if size < 0 else size)


def _measure(stream: BinaryIO) -> int:
    return stream.seek(0, os.SEEK_END)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what `zipfile` raises into our errors."""
    try:
        yield
    except _DAMAGE as error:
        if "is not a zip file" in str(error):
            what = "the zip file ends too early: its list of members, which is at the end, is missing"
            raise TruncatedError(what, now="Copy it again.") from error
        told = str(error)[:_MOST_TOLD] or type(error).__name__
        raise CorruptError(f"the zip file is damaged ({told})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the beginning; all else is the disk's
            raise
        raise CorruptError("the zip file is damaged: a member lies outside of it") from error
