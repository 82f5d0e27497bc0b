"""The regular files of a folder, as an archive of it would hold them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mmpscope.formats.containers.tree import CHUNK_BYTES, MOST_MEMBERS, join_chunks
from mmpscope.formats.errors import InputError, LimitError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.source import Fault

__all__ = ["FolderTree"]

_DEPTH = 5
"""Levels of names: `proc/sys/kernel/random/boot_id` is the deepest that a copy of /proc is asked for."""


class FolderTree:
    """A folder as a `mmpscope.formats.containers.tree.Archive`.

    It lists when it is made, sorted by name, and no deeper than the files of a process in a copy of /proc;
    what cannot be listed is told in ``faults``. OSError where the folder itself cannot be, LimitError where
    it has too many files.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._paths: dict[str, Path] = {}
        log = FaultLog()
        self._list(Path(path), "", log)
        self.faults: list[Fault] = log.list()
        self.names: Sequence[str] = list(self._paths)

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of one file; LimitError above ``most``, InputError where it cannot be read."""
        return join_chunks(self.read_chunks(name), name, most)

    def read_chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of one file piece by piece; InputError where it cannot be read."""
        try:
            with self._paths[name].open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror}") from error

    def _list(self, folder: Path, prefix: str, log: FaultLog) -> None:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if not prefix:
                raise
            log.add(f"a folder cannot be listed: {error.strerror}", lost=prefix.rstrip("/"))
            return
        for entry in entries:
            name = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
            if entry.is_symlink():
                log.add("a symbolic link is left out")
            elif entry.is_dir():
                if _is_worth(prefix):
                    self._list(Path(entry.path), f"{name}/", log)
            elif not entry.is_file():
                log.add("a file that is no regular one is left out")
            elif len(self._paths) == MOST_MEMBERS:
                raise LimitError(f"it has more than {MOST_MEMBERS:,} files", path=self.name)
            else:
                self._paths[name] = Path(entry.path)


def _is_worth(prefix: str) -> bool:
    """Whether to look into the folders of a folder: not of that of a process, or a live /proc is endless."""
    *above, name = prefix.rstrip("/").split("/")
    return len(above) + 2 < _DEPTH and not name.isdecimal()
