"""Bounded access to the bytes of a minidump: nothing is read that is not there, and no name twice.

Every offset in a dump (an RVA) may point anywhere; only what is asked for is read, so that a full dump of
10 GB costs what its lists cost.
"""

from __future__ import annotations

import os
from typing import BinaryIO

from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.faults import FaultLog

__all__ = ["COPY_AGAIN", "DumpFile"]

COPY_AGAIN = "Copy the dump again, or use --partial."
_MAX_NAME_BYTES = 1 << 16
"""A path of Windows has at most 32,767 characters of two bytes."""

_ALL_SIGN_BITS = (1 << 33) - 1
_LOW_HALF = (1 << 32) - 1


class DumpFile:
    """The file, what was found wrong in it, and whether to survive damage in what matters."""

    def __init__(self, stream: BinaryIO, *, partial: bool = False) -> None:
        self.size = stream.seek(0, os.SEEK_END)
        self.partial = partial
        self.faults = FaultLog()
        self.bits: int | None = None
        """Word size of whoever was dumped, as soon as SystemInfo was read."""
        self._stream = stream
        self._names: dict[int, bytes] = {}
        self._text_left = self.size

    def narrow(self, address: int) -> int:
        """Take the sign extension off an address of a 32-bit dump.

        Writers cast a 32-bit pointer to 64 bits as a signed number: 0x80000000 becomes 0xffffffff80000000.
        """
        is_extended = self.bits == 32 and address >> 31 == _ALL_SIGN_BITS
        return address & _LOW_HALF if is_extended else address

    def read(self, offset: int, size: int, what: str) -> bytes:
        """Read bytes that ``what`` names; TruncatedError where the file ends before them."""
        if offset + size > self.size:
            raise TruncatedError(f"{what} lies beyond the end of the file", offset=offset, now=COPY_AGAIN)
        self._stream.seek(offset)
        data = self._stream.read(size)
        if len(data) < size:
            raise TruncatedError(f"the file became shorter while {what} was read", offset=offset)
        return data

    def read_text(self, offset: int, size: int, what: str) -> bytes:
        """Read a record of variable size; LimitError where it is too long, or all of them overlap.

        What does not overlap is together no larger than the file. A million records that each point at the
        same megabyte would be more than any memory.
        """
        if size > _MAX_NAME_BYTES:
            raise LimitError(f"{what} has {size:,} bytes", offset=offset)
        if size > self._text_left:
            raise LimitError("names and records of the dump overlap each other", offset=offset)
        self._text_left -= size
        return self.read(offset, size, what)

    def read_name(self, offset: int, what: str) -> bytes:
        """Read a MINIDUMP_STRING: bytes in a uint32, then UTF-16; to UTF-8, lone surrogates kept (wtf-8).

        CorruptError where its length is odd.
        https://learn.microsoft.com/windows/win32/api/minidumpapiset/ns-minidumpapiset-minidump_string
        """
        known = self._names.get(offset)
        if known is not None:
            return known
        size = int.from_bytes(self.read(offset, 4, what), "little")
        if size % 2:
            raise CorruptError(f"{what} is UTF-16 of an odd number of bytes", offset=offset)
        text = self.read_text(offset + 4, size, what).decode("utf-16-le", "surrogatepass")
        name = self._names[offset] = text.encode("utf-8", "surrogatepass")
        return name
