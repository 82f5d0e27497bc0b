"""VMMap's own `.mmp` as a source: every snapshot of the file, each parsed again when it is asked for."""

from __future__ import annotations

from contextlib import ExitStack

from mmpscope.formats.interface import Input
from mmpscope.formats.model import Capability, Facts, Snapshot
from mmpscope.formats.source import Entry, Fault
from mmpscope.formats.vmmap.snapshots import build_snapshot, judge_faults
from mmpscope.formats.vmmap.xml_parser import Encoding, find_encoding
from mmpscope.formats.vmmap.xml_rows import SnapshotRows, read_number
from mmpscope.formats.vmmap.xml_scan import Scan, scan

__all__ = ["FORMAT", "XmlSource", "open_xml"]

FORMAT = "VMMap XML"
_FILETIME_OF_1970 = 116_444_736_000_000_000
_FILETIME_OF_2200 = 189_024_192_000_000_000
_NS_A_TICK = 100
_SHOWN_KINDS = 5
_OF_ONE: Facts = {"of_one_process": True}
"""VMMap saves what it shows, the snapshots of one process, and does not say which."""


class XmlSource:
    """One file as a `mmpscope.formats.source.Source`; it keeps the file open."""

    format = FORMAT

    def __init__(self, given: Input, encoding: Encoding, found: Scan, opened: ExitStack) -> None:
        self.name = given.name
        self.faults: list[Fault] = found.log.list()
        times = (_to_time(span.ticks) for span in found.spans)
        self.entries = [Entry(at, time_ns=time_ns, info=_OF_ONE) for at, time_ns in enumerate(times)]
        self._stream = given.stream
        self._encoding = encoding
        self._offsets = [span.offset for span in found.spans]
        self._others = _describe_others(found)
        self._opened = opened

    def read(self, index: int) -> Snapshot:
        """Read one snapshot; IndexError outside the list."""
        if not 0 <= index < len(self._offsets):
            raise IndexError(f"no snapshot {index}")
        found = SnapshotRows()
        found.read(self._stream, self._encoding, self._offsets[index])
        return _build(found, self._others)

    def close(self) -> None:
        """Let go of the file."""
        self._opened.close()


def open_xml(given: Input) -> XmlSource:
    """List the snapshots of a file; the FormatErrors of `scan`."""
    encoding = find_encoding(given.stream)
    found = scan(given.stream, encoding, partial=given.partial)
    return XmlSource(given, encoding, found, given.opened.pop_all())


def _build(found: SnapshotRows, others: list[Capability]) -> Snapshot:
    attributes = dict(found.attributes)
    ticks, size = (read_number(attributes.pop(name, None)) for name in ("Timestamp", "PageTableSize"))
    process: Facts = {"source": {"format": FORMAT}}
    if attributes:
        process["snapshot_attributes"] = attributes
    # A file may tell page tables twice, in the tag of the snapshot and as a region.
    capability = [*others, *_list_missing(found)]
    if size or found.rows.page_table or size == 0:
        process["page_table"] = size or found.rows.page_table
    else:
        capability.append(Capability("page_table", "unavailable", None, "the snapshot does not tell it"))
    moment: Facts = {} if ticks is None else {"Timestamp": ticks}
    if (time_ns := _to_time(ticks)) is not None:
        moment["time_ns"] = time_ns
    snapshot = build_snapshot(found.rows, process, moment, capability)
    snapshot.capability += judge_faults(found.lost, found.log)
    return snapshot


def _list_missing(found: SnapshotRows) -> list[Capability]:
    missing = [Capability("process", "unavailable", None, "a .mmp of VMMap does not name its process")]
    if not len(found.rows) and not found.lost:
        missing.append(Capability("regions", "unavailable", None, "the snapshot has no regions"))
    return missing


def _to_time(ticks: int | None) -> int | None:
    """Return ns since 1970 of a FILETIME; None where the number cannot be one."""
    if ticks is None or not _FILETIME_OF_1970 < ticks < _FILETIME_OF_2200:
        return None
    return (ticks - _FILETIME_OF_1970) * _NS_A_TICK


def _describe_others(found: Scan) -> list[Capability]:
    """Tell of the elements that were skipped: a program traced by VMMap leaves many, which is no damage."""
    total = sum(found.others.values())
    if not total:
        return []
    most = ", ".join(f"{name} ({count:,})" for name, count in found.others.most_common(_SHOWN_KINDS))
    more = len(found.others) - _SHOWN_KINDS
    told = f"{most} and {more} more kinds" if more > 0 else most
    reason = f"{total:,} elements of the file are no regions: {told}"
    return [Capability("other elements", "skipped", None, reason)]
