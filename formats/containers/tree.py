"""What an archive and a folder have in common: named files, each read on request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from mmpscope.formats.errors import LimitError
from mmpscope.formats.source import Fault

__all__ = ["CHUNK_BYTES", "MOST_MEMBERS", "Archive", "Tree", "clean_name", "join_chunks"]

CHUNK_BYTES = 1 << 20
MOST_MEMBERS = 200_000
"""Files of one archive or folder: ten thousand processes have some 80,000 in a captured /proc."""


_ABSOLUTE = re.compile(r"/|[A-Za-z]:")


class Tree(Protocol):
    """Files by name, as in a folder or an archive.

    ``names`` are relative and separated by '/', in the order of the archive; links, devices, and names that
    are absolute or hold '..' are left out and told in ``faults``. Of two files with one name the last counts,
    as it does when an archive is unpacked.
    """

    name: str
    names: Sequence[str]
    faults: list[Fault]

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of one file.

        LimitError where it has more than ``most``, another FormatError where it is damaged, InputError where
        the system does not let us read it.
        """
        ...


class Archive(Tree, Protocol):
    """A tree whose files may be too large for memory; ``kind`` names it, as in "zip"."""

    kind: str

    def read_chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of one file piece by piece; the errors of `Tree.read` but for the limit."""
        ...


def clean_name(name: str) -> str | None:
    """Return the name of a member without './'; None where it leads out of its archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    is_outside = _ABSOLUTE.match(name) or ".." in parts
    return None if is_outside or not parts else "/".join(parts)


def join_chunks(chunks: Iterable[bytes], name: str, most: int) -> bytes:
    """Join pieces; LimitError as soon as they are more than ``most`` bytes."""
    parts, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise LimitError(f"{name} has more than {most:,} bytes")
        parts.append(chunk)
    return b"".join(parts)
