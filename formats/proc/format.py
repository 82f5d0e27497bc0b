"""Text of /proc, as the registry knows it."""

from __future__ import annotations

from mmpscope.formats.interface import Format, Input
from mmpscope.formats.proc.sniff import is_maps, is_rollup, is_smaps
from mmpscope.formats.source import Source

__all__ = ["FORMATS"]


def _open(given: Input) -> Source:
    from mmpscope.formats.proc.text_source import open_text

    return open_text(given.stream, given.name, given.beside)


FORMATS = (
    Format(
        name="smaps_rollup",
        title="text of /proc/PID/smaps_rollup, one or several",
        sniff=is_rollup,
        open=_open,
        tools="Linux 4.14 to 6.18",
        gives=("totals",),
        lacks=("regions", "process", "threads", "modules", "limits"),
        known_by="map lines, all of them named [rollup]",
    ),
    Format(
        name="smaps",
        title="text of /proc/PID/smaps, one or several",
        sniff=is_smaps,
        open=_open,
        tools="Linux 2.6.14 to 6.18; Android and vendor kernels",
        gives=("regions", "committed", "private", "working sets", "PSS", "swap"),
        lacks=("process", "threads", "modules", "limits"),
        known_by="a line such as `Rss: 4 kB`, or no bytes at all",
    ),
    Format(
        name="maps",
        title="text of /proc/PID/maps, one or several",
        sniff=is_maps,
        open=_open,
        tools="Linux 2.x to 6.18",
        gives=("regions",),
        lacks=("working sets", "PSS", "swap", "process", "threads", "modules", "limits"),
        known_by="a line such as `00400000-00401000 r-xp 00000000 08:01 2883606 /bin/x`",
    ),
)
