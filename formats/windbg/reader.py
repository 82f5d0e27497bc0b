"""Snapshots from what WinDbg and SOS print: one a list or summary, with what else the log says of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import BinaryIO

from mmpscope.formats.errors import NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.mmp.columns import encode_table
from mmpscope.formats.model import Capability, Capture, Facts, Snapshot, Table
from mmpscope.formats.source import Entry, ListedSource
from mmpscope.formats.text import read_text
from mmpscope.formats.windbg.judging import judge
from mmpscope.formats.windbg.listing import Sum, list_sums
from mmpscope.formats.windbg.log import SOS, Log, Space
from mmpscope.formats.windbg.threads import find_pid, tabulate_threads

__all__ = ["open_log"]

_SESSION = re.compile(
    rb"^Debug session time: \w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d{1,9})? (\d{4}) "
    rb"\(UTC ([+-]) (\d{1,2}):(\d\d)\)",
    re.MULTILINE,
)
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_LACKS = {
    "working_sets": "a debugger does not say what is resident",
    "modules": "the list names files and no builds",
}


def open_log(stream: BinaryIO, name: str) -> ListedSource:
    """Read a whole log as one snapshot for each address space in it.

    NotASnapshotError where it has neither a list nor a summary, LimitError where it is too large.
    """
    text = read_text(stream)
    faults = FaultLog()
    log = Log(text, faults)
    spaces = [
        space for space in map(_drop_empty, log.spaces) if space.listing or space.totals or space.images
    ]
    if not spaces:
        what = "a debugger's log without the output of !address"
        raise NotASnapshotError(what, now="Type `!address` in WinDbg, and save that.")
    time_ns = _find_time(text)
    snapshots = [_build(space, log.other, time_ns, faults) for space in spaces]
    entries = [
        Entry(index, snapshot.process.get("pid"), time_ns, f"line {space.line}" if len(spaces) > 1 else None)
        for index, (space, snapshot) in enumerate(zip(spaces, snapshots, strict=True))
    ]
    forms = ", ".join(dict.fromkeys(map(_name_form, spaces)))
    return ListedSource(name, forms, entries, [partial(_give, taken) for taken in snapshots], faults.list())


def _give(snapshot: Snapshot) -> Snapshot:
    return snapshot


def _drop_empty(space: Space) -> Space:
    """Leave out a list or a table of which only the head is there."""
    if space.listing is not None and not space.listing.rows:
        space.listing = None
    if space.totals is not None and not space.totals.sizes:
        space.totals = None
    return space


def _name_form(space: Space) -> str:
    tool = "SOS" if space.form == SOS else "WinDbg"
    return f"{tool} {space.form}" + ("" if space.listing else " -summary")


def _build(space: Space, other: int, time_ns: int | None, faults: FaultLog) -> Snapshot:
    judged = judge(space, faults)
    process: Facts = {"source": {"format": _name_form(space), "other_lines": other}, **judged.process}
    tables: dict[str, Table] = {}
    lacks = dict(_LACKS)
    if space.listing is not None:
        tables |= {"regions": space.listing.encode(), "threads": tabulate_threads(space.listing)}
        pid = find_pid(space.listing)
        process |= {} if pid is None else {"pid": pid}
        if not tables["threads"].rows:
            lacks["threads"] = "no row of the list names a thread"
    if space.totals is not None:
        tables["totals"] = space.totals.encode()
        for section, sums in space.totals.others.items():
            tables[f"totals_by_{section.lower()}"] = _tabulate(sums)
    if space.images:
        tables["images"] = _tabulate(space.images)
    moment = {} if time_ns is None else {"time_ns": time_ns}
    missing = [Capability(item, "unavailable", None, reason) for item, reason in lacks.items()]
    capability = [*judged.capability, *missing]
    return Snapshot(Capture(host=judged.host, moment=dict(moment)), process, moment, tables, capability)


def _tabulate(sums: list[Sum]) -> Table:
    return encode_table(list_sums(sums), len(sums))


def _find_time(text: bytes) -> int | None:
    """Find the time of the session: a dump's own, or that of the break into a live process; ns since 1970."""
    found = _SESSION.search(text)
    if found is None or found[1] not in _MONTHS:
        return None
    day, hour, minute, second, year, hours, minutes = (int(found[i]) for i in (2, 3, 4, 5, 6, 8, 9))
    try:
        local = datetime(year, _MONTHS.index(found[1]) + 1, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    utc = local - offset if found[7] == b"+" else local + offset
    return (utc - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) * 10**9
