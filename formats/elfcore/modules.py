"""The modules of a core: mapped ELF files, their headers taken from the page of them that was dumped.

A kernel dumps the first page of each ELF file for this (coredump_filter, bit 4: core(5)); where it is not
in the core, a module has no build id and says why.
"""

from __future__ import annotations

from collections.abc import Container
from typing import BinaryIO

from mmpscope.formats.elfcore.headers import CoreHeaders
from mmpscope.formats.elfcore.naming import Names
from mmpscope.formats.elfcore.notes import MappedFiles
from mmpscope.formats.proc.elf import ElfError, ElfImage, read_elf
from mmpscope.formats.proc.modules import FileKey, Load, MappedPart, Module, place_image

__all__ = ["list_modules"]

_PAGE = 4096
_PF_X = 1
_MAX_READ = 8192
"""Files whose headers are read; a page of a hostile core may stand for any number of files."""
_NO_PAGE = "its first page is not in the core"
_TOO_MANY = f"the headers of the first {_MAX_READ} files alone are read"


def list_modules(
    stream: BinaryIO, headers: CoreHeaders, names: Names, files: MappedFiles, page_size: int
) -> list[Module]:
    """List the ELF files that are mapped, by address: whose first page says so, or that are executable."""
    pages = _find_first_pages(headers, names)
    executed = {path for path, flags in zip(names.path, headers.flags, strict=True) if flags & _PF_X}
    modules: list[Module] = []
    for path, parts in _find_parts(files, executed, pages).items():
        key = FileKey(None, None, None, path)
        image, reason = None, _TOO_MANY
        if len(modules) < _MAX_READ:
            image, reason = _read_image(stream, pages.get(parts[0].start))
        if image is not None:
            modules += [Module(key, load, image) for load in place_image(image.segments, parts, page_size)]
        elif path in executed:
            modules.append(Module(key, Load(None, [parts[0], parts[-1]]), reason=reason))
    return sorted(modules, key=lambda module: module.load.mappings[0])


def _find_first_pages(headers: CoreHeaders, names: Names) -> dict[int, int]:
    """Tell where in the core the first page of a file is: address -> offset in the core."""
    columns = (headers.start, names.offset, headers.offset, headers.filesz)
    return {
        start: offset
        for start, within, offset, filesz in zip(*columns, strict=True)
        if within == 0 and filesz >= _PAGE and offset + _PAGE <= headers.file_size
    }


def _find_parts(
    files: MappedFiles, executed: set[bytes | None], pages: Container[int]
) -> dict[bytes, list[MappedPart]]:
    """Find all mappings of each file that may be a module, by address.

    The table of files has them; gdb leaves regions out that it does not dump, but no files.
    """
    columns = (files.start, files.size, files.offset, files.path)
    wanted = executed | {path for start, path in zip(files.start, files.path, strict=True) if start in pages}
    found: dict[bytes, list[MappedPart]] = {}
    for start, size, offset, path in zip(*columns, strict=True):
        if path in wanted and path.startswith(b"/"):
            found.setdefault(path, []).append(MappedPart(start, start + size, b"", offset))
    return found


def _read_image(stream: BinaryIO, offset: int | None) -> tuple[ElfImage | None, str]:
    """Read the headers in the first page of a file, or say why there are none."""
    if offset is None:
        return None, _NO_PAGE
    stream.seek(offset)
    page = stream.read(_PAGE)
    try:
        return read_elf(lambda at, size: page[at : at + size]), ""
    except ElfError as error:
        return None, str(error)
