"""ELF cores, as the registry knows them."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.source import Source

__all__ = ["FORMATS"]

_MAGIC = b"\x7fELF"


def _is_elf(head: bytes) -> bool:
    """Whether this is ELF; that a program is no core is told when it is opened, in words of its own."""
    return head.startswith(_MAGIC)


def _open(given: Input) -> Source:
    from mmpscope.formats.elfcore.reader import open_core

    return open_core(given.stream, given.name, partial=given.partial)


FORMATS = (
    Format(
        name="elf-core",
        title="ELF core dump",
        sniff=_is_elf,
        open=_open,
        tools="Linux 2.6 to 6.18 (x86, ARM, PowerPC, RISC-V, s390, MIPS); gcore of gdb 13; FreeBSD in part",
        gives=("regions", "process", "threads", "modules", "auxv"),
        lacks=("committed", "working sets", "PSS", "swap", "private or shared", "limits"),
        known_by="the ELF magic; programs and libraries are refused, as they map nothing",
        weight=0,
    ),
)
