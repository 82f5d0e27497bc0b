"""ELF cores built field by field from core(5) and linux/elfcore.h; no layout is the reader's."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from support.elf_builder import make_note

__all__ = ["CoreFile", "Region", "make_auxv", "make_files", "make_prstatus", "make_psinfo"]

NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE, NT_SIGINFO = 1, 3, 6, 0x46494C45, 0x53494749
READ, WRITE, EXECUTE = 4, 2, 1
_PT_LOAD, _PT_NOTE = 1, 4


@dataclass
class Region:
    """One PT_LOAD; ``data`` is what the core holds of it, ``filesz`` and ``offset`` may lie."""

    start: int
    size: int
    flags: int = READ | WRITE
    data: bytes = b""
    filesz: int | None = None
    offset: int | None = None


@dataclass
class CoreFile:
    """One core: headers, notes, data, and a section header where there are too many program headers."""

    regions: Sequence[Region] = ()
    notes: bytes = b""
    elf_class: int = 64
    order: str = "<"
    machine: int = 62
    kind: int = 4
    osabi: int = 0
    phnum: int | None = None
    phentsize: int | None = None
    note_size: int | None = None
    sections: int = 0
    shoff: int | None = None

    def build(self) -> bytes:
        """Write the file: ELF header, program headers, notes, data, section headers."""
        is_64 = self.elf_class == 64
        head, entry = (64, 56) if is_64 else (52, 32)
        count = len(self.regions) + 1
        notes_at = head + entry * count
        size = len(self.notes) if self.note_size is None else self.note_size
        table = [self._header(_PT_NOTE, 0, notes_at, 0, size, 0)]
        at = notes_at + len(self.notes)
        for region in self.regions:
            filesz = len(region.data) if region.filesz is None else region.filesz
            offset = at if region.offset is None else region.offset
            table.append(self._header(_PT_LOAD, region.flags, offset, region.start, filesz, region.size))
            at += len(region.data)
        body = b"".join([*table, self.notes, *(region.data for region in self.regions)])
        sections = self._sections(count)
        shoff = (head + len(body) if sections else 0) if self.shoff is None else self.shoff
        return self._elf_header(count, shoff, len(sections)) + body + b"".join(sections)

    def _elf_header(self, count: int, shoff: int, sections: int) -> bytes:
        is_64 = self.elf_class == 64
        head, entry, section = (64, 56, 64) if is_64 else (52, 32, 40)
        ident = (
            b"\x7fELF" + bytes([2 if is_64 else 1, 1 if self.order == "<" else 2, 1, self.osabi]) + bytes(8)
        )
        word = "Q" if is_64 else "I"
        fields = struct.pack(self.order + "HHI" + 3 * word, self.kind, self.machine, 1, 0, head, shoff)
        phnum = min(count, 0xFFFF) if self.phnum is None else self.phnum
        phentsize = entry if self.phentsize is None else self.phentsize
        sizes = (head, phentsize, phnum, section if sections else 0, sections, 0)
        return ident + fields + struct.pack(self.order + "I6H", 0, *sizes)

    def _sections(self, count: int) -> list[bytes]:
        """Section 0 holds the number of program headers in sh_info where e_phnum cannot."""
        form = self.order + ("IIQQQQIIQQ" if self.elf_class == 64 else "10I")
        number = max(self.sections, int(count >= 0xFFFF))
        return [
            struct.pack(form, 0, 0, 0, 0, 0, number, 0, count if index == 0 else 0, 0, 0)
            for index in range(number)
        ]

    def _header(self, kind: int, flags: int, offset: int, vaddr: int, filesz: int, memsz: int) -> bytes:
        if self.elf_class == 64:
            form, fields = "IIQQQQQQ", (kind, flags, offset, vaddr, 0, filesz, memsz, 4096)
        else:
            form, fields = "IIIIIIII", (kind, offset, vaddr, 0, filesz, memsz, flags, 4096)
        return struct.pack(self.order + form, *fields)


def _word(elf_class: int) -> str:
    return "Q" if elf_class == 64 else "I"


def make_prstatus(
    tid: int, registers: Sequence[int], *, elf_class: int = 64, order: str = "<", signal: int = 0
) -> bytes:
    """Write NT_PRSTATUS: siginfo, cursig, masks, four ids, four times, the general registers."""
    word = _word(elf_class)
    content = struct.pack(order + "iiihH", signal, 0, 0, signal, 0)
    content += struct.pack(order + 2 * word + "iiii" + 8 * word, 0, 0, tid, 1, tid, tid, *(8 * [0]))
    content += struct.pack(order + len(registers) * word, *registers)
    return make_note(b"CORE\0", NT_PRSTATUS, content, order)


def make_psinfo(
    pid: int, name: bytes, args: bytes, *, elf_class: int = 64, order: str = "<", short_ids: bool = False
) -> bytes:
    """Write NT_PRPSINFO; i386, arm and others have user ids of 16 bits there."""
    content = struct.pack(order + ("4B4xQ" if elf_class == 64 else "4BI"), 0, ord("R"), 0, 5, 0x400000)
    content += struct.pack(order + ("HH" if short_ids else "II"), 1000, 1001)
    content += struct.pack(order + "IIII16s80s", pid, 1, pid, pid, name, args)
    return make_note(b"CORE\0", NT_PRPSINFO, content, order)


def make_auxv(entries: Sequence[tuple[int, int]], *, elf_class: int = 64, order: str = "<") -> bytes:
    """Write NT_AUXV, with its AT_NULL."""
    form = order + 2 * _word(elf_class)
    content = b"".join(struct.pack(form, *entry) for entry in (*entries, (0, 0)))
    return make_note(b"CORE\0", NT_AUXV, content, order)


def make_files(
    files: Sequence[tuple[int, int, int, bytes]],
    *,
    elf_class: int = 64,
    order: str = "<",
    page: int = 4096,
    count: int | None = None,
) -> bytes:
    """Write NT_FILE of (start, end, offset in pages, path); ``count`` may lie."""
    word = _word(elf_class)
    content = struct.pack(order + 2 * word, len(files) if count is None else count, page)
    content += b"".join(struct.pack(order + 3 * word, *entry[:3]) for entry in files)
    content += b"".join(path + b"\0" for *_, path in files)
    return make_note(b"CORE\0", NT_FILE, content, order)
