"""What a file is, as text and JSON: its snapshots, where they come from, what they cost and lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from mmpscope.analysis.facts import get_map, get_number, show_fact
from mmpscope.analysis.reporters.amounts import UNKNOWN, show_count, show_time
from mmpscope.analysis.reporters.head import draw_missing
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.systems import name_system
from mmpscope.analysis.reporters.text_table import TextColumn, render_table
from mmpscope.formats.model import Capability, Snapshot
from mmpscope.formats.source import Entry, Fault, Source

_COSTS = 5
"""So many of the costliest sources are named, unless asked to be verbose."""
_MOST_FAULTS = 10
_WORTH = 10
"""Of the columns that go first where there is no room."""
_HOST = ("hostname", "os", "kernel", "machine", "os_release")
_CLOSED = {None: "", True: ", closed", False: ", not closed: its writer was stopped, or still adds to it"}
_MOVED = {None: "", True: ", and the map changed meanwhile", False: ", and the map did not change meanwhile"}

__all__ = ["describe_entry", "describe_fault", "describe_faults", "report_info"]


def report_info(source: Source, rows: Sequence[dict[str, Any]]) -> Report:
    """Make the answer of `mmp info` for one opened file; ``rows`` come from `describe_entry`."""
    facts: dict[str, object] = {
        "file": source.name,
        "format": source.format,
        "closed": getattr(source, "closed", None),
        "faults": [asdict(fault) for fault in source.faults],
    }

    def draw(screen: Screen) -> list[str]:
        told = describe_faults(source.faults, verbose=screen.verbose)
        lines = [_draw_title(source), *(f"  fault: {sentence}" for sentence in told)]
        if rows:
            lines += ["", *_draw_snapshots(rows, source.format, screen), ""]
        for row in rows if screen.verbose else rows[-1:]:
            lines += _draw_details(row, screen)
        return lines

    return Report("info", draw, facts, rows=rows)


def describe_faults(faults: Sequence[Fault], *, verbose: bool) -> list[str]:
    """Say what is damaged, in few lines unless verbose: a hostile file shall not push the answer away."""
    shown = faults if verbose or len(faults) <= _MOST_FAULTS else faults[: _MOST_FAULTS - 1]
    more = len(faults) - len(shown)
    said = [f"and {more:,} more kinds: `mmp verify` lists them"] if more else []
    return [*map(describe_fault, shown), *said]


def describe_fault(fault: Fault) -> str:
    """Say in one sentence what is damaged, where, and what is lost by it."""
    place = f", at byte {fault.offset:,}" if fault.offset is not None else ""
    place += f", in line {fault.line:,}" if fault.line is not None else ""
    lost = f" (lost: {fault.lost})" if fault.lost else ""
    return show_name(f"{fault.what}{place}{lost}")


def describe_entry(entry: Entry, snapshot: Snapshot) -> dict[str, Any]:
    """Describe one snapshot as a row of JSON; null where neither it nor the file's index says."""
    process, host = snapshot.process, snapshot.capture.host
    regions, moved = snapshot.tables.get("regions"), snapshot.moment.get("map_moved")
    cost = get_map(snapshot.moment, "cost")
    moved, cost = moved if isinstance(moved, bool) else None, get_map(snapshot.moment, "cost")
    known, origin = (*snapshot.capture.capability, *snapshot.capability), get_map(process, "source")
    return {
        "index": entry.index,
        "time_ns": _first(get_number(snapshot.moment, "time_ns"), entry.time_ns),
        "pid": _first(get_number(process, "pid"), entry.pid),
        "name": _first(show_fact(process.get("name")), None if "member" in entry.info else entry.name),
        "regions": None if regions is None else regions.rows,
        "from": show_fact(origin.get("format")),
        "member": show_fact(origin.get("member")),
        "host": {key: show_fact(host.get(key)) for key in _HOST},
        "cost_ns": {name: spent for name in cost if (spent := get_number(cost, name)) is not None},
        "read_ns": get_number(snapshot.moment, "read_ns"),
        "map_moved": moved if isinstance(moved, bool) else None,
        "capability": _describe_capability(known),
    }


@lru_cache(maxsize=64)
def _describe_capability(known: tuple[Capability, ...]) -> list[dict[str, Any]]:
    """Describe it once for all snapshots that lack the same: an archive may hold a hundred thousand."""
    return [row._asdict() for row in known]


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _draw_title(source: Source) -> str:
    count = len(source.entries)
    ending = _CLOSED[getattr(source, "closed", None)]
    return show_name(f"{source.name}: {source.format}, {count:,} snapshot{'' if count == 1 else 's'}{ending}")


def _draw_snapshots(rows: Sequence[Mapping[str, Any]], known: str, screen: Screen) -> list[str]:
    """Lay out a row for each snapshot; where it comes from is told unless it is the file itself."""
    columns = [
        TextColumn("#", [str(row["index"]) for row in rows], True),
        TextColumn("Taken", [show_time(row["time_ns"], fraction=True) for row in rows]),
        TextColumn("PID", [UNKNOWN if row["pid"] is None else str(row["pid"]) for row in rows], True),
        TextColumn("Name", [show_name(row["name"] or UNKNOWN) for row in rows], least=15),
        TextColumn("Regions", [show_count(row["regions"]) for row in rows], True),
    ]
    for title, key in (("From", "from"), ("Member", "member")):
        if any(row[key] not in (None, known) for row in rows):
            cells = [show_name(row[key] or UNKNOWN) for row in rows]
            columns.append(TextColumn(title, cells, worth=_WORTH, least=12))
    return render_table(columns, screen)


def _draw_details(row: Mapping[str, Any], screen: Screen) -> list[str]:
    words = [row["host"]["hostname"], *name_system(row["host"])]
    host = ", ".join(word for word in words if word) or "an unknown system"
    lines = [f"#{row['index']} on {host}"]
    if row["read_ns"] is not None:
        lines += [f"read in {_show_ms(row['read_ns'])}{_MOVED[row['map_moved']]}"]
    spent = sorted(row["cost_ns"].items(), key=lambda pair: -pair[1])
    if spent:
        shown = spent if screen.verbose else spent[:_COSTS]
        lines += [f"cost: {', '.join(f'{name} {_show_ms(time_ns)}' for name, time_ns in shown)}"]
    lines += draw_missing([Capability(**item) for item in row["capability"]], screen)
    first, *others = (show_name(line.strip()) for line in lines)
    return [
        *screen.wrap(first, "    "),
        *(part for line in others for part in screen.wrap(f"  {line}", "    ")),
    ]


def _show_ms(time_ns: int) -> str:
    return f"{time_ns / 1e6:.1f} ms"
