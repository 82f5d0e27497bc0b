"""ELF headers built field by field, each of which may be wrong on purpose; no layout is the reader's."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

__all__ = ["BUILD_ID", "ElfFile", "make_note"]

BUILD_ID = bytes(range(20))
_PT_LOAD, _PT_NOTE = 1, 4


def make_note(name: bytes, kind: int, content: bytes, order: str = "<", unit: int = 4) -> bytes:
    """Write one note, name and content padded to ``unit``."""
    head = struct.pack(order + "III", len(name), len(content), kind) + name
    head += bytes(-len(head) % unit)
    return head + content + bytes(-len(content) % unit)


@dataclass
class ElfFile:
    """One file: ``loads`` are (offset, vaddr, filesz, memsz, flags); the notes follow the program headers."""

    elf_class: int = 64
    order: str = "<"
    machine: int = 62
    kind: int = 3
    loads: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    notes: bytes = b""
    note_align: int = 4
    phnum: int | None = None
    phentsize: int | None = None
    phoff: int | None = None
    note_filesz: int | None = None

    def build(self) -> bytes:
        """Write the file up to the end of its notes."""
        is_64 = self.elf_class == 64
        ehsize, entry = (64, 56) if is_64 else (52, 32)
        count = len(self.loads) + bool(self.notes)
        table = b"".join(self._program_header(_PT_LOAD, *load, 4096) for load in self.loads)
        notes_at = ehsize + entry * count
        if self.notes:
            size = len(self.notes) if self.note_filesz is None else self.note_filesz
            table += self._program_header(_PT_NOTE, notes_at, notes_at, size, size, 4, self.note_align)
        word = "Q" if is_64 else "I"
        ident = b"\x7fELF" + bytes([2 if is_64 else 1, 1 if self.order == "<" else 2, 1]) + bytes(9)
        header = ident + struct.pack(self.order + "HHI", self.kind, self.machine, 1)
        header += struct.pack(self.order + 3 * word, 0, ehsize if self.phoff is None else self.phoff, 0)
        sizes = (
            ehsize,
            entry if self.phentsize is None else self.phentsize,
            count if self.phnum is None else self.phnum,
        )
        header += struct.pack(self.order + "IHHHHHH", 0, *sizes, 0, 0, 0)
        return header + table + self.notes

    def _program_header(
        self, kind: int, offset: int, vaddr: int, filesz: int, memsz: int, flags: int, align: int
    ) -> bytes:
        if self.elf_class == 64:
            return struct.pack(
                self.order + "IIQQQQQQ", kind, flags, offset, vaddr, vaddr, filesz, memsz, align
            )
        return struct.pack(self.order + "IIIIIIII", kind, offset, vaddr, vaddr, filesz, memsz, flags, align)
