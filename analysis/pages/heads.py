"""What a page says of a snapshot before any table: which process, what is not known, which limits hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from mmpscope.analysis.capability import find_estimates, tell_redaction
from mmpscope.analysis.extent import describe_source, find_extent
from mmpscope.analysis.facts import get_list, get_number, show_fact
from mmpscope.analysis.mapping_count import MappingCount
from mmpscope.analysis.measures.limits import list_limits
from mmpscope.analysis.measures.versions import find_version
from mmpscope.analysis.pages.schema import LIMITS, Head
from mmpscope.analysis.pages.tables import show_text
from mmpscope.analysis.reporters.amounts import show_time
from mmpscope.analysis.reporters.systems import name_system
from mmpscope.analysis.space import tell_range
from mmpscope.analysis.tables import build_table

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["describe_head", "tabulate_limits"]

_KNOWN = "ok"
_MOVED = "the map changed while it was read: sums are not of one moment"


def describe_head(snapshot: LoadedSnapshot) -> Head:
    """Describe the process, the moment and the source of a snapshot, and what is missing in it."""
    process, host = snapshot.process, snapshot.capture.host
    time_ns = get_number(snapshot.moment, "time_ns")
    return {
        "process": _show(process.get("name")),
        "pid": get_number(process, "pid"),
        "exe": _show(process.get("exe")),
        "host": _show(host.get("hostname")),
        "os": show_text(" ".join(name_system(host))) or None,
        "time": show_time(time_ns),
        "time_ns": None if time_ns is None else str(time_ns),
        "source": show_text(describe_source(snapshot) or "mmp"),
        "facts": [[name, show_text(value)] for name, value in _list_facts(snapshot)],
        "notes": [show_text(note) for note in _list_notes(snapshot)],
        "missing": [
            {
                "item": show_text(row.item),
                "state": show_text(row.state),
                "reason": None if row.reason is None else show_text(row.reason),
            }
            for row in snapshot.stated_capability
            if row.state != _KNOWN
        ],
    }


def _show(fact: object) -> str | None:
    shown = show_fact(fact)
    return None if shown is None else show_text(shown)


def _list_facts(snapshot: LoadedSnapshot) -> Iterator[tuple[str, str]]:
    command = " ".join(show_fact(word) or "" for word in get_list(snapshot.process, "cmdline"))
    version = find_version(snapshot)
    known = tell_range(snapshot)
    if command:
        yield "command line", command
    if version:
        yield "build of the program", version
    if known is not None:
        yield "usable range", f"{known.start:x} to {known.end:x} ({known.source})"
    yield "page", f"{snapshot.page_size:,} bytes"
    yield "classification rules", snapshot.rules_version


def _list_notes(snapshot: LoadedSnapshot) -> Iterator[str]:
    if redacted := tell_redaction(snapshot.capture.capability):
        yield redacted
    extent = find_extent(snapshot)
    if extent.reason:
        yield extent.reason
    if snapshot.moment.get("map_moved") is True:
        yield _MOVED
    estimates = list(find_estimates(snapshot))
    if estimates:
        yield f"not exact, but estimates: {', '.join(estimates)}"


def tabulate_limits(snapshot: LoadedSnapshot, mapped: int | None, count: MappingCount) -> pa.Table:
    """List the limits of a process and what is left below each (columns of pages.schema.LIMITS)."""
    rows: list[dict[str, Any]] = [limit._asdict() for limit in list_limits(snapshot, mapped, count)]
    for row in rows:
        used, maximum = row["used"], row["maximum"]
        row["headroom"] = None if used is None or maximum is None else max(0, maximum - used)
    return build_table(LIMITS, {field.name: [row[field.name] for row in rows] for field in LIMITS}, len(rows))
