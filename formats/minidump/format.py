"""Windows and Breakpad minidumps, as the registry knows them."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source

__all__ = ["FORMATS"]

_MAGIC = b"MDMP\x93\xa7"
"""Signature, and the low word of the version that every writer uses (MINIDUMP_VERSION, minidumpapiset.h)."""


def _is_minidump(head: bytes) -> bool:
    return head.startswith(_MAGIC)


def _open(given: Input) -> Source:
    from mmpscope.formats.minidump.reader import open_minidump

    return open_minidump(given)


FORMATS = (
    Format(
        name="minidump",
        title="minidump with MemoryInfoList or LinuxMaps",
        sniff=_is_minidump,
        open=_open,
        tools="MiniDumpWriteDump of Windows (procdump -ma, Task Manager), Breakpad and Crashpad",
        gives=("regions", "committed", "process", "threads", "modules"),
        lacks=("working sets", "PSS", "swap", "limits"),
        known_by="the bytes `MDMP` 93 a7",
        weight=0,
    ),
)
