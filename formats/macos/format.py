"""What macOS prints of memory, as the registry knows it."""

from __future__ import annotations

import re

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source
from mmpscope.formats.text import normalize_head

__all__ = ["FORMATS"]

_VMMAP = re.compile(
    rb"^[ \t]*(?:Virtual Memory Map of process \d+|==== (?:Non-writable |Writable )?regions for process \d+|"
    rb"==== Summary for process \d+|ReadOnly portion of Libraries: Total=|"
    rb"[^\[\n]{1,80}-[^\[\n]{1,40}\[[^\]\n]{1,60}\] [-r][-w][-x]/[-r][-w][-x] SM=)",
    re.MULTILINE,
)
_OTHERS = re.compile(rb"^(?:\S.{0,80} \[\d+\]: \d\d-bit +Footprint: |All zones: \d+ nodes )", re.MULTILINE)


def _is_macos(head: bytes) -> bool:
    """Whether this is a report of vmmap, or of its neighbours footprint and heap, which are refused."""
    text = normalize_head(head)
    return _VMMAP.search(text) is not None or _OTHERS.search(text) is not None


def _open(given: Input) -> Source:
    from mmpscope.formats.macos.reader import open_report

    return open_report(given.stream, given.name)


FORMATS = (
    Format(
        name="macos-vmmap",
        title="macOS vmmap text",
        sniff=_is_macos,
        open=_open,
        tools="vmmap of macOS, report formats 2.0 to 2.4 (Mac OS X 10.5 to macOS 26)",
        gives=("regions", "modules without builds", "working sets", "dirty", "swap", "process", "totals"),
        lacks=("committed", "private", "PSS", "threads", "limits"),
        known_by="`Virtual Memory Map of process`, a `==== ... for process` line, one of its rows, or "
        "`ReadOnly portion of Libraries:`, with which -summary begins",
    ),
)
