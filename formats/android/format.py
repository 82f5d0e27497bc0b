"""What Android's own tools print of memory, as the registry knows it."""

from __future__ import annotations

import re

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source
from mmpscope.formats.text import normalize_head

__all__ = ["FORMATS"]

_SHOWMAP = re.compile(rb"^[ \t]*(?:addr +addr +)?size +RSS +PSS +clean +dirty +clean +dirty\b", re.MULTILINE)
_MEMINFO = re.compile(
    rb"^[ \t]*(?:\*\* MEMINFO in pid \d+ \[|Applications Memory Usage \(|Total [PR]SS by \w+:)", re.MULTILINE
)


def _is_showmap(head: bytes) -> bool:
    return _SHOWMAP.search(normalize_head(head)) is not None


def _is_meminfo(head: bytes) -> bool:
    return _MEMINFO.search(normalize_head(head)) is not None


def _open_showmap(given: Input) -> Source:
    from mmpscope.formats.android.showmap import open_showmap

    return open_showmap(given.stream, given.name)


def _open_meminfo(given: Input) -> Source:
    from mmpscope.formats.android.meminfo import open_meminfo

    return open_meminfo(given.stream, given.name)


FORMATS = (
    Format(
        name="showmap",
        title="Android showmap text",
        sniff=_is_showmap,
        open=_open_showmap,
        tools="showmap of Android 2 to 15, with any of -a, -t, -v",
        gives=("totals by name", "regions with -a", "PSS", "working sets", "swap"),
        lacks=("private or shared", "offsets", "committed", "process", "threads", "modules", "limits"),
        known_by="its heading `size RSS PSS clean dirty clean dirty`",
    ),
    Format(
        name="meminfo",
        title="Android dumpsys meminfo text",
        sniff=_is_meminfo,
        open=_open_meminfo,
        tools="dumpsys meminfo of Android 4.4 to 15, of one process or of all",
        gives=("totals by category", "PSS", "swap", "process", "processes"),
        lacks=("regions", "sizes", "committed", "threads", "modules", "limits"),
        known_by="`** MEMINFO in pid`, `Applications Memory Usage` or `Total PSS by process:`",
    ),
)
