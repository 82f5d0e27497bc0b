"""The headers of a program or library as it lies in memory: what was built when, and its sections."""

from __future__ import annotations

import struct
from typing import Callable, NamedTuple

from mmpscope.collector.windows.pe_version import read_file_version

__all__ = ["HEAD_SIZE", "Image", "Section", "parse_image"]

Read = Callable[[int, int], bytes]
"""Address relative to the image, size -> bytes, all of them."""

HEAD_SIZE = 0x400
_PAGE = 0x1000
_MOST_SECTIONS = 96
"""The loader's own limit (winnt.h: sections of an image)."""
_LARGE_ADDRESS_AWARE = 0x20
_PE32_PLUS = 0x20B
_RESOURCES, _DEBUG_DIRECTORY = 2, 6
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
    file_version: str | None


def parse_image(read: Read) -> Image:
    """Parse the headers; ValueError where there is no PE image, OSError where it cannot be read."""
    try:
        return _parse(read)
    except struct.error as error:
        raise ValueError(f"its headers are cut short ({error})") from error


def _parse(read: Read) -> Image:
    head, at = _read_head(read)
    machine, count, timestamp, _, _, optional_size, flags = struct.unpack_from("<HHIIIHH", head, at + 4)
    optional = at + 24
    size, _, checksum = struct.unpack_from("<III", head, optional + 56)
    sections_at = optional + optional_size
    count = min(count, _MOST_SECTIONS)
    if len(head) < sections_at + 40 * count:
        head = read(0, sections_at + 40 * count)
    sections = [_parse_section(head, sections_at + 40 * number) for number in range(count)]
    pdb, build_id = _find_pdb(read, *_find_directory(head, optional, _DEBUG_DIRECTORY))
    version = _find_version(read, *_find_directory(head, optional, _RESOURCES))
    aware = bool(flags & _LARGE_ADDRESS_AWARE)
    return Image(machine, timestamp, checksum, size, aware, sections, pdb, build_id, version)


def _read_head(read: Read) -> tuple[bytes, int]:
    head = read(0, HEAD_SIZE)
    if head[:2] != b"MZ":
        raise ValueError("it does not begin with MZ")
    at = int.from_bytes(head[0x3C:0x40], "little")
    if not 0 < at < _PAGE:
        raise ValueError("its PE header is out of reach")
    if at + 0x200 > len(head):
        head = read(0, _PAGE)
    if head[at : at + 4] != b"PE\0\0":
        raise ValueError("it has no PE header")
    return head, at


def _parse_section(head: bytes, at: int) -> Section:
    name, size, address, file_size = struct.unpack_from("<8sIII", head, at)
    [characteristics] = struct.unpack_from("<I", head, at + 36)
    return Section(name.rstrip(b"\0"), address, size, file_size, characteristics)


def _find_directory(head: bytes, optional: int, number: int) -> tuple[int, int]:
    """Find address and size of one of the data directories, (0, 0) where the image has no such thing."""
    [magic] = struct.unpack_from("<H", head, optional)
    place = optional + (112 if magic == _PE32_PLUS else 96)
    [count] = struct.unpack_from("<I", head, place - 4)
    address, size = struct.unpack_from("<II", head, place + 8 * number) if number < count else (0, 0)
    return address, size


def _find_pdb(read: Read, address: int, size: int) -> tuple[bytes | None, str | None]:
    """Find the CodeView record: `RSDS`, GUID, age, path of the PDB."""
    if not address:
        return None, None
    try:
        entries = read(address, min(size // 28, _MOST_DEBUG_ENTRIES) * 28)
        for kind, length, place in struct.iter_unpack("<12xIII4x", entries):
            if kind == _CODEVIEW and 24 < length <= _LONGEST_PDB:
                return _parse_codeview(read(place, length))
    except (OSError, ValueError, struct.error):
        pass  # the rest of the headers is as good without
    return None, None


def _parse_codeview(record: bytes) -> tuple[bytes | None, str | None]:
    if record[:4] != b"RSDS":
        return None, None
    one, two, three, rest, age = struct.unpack_from("<IHH8sI", record, 4)
    return record[24:].split(b"\0")[0], f"{one:08x}{two:04x}{three:04x}{rest.hex()}{age:x}"


def _find_version(read: Read, address: int, size: int) -> str | None:
    if not address or not size:
        return None
    try:
        return read_file_version(read, address)
    except (OSError, ValueError, struct.error):
        return None  # resources may be not there any more: the rest of the headers is as good without
