"""Snapshots into the data of a page: what every one keeps, the lists of some, and how they differ.

Snapshots are read one after the other; of each only what the page keeps stays in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.diffs.schema import DIFF_TABLES
from mmpscope.analysis.pages.diffs import compare_pair, encode_diff
from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.schema import PAGE_VERSION, Lists, Page, Snapshot, Timeline
from mmpscope.analysis.pages.snapshots import PAGE_TABLES, ask, encode_lists, encode_snapshot
from mmpscope.analysis.pages.tables import Texts, show_text
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.trends.schema import TREND
from mmpscope.analysis.trends.series import Series, split_series
from mmpscope.formats._version import __version__

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.trends.moments import Moment

__all__ = ["PageData", "build_page"]

Read = Callable[[str], "LoadedSnapshot"]
Advance = Callable[[Iterable["LoadedSnapshot"]], Iterable["LoadedSnapshot"]]


@dataclass(frozen=True)
class PageData:
    """The data of a page: the block ``page``, and the packed lists of snapshots by id.

    ``shown`` are the lists of the snapshot that is shown first.
    """

    page: Page
    lists: dict[int, str]
    shown: Lists


def build_page(moments: Sequence[Moment], read: Read, advance: Advance = iter) -> PageData:
    """Build the data of a page of some snapshots, one or more; ``read`` returns one by its label."""
    found = split_series(moments)
    order = [row for series in found for row in series.rows]
    labels = [moments[row].label for row in order]
    texts = Texts()
    snapshots = [
        encode_snapshot(snapshot, number, texts)
        for number, snapshot in enumerate(advance(read(label) for label in labels))
    ]
    timelines = _list_timelines(found, order)
    shown = timelines[0]["snapshots"][-1] if timelines else len(order) - 1
    diffs = [
        compare_pair(pair, (read(labels[pair[0]]), read(labels[pair[1]])))
        for pair in _choose_pairs(timelines, len(order))
    ]
    first = encode_lists(ask(read(labels[shown])), [])
    lists = {shown: pack(first)}
    for number in range(len(order)):
        if number != shown:
            lists[number] = pack(encode_lists(ask(read(labels[number])), []))
    for number in lists:
        snapshots[number]["has_lists"] = True
    page: Page = {
        "version": PAGE_VERSION,
        "made": {"tool": "mmpscope", "version": __version__},
        "title": "",
        "says": [],
        "shown": shown,
        "texts": [],
        "types": list(TYPES),
        "snapshots": snapshots,
        "diffs": [encode_diff(each, texts) for each in diffs],
        "timelines": timelines,
        "trends": [],
        "definitions": _define(),
        "notes": [],
        "folded": [],
    }
    page["title"] = _write_title(snapshots[shown])
    page["says"] = [each["says"] for each in page["diffs"]] or [snapshots[shown]["says"]]
    page["texts"] = texts.list_all()
    return PageData(page, lists, first)


def _write_title(snapshot: Snapshot) -> str:
    head = snapshot["head"]
    pid = "" if head["pid"] is None else f" (pid {head['pid']})"
    where = f" on {head['host']}" if head["host"] else ""
    return f"{head['process'] or 'unknown process'}{pid}{where}"


def _list_timelines(found: Sequence[Series], order: Sequence[int]) -> list[Timeline]:
    """List the series of several snapshots, the longest first."""
    ids = {row: number for number, row in enumerate(order)}
    several = sorted((series for series in found if len(series.rows) > 1), key=lambda each: -len(each.rows))
    return [
        {
            "title": show_text(series.last.name or "unknown process"),
            "snapshots": [ids[row] for row in series.rows],
            "seconds": list(series.times_s) or None,
            "clock": series.clock,
            "notes": [show_text(note) for note in series.notes],
        }
        for series in several
    ]


def _choose_pairs(timelines: Sequence[Timeline], count: int) -> list[tuple[int, int]]:
    """Compare the ends of the longest timeline; of two snapshots without one, these two."""
    if timelines:
        return [(timelines[0]["snapshots"][0], timelines[0]["snapshots"][-1])]
    return [(0, 1)] if count == 2 else []


def _define() -> dict[str, dict[str, str]]:
    """Return the meaning of every column of every table of a page, as docs/metrics.md has it."""
    diffs = {f"diff-{name}": fields for name, fields in DIFF_TABLES.items()}
    tables = {**PAGE_TABLES, **diffs, "trend": TREND}
    return {name: {f.name: f.meaning for f in fields} for name, fields in tables.items()}
