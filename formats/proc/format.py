"""Text of /proc, as the registry knows it."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.proc.sniff import is_maps, is_smaps
from mmpscope.formats.source import Source

__all__ = ["FORMATS"]


def _open(given: Input) -> Source:
    from mmpscope.formats.proc.reader import open_text

    return open_text(given.stream, given.name)


FORMATS = (
    Format(
        name="smaps",
        title="text of /proc/PID/smaps",
        sniff=is_smaps,
        open=_open,
        tools="Linux 2.6.14 to 6.18; Android and vendor kernels",
        gives=("regions", "committed", "private", "working sets", "PSS", "swap"),
        lacks=("process", "threads", "modules", "limits"),
    ),
    Format(
        name="maps",
        title="text of /proc/PID/maps",
        sniff=is_maps,
        open=_open,
        tools="Linux 2.x to 6.18",
        gives=("regions",),
        lacks=("working sets", "PSS", "swap", "process", "threads", "modules", "limits"),
    ),
)
