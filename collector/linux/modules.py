"""The ELF files that a process executes: which file, where it is loaded, its PT_LOAD list and build id.

Starts from the regions: every file of which some part is mapped executable, with all its parts.
Anonymous memory and names in brackets ([vdso]) are no files and not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mmpscope.collector.linux.elf import ElfError, ElfImage, Segment, read_elf
from mmpscope.collector.linux.mapped_file import FileKey, MappedFile, MappedFileError, MappedPart
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Fact, Table

__all__ = ["Load", "Module", "find_executables", "place_image", "read_modules", "tabulate"]

_MASK = (1 << 64) - 1
_TEXTS = {"path": "bytes", "build_id": "utf-8", "reason": "utf-8"}

Open = Callable[[FileKey, MappedPart], MappedFile]


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


def read_modules(columns: Mapping[str, Plain], open_file: Open, page_size: int) -> list[Module]:
    """Read every executed file among the regions once, and list its loads by address."""
    modules: list[Module] = []
    for key, rows in find_executables(columns).items():
        modules.extend(_read_file(key, _Parts(columns, rows), open_file, page_size))
    return sorted(modules, key=lambda module: module.load.mappings[0])


def find_executables(columns: Mapping[str, Plain]) -> dict[FileKey, list[int]]:
    """Find the files of which some part is mapped executable, each with the rows of all its parts.

    ``columns`` are those of the regions; memory without a file has inode 0, and names such as
    `anon_inode:[..]` or `[vdso]` are no paths.
    """
    paths, rights = columns["path"].values, columns["perms"].values
    executable = {perms for perms in set(rights) if perms is not None and perms[2:3] == b"x"}
    executed = {path for path, perms in zip(paths, rights) if path is not None and perms in executable}
    files: dict[tuple[Fact, ...], list[int]] = {}
    # There may be very many regions: only those of such paths are looked at one by one.
    rows = [row for row, path in enumerate(paths) if path in executed]
    for row, *file in zip(rows, *([columns[name].values[row] for row in rows] for name in FileKey._fields)):
        files.setdefault(tuple(file), []).append(row)
    keys = {FileKey(*file): parts for file, parts in files.items()}
    return {
        key: parts
        for key, parts in keys.items()
        if key.inode and key.path.startswith(b"/") and any(rights[row] in executable for row in parts)
    }


class _Parts:
    """The parts of one file by address.

    Made on request, as there may be thousands of a file that is not ELF.
    """

    def __init__(self, columns: Mapping[str, Plain], rows: Sequence[int]) -> None:
        self._values = [columns[name].values for name in ("start", "size", "perms", "offset")]
        self._rows = rows

    def take(self, row: int) -> MappedPart:
        start, size, perms, offset = (values[row] for values in self._values)
        return MappedPart(start, start + size, perms, offset)

    def take_all(self) -> list[MappedPart]:
        return [self.take(row) for row in self._rows]

    def take_ends(self) -> list[MappedPart]:
        return [self.take(self._rows[0]), self.take(self._rows[-1])]


def _read_file(key: FileKey, parts: _Parts, open_file: Open, page_size: int) -> list[Module]:
    extent = parts.take_ends()
    try:
        with open_file(key, extent[0]) as file:
            image = read_elf(file.read)
    except (MappedFileError, ElfError) as error:
        return [Module(key, Load(None, extent), reason=str(error))]
    except OSError as error:
        return [Module(key, Load(None, extent), reason=str(error.strerror))]
    loads = place_image(image.segments, parts.take_all(), page_size)
    return [Module(key, load, image, file.size, file.mtime_ns, file.doubt) for load in loads]


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
