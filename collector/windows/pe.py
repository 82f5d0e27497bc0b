"""The headers of a program or library as it lies in memory: what was built when, and its sections."""

from __future__ import annotations

import struct
from typing import Callable, NamedTuple

__all__ = ["Image", "Section", "parse_image"]

Read = Callable[[int, int], bytes]
"""Address relative to the image, size -> bytes."""

_MOST_SECTIONS = 96
"""The loader's own limit (winnt.h: sections of an image)."""
_LARGE_ADDRESS_AWARE = 0x20
_DEBUG_DIRECTORY = 6
_CODEVIEW = 2
_MOST_DEBUG_ENTRIES = 32
_LONGEST_PDB = 1024


class Section(NamedTuple):
    """One section: where it lies in the image, in memory and in the file."""

    name: bytes
    address: int
    size: int
    file_size: int
    characteristics: int


class Image(NamedTuple):
    """What the headers say (PE format, learn.microsoft.com); ``build_id`` is the PDB's GUID and age."""

    machine: int
    timestamp: int
    checksum: int
    size: int
    large_address_aware: bool
    sections: list[Section]
    pdb: bytes | None
    build_id: str | None


def parse_image(read: Read) -> Image:
    """Parse the headers; ValueError where there is no PE image, OSError where it cannot be read."""
    head = read(0, 0x400)
    if head[:2] != b"MZ":
        raise ValueError("it does not begin with MZ")
    at = int.from_bytes(head[0x3C:0x40], "little")
    if not 0 < at < 0x1000:
        raise ValueError("its PE header is out of reach")
    if at + 0x200 > len(head):
        head = read(0, 0x1000)
    if head[at : at + 4] != b"PE\0\0":
        raise ValueError("it has no PE header")
    machine, count, timestamp, _, _, optional_size, flags = struct.unpack_from("<HHIIIHH", head, at + 4)
    optional = at + 24
    size, _, checksum = struct.unpack_from("<III", head, optional + 56)
    sections_at = optional + optional_size
    count = min(count, _MOST_SECTIONS)
    if len(head) < sections_at + 40 * count:
        head = read(0, sections_at + 40 * count)
    sections = [_parse_section(head, sections_at + 40 * number) for number in range(count)]
    pdb, build_id = _find_pdb(read, head, optional)
    aware = bool(flags & _LARGE_ADDRESS_AWARE)
    return Image(machine, timestamp, checksum, size, aware, sections, pdb, build_id)


def _parse_section(head: bytes, at: int) -> Section:
    name, size, address, file_size = struct.unpack_from("<8sIII", head, at)
    [characteristics] = struct.unpack_from("<I", head, at + 36)
    return Section(name.rstrip(b"\0"), address, size, file_size, characteristics)


def _find_pdb(read: Read, head: bytes, optional: int) -> tuple[bytes | None, str | None]:
    """Find the CodeView record: `RSDS`, GUID, age, path of the PDB."""
    [magic] = struct.unpack_from("<H", head, optional)
    directories = optional + (112 if magic == 0x20B else 96)
    address, size = struct.unpack_from("<II", head, directories + 8 * _DEBUG_DIRECTORY)
    if not address:
        return None, None
    try:
        entries = read(address, min(size // 28, _MOST_DEBUG_ENTRIES) * 28)
        for kind, length, place in struct.iter_unpack("<12xIII4x", entries):
            if kind == _CODEVIEW and 24 < length <= _LONGEST_PDB:
                return _parse_codeview(read(place, length))
    except (OSError, struct.error):
        pass  # the rest of the headers is as good without
    return None, None


def _parse_codeview(record: bytes) -> tuple[bytes | None, str | None]:
    if record[:4] != b"RSDS":
        return None, None
    one, two, three, rest, age = struct.unpack_from("<IHH8sI", record, 4)
    return record[24:].split(b"\0")[0], f"{one:08x}{two:04x}{three:04x}{rest.hex()}{age:x}"
