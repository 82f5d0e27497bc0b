"""The map of one process and its counters, as text.

The map is read before and after the counters, so that it shows whether it held still meanwhile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mmpscope.collector.base import Options
from mmpscope.collector.linux.procfs import ProcDir, Recorder

__all__ = ["MapTexts", "read_map_texts"]

_RSS = re.compile(rb"^VmRSS:\s*(\d+) kB", re.MULTILINE)


@dataclass
class MapTexts:
    """What was read: ``text`` is smaps, or maps where there is no smaps (``has_counters`` tells).

    ``rollup`` is None where it was not asked for or not to be had. ``moved`` says whether maps was another
    after the counters had been read, ``why_light`` why they were not.
    """

    text: bytes
    has_counters: bool = False
    rollup: bytes | None = None
    moved: bool | None = None
    why_light: str | None = None

    def take_text(self) -> bytes:
        """Hand the text over.

        It may be the largest thing in memory, and its taker decides how long it stays.
        """
        text, self.text = self.text, b""
        return text


def read_map_texts(process: ProcDir, status: bytes, options: Options, recorder: Recorder) -> MapTexts:
    """Read maps, then smaps and smaps_rollup unless the snapshot is a light one, then maps again.

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
    return MapTexts(smaps or maps, bool(smaps), rollup, moved)


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
