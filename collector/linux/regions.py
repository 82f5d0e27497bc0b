"""The map of one process.

Read before and after the counters, so that it shows whether it held still meanwhile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mmpscope.collector.base import Options
from mmpscope.collector.linux.procfs import ProcDir, Recorder

__all__ = ["MapTexts", "read_map_texts"]

_RSS = re.compile(rb"^VmRSS:\s*(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class MapTexts:
    """``maps`` as it was first.

    ``smaps`` and ``rollup`` are None where they were not asked for or not to be had.

    ``moved`` says whether `maps` was another after the counters had been read; ``why_light`` why they were
    not.
    """

    maps: bytes
    smaps: bytes | None = None
    rollup: bytes | None = None
    moved: bool | None = None
    why_light: str | None = None

    @property
    def best(self) -> bytes:
        """The text to keep: smaps holds all that maps has.

        An empty one came from a process that was ending.
        """
        return self.smaps or self.maps


def read_map_texts(process: ProcDir, status: bytes, options: Options, recorder: Recorder) -> MapTexts:
    """Read maps, then smaps and smaps_rollup unless a light snapshot is asked for.

    Or due to the process' size.

    OSError where maps cannot be read; the others may be missing.
    """
    maps = recorder.require("maps", lambda: process.read("maps"))
    why_light = _explain_light(maps, status, options)
    if why_light is not None:
        for item in ("smaps", "smaps_rollup"):
            recorder.miss(item, "skipped", None, why_light)
        return MapTexts(maps, why_light=why_light)
    smaps = recorder.attempt("smaps", lambda: process.read("smaps"))
    rollup = recorder.attempt("smaps_rollup", lambda: process.read("smaps_rollup"))
    moved = recorder.require("maps", lambda: process.read("maps")) != maps
    return MapTexts(maps, smaps, rollup, moved)


def _explain_light(maps: bytes, status: bytes, options: Options) -> str | None:
    """Say why this snapshot has to be a light one, None where it need not be."""
    if options.light:
        return "a light snapshot was asked for"
    if options.full:
        return None
    regions = maps.count(b"\n")
    if regions > options.max_regions:
        return f"{regions} mappings are more than {options.max_regions}; --full reads their counters"
    resident = _RSS.search(status)
    if resident is not None and int(resident[1]) * 1024 > options.max_resident:
        limit = f"{options.max_resident >> 30} GiB"
        return f"{int(resident[1]) >> 20} GiB in memory are more than {limit}; --full reads the counters"
    return None
