"""The ELF files that a process executes: which file, where it is loaded, its PT_LOAD list and build id.

Starts from the regions: every file of which some part is mapped executable, with all its parts.
Anonymous memory and names in brackets ([vdso]) are no files and not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mmpscope.collector.linux.mapped_file import MappedFile, MappedFileError
from mmpscope.formats.mmp.columns import Plain
from mmpscope.formats.model import Fact
from mmpscope.formats.proc.elf import ElfError, read_elf
from mmpscope.formats.proc.modules import FileKey, Load, MappedPart, Module, place_image

__all__ = ["find_executables", "read_modules"]

Open = Callable[[FileKey, MappedPart], MappedFile]


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
