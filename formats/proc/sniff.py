"""Telling text of /proc from other content by its first bytes."""

from __future__ import annotations

import re

from mmpscope.formats.proc.header import HEADER
from mmpscope.formats.proc.source_text import normalize

__all__ = ["is_maps", "is_smaps"]

_COUNTER = re.compile(rb"^(Size|Rss|Pss):[ \t]+\d+ kB", re.MULTILINE)


def is_smaps(head: bytes) -> bool:
    """Whether this is smaps text: counters of regions, be its map lines damaged, or nothing at all.

    An empty file is what the kernel gives for a process without an address space.
    """
    return not head or _COUNTER.search(_to_text(head)) is not None


def is_maps(head: bytes) -> bool:
    """Whether this is maps text: a line of it is a map line."""
    return HEADER.search(_to_text(head)) is not None


def _to_text(head: bytes) -> bytes:
    """Normalize a head that may be cut within a character or a line end; binary content is no text."""
    text = normalize(head[: len(head) // 4 * 4] or head).text
    return b"" if b"\0" in text else text
