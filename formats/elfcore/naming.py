"""Names for the regions of a core: from its table of mapped files, and from addresses that the ABI fixes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mmpscope.formats.elfcore.headers import CoreHeaders
from mmpscope.formats.elfcore.notes import CoreNotes, MappedFiles

__all__ = ["Names", "list_perms", "name_regions"]

_GATES = {("x86_64", 0xFFFFFFFFFF600000): b"[vsyscall]", ("arm", 0xFFFF0000): b"[vectors]"}
"""Where these machines have their gate area (asm/vsyscall.h, asm/vectors.h)."""


class Names:
    """``path`` and ``offset`` (bytes into the file) of each region; ``unmatched`` files have no region."""

    def __init__(self, rows: int, files: int) -> None:
        self.path: list[bytes | None] = [None] * rows
        self.offset: list[int | None] = [None] * rows
        self._is_seen = bytearray(files)

    @property
    def unmatched(self) -> int:
        """How many mappings of files are in the table of files alone."""
        return self._is_seen.count(0)

    def name(self, row: int, start: int, files: MappedFiles, entry: int) -> None:
        """Name a region after an entry of the table of files; an entry that begins inside gives no offset."""
        self._is_seen[entry] = 1
        self.path[row] = files.path[entry]
        if files.start[entry] <= start:
            self.offset[row] = files.offset[entry] + start - files.start[entry]


def name_regions(headers: CoreHeaders, notes: CoreNotes) -> Names:
    """Name each PT_LOAD after the file mapping that holds its start, else after one that begins inside it."""
    files = notes.files
    names = Names(len(headers.start), len(files.start))
    vdso = notes.auxv.get("AT_SYSINFO_EHDR")
    for row, (start, size) in enumerate(zip(headers.start, headers.size, strict=True)):
        entry = _find_entry(files, start, start + size)
        if entry is not None:
            names.name(row, start, files, entry)
        elif vdso is not None and start <= vdso < start + size:
            names.path[row] = b"[vdso]"
        else:
            names.path[row] = _GATES.get((headers.machine, start))
    return names


def _find_entry(files: MappedFiles, start: int, end: int) -> int | None:
    """Find the mapping of a file that overlaps a range; the table is sorted by address."""
    after = bisect_right(files.start, start)
    if after and start < files.start[after - 1] + files.size[after - 1]:
        return after - 1
    return after if after < len(files.start) and files.start[after] < end else None


def list_perms(flags: Sequence[int]) -> list[bytes]:
    """Write p_flags as `maps` does; whether a mapping is private or shared, a core does not say."""
    return [_PERMS[flag & 7] for flag in flags]


_PERMS = [
    ((b"r" if flag & 4 else b"-") + (b"w" if flag & 2 else b"-") + (b"x" if flag & 1 else b"-")) + b"?"
    for flag in range(8)
]
