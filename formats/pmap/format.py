"""What pmap prints, as the registry knows it."""

from __future__ import annotations

import re

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.pmap.columns import BARE_DETAILED, BARE_ROW, HEAD
from mmpscope.formats.source import Source
from mmpscope.formats.text import normalize_head

__all__ = ["FORMATS"]

_KERNEL_THREAD = rb"\d{1,10}:[ \t]+\[[^\]\n]{1,64}\]\n[ \t]*total[ \t]+0K[ \t]*$"
_PMAP = re.compile(
    rb"^(?:" + rb"|".join((HEAD, BARE_ROW, BARE_DETAILED, _KERNEL_THREAD)) + rb")", re.MULTILINE
)


def _is_pmap(head: bytes) -> bool:
    return _PMAP.search(normalize_head(head)) is not None


def _open(given: Input) -> Source:
    from mmpscope.formats.pmap.reader import open_listing

    return open_listing(given.stream, given.name)


FORMATS = (
    Format(
        name="pmap",
        title="pmap: plain, -x, -X, -XX and -d",
        sniff=_is_pmap,
        open=_open,
        tools="procps 3.2 to 4.0.2; BusyBox 1.x",
        gives=("regions", "working sets", "PSS", "swap", "process"),
        lacks=("whole paths without -p", "threads", "modules", "limits"),
        known_by="a head `Address Kbytes` or `Address Perm Offset Device Inode`, or rows `00400000 4K r-x--`",
    ),
)
