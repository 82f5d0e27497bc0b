"""Files of one process that were saved side by side: 1309.smaps, 1309.status, 1309.cmdline.

People copy a few files of /proc/PID under such names. Of several in a folder, the map is a snapshot, and the
others tell the name of its process and what it has besides regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mmpscope.formats.errors import LimitError
from mmpscope.formats.whole import read_whole

__all__ = ["join_files", "read_beside"]

_MAPS = (".smaps", ".maps")
_OTHERS = ("status", "cmdline", "limits", "smaps_rollup")
_MOST = 4 << 20
"""Bytes of a file; the longest command line that a kernel takes has 2 MiB by default."""


def join_files(paths: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each path with those of other files of its process, by item, which are left out themselves."""
    there = frozenset(paths)
    stems = {path[: -len(end)] for path in paths for end in _MAPS if path.endswith(end)}
    for path in paths:
        stem, _, item = path.rpartition(".")
        if item in _OTHERS and stem in stems:
            continue
        names = {item: f"{stem}.{item}" for item in _OTHERS} if f".{item}" in _MAPS else {}
        yield path, {item: name for item, name in names.items() if name in there}


def read_beside(files: Mapping[str, str]) -> dict[str, bytes]:
    """Read small files by item; one that cannot be read is as good as none: the map is what counts."""
    found = {}
    for item, path in files.items():
        with suppress(OSError, LimitError), Path(path).open("rb") as stream:
            found[item] = read_whole(stream, _MOST)
    return found
