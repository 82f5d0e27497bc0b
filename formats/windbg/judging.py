"""Whether a list or a summary is all of an address space, and of which kind of process.

Text can have been filtered, cut or shortened anywhere, so that nothing is taken for whole that does not prove
it: the rows of a list, free ones included, must leave no gap from address 0 to where the space of a process
ends, and the sums of a summary must add up to such a space.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.model import Capability, Facts
from mmpscope.formats.proc.space import infer_end
from mmpscope.formats.windbg.listing import Listing, Totals
from mmpscope.formats.windbg.log import SOS, Space
from mmpscope.formats.windbg.words import MEM_RESERVE

__all__ = ["Judged", "judge"]

_TOPS = (1 << 31, 3 << 30, 1 << 32, 1 << 43, 1 << 47)
_KEPT_FREE = 0x20000
_GRANULARITY = 0x10000
"""The space of a Windows process ends at one of these powers, less 64 or 128 KiB that no one may use."""
_FILTER = re.compile(rb"-f:[^ ]+")
_FREE = (b"Free", b"RegionUsageFree")
_TOTAL = b"Total"
_32_BIT = re.compile(rb"(?:Stack|Heap|TEB|PEB)32")
_OF_WINDOWS = re.compile(rb"(?:TEB|PEB|RegionUsage).*|(?:Stack|Heap)(?:32|64)")
_WINDOWS_FILE = re.compile(rb".*\.(?:exe|dll)|.:\\.*", re.IGNORECASE | re.DOTALL)
_LINUX_FILE = re.compile(rb"/.*|.*\.so(?:\.[\d.]+)?", re.DOTALL)
_PAGE = 4096
_NO_RESERVED = "!maddress leaves reserved memory out, unless -reserve is given"
_ONLY_TOTALS = "a summary has sums by usage and no addresses"


class Judged(NamedTuple):
    """Facts of the host and of the process, and what is missing or in doubt."""

    host: Facts
    process: Facts
    capability: list[Capability]


def judge(space: Space, faults: FaultLog) -> Judged:
    """Judge one space; where its list and its totals disagree, that is a fault."""
    listing, totals = space.listing, space.totals
    system = _find_system(listing, totals)
    host: Facts = {} if system is None else {"os": system}
    process: Facts = {"page_size": _PAGE} if system == "windows" else {}
    if system == "windows":
        host["allocation_granularity"] = _GRANULARITY
    capability = []
    if totals is not None:
        capability += _judge_totals(totals, system, process, faults)
    if listing is None:
        capability.append(Capability("regions", "unavailable", None, _ONLY_TOTALS))
    else:
        doubt = _judge_list(listing, system, process)
        if doubt is not None and not (_is_chosen(listing) or listing.cuts):
            faults.add(doubt, line=listing.line, lost="rows")
        doubt = _compare(listing, totals, doubt, faults) if totals is not None else doubt
        if doubt is not None:
            capability.append(Capability("regions", "partial", None, doubt))
    bits = _find_bits(listing, totals, process)
    return Judged(host, process if bits is None else {**process, "bits": bits}, capability)


def _list_names(listing: Listing | None, totals: Totals | None) -> set[bytes]:
    names = set() if listing is None else set(listing.texts("Usage"))
    if totals is not None:
        names |= {row.name for row in totals.sizes}
    return {name for name in names if name is not None}


def _find_system(listing: Listing | None, totals: Totals | None) -> str | None:
    """Tell the system of the process: WinDbg reads cores of Linux too, and has no states for their gaps."""
    if listing is not None:
        if listing.has_unstated:
            return "linux"
        paths = {path for path in listing.texts("path") if path is not None}
        if any(map(_WINDOWS_FILE.fullmatch, paths)):
            return "windows"
        if any(map(_LINUX_FILE.fullmatch, paths)):
            return "linux"
    names = _list_names(listing, totals)
    is_windows = any(map(_OF_WINDOWS.fullmatch, names)) or (listing is not None and listing.form != SOS)
    return "windows" if is_windows else None


def _is_end(end: int) -> bool:
    """Whether the space of a Windows process can end here."""
    return end % _GRANULARITY == 0 and any(0 <= top - end <= _KEPT_FREE for top in _TOPS)


def _is_chosen(listing: Listing) -> bool:
    """Whether it was asked for less than all, so that rows which are not there were not lost."""
    return bool(listing.kinds or listing.form == SOS or _FILTER.search(listing.command))


def _judge_list(listing: Listing, system: str | None, process: Facts) -> str | None:
    """Tell why regions may be missing; None, and the usable range as a fact, where they are all there."""
    if listing.kinds:
        return f"only regions of {b', '.join(listing.kinds).decode('ascii', 'replace')} (-list)"
    if listing.cuts:
        return f"the list is cut or damaged at line {listing.cuts[0]}"
    if listing.form == SOS:
        return None if MEM_RESERVE in listing.numbers("State") else _NO_RESERVED
    filtered = _FILTER.search(listing.command)
    if filtered is not None:
        return f"the list was filtered ({filtered[0].decode('ascii', 'replace')})"
    start, end, is_closed = listing.find_extent()
    if start or not is_closed:
        return "the list does not begin at address 0" if start else "the list has gaps"
    if system == "linux":
        highest = max((start + size for start, size in listing.ranges()), default=0)
        space = infer_end(highest)
        process["range"] = {"start": 0, "end": min(space.end, (1 << 64) - 1), "source": space.source}
    elif _is_end(end):
        process["range"] = {"start": 0, "end": end, "source": "the free rows of !address"}
    else:
        return f"the list ends at 0x{end:x}, where no process ends"
    return None


def _judge_totals(totals: Totals, system: str | None, process: Facts, faults: FaultLog) -> list[Capability]:
    """Tell whether the sums are those of a whole space, which then is the usable range."""
    for row in totals.sizes:
        if row.name is None:
            faults.add("a row of the summary has lost its name", line=totals.line)
    added = sum(row.size for row in totals.sizes if row.name != _TOTAL)
    has_free = any(row.name in _FREE for row in totals.sizes)
    if totals.cuts:
        reason = f"the summary is cut at line {totals.cuts[0]}"
    elif totals.space is not None and totals.space != added:
        reason = f"its rows add up to {added:,} bytes, and it tells of {totals.space:,}"
    elif system == "windows" and has_free and not _is_end(added):
        reason = f"its rows add up to {added:,} bytes, which is no address space: some are missing"
    else:
        if system == "windows" and has_free:
            process["range"] = {"start": 0, "end": added, "source": "the sums of !address -summary"}
        return [Capability("totals", "ok")]
    return [Capability("totals", "partial", None, reason)]


def _compare(listing: Listing, totals: Totals, doubt: str | None, faults: FaultLog) -> str | None:
    """Compare list and totals by usage where both should be whole; return what is left of the doubt."""
    if doubt not in (None, _NO_RESERVED) or totals.cuts:
        return doubt
    told = Counter[bytes]()
    for row in totals.sizes:
        if row.name not in (None, _TOTAL, *_FREE):
            told[row.name or b""] += row.size
    listed = Counter[bytes]()
    for (_, size), usage in zip(listing.ranges(), listing.texts("Usage"), strict=True):
        listed[usage or b""] += size
    if +told == listed:
        return doubt
    faults.add("the summary and the list disagree", line=totals.line)
    return doubt if listing.form != SOS else "the summary tells of other sums than the list has"


def _find_bits(listing: Listing | None, totals: Totals | None, process: Facts) -> int | None:
    """Tell the word size: names of WOW64 show 32, addresses above 4 GiB 64, a range that ends there 32."""
    if any(map(_32_BIT.fullmatch, _list_names(listing, totals))):
        return 32
    highest = process.get("range", {}).get("end", 0)
    if listing is not None:
        highest = max(highest, listing.find_extent()[1])
    if highest > 1 << 32:
        return 64
    return 32 if "range" in process else None
