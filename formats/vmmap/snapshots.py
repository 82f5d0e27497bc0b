"""A snapshot out of rows of VMMap: tables, the range that a process can use, and what VMMap never tells."""

from __future__ import annotations

from collections.abc import Mapping

from mmpscope.formats.faults import FaultLog, tell_count
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.source import Fault
from mmpscope.formats.vmmap.rows import GRANULARITY, RegionRows

__all__ = ["build_snapshot", "judge_faults"]

_PAGE = 4096
_ENDS = {32: 0xFFFF_0000, 64: 0x7FFF_FFFF_0000}
"""Where VMMap's own sums end: a 32-bit process of 64-bit Windows, large address aware, and a 64-bit one."""
_BELOW_4_GIB = 1 << 32

_FROM_REGIONS = "from the list of regions"


def build_snapshot(
    rows: RegionRows, process: Facts, moment: Facts, capability: list[Capability], totals: Table | None = None
) -> Snapshot:
    """Build the snapshot; ``process`` gains bits where it does not state them, and the usable range."""
    tables = rows.encode()
    if totals is not None:
        tables["totals"] = totals
    known: Facts = {"bits": 64 if rows.high > _BELOW_4_GIB else 32, **process}
    known["range"] = _find_range(rows, int(known["bits"]))
    host: Facts = {"os": "windows", "allocation_granularity": GRANULARITY}
    if rows.unaligned > rows.aligned:
        # No list of Windows, but one of another system in VMMap's form, where a page is enough. Few pages of
        # Windows itself begin elsewhere, as the one that its hypervisor shares near 0x7FFE0000.
        host = {"allocation_granularity": _PAGE}
    return Snapshot(Capture(host=host), known, moment, tables, [*capability, *_judge_lists(tables)])


def _judge_lists(tables: Mapping[str, Table]) -> list[Capability]:
    """Say how far the lists go that VMMap does not save, but names in the details of regions."""
    modules = Capability("modules", "partial", None, f"{_FROM_REGIONS}, without builds")
    if "threads" in tables:
        return [Capability("threads", "partial", None, f"{_FROM_REGIONS}, without names"), modules]
    return [Capability("threads", "unavailable", None, "no region names a thread"), modules]


def _find_range(rows: RegionRows, bits: int) -> Facts:
    """Take the range from the rows of what is free, which reach from one end to the other."""
    if rows.holes:
        return {"start": rows.low, "end": rows.high, "source": "Free and Unusable rows of VMMap"}
    return {"start": 0, "end": _ENDS[bits], "source": f"assumed: {bits}-bit Windows, as VMMap reckons"}


def judge_faults(lost: int, log: FaultLog) -> list[Capability]:
    """Say in the capability list what is missing or odd: lost rows, then all else that was noted."""
    faults = log.list()
    judged = []
    if lost:
        told = "; ".join(_tell(fault) for fault in faults if fault.lost)
        reason = f"{tell_count(lost, 'row')} could not be read: {told}"
        judged.append(Capability("regions", "partial", None, reason))
    odd = [fault for fault in faults if not fault.lost]
    return judged + [Capability("rows", "partial", None, _tell(fault)) for fault in odd]


def _tell(fault: Fault) -> str:
    if fault.line is not None:
        return f"{fault.what}, line {fault.line}"
    return fault.what if fault.offset is None else f"{fault.what}, at byte {fault.offset:,}"
