"""Snapshots from saved text of /proc: smaps or maps, with status, roll-up and limits where one has them.

Text holds regions and little else: what is missing is said in the capability list, what is guessed names its
source.
"""

from __future__ import annotations

from functools import reduce
from operator import add, or_
from typing import BinaryIO

from mmpscope.formats.errors import LimitError, NotASnapshotError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot
from mmpscope.formats.proc.facts import parse_counters, parse_limits, parse_status, to_fact
from mmpscope.formats.proc.smaps import Regions, parse_smaps
from mmpscope.formats.proc.space import GATES, infer_end
from mmpscope.formats.source import Entry, Fault

__all__ = ["TextSource", "open_text", "snapshot_from_text"]

_MMAP_MIN_ADDR = 65536
"""CONFIG_DEFAULT_MMAP_MIN_ADDR of nearly all kernels; where a region lies below, the real one is smaller."""
_MIN_PAGE = 4096
_EMPTY = "empty: no address space (a kernel thread or zombie), or no permission to read it"
_ONLY_REGIONS = "the text holds only regions"
_NEVER_IN_TEXT = ("stat", "auxv", "cgroup", "personality", "threads", "modules", "heaps", "processes")


def snapshot_from_text(
    text: bytes,
    *,
    status: bytes | None = None,
    rollup: bytes | None = None,
    limits: bytes | None = None,
    cmdline: bytes | None = None,
) -> Snapshot:
    """Make a snapshot of one process from its smaps or maps, and from other files of the same moment.

    NotASnapshotError where no line of ``text`` is a map line; empty text is a process without address space.
    """
    others = {"status": status, "smaps_rollup": rollup, "limits": limits, "cmdline": cmdline}
    return _build(parse_smaps(text), {item: data for item, data in others.items() if data is not None})


def _build(regions: Regions, others: dict[str, bytes]) -> Snapshot:
    process = _read_others(others)
    if regions.form:
        process["source_text"] = regions.form
    capability = _judge_regions(regions)
    for item in ("status", "smaps_rollup", "limits", "cmdline", *_NEVER_IN_TEXT):
        if item not in others:
            capability.append(Capability(item, "unavailable", None, _ONLY_REGIONS))
    if regions.rows:
        capability += _describe_space(regions, process)
    return Snapshot(Capture(host={"os": "linux"}), process, {}, {"regions": regions.encode()}, capability)


def _read_others(others: dict[str, bytes]) -> Facts:
    process: Facts = {}
    if "status" in others:
        status = process["status"] = parse_status(others["status"])
        process.update(
            {name: status[key] for key, name in (("Name", "name"), ("Pid", "pid")) if key in status}
        )
        ids = {name: status.get(key) for key, name in (("Uid", "uid"), ("Gid", "gid"))}
        process.update({name: value[0] for name, value in ids.items() if isinstance(value, list) and value})
    if "smaps_rollup" in others:
        process["smaps_rollup"] = parse_counters(others["smaps_rollup"])
    if "limits" in others:
        process["limits"] = parse_limits(others["limits"])
    if "cmdline" in others:
        words = others["cmdline"].split(b"\0")
        process["cmdline"] = [to_fact(word) for word in (words if words[-1] else words[:-1])]
    return process


def _judge_regions(regions: Regions) -> list[Capability]:
    if not regions.rows:
        return [Capability("smaps", "unavailable", None, _EMPTY)]
    has_counters = bool(regions.counters)
    item = "smaps" if has_counters else "maps"
    lines = [fault.line for fault in regions.faults]
    if lines:
        reason = f"{len(lines)} lines did not parse, the first is line {lines[0]}"
        judged = [Capability(item, "partial", None, reason)]
    else:
        judged = [Capability(item, "ok")]
    if not has_counters:
        judged.append(Capability("smaps", "unavailable", None, "maps text holds no counters"))
    return judged


def _describe_space(regions: Regions, process: Facts) -> list[Capability]:
    """Fill in page size and usable range as far as the map tells; return what it does not tell."""
    starts, sizes = regions.columns["start"].values, regions.columns["size"].values
    paths = regions.columns["path"].values
    ends = map(add, starts, sizes)
    highest = max((end for end, path in zip(ends, paths) if path not in GATES), default=0)
    space = infer_end(highest)
    lowest = min(_MMAP_MIN_ADDR, *starts)
    process["range"] = {"start": lowest, "end": space.end, "source": space.source}
    return _find_page_size(regions, process)


def _find_page_size(regions: Regions, process: Facts) -> list[Capability]:
    """Take the page size from the regions: the smallest KernelPageSize, or alignment to no more than 4 KiB.

    KernelPageSize is larger in regions of huge pages, MMUPageSize smaller on some ppc64. Regions that happen
    to be aligned to more than 4 KiB prove nothing: pages may still be smaller.
    """
    column = regions.columns.get("KernelPageSize")
    known = [] if column is None else [value for value in column.values if value]
    starts, sizes = regions.columns["start"].values, regions.columns["size"].values
    bits = reduce(or_, (*starts, *sizes))
    if known:
        process["page_size"] = min(known)
        return [Capability("page_size", "ok", None, "the smallest KernelPageSize")]
    if bits & -bits == _MIN_PAGE:
        process["page_size"] = _MIN_PAGE
        return [Capability("page_size", "ok", None, "inferred: regions are aligned to 4 KiB and no more")]
    return [Capability("page_size", "unavailable", None, "the text does not tell it")]


class TextSource:
    """One text file as a `mmpscope.formats.source.Source` of one snapshot."""

    def __init__(self, name: str, text: bytes) -> None:
        self.name = name
        regions = parse_smaps(text)
        _refuse_rollup(regions)
        self._snapshot = _build(regions, {})
        self.format = f"{'smaps' if regions.counters or not regions.rows else 'maps'} text"
        self.faults = [*regions.faults, *_find_overlaps(regions)]
        self.entries = [Entry(0)]

    def read(self, index: int) -> Snapshot:
        """Read the one snapshot; IndexError for another."""
        if index != 0:
            raise IndexError(f"no snapshot {index}")
        return self._snapshot

    def close(self) -> None:
        """Do nothing: the text was read when it was opened."""


def _refuse_rollup(regions: Regions) -> None:
    if regions.rows == 1 and regions.columns["path"].values[0] == b"[rollup]":
        raise NotASnapshotError(
            "a roll-up holds the totals of a process and no regions",
            now="Give the smaps of the same process.",
        )


def _find_overlaps(regions: Regions) -> list[Fault]:
    """Find out whether this may be more than one map: regions of one process never overlap."""
    starts, sizes = regions.columns["start"].values, regions.columns["size"].values
    ranges = sorted(zip(starts, sizes))
    overlaps = sum(start + size > following for (start, size), (following, _) in zip(ranges, ranges[1:]))
    if not overlaps:
        return []
    return [
        Fault(
            f"{overlaps} regions overlap the next one: this may be the text of several captures or processes"
        )
    ]


def open_text(stream: BinaryIO, name: str) -> TextSource:
    """Read a whole text; LimitError where it is too large, NotASnapshotError where it has no map line."""
    text = stream.read(DEFAULT_LIMITS.table_raw_bytes + 1)
    if len(text) > DEFAULT_LIMITS.table_raw_bytes:
        raise LimitError(f"a text of more than {DEFAULT_LIMITS.table_raw_bytes >> 30} GiB")
    return TextSource(name, text)
