"""The first lines of an answer: which process, when, from which file, and what is not known about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.capability import find_estimates, tell_redaction
from mmpscope.analysis.extent import ALL, SOME, describe_source, find_extent, has_totals
from mmpscope.analysis.facts import get_list, get_number, show_fact
from mmpscope.analysis.freespace import compare_stated_free
from mmpscope.analysis.reporters.amounts import show_time
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.systems import name_system
from mmpscope.analysis.space import tell_range
from mmpscope.analysis.totals import compare_stated_total
from mmpscope.formats.model import Capability, Facts

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = [
    "MOVED",
    "describe_capability",
    "describe_snapshot",
    "draw_choice",
    "draw_head",
    "draw_heads",
    "draw_missing",
]


_SECOND_NS = 1_000_000_000
_HANG = "    "
"""What a line begins with that goes on with the sentence before."""
_SOURCES = {"maps", "smaps"}
"""Where one of these is missing, its reason tells more than that of any number of other items."""

MOVED = "the map changed while it was read: sums are not of one moment, and what moved may count twice"
"""The kernel prints a map piece by piece; seen: overlapping regions in one of eight snapshots under churn."""
_LEFT_OUT = "sums are at least what is shown, and free space is not known"
_STATED = "the summary shows the source's own totals, and free space is not known"


def describe_snapshot(snapshot: LoadedSnapshot) -> dict[str, object]:
    """Name one snapshot for JSON: label, process and moment; null where the source does not say."""
    host = snapshot.capture.host
    extent = find_extent(snapshot)
    return {
        "label": snapshot.label,
        "pid": get_number(snapshot.process, "pid"),
        "name": show_fact(snapshot.process.get("name")),
        "exe": show_fact(snapshot.process.get("exe")),
        "time_ns": get_number(snapshot.moment, "time_ns"),
        "host": show_fact(host.get("hostname")),
        "os": show_fact(host.get("os")),
        "kernel": show_fact(host.get("kernel")),
        "machine": show_fact(host.get("machine")),
        "usable_range": _describe_range(snapshot),
        "source": describe_source(snapshot),
        "shows": extent.shown,
        "lacks": extent.reason,
    }


def describe_capability(snapshot: LoadedSnapshot) -> list[dict[str, object]]:
    """List for JSON what could be had of the snapshot and what could not, with the reason of every null."""
    return [
        {"item": row.item, "state": row.state, "code": row.code, "reason": row.reason}
        for row in snapshot.stated_capability
    ]


def draw_head(
    snapshot: LoadedSnapshot, screen: Screen, label: str = "", *, fraction: bool = False
) -> list[str]:
    """Write process, moment and file in one line, behind a label if given; in another what is missing.

    With ``fraction`` the moment has its milliseconds.
    """
    process, host = snapshot.process, snapshot.capture.host
    name, hostname = show_fact(process.get("name")) or "unknown process", show_fact(host.get("hostname"))
    number = get_number(process, "pid")
    told = [f"pid {number}" if number is not None else "", *_name_bits(process)]
    pid = f" ({', '.join(filter(None, told))})" if any(told) else ""
    where = f" on {hostname}" if hostname else ""
    source = f", from {kind}" if (kind := describe_source(snapshot)) else ""
    when = show_time(get_number(snapshot.moment, "time_ns"), fraction=fraction)
    lines = [f"{label}{name}{pid}{where}, {when}, {snapshot.label}{source}", *draw_choice(snapshot.last_of)]
    lines += filter(None, [tell_redaction(snapshot.capture.capability)])
    lines += _describe_extent(snapshot)
    if snapshot.moment.get("map_moved") is True:
        lines.append(MOVED)
    if screen.verbose:
        lines += _describe_more(snapshot)
    lines += _describe_estimates(snapshot)
    said = {"regions", "free"} if not screen.verbose else set()
    lines += draw_missing([row for row in snapshot.stated_capability if row.item not in said], screen)
    return [part for line in lines for part in screen.wrap(show_name(line), _HANG)]


def _describe_estimates(snapshot: LoadedSnapshot) -> list[str]:
    """Name the figures that are not exact: no mark of a table says that one may be too high."""
    names = list(find_estimates(snapshot))
    return [f"not exact, but estimates: {', '.join(names)} (-v tells why)"] if names else []


def _name_bits(process: Facts) -> list[str]:
    """Name what is worth a word: a 32-bit program on 64-bit Windows has two of many things."""
    return ["32-bit under WOW64"] if process.get("wow64") is True else []


def _describe_extent(snapshot: LoadedSnapshot) -> list[str]:
    """Say what the source does not show, and what follows."""
    extent, disputed = find_extent(snapshot), compare_stated_free(snapshot)
    lines = [f"free space is doubtful: {disputed}"] if disputed else []
    if extent.shown != ALL and (unlike := compare_stated_total(snapshot)):
        lines.append(f"sums are doubtful: {unlike}")
    if extent.shown == SOME:
        return [*lines, f"{extent.reason}; {_STATED if has_totals(snapshot) else _LEFT_OUT}"]
    return [*lines, extent.reason] if extent.reason else lines


def draw_choice(last_of: int) -> list[str]:
    """Say that this is one of several snapshots, where nobody chose it, and how to see the others."""
    if last_of == 1:
        return []
    return [f"the last of {last_of:,} snapshots of this process; FILE#N shows another, FILE#0: all"]


def draw_heads(snapshots: Sequence[LoadedSnapshot], screen: Screen, labels: Iterable[str]) -> list[str]:
    """Write the heads of several snapshots, each behind its label, as in ``a: java (pid 7) ...``.

    Lines that end all of them alike are said once, last; a sentence that was broken stays whole.
    """
    fraction = _share_second([get_number(snapshot.moment, "time_ns") for snapshot in snapshots])
    heads = [
        draw_head(snapshot, screen, label, fraction=fraction)
        for snapshot, label in zip(snapshots, labels, strict=True)
    ]
    shared = 0
    while len({tuple(head[-1 - shared :]) for head in heads}) == 1 and shared < min(map(len, heads)) - 1:
        shared += 1
    while shared and heads[0][-shared].startswith(_HANG):
        shared -= 1
    cut = [head[: len(head) - shared] for head in heads]
    return [line for head in cut for line in head] + heads[0][len(heads[0]) - shared :]


def _share_second(times_ns: Sequence[int | None]) -> bool:
    """Tell if moments differ by less than the second that is shown of them."""
    seconds = {None if time_ns is None else time_ns // _SECOND_NS for time_ns in times_ns}
    return None not in seconds and len(seconds) == 1 < len(set(times_ns))


def draw_missing(rows: Iterable[Capability], screen: Screen) -> list[str]:
    """Say in one line what is not known, and why; in verbose, with a line for each item."""
    if screen.verbose:
        return [show_name(f"  {row.state}: {row.item}{_because(row)}") for row in rows if row.state != "ok"]
    missing = [row for row in rows if row.state in {"unavailable", "partial"}]
    if not missing:
        return []
    reasons: dict[str, list[str]] = {}
    for row in missing:
        reasons.setdefault(_because(row), []).append(row.item)
    because, items = max(reasons.items(), key=lambda pair: (not _SOURCES.isdisjoint(pair[1]), len(pair[1])))
    others = len(missing) - min(len(items), 3)
    more = f", and {others} more (-v lists them)" if others else ""
    return [show_name(f"not known: {', '.join(items[:3])}{because}{more}")]


def _describe_range(snapshot: LoadedSnapshot) -> dict[str, str] | None:
    known = tell_range(snapshot)
    if known is None:
        return None
    return {"start": f"0x{known.start:016x}", "end": f"0x{known.end:016x}", "source": known.source}


def _describe_more(snapshot: LoadedSnapshot) -> list[str]:
    process, host = snapshot.process, snapshot.capture.host
    command = " ".join(show_fact(word) or "" for word in get_list(process, "cmdline"))
    known = tell_range(snapshot)
    return [
        f"  program: {show_fact(process.get('exe')) or 'unknown'}",
        *([f"  command: {command}"] if command else []),
        f"  system: {' '.join(name_system(host)) or 'unknown'}",
        *([f"  usable range: {known.start:x} to {known.end:x} ({known.source})"] if known else []),
    ]


def _because(row: Capability) -> str:
    return f" ({row.reason})" if row.reason else ""
