"""The version of a program or library, from the resources in its memory: no file is opened for it."""

from __future__ import annotations

import struct
from typing import Callable

__all__ = ["read_file_version"]

Read = Callable[[int, int], bytes]
_VERSION_RESOURCE = 16
_SUBDIRECTORY = 1 << 31
_MOST_ENTRIES = 1024
_SIGNATURE = 0xFEEF04BD
_FIXED_INFO_AT = 40
"""Behind three words and `VS_VERSION_INFO` with its NUL (VS_VERSIONINFO, learn.microsoft.com)."""


def read_file_version(read: Read, resources: int) -> str | None:
    """Read the file version of VS_FIXEDFILEINFO, `10.0.19041.1`; None where there is none.

    ``read`` takes addresses relative to the image, ``resources`` is that of its resource directory. Three
    levels lead to the data: type, name, language; of the last two the first will do. OSError and struct.error
    where it cannot be read.
    """
    place = _find_entry(read, resources, 0, _VERSION_RESOURCE)
    for _ in ("name", "language"):
        if place is None or not place & _SUBDIRECTORY:
            return None
        place = _find_entry(read, resources, place & ~_SUBDIRECTORY, None)
    if place is None or place & _SUBDIRECTORY:
        return None
    [data] = struct.unpack("<I", read(resources + place, 4))
    signature, _, high, low = struct.unpack("<4I", read(data + _FIXED_INFO_AT, 16))
    if signature != _SIGNATURE:
        return None
    return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"


def _find_entry(read: Read, resources: int, at: int, wanted: int | None) -> int | None:
    """Find where the entry with a number leads, or the first one (IMAGE_RESOURCE_DIRECTORY of winnt.h)."""
    named, numbered = struct.unpack("<12xHH", read(resources + at, 16))
    count = min(named + numbered, _MOST_ENTRIES)
    for number, place in struct.iter_unpack("<II", read(resources + at + 16, 8 * count)):
        if wanted is None or number == wanted:
            return int(place)
    return None
