"""The headers of a core: which machine, and the program headers that say what was mapped; core(5), elf(5).

No data of the process is read. Counts and sizes are checked against the file before anything is parsed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from mmpscope.formats.errors import CorruptError, LimitError, NotASnapshotError, TruncatedError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.proc.elf import ElfError, Identity, name_machine, read_identity

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

__all__ = ["CoreHeaders", "measure", "read_headers", "translating"]

_SPACE = 1 << 64
_PN_XNUM = 0xFFFF
_MAX_SEGMENTS = 1 << 20
"""Sixteen times the default of vm.max_map_count."""
_PT_LOAD, _PT_NOTE = 1, 4


class _Layout(NamedTuple):
    """How a program header is laid out (elf(5), Elf32_Phdr and Elf64_Phdr)."""

    form: str
    names: tuple[str, ...]


_LAYOUTS = {
    32: _Layout(
        "8I", ("p_type", "p_offset", "p_vaddr", "p_paddr", "p_filesz", "p_memsz", "p_flags", "p_align")
    ),
    64: _Layout(
        "2I6Q", ("p_type", "p_flags", "p_offset", "p_vaddr", "p_paddr", "p_filesz", "p_memsz", "p_align")
    ),
}
_KINDS = {"ET_EXEC": "program", "ET_DYN": "program or library", "ET_REL": "object file"}
_CUT = "Copy it again, or use --partial for what is there."


@dataclass
class CoreHeaders:
    """What the headers say.

    ``start`` .. ``filesz`` have one item a PT_LOAD, in file order: address, memory size, p_flags, and which
    part of the file holds its bytes. ``notes`` are (offset, size) of each PT_NOTE. ``sections`` counts
    section headers: a kernel writes none, or one that only holds the number of program headers. ``structs``
    are the layouts of pyelftools for this class and byte order.
    """

    identity: Identity
    structs: Any
    osabi: str | int
    file_size: int
    sections: int = 0
    damaged: int = 0
    cut: bool = False
    start: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    filesz: list[int] = field(default_factory=list)
    notes: list[tuple[int, int]] = field(default_factory=list)

    @property
    def machine(self) -> str:
        """The name that `uname -m` has for it."""
        name = name_machine(self.identity.machine)
        return f"{name}le" if name == "ppc64" and self.identity.order == "<" else name

    @property
    def byte_order(self) -> Literal["little", "big"]:
        """The order of bytes in the file and in the process."""
        return "little" if self.identity.order == "<" else "big"

    @property
    def missing(self) -> int:
        """How many bytes of memory are promised behind the end of the file."""
        end = max(map(sum, zip(self.offset, self.filesz, strict=True)), default=0)
        return max(0, end - self.file_size)


@contextmanager
def translating(what: str, offset: int | None = None) -> Iterator[None]:
    """Turn what pyelftools raises into a CorruptError; not all of it is its own ELFError."""
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError

    try:
        yield
    except (ELFError, ConstructError, OverflowError, ValueError) as error:
        raise CorruptError(f"{what} cannot be read", offset=offset) from error


def measure(stream: BinaryIO) -> int:
    """Tell the size of a seekable stream."""
    return stream.seek(0, os.SEEK_END)


def read_headers(stream: BinaryIO, faults: FaultLog, *, partial: bool) -> CoreHeaders:
    """Read the ELF header and every program header.

    NotASnapshotError where it is a program and no core, TruncatedError where the program headers are cut
    (with ``partial``, those that are whole are read), CorruptError where they contradict themselves.
    """
    from elftools.elf.elffile import ELFFile

    size = measure(stream)
    stream.seek(0)
    try:
        identity = read_identity(stream.read(64))
    except ElfError as error:
        raise CorruptError(str(error), offset=0) from error
    if size < (64 if identity.elf_class == 64 else 52):
        raise TruncatedError("the ELF header is cut", offset=size, now=_CUT)
    with translating("the ELF header", 0):
        elf = ELFFile(stream)
    kind = elf.header["e_type"]
    if kind != "ET_CORE":
        raise NotASnapshotError(
            f"an ELF {_KINDS.get(kind, 'file of another kind')}, not a core: it says what a process may map, "
            "not what one has mapped",
            now="Give a core of the running process, as gcore makes it.",
        )
    headers = CoreHeaders(
        identity, elf.structs, elf.header["e_ident"]["EI_OSABI"], size, elf.header["e_shnum"]
    )
    _read_segments(elf, headers, faults, partial=partial)
    return headers


def _read_segments(elf: ELFFile, headers: CoreHeaders, faults: FaultLog, *, partial: bool) -> None:
    """Read the program headers at once: a million of them took pyelftools eight seconds, one by one."""
    entry, offset = elf.structs.Elf_Phdr, elf.header["e_phoff"]
    count = _count_segments(elf, headers, faults)
    if count and elf.header["e_phentsize"] != entry.sizeof():
        what = f"program headers have {elf.header['e_phentsize']} bytes and not {entry.sizeof()}"
        raise CorruptError(what, offset=0, field="e_phentsize")
    whole = max(0, headers.file_size - offset) // entry.sizeof()
    if whole < count:
        if not partial:
            what = f"the file ends within its {count} program headers"
            raise TruncatedError(what, offset=headers.file_size, now=_CUT)
        faults.add("the program headers are cut", offset=headers.file_size, lost="the regions behind")
        headers.cut, count = True, whole
    if count > _MAX_SEGMENTS:
        raise LimitError(f"{count} program headers are more than the limit of {_MAX_SEGMENTS}")
    layout = _LAYOUTS[elf.elfclass]
    known = struct.Struct(("<" if elf.little_endian else ">") + layout.form)
    elf.stream.seek(offset)
    for index, values in enumerate(known.iter_unpack(elf.stream.read(count * known.size))):
        at = offset + index * known.size
        _keep(headers, dict(zip(layout.names, values, strict=True)), at, faults)


def _count_segments(elf: ELFFile, headers: CoreHeaders, faults: FaultLog) -> int:
    """Tell the number of program headers, which does not fit e_phnum where it is 65,535 or more.

    Then sh_info of section 0 has it. A kernel writes that section last, so a cut core has lost it; but the
    notes begin right behind the program headers (fs/binfmt_elf.c, `elf_core_dump`), and so tell it as well.
    """
    from elftools.common.utils import struct_parse

    count, at = elf.header["e_phnum"], elf.header["e_shoff"]
    if count != _PN_XNUM:
        return int(count)
    section, entry = elf.structs.Elf_Shdr, elf.structs.Elf_Phdr
    if at and at + section.sizeof() <= headers.file_size:
        with translating("section 0", at):
            return int(struct_parse(section, elf.stream, at)["sh_info"])
    start = elf.header["e_phoff"]
    with translating("the first program header", start):
        first = struct_parse(entry, elf.stream, start)
    told, rest = divmod(first["p_offset"] - start, entry.sizeof())
    if first["p_type"] != "PT_NOTE" or rest or told < _PN_XNUM:
        what = "the number of program headers is in a section header behind the end of the file"
        raise TruncatedError(what, offset=headers.file_size, now="Copy it again.")
    faults.add("section 0 is cut off; the place of the notes tells how many program headers there are")
    return int(told)


def _keep(headers: CoreHeaders, entry: Mapping[str, int], at: int, faults: FaultLog) -> None:
    """Keep a program header that says something; what lies about its range is left out."""
    if entry["p_type"] == _PT_NOTE:
        headers.notes.append((entry["p_offset"], entry["p_filesz"]))
    elif entry["p_type"] == _PT_LOAD:
        if entry["p_vaddr"] + entry["p_memsz"] > _SPACE:
            headers.damaged += 1
            faults.add("a range ends beyond the address space", offset=at, lost="one region")
        elif entry["p_memsz"]:
            if entry["p_filesz"] > entry["p_memsz"]:
                faults.add("a region has more bytes in the file than in memory", offset=at)
            headers.start.append(entry["p_vaddr"])
            headers.size.append(entry["p_memsz"])
            headers.flags.append(entry["p_flags"])
            headers.offset.append(entry["p_offset"])
            headers.filesz.append(entry["p_filesz"])
        else:
            faults.add("a region of no size is left out", offset=at)
