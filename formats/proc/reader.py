"""Snapshots from saved text of /proc: smaps or maps, with status, roll-up and limits where one has them.

Text holds regions and little else: what is missing is said in the capability list, what is guessed names its
source.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import islice
from operator import add, le, or_

from mmpscope.formats.errors import CorruptError
from mmpscope.formats.faults import tell_count
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot
from mmpscope.formats.proc.facts import (
    parse_cmdline,
    parse_counters,
    parse_limits,
    parse_membership,
    parse_status,
)
from mmpscope.formats.proc.map_order import ROLLUP
from mmpscope.formats.proc.smaps import Regions, parse_smaps
from mmpscope.formats.proc.space import GATES, infer_end
from mmpscope.formats.proc.stat_line import describe_stat, parse_stat

__all__ = ["build_snapshot", "build_totals", "describe_space", "read_facts", "snapshot_from_text"]

_MMAP_MIN_ADDR = 65536
"""CONFIG_DEFAULT_MMAP_MIN_ADDR of nearly all kernels; where a region lies below, the real one is smaller."""
_MIN_PAGE = 4096
_MAX_TOTALS = 128
_EMPTY = "empty: no address space (a kernel thread or zombie), or no permission to read it; or a failed copy"
_NO_REGIONS = "a roll-up has the totals of all regions and no region"
_ONLY_REGIONS = "the text holds only regions"
_ITEMS = (
    "status", "smaps_rollup", "limits", "cmdline", "stat", "auxv", "cgroup", "personality", "threads",
    "modules", "heaps", "processes",
)  # fmt: skip
"""What a snapshot of the collector has beside its regions."""


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
    known = {item: data for item, data in others.items() if data is not None}
    return build_snapshot(parse_smaps(text), read_facts(known), Capture(host={"os": "linux"}))


def build_snapshot(regions: Regions, facts: Facts, capture: Capture, reason: str = _ONLY_REGIONS) -> Snapshot:
    """Make a snapshot of parsed regions and facts of a process; ``reason`` tells why others are missing."""
    process = dict(facts)
    if regions.form:
        process["source_text"] = regions.form
    process["source"] = {"format": f"{'smaps' if regions.counters or not regions.rows else 'maps'} text"}
    capability = [*_judge_regions(regions), *_list_missing(facts, capture, reason)]
    if regions.rows:
        capability += describe_space(regions.columns, process)
    return Snapshot(capture, process, {}, {"regions": regions.encode()}, capability)


def build_totals(facts: Facts, capture: Capture, reason: str = _NO_REGIONS) -> Snapshot:
    """Make a snapshot of a process of which only the roll-up is known: totals in bytes, and no regions.

    CorruptError where the roll-up has more counters than any kernel knows.
    """
    totals = facts["smaps_rollup"]
    if len(totals) > _MAX_TOTALS:
        raise CorruptError(f"a roll-up of more than {_MAX_TOTALS} counters", now="Give the smaps.")
    columns = {key: Plain("uint", [value]) for key, value in totals.items()}
    columns = {"name": Plain("text", [ROLLUP], "utf-8"), "count": Plain("uint", [None]), **columns}
    process = {**facts, "source": {"format": "smaps_rollup text"}}
    capability = [Capability(item, "unavailable", None, _NO_REGIONS) for item in ("regions", "smaps")]
    capability += _list_missing(facts, capture, reason)
    return Snapshot(capture, process, {}, {"totals": encode_table(columns, 1)}, capability)


def read_facts(files: Mapping[str, bytes]) -> Facts:
    """Read the facts of a process from files, given by their names below /proc/PID.

    ValueError where `stat` is no line of its kind; what is not among the files is left out.
    """
    process: Facts = {}
    if "status" in files:
        status = process["status"] = parse_status(files["status"])
        process.update(
            {name: status[key] for key, name in (("Name", "name"), ("Pid", "pid")) if key in status}
        )
        ids = {name: status.get(key) for key, name in (("Uid", "uid"), ("Gid", "gid"))}
        process.update({name: value[0] for name, value in ids.items() if isinstance(value, list) and value})
    if "stat" in files:
        stat = parse_stat(files["stat"])
        process["stat"] = describe_stat(stat)
        process.update(pid=stat.pid, name=process["stat"]["comm"])
    if "smaps_rollup" in files:
        process["smaps_rollup"] = parse_counters(files["smaps_rollup"])
    if "limits" in files:
        process["limits"] = parse_limits(files["limits"])
    if "cmdline" in files:
        process["cmdline"] = parse_cmdline(files["cmdline"])
    if "cgroup" in files:
        process.update(_read_cgroup(files["cgroup"]))
    return process


def _read_cgroup(data: bytes) -> Facts:
    """Read where the process is; the figures of its cgroup are not below /proc."""
    paths = parse_membership(data)
    if not paths:
        return {}
    version = min(paths)  # as the collector has it: memory is in version 1 or in version 2, never in both
    return {"cgroup": {"path": paths[version], "version": version}}


def _list_missing(facts: Facts, capture: Capture, reason: str) -> list[Capability]:
    missing = [item for item in _ITEMS if item not in facts and item not in capture.tables]
    listed = [Capability(item, "unavailable", None, reason) for item in missing]
    if "cgroup" in facts:
        listed.append(Capability("cgroup", "partial", None, "its figures are not below /proc"))
    return listed


def _judge_regions(regions: Regions) -> list[Capability]:
    if not regions.rows:
        return [Capability("smaps", "unavailable", None, _EMPTY)]
    has_counters = bool(regions.counters)
    item = "smaps" if has_counters else "maps"
    if regions.odd:
        [first, *_] = regions.faults
        more = f", and {regions.odd - 1} more" if regions.odd > 1 else ""
        reason = f"line {first.line}: {first.what}{more}"
        judged = [Capability(item, "partial", None, reason)]
    else:
        judged = [Capability(item, "ok")]
    if not has_counters:
        judged.append(Capability("smaps", "unavailable", None, "maps text holds no counters"))
    starts, paths = regions.columns["start"].values, regions.columns["path"].values
    names = regions.columns["Name"].values if "Name" in regions.columns else ()
    others = sum(name not in (None, path) for name, path in zip(names, paths) if path is not None)
    if others:
        reason = f"{tell_count(others, 'region')} with a line `Name:` that is not the path; the path counts"
        judged.append(Capability("regions.Name", "ok", None, reason))
    if regions.missing is not None:
        judged.append(Capability("regions", "partial", None, regions.missing))
    elif not all(map(le, starts, islice(starts, 1, None))):
        reason = "the regions are in another order than a kernel's: the list may be an excerpt"
        judged.append(Capability("regions", "partial", None, reason))
    return judged


def describe_space(columns: Mapping[str, Plain], process: Facts) -> list[Capability]:
    """Fill in page size and usable range as far as the map tells; return what it does not tell.

    ``columns`` has start, size, path, and KernelPageSize where it is known, of one region or more.
    """
    starts, sizes = columns["start"].values, columns["size"].values
    paths = columns["path"].values
    ends = map(add, starts, sizes)
    highest = max((end for end, path in zip(ends, paths) if path not in GATES), default=0)
    space = infer_end(highest)
    lowest = min(_MMAP_MIN_ADDR, *starts)
    process["range"] = {"start": lowest, "end": space.end, "source": space.source}
    return _find_page_size(columns, process)


def _find_page_size(columns: Mapping[str, Plain], process: Facts) -> list[Capability]:
    """Take the page size from the regions: the smallest KernelPageSize, or alignment to no more than 4 KiB.

    KernelPageSize is larger in regions of huge pages, MMUPageSize smaller on some ppc64. Regions that happen
    to be aligned to more than 4 KiB prove nothing: pages may still be smaller.
    """
    column = columns.get("KernelPageSize")
    known = [] if column is None else [value for value in column.values if value]
    starts, sizes = columns["start"].values, columns["size"].values
    bits = reduce(or_, (*starts, *sizes))
    if known:
        process["page_size"] = min(known)
        return [Capability("page_size", "ok", None, "the smallest KernelPageSize")]
    if bits & -bits == _MIN_PAGE:
        process["page_size"] = _MIN_PAGE
        return [Capability("page_size", "ok", None, "inferred: regions are aligned to 4 KiB and no more")]
    return [Capability("page_size", "unavailable", None, "the text does not tell it")]
