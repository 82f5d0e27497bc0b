"""The map of one process and its counters, as text.

The map is read before and after the counters, so that it shows whether it held still meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mmpscope.collector.base import Options
from mmpscope.collector.cost import Cost
from mmpscope.collector.linux.cost import Budget, estimate_cost
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.recorder import Recorder
from mmpscope.formats.proc.smaps import Regions

__all__ = ["MapTexts", "drop_doubles", "explain_light", "read_again", "read_map_texts", "read_rollup"]

_RANGE = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) ", re.MULTILINE)
_TRIES = 3
_RSS = re.compile(rb"^VmRSS:\s*(\d+) kB", re.MULTILINE)


@dataclass
class MapTexts:
    """``maps``, and ``smaps`` unless it was not to be had, or ``why_light`` says why it was not asked for.

    ``cost`` is what reading the process costs by estimate.
    """

    maps: bytes
    cost: Cost
    smaps: bytes | None = None
    why_light: str | None = None

    def take_best(self) -> bytes:
        """Hand over smaps, which holds all that maps has, else maps.

        smaps may be the largest thing in memory: its taker decides how long it stays.
        """
        smaps, self.smaps = self.smaps, None
        return smaps or self.maps


def read_map_texts(
    process: ProcDir, status: bytes, options: Options, budget: Budget, recorder: Recorder
) -> MapTexts:
    """Read maps, and smaps unless the snapshot is a light one; OSError where maps cannot be read."""
    maps = recorder.require("maps", lambda: _read_in_order(process, "maps"))
    cost = estimate_cost(maps, status)
    why_light = explain_light(maps, status, options)
    if why_light is not None:
        recorder.miss("smaps", "skipped", None, why_light)
        return MapTexts(maps, cost, why_light=why_light)
    too_dear = budget.refuse(cost.smaps_s)
    if too_dear is not None:
        recorder.miss("smaps", "skipped", None, too_dear)
        return MapTexts(maps, cost)
    if options.on_cost is not None:
        options.on_cost(cost)
    smaps = recorder.attempt("smaps", lambda: process.read("smaps"))
    if smaps == b"" and maps:
        recorder.miss("smaps", "unavailable", None, "it is empty, and maps is not")
    return MapTexts(maps, cost, smaps)


def read_again(process: ProcDir, texts: MapTexts) -> bool:
    """Read maps again and tell if it is another; only then counters are looked through for their order."""
    if process.read("maps") == texts.maps:
        return False
    if texts.smaps is not None:
        texts.smaps = _read_in_order(process, "smaps", texts.smaps)
    return True


def read_rollup(process: ProcDir, texts: MapTexts, budget: Budget) -> tuple[Recorder, bytes | None]:
    """Read the kernel's own totals, and note in a recorder what that cost or why they are missing."""
    recorder = Recorder()
    skipped = texts.why_light or budget.refuse(texts.cost.rollup_s)
    if skipped is not None:
        recorder.miss("smaps_rollup", "skipped", None, skipped)
        return recorder, None
    return recorder, recorder.attempt("smaps_rollup", lambda: process.read("smaps_rollup"))


def _read_in_order(process: ProcDir, name: str, text: bytes | None = None) -> bytes:
    """Read a list of mappings, or take the one that was read, and read again where it goes backwards.

    A mapping that grows downwards between two reads of the kernel's buffer is listed once more, and would be
    counted twice (Linux 6.18, 1 of 300 snapshots of four threads that map and unmap at full speed:
    7fe734ae3000-7fe734b05000, then 7fe734adf000-7fe734b26000). What is still so at the last try is
    for `drop_doubles`.
    """
    text = process.read(name) if text is None else text
    for _ in range(_TRIES - 1):
        if _is_in_order(text):
            break
        try:
            text = process.read(name)
        except OSError:  # it has ended meanwhile: what was read stays
            break
    return text


def drop_doubles(regions: Regions) -> tuple[Regions, int]:
    """Leave out what is still listed twice after the last try, and count it: no figure is ever doubled.

    Of two mappings that overlap, the one that was listed later counts: it is what the other has become.
    """
    starts, sizes = (cast("Sequence[int]", regions.columns[name].values) for name in ("start", "size"))
    ends = [start + size for start, size in zip(starts, sizes)]
    if all(end <= start for end, start in zip(ends, starts[1:])):
        return regions, 0
    last, dropped = -1, set[int]()
    for row in sorted(range(regions.rows), key=lambda row: (starts[row], row)):
        if last < 0 or starts[row] >= ends[last]:
            last = row
        else:
            dropped.add(min(row, last))
            last = max(row, last)
    kept = [row for row in range(regions.rows) if row not in dropped]
    columns = {
        name: plain._replace(values=[plain.values[row] for row in kept])
        for name, plain in regions.columns.items()
    }
    return regions._replace(columns=columns, rows=len(kept)), len(dropped)


def _is_in_order(text: bytes) -> bool:
    edges = [int(edge, 16) for edges in _RANGE.findall(text) for edge in edges]
    return edges == sorted(edges)


def explain_light(maps: bytes, status: bytes, options: Options) -> str | None:
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
