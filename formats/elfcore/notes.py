"""The notes of a core: threads, process, auxiliary vector, and the files that were mapped; core(5).

pyelftools is not asked for them: it reads a table of mapped files by the count in it, entry for entry.
Registers other than the general ones are skipped unread. Layouts: linux/elfcore.h, fs/binfmt_elf.c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO, NamedTuple

from mmpscope.formats.elfcore.headers import CoreHeaders, translating
from mmpscope.formats.elfcore.registers import Thread, parse_prstatus
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.model import Facts
from mmpscope.formats.proc.facts import parse_auxv, to_fact

__all__ = ["CoreNotes", "MappedFiles", "read_notes"]

_PRSTATUS, _PRPSINFO, _AUXV, _FILE, _SIGINFO = 1, 3, 6, 0x46494C45, 0x53494749
_MAX_NOTE = 64 * 1024
_MAX_FILES = 16 * 1024 * 1024
"""Bytes of NT_FILE: the most that a kernel writes (kernel.core_file_note_size_limit)."""
_HEAD_BYTES = 12
_MIPS = 8
_SPACE = 1 << 64
_FOREIGN = {b"FreeBSD": "freebsd", b"NetBSD-CORE": "netbsd", b"OpenBSD": "openbsd"}


class MappedFiles(NamedTuple):
    """NT_FILE: one item a mapping of a file, by address; ``offset`` in bytes.

    ``page_size`` is the unit in which the note gives offsets: a page, but 1 where gdb wrote it.
    """

    start: list[int]
    size: list[int]
    offset: list[int]
    path: list[bytes]
    page_size: int | None = None


@dataclass
class CoreNotes:
    """What the notes say; ``system`` is linux, or another system whose notes are not read."""

    system: str | None = None
    threads: list[Thread] = field(default_factory=list)
    files: MappedFiles = field(default_factory=lambda: MappedFiles([], [], [], []))
    auxv: Facts = field(default_factory=dict)
    psinfo: Facts = field(default_factory=dict)
    siginfo: Facts = field(default_factory=dict)


class _Note(NamedTuple):
    name: bytes
    kind: int
    offset: int
    size: int


def read_notes(stream: BinaryIO, headers: CoreHeaders, faults: FaultLog) -> CoreNotes:
    """Read the notes that tell of the process; what is cut or damaged is a fault and costs only itself."""
    notes = CoreNotes()
    for offset, size in headers.notes:
        end = min(offset + size, headers.file_size)
        if end < offset + size:
            faults.add("the notes are cut", offset=headers.file_size, lost="threads, names of mapped files")
        for note in _walk(stream, offset, end, headers.identity.order, faults):
            _take(stream, note, headers, notes, faults)
    return notes


def _walk(stream: BinaryIO, offset: int, end: int, order: str, faults: FaultLog) -> Iterator[_Note]:
    """List the notes in a range of the file; name and content are padded to 4 bytes."""
    head = struct.Struct(order + "III")
    while offset + _HEAD_BYTES <= end:
        stream.seek(offset)
        name_size, size, kind = head.unpack(stream.read(_HEAD_BYTES))
        start = offset + _HEAD_BYTES + _pad(name_size)
        if start + size > end:
            faults.add("a note goes on behind the end of the notes", offset=offset, lost="what follows it")
            return
        name = stream.read(min(name_size, _MAX_NOTE)).rstrip(b"\0")
        yield _Note(name, kind, start, size)
        offset = start + _pad(size)


def _pad(size: int) -> int:
    return -(-size // 4) * 4


def _take(stream: BinaryIO, note: _Note, headers: CoreHeaders, notes: CoreNotes, faults: FaultLog) -> None:
    """Read one note, if it is one that we know."""
    foreign = _FOREIGN.get(note.name.split(b"@")[0])
    if foreign is not None:
        notes.system = foreign
    if note.name != b"CORE" or note.kind not in (_PRSTATUS, _PRPSINFO, _AUXV, _FILE, _SIGINFO):
        return
    notes.system = notes.system or "linux"
    if note.size > (_MAX_FILES if note.kind == _FILE else _MAX_NOTE):
        faults.add("a note is larger than any real one and left out", offset=note.offset)
        return
    stream.seek(note.offset)
    data = stream.read(note.size)
    identity = headers.identity
    if note.kind == _PRSTATUS:
        thread = parse_prstatus(data, identity.elf_class, identity.order, identity.machine)
        if thread is None:
            faults.add("the status of a thread is cut", offset=note.offset, lost="one thread")
        else:
            notes.threads.append(thread)
    elif note.kind == _FILE:
        notes.files = _parse_files(data, headers, faults, note.offset)
    elif note.kind == _AUXV:
        notes.auxv = parse_auxv(data, identity.elf_class, headers.byte_order)
    elif note.kind == _PRPSINFO:
        notes.psinfo = _parse_psinfo(data, headers, note.offset)
    elif identity.machine != _MIPS and len(data) >= _HEAD_BYTES:  # MIPS has them in another order
        numbers = struct.unpack_from(identity.order + "iii", data)
        notes.siginfo = dict(zip(("si_signo", "si_errno", "si_code"), numbers, strict=True))


def _parse_psinfo(data: bytes, headers: CoreHeaders, offset: int) -> Facts:
    """Parse NT_PRPSINFO, whose width of uid and gid depends on the machine, under the kernel's names."""
    with translating("NT_PRPSINFO", offset):
        info = headers.structs.Elf_Prpsinfo.parse_stream(BytesIO(data))
    texts = {name: info[name].split(b"\0")[0] for name in ("pr_sname", "pr_fname", "pr_psargs")}
    numbers = ("pr_uid", "pr_gid", "pr_pid", "pr_ppid", "pr_pgrp", "pr_sid", "pr_nice", "pr_flag")
    return {name: to_fact(text) for name, text in texts.items()} | {name: info[name] for name in numbers}


def _parse_files(data: bytes, headers: CoreHeaders, faults: FaultLog, at: int) -> MappedFiles:
    """Parse NT_FILE: count, page size, (start, end, offset in pages) of each, then the names."""
    word, width = ("Q", 8) if headers.identity.elf_class == 64 else ("I", 4)
    order = headers.identity.order
    files = MappedFiles([], [], [], [])
    if len(data) < 2 * width:
        faults.add("the table of mapped files is cut", offset=at, lost="names of files")
        return files
    count, page = struct.unpack_from(order + 2 * word, data)
    whole = min(count, (len(data) - 2 * width) // (3 * width))
    names = data[(2 + 3 * count) * width :].split(b"\0") if whole == count else []
    triples = struct.Struct(order + 3 * word).iter_unpack(data[2 * width : (2 + 3 * whole) * width])
    lost = count > len(names[:-1])
    for (start, end, offset), path in sorted(zip(triples, names[:-1], strict=False)):
        if start < end and offset * page < _SPACE:
            files.start.append(start)
            files.size.append(end - start)
            files.offset.append(offset * page)
            files.path.append(path)
        else:
            lost = True
    if lost:
        faults.add("the table of mapped files is damaged", offset=at, lost="names of files")
    return files._replace(page_size=page)
