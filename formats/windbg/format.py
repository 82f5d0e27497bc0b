"""What WinDbg prints of an address space, as the registry knows it."""

from __future__ import annotations

import re

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source
from mmpscope.formats.text import normalize_head

__all__ = ["FORMATS"]

_ADDRESS = re.compile(
    rb"^[ \t]*BaseAddr(?:ess)? +EndAddr(?:ess)?\+1 +R(?:egion|gn)Size"
    rb"|^-{2,} ?Usage Summary -+ RgnCount"
    rb"|^-{2,} ?Usage SUMMARY -"
    rb"|^[ \t]{0,99}[0-9a-f`]{8,17} : [0-9a-f`]{8,17} (?:-|\xe2\x80\x93|\x96) [0-9a-f`]{8,17}"
    rb"\s{1,99}Type +[0-9a-f]{8}"
    rb"|^[+* ][ \t]{1,40}[0-9a-f`]{1,17} {1,20}[0-9a-f`]{1,17} {1,20}[0-9a-f`]{1,17} {1,20}MEM_[A-Z]+ "
    rb"|^\d+:\d+(?::\w+)?> *!(?:ext\.)?address\b"
    rb"|^Microsoft \(R\) Windows Debugger Version",
    re.MULTILINE,
)
_SOS = re.compile(
    rb"^[ \t|]{0,9}Memory Kind +\| +StartAddr +\|"
    rb"|^[ \t|]{0,9}(?:Region|Memory) Type +\| +Count +\| +Size +\| +Size \(bytes\)"
    rb"|^[ \t]{0,9}Base Address +Size \(bytes\) +Size +Mem State",
    re.MULTILINE,
)


def _is_address(head: bytes) -> bool:
    return _ADDRESS.search(normalize_head(head)) is not None


def _is_sos(head: bytes) -> bool:
    return _SOS.search(normalize_head(head)) is not None


def _open(given: Input) -> Source:
    from mmpscope.formats.windbg.reader import open_log

    return open_log(given.stream, given.name)


FORMATS = (
    Format(
        name="sos-maddress",
        title="SOS !maddress",
        sniff=_is_sos,
        open=_open,
        tools="SOS of .NET 7 to 9 in WinDbg and dotnet-dump: -summary, -list, -images, -reserve",
        gives=("regions", "committed", "totals"),
        lacks=("working sets", "PSS", "swap", "free ranges", "limits"),
        known_by="the head of one of its tables, as in `Memory Kind | StartAddr | EndAddr-1`",
    ),
    Format(
        name="windbg-address",
        title="WinDbg !address",
        sniff=_is_address,
        open=_open,
        tools="WinDbg, old and new form, 32 and 64 bit: !address, with -f and -summary; whole logs",
        gives=("regions", "committed", "threads", "totals"),
        lacks=("working sets", "PSS", "swap", "modules", "limits"),
        known_by="the head of its table, one of its rows, or the start of a debugger's log",
    ),
)
