"""The map of the address space: from MemoryInfoList, from LinuxMaps, or from the better of both.

A dump may hold two maps. Which one is used is said, and what both of them tell is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mmpscope.formats.errors import FormatError, NotASnapshotError
from mmpscope.formats.minidump.directory import Stream
from mmpscope.formats.minidump.dump_file import DumpFile
from mmpscope.formats.minidump.memory_info import read_memory_info
from mmpscope.formats.minidump.streams import StreamType
from mmpscope.formats.minidump.system import Machine
from mmpscope.formats.model import Capability, Facts, Table
from mmpscope.formats.proc.smaps import Regions, parse_smaps
from mmpscope.formats.proc.space import GATES, infer_end, task_size

__all__ = ["MAPS", "Map", "read_map"]

MAPS = (StreamType.MEMORY_INFO_LIST, StreamType.LINUX_MAPS)
"""The streams that are a map of the address space."""
_WITH_PROC = ("linux", "android")
_MAX_TEXT_BYTES = 1 << 28
_FIRST_ADDRESS = 65536
"""CONFIG_DEFAULT_MMAP_MIN_ADDR of nearly all kernels; where a region lies below, the real one is smaller."""
_NOT_RESIDENT = "a minidump does not say what is resident"
_USUAL_PAGE = 4096


@dataclass
class Map:
    """One map: its regions, what it says of the space, and how many regions and bytes it tells of."""

    name: str
    table: Table
    bytes: int
    process: Facts = field(default_factory=dict)
    capability: list[Capability] = field(default_factory=list)


def read_map(
    dump: DumpFile, streams: dict[int, Stream], machine: Machine | None, page_size: int | None
) -> Map:
    """Read the map; of two, that of the kernel on Linux, which has names, and MemoryInfoList elsewhere.

    FormatErrors where no map can be read.
    """
    order = reversed(MAPS) if _has_proc(machine) else MAPS
    maps: list[Map] = []
    failed: list[FormatError] = []
    for number in order:
        if number in streams:
            try:
                maps.append(_READERS[number](dump, streams[number], machine, page_size))
            except FormatError as error:
                failed.append(error)
    if not maps:
        raise failed[0]
    for lost in failed:
        dump.faults.add(lost.what, offset=lost.offset, lost="the other map")
    return maps[0] if len(maps) == 1 else _compare(dump, *maps)


def _has_proc(machine: Machine | None) -> bool:
    return machine is not None and machine.os in _WITH_PROC


def _compare(dump: DumpFile, used: Map, other: Map) -> Map:
    """Say which of two maps is used, and whether both tell of the same regions and bytes."""
    told = f"{used.name} is used: {_count(used)}; {other.name}: {_count(other)}"
    if _count(used) != _count(other):
        dump.faults.add(f"two maps that disagree: {told}")
    used.capability.append(Capability(other.name, "skipped", None, told))
    return used


def _count(known: Map) -> str:
    return f"{known.table.rows:,} regions of {known.bytes:,} bytes"


def _read_info(dump: DumpFile, stream: Stream, machine: Machine | None, page_size: int | None) -> Map:
    has_free = not _has_proc(machine)
    info = read_memory_info(dump, stream, has_free=has_free)
    known = Map(stream.name, info.encode(), sum(info.columns["size"]))
    if info.free or has_free:
        known.process["range"] = _state_range(info.start, info.end, stream.name)
    else:
        known.process["range"] = _tell_range(info.start, info.end, machine, page_size)
    known.capability = [
        Capability(stream.name, "ok"),
        Capability("working_sets", "unavailable", None, _NOT_RESIDENT),
    ]
    if info.doubt is not None:
        known.capability.append(Capability("regions", "partial", None, info.doubt))
    return known


def _read_text(dump: DumpFile, stream: Stream, machine: Machine | None, page_size: int | None) -> Map:
    """Read LinuxMaps; NotASnapshotError where no line of it is a map line."""
    text = dump.read(stream.offset, min(stream.size, _MAX_TEXT_BYTES), stream.name)
    if stream.is_cut:
        text = text[: text.rfind(b"\n") + 1]
    regions = _parse(stream, text.rstrip(b"\0"))
    for fault in regions.faults:
        dump.faults.add(f"{fault.what} (in {stream.name})", line=fault.line, offset=stream.offset)
    starts, sizes, paths = (regions.columns[name].values for name in ("start", "size", "path"))
    ends = [start + size for start, size, path in zip(starts, sizes, paths, strict=True) if path not in GATES]
    known = Map(stream.name, regions.encode(), sum(sizes))
    known.process["range"] = _tell_range(min(starts), max(ends, default=0), machine, page_size)
    if regions.form:
        known.process["source_text"] = regions.form
    known.capability = [
        Capability(stream.name, "ok"),
        Capability("smaps", "unavailable", None, "the dump has a copy of maps, which holds no counters"),
    ]
    if regions.faults or stream.is_cut:
        lost = f"{stream.name} is cut" if stream.is_cut else f"lines of {stream.name} did not parse"
        known.capability.append(Capability("regions", "partial", None, lost))
    return known


def _parse(stream: Stream, text: bytes) -> Regions:
    try:
        regions = parse_smaps(text)
    except NotASnapshotError as error:
        raise _refuse_text(stream) from error
    if not regions.rows:
        raise _refuse_text(stream)
    return regions


def _refuse_text(stream: Stream) -> NotASnapshotError:
    what = f"{stream.name} has no map line"
    return NotASnapshotError(what, offset=stream.offset, now="Take another dump.")


def _tell_range(lowest: int, highest: int, machine: Machine | None, page_size: int | None) -> Facts:
    """Tell the usable range where free ranges are not listed: by the rule of the kernel, else by guess."""
    space = None
    if machine is not None and machine.bits is not None:
        space = task_size(machine.bits, machine.name, page_size=page_size or _USUAL_PAGE, highest=highest)
    space = space or infer_end(highest)
    source = f"vm.mmap_min_addr is assumed; {space.source}"
    return _state_range(min(_FIRST_ADDRESS, lowest), space.end, source)


def _state_range(start: int, end: int, source: str) -> Facts:
    """State the usable range; 2^64 itself fits no number of a file, and no process owns the last byte."""
    return {"start": start, "end": min(end, (1 << 64) - 1), "source": source}


_READERS = {StreamType.MEMORY_INFO_LIST: _read_info, StreamType.LINUX_MAPS: _read_text}
