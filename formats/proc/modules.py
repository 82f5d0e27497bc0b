"""The modules of a process, a row a load of an ELF file: where it is loaded, its PT_LOAD list and build id.

Who reads the files and finds their mappings is another's business: the collector, or the reader of a core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Fact, Table
from mmpscope.formats.proc.elf import ElfImage, Segment

__all__ = ["FileKey", "Load", "MappedPart", "Module", "place_image", "tabulate"]

_MASK = (1 << 64) - 1
_TEXTS = {"path": "bytes", "build_id": "utf-8", "reason": "utf-8"}


class MappedPart(NamedTuple):
    """One line of `maps` that shows a part of a file; half-open, in bytes."""

    start: int
    end: int
    perms: bytes
    offset: int


class FileKey(NamedTuple):
    """What `maps` says of a file; a core knows only its path.

    Two files can have one path (deleted and made again), one file several paths.
    """

    dev_major: int | None
    dev_minor: int | None
    inode: int | None
    path: bytes


class Load(NamedTuple):
    """One load of a file: its bias (None where no PT_LOAD fits) and its mappings in order."""

    base: int | None
    mappings: list[MappedPart]


@dataclass(frozen=True)
class Module:
    """One row: a load of a file, and what its headers say; ``reason`` tells why that is missing."""

    key: FileKey
    load: Load
    image: ElfImage | None = None
    file_size: int | None = None
    mtime_ns: int | None = None
    reason: str | None = None


def place_image(segments: Sequence[Segment], mappings: Sequence[MappedPart], page_size: int) -> list[Load]:
    """Group the mappings of one file into loads.

    A mapping at file offset o shows the PT_LOAD that holds o, and start - (p_vaddr + o - p_offset) is the
    bias. What lies inside the span of a load belongs to it, whatever its offset: the dynamic linker first
    maps the file in one piece and leaves holes without access, whose offsets mean nothing (seen: libquadmath,
    aligned to 2 MiB).
    """
    top = max((segment.vaddr + segment.memsz for segment in segments), default=0)
    loads: list[Load] = []
    for mapping in mappings:
        base = loads[-1].base if loads else None
        if base is not None and (mapping.start - base) & _MASK < top:
            loads[-1].mappings.append(mapping)
        else:
            loads.append(Load(_find_bias(segments, mapping, page_size), [mapping]))
    return loads


def _find_bias(segments: Sequence[Segment], mapping: MappedPart, page_size: int) -> int | None:
    """Find the bias, modulo 2^64: a prelinked library may be loaded below its addresses.

    Two segments may share a page of the file (the last of one is the first of the next): the one that begins
    on the page comes first.
    """
    fitting = [s for s in segments if s.offset & -page_size <= mapping.offset < s.offset + s.filesz]
    fitting.sort(key=lambda segment: segment.offset & -page_size != mapping.offset)
    for segment in fitting:
        return (mapping.start - mapping.offset - segment.vaddr + segment.offset) & _MASK
    return None


def tabulate(modules: Sequence[Module]) -> dict[str, Table]:
    """Make the tables `modules` and `segments`; sizes in bytes, mtime_ns since 1970.

    modules: path, dev_major, dev_minor, inode, base (what is added to p_vaddr), low and high (extent of its
    file mappings), build_id (hex), file_size, mtime_ns, elf_class (32, 64), machine (e_machine), type
    (e_type), reason. segments: module (row of the other table), then offset, vaddr, filesz, memsz, flags of
    each PT_LOAD.
    """
    rows = [_list_fields(module) for module in modules]
    columns: dict[str, Plain] = {}
    for name in _FIELD_NAMES:
        kind = "text" if name in _TEXTS else "int" if name == "mtime_ns" else "uint"
        columns[name] = Plain(kind, [row[name] for row in rows], _TEXTS.get(name))
    pairs = [
        (row, segment)
        for row, module in enumerate(modules)
        if module.image
        for segment in module.image.segments
    ]
    segments = {"module": Plain("uint", [row for row, _ in pairs])}
    for position, name in enumerate(Segment._fields):
        segments[name] = Plain("uint", [segment[position] for _, segment in pairs])
    return {"modules": encode_table(columns, len(rows)), "segments": encode_table(segments, len(pairs))}


def _list_fields(module: Module) -> dict[str, Fact]:
    image = module.image
    return {
        "path": module.key.path,
        "dev_major": module.key.dev_major,
        "dev_minor": module.key.dev_minor,
        "inode": module.key.inode,
        "base": module.load.base,
        "low": module.load.mappings[0].start,
        "high": module.load.mappings[-1].end,
        "build_id": image.build_id.encode() if image and image.build_id else None,
        "file_size": module.file_size,
        "mtime_ns": module.mtime_ns,
        "elf_class": image.elf_class if image else None,
        "machine": image.machine if image else None,
        "type": image.type if image else None,
        "reason": module.reason.encode() if module.reason else None,
    }


_FIELD_NAMES = tuple(_list_fields(Module(FileKey(0, 0, 0, b""), Load(None, [MappedPart(0, 0, b"", 0)]))))
