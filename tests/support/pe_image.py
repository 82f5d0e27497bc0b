"""Makes PE images as they lie in memory, after the format's description; shares no code with the parser."""

from __future__ import annotations

import struct

__all__ = ["BUILD_ID", "make_image"]

BUILD_ID = "0011223344556677" + "8899aabbccddeeff" + "2a"
_GUID = bytes.fromhex("3322110055447766" + "8899aabbccddeeff")
_PE_AT = 0x80
_DEBUG_AT, _CODEVIEW_AT, _RESOURCES_AT, _VERSION_AT = 0x2000, 0x2040, 0x3000, 0x3100


def make_image(
    *, bits: int = 64, flags: int = 0, version: tuple[int, int, int, int] | None = (10, 2, 3, 4)
) -> bytes:
    """Make an image of five pages with sections .text and .data, a PDB, and a version unless that is None."""
    image = bytearray(0x5000)
    image[:2], image[0x3C:0x40] = b"MZ", struct.pack("<I", _PE_AT)
    optional_size = 240 if bits == 64 else 224
    machine = 0x8664 if bits == 64 else 0x014C
    head = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 2, 0x5F000001, 0, 0, optional_size, flags)
    optional = bytearray(optional_size)
    struct.pack_into("<H", optional, 0, 0x20B if bits == 64 else 0x10B)
    struct.pack_into("<III", optional, 56, len(image), 0x400, 0xABCDEF)
    directories = 112 if bits == 64 else 96
    struct.pack_into("<I", optional, directories - 4, 16)
    if version is not None:
        struct.pack_into("<II", optional, directories + 8 * 2, _RESOURCES_AT, 0x200)
        _put_version(image, version)
    struct.pack_into("<II", optional, directories + 8 * 6, _DEBUG_AT, 28)
    image[_DEBUG_AT : _DEBUG_AT + 28] = struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, 40, _CODEVIEW_AT, 0)
    image[_CODEVIEW_AT : _CODEVIEW_AT + 40] = (
        b"RSDS" + _GUID + struct.pack("<I", 0x2A) + b"demo.pdb".ljust(16, b"\0")
    )
    sections = [_make_section(b".text", 0x1000, 0x60000020), _make_section(b".data", 0x4000, 0xC0000040)]
    head += bytes(optional) + b"".join(sections)
    image[_PE_AT : _PE_AT + len(head)] = head
    return bytes(image)


def _make_section(name: bytes, address: int, characteristics: int) -> bytes:
    return name.ljust(8, b"\0") + struct.pack("<IIII12xI", 0x1000, address, 0x200, 0x400, characteristics)


def _put_version(image: bytearray, version: tuple[int, int, int, int]) -> None:
    """Put three levels of resource directories, with another resource before it, and VS_VERSIONINFO."""
    high, low = version[0] << 16 | version[1], version[2] << 16 | version[3]
    top = struct.pack("<12xHHIIII", 0, 2, 3, 0x80000090, 16, 0x80000030)
    name = struct.pack("<12xHHII", 0, 1, 1, 0x80000050)
    language = struct.pack("<12xHHII", 0, 1, 1033, 0x70)
    for at, data in (
        (0, top),
        (0x30, name),
        (0x50, language),
        (0x70, struct.pack("<IIII", _VERSION_AT, 92, 0, 0)),
    ):
        image[_RESOURCES_AT + at : _RESOURCES_AT + at + len(data)] = data
    key = struct.pack("<HHH", 92, 52, 0) + "VS_VERSION_INFO\0".encode("utf-16-le")
    info = key.ljust(40, b"\0") + struct.pack("<13I", 0xFEEF04BD, 0x10000, high, low, *(0 for _ in range(9)))
    image[_VERSION_AT : _VERSION_AT + len(info)] = info
