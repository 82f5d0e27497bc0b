"""What the headers of a mapped ELF file say: class, machine, PT_LOAD list, build id.

Reads at most `MAX_HEADER_BYTES` a part and trusts no count or offset; sections and symbols are not looked at.
Layouts: System V ABI, chapters 4 ("ELF Header") and 5 ("Program Header"); the build id is NT_GNU_BUILD_ID.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Callable, NamedTuple

__all__ = ["MAX_HEADER_BYTES", "ElfError", "ElfImage", "Segment", "name_machine", "read_elf", "read_identity"]

MAX_HEADER_BYTES = 64 * 1024
"""Most that is read of the program header table, and of each note segment."""

_FIRST_READ = 4096  # header, program headers and build id of nearly every file lie in its first page
_MAX_NOTE_SEGMENTS = 16
_PT_LOAD, _PT_NOTE = 1, 4
_NT_GNU_BUILD_ID = 3
_MACHINES = {
    3: "i386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64",
    243: "riscv64", 258: "loongarch64",
}  # fmt: skip
_PN_XNUM = 0xFFFF  # "the number does not fit: see sh_info of section 0"; no mapped file needs it

Read = Callable[[int, int], bytes]
"""Read ``size`` bytes at ``offset``; shorter where the file ends."""


class ElfError(ValueError):
    """The bytes are not a readable ELF file; the text says which part is wrong."""


class Segment(NamedTuple):
    """One PT_LOAD entry, all in bytes; ``flags`` are PF_X 1, PF_W 2, PF_R 4."""

    offset: int
    vaddr: int
    filesz: int
    memsz: int
    flags: int


@dataclass
class ElfImage:
    """The header facts of one file; ``build_id`` is lower-case hex, None where there is no such note."""

    elf_class: int
    machine: int
    type: int
    segments: list[Segment] = field(default_factory=list)
    build_id: str | None = None


class Identity(NamedTuple):
    """Class 32 or 64, struct byte order and e_machine."""

    elf_class: int
    order: str
    machine: int


def read_identity(head: bytes) -> Identity:
    """Tell what kind of ELF file begins with ``head``; ElfError where none does."""
    if head[:4] != b"\x7fELF":
        raise ElfError("it is not an ELF file")
    if len(head) < 20:
        raise ElfError("the ELF header is cut")
    elf_class = {1: 32, 2: 64}.get(head[4])
    order = {1: "<", 2: ">"}.get(head[5])
    if elf_class is None or order is None:
        raise ElfError("ELF class or byte order are unknown")
    return Identity(elf_class, order, struct.unpack_from(order + "H", head, 18)[0])


def name_machine(machine: int) -> str:
    """Give e_machine the name that `uname -m` has for it; the number as text where we know none."""
    return _MACHINES.get(machine, str(machine))


def read_elf(read: Read) -> ElfImage:
    """Read the headers of one file through ``read``; ElfError where they contradict themselves.

    A damaged note costs the build id only; a damaged program header table costs the file.
    """
    head = read(0, _FIRST_READ)
    elf_class, order, machine = read_identity(head)
    header = struct.Struct(order + ("16xH14xQ14xHH" if elf_class == 64 else "16xH10xI10xHH"))
    if len(head) < header.size:
        raise ElfError("the ELF header is cut")
    kind, phoff, phentsize, phnum = header.unpack_from(head)
    image = ElfImage(elf_class, machine, kind)
    entry = struct.Struct(order + ("IIQQ8xQQQ" if elf_class == 64 else "III4xIIII"))

    def read_cached(offset: int, size: int) -> bytes:
        end = offset + size
        return head[offset:end] if end <= len(head) else read(offset, size)

    notes = []
    for fields in _read_program_headers(read_cached, entry, phoff, (phentsize, phnum)):
        kind, segment, align = _name_fields(elf_class, fields)
        if kind == _PT_LOAD:
            image.segments.append(segment)
        elif kind == _PT_NOTE:
            notes.append((segment, align))
    for segment, align in notes[:_MAX_NOTE_SEGMENTS]:
        size = min(segment.filesz, MAX_HEADER_BYTES)
        image.build_id = image.build_id or _find_build_id(read_cached(segment.offset, size), order, align)
    return image


def _read_program_headers(
    read: Read, entry: struct.Struct, phoff: int, table: tuple[int, int]
) -> list[tuple[int, ...]]:
    phentsize, phnum = table
    if phnum == 0:
        return []
    if phnum == _PN_XNUM or phentsize * phnum > MAX_HEADER_BYTES:
        raise ElfError(f"{phnum} program headers of {phentsize} bytes are more than a mapped file has")
    if phentsize < entry.size:
        raise ElfError(f"program headers of {phentsize} bytes are too small")
    data = read(phoff, phentsize * phnum) if phoff < 1 << 63 else b""
    if len(data) < phentsize * phnum:
        raise ElfError("the program header table is cut")
    return [entry.unpack_from(data, phentsize * index) for index in range(phnum)]


def _name_fields(elf_class: int, fields: tuple[int, ...]) -> tuple[int, Segment, int]:
    """Tell p_type, segment and p_align; p_flags comes second in a 64-bit entry, last but one in the other."""
    if elf_class == 64:
        kind, flags, offset, vaddr, filesz, memsz, align = fields
    else:
        kind, offset, vaddr, filesz, memsz, flags, align = fields
    return kind, Segment(offset, vaddr, filesz, memsz, flags), align


def _find_build_id(data: bytes, order: str, align: int) -> str | None:
    """Walk one note segment; notes are padded to 4 bytes, in segments aligned to 8 (GNU properties) to 8."""
    unit = 8 if align == 8 else 4
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from(order + "III", data, at)
        name_at = at + 12
        start = _pad(name_at + name_size, unit)
        end = start + size
        if end > len(data):
            return None  # a note that claims more than its segment has: nothing behind it can be found
        if kind == _NT_GNU_BUILD_ID and data[name_at : name_at + name_size] == b"GNU\0":
            return data[start:end].hex()
        at = _pad(end, unit)
    return None


def _pad(number: int, unit: int) -> int:
    return -(-number // unit) * unit
