"""Telling text of /proc from other content by its first bytes."""

from __future__ import annotations

import re

from mmpscope.formats.proc.counters import COUNTER
from mmpscope.formats.proc.header import HEADER
from mmpscope.formats.proc.map_order import ROLLUP
from mmpscope.formats.proc.quoting import PREFIX, strip_colours
from mmpscope.formats.proc.source_text import normalize

__all__ = ["is_maps", "is_rollup", "is_smaps"]

_BEGIN = rb"(?m)^(?:" + PREFIX + rb")?"
_COUNTER = re.compile(_BEGIN + COUNTER)
_MAP_LINE = re.compile(_BEGIN + rb"(?P<line>" + HEADER.pattern.replace(b"(?m)^", b"") + rb")")


def is_smaps(head: bytes) -> bool:
    """Whether this is smaps text: counters of regions, be its map lines damaged, or nothing at all.

    An empty file is what the kernel gives for a process without an address space.
    """
    return not head or _COUNTER.search(_to_text(head)) is not None


def is_maps(head: bytes) -> bool:
    """Whether this is maps text: a line of it is a map line."""
    return _MAP_LINE.search(_to_text(head)) is not None


def is_rollup(head: bytes) -> bool:
    """Whether this is smaps_rollup text: its only map lines are named `[rollup]`."""
    lines = [match["line"] for match in _MAP_LINE.finditer(_to_text(head))]
    return bool(lines) and all(line.rstrip().endswith(b" " + ROLLUP) for line in lines)


def _to_text(head: bytes) -> bytes:
    """Normalize a head that may be cut within a character or a line end; binary content is no text."""
    text, _ = strip_colours(normalize(head[: len(head) // 4 * 4] or head).text)
    return b"" if b"\0" in text else text
