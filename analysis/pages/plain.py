"""The main tables of a page as plain HTML: readable with scripts off, in print, and by any tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mmpscope.analysis.pages.cells import show_bytes, show_summary_figure
from mmpscope.analysis.pages.page_data import PageData
from mmpscope.analysis.pages.schema import Column, Page, Table, Trend
from mmpscope.analysis.pages.tables import decode_table, make_title
from mmpscope.analysis.reporters.amounts import UNKNOWN, show_address, show_count
from mmpscope.analysis.reporters.names import shorten_middle

__all__ = ["Cell", "PlainTable", "list_plain_tables"]


class Cell(NamedTuple):
    """What a cell shows, and what it is exactly where that is more."""

    text: str
    exact: str | None = None


class PlainTable(NamedTuple):
    """A table of text; ``section`` is the part of the page that it belongs to, ``more`` counts what is not
    listed."""

    section: str
    title: str
    heads: list[str]
    is_number: list[bool]
    rows: list[list[Cell]]
    more: int


class _Shown(NamedTuple):
    """Which columns of a table, sorted by which, how many rows (0: all); ``moving`` only those that move."""

    section: str
    title: str
    columns: Sequence[str]
    most: int = 0
    sort: str | None = None
    moving: bool = False


_MOST_SNAPSHOTS = 25
_NAME = 500
"""Characters of a name: the data has all of it, and a few endless ones would fill a page."""
_FIGURES = ("size", "committed", "private", "total_ws")
_DELTAS = tuple(f"{name}_delta" for name in _FIGURES)
_SUMMARY = _Shown(
    "summary",
    "Summary",
    ("type", *_FIGURES, "private_ws", "shareable_ws", "shared_ws", "locked_ws", "blocks", "largest"),
)
_LIMITS = _Shown("limits", "Limits", ("limit", "used", "maximum", "headroom", "reason"))
_LISTS = {
    "room": _Shown(
        "limits", "Room for one more request", ("upto", "outcome", "check", "available", "reason")
    ),
    "windows": _Shown(
        "map", "Free space", ("window", "size", "mapped", "unusable", "free", "holes", "largest")
    ),
    "splitters": _Shown("map", "Splitters", ("address", "size", "type", "details", "merged"), 10),
    "allocations": _Shown(
        "regions",
        "Largest allocations",
        ("address", "type", *_FIGURES, "protection", "details"),
        25,
        "committed",
    ),
    "threads": _Shown("threads", "Threads", ("tid", "name", "state", "stack", "size", "committed"), 25),
    "modules": _Shown("modules", "Modules", ("address", *_FIGURES, "path"), 25, "size"),
    "processes": _Shown("processes", "Processes", ("pid", "ppid", "user", "name", "rss", "private"), 25),
    "heaps": _Shown("heaps", "Heaps", ("name", "address", *_FIGURES), 25, "size"),
}
_DIFFS = {
    "totals": _Shown("diff", "Totals", ("metric", "a", "b", "delta")),
    "types": _Shown("diff", "Change by type", ("type", *_DELTAS)),
    "movers": _Shown(
        "diff",
        "What changed most",
        ("word", "rows", "type_b", *_DELTAS, "unit", "details_a", "details_b"),
        25,
        moving=True,
    ),
    "modules": _Shown("diff", "Modules that changed", ("word", "path", "size_delta"), 25),
}
_ROLES = _Shown(
    "roles",
    "Processes by role",
    ("word", "name", "pid_a", "pid_b", "instances_a", "instances_b", "pss_delta", "private_delta", "match"),
    25,
)
_TREND = _Shown(
    "timeline", "Verdicts", ("scope", "name", "metric", "verdict", "first", "last", "change", "reason"), 25
)


def list_plain_tables(data: PageData) -> Iterator[PlainTable]:
    """Make the tables of the snapshot that is shown first, of the comparison and of the trend."""
    page = data.page
    snapshot = page["snapshots"][page["shown"]]
    whose = _name_snapshot(page)
    trends: list[Trend] = []
    yield _make(_SUMMARY, snapshot["summary"], page["texts"], whose)
    yield _make(_LIMITS, snapshot["limits"], page["texts"], whose)
    if page["roles"] is not None:
        yield _make(_ROLES, page["roles"]["rows"], page["texts"])
    for diff in page["diffs"][:1]:
        yield from (_make(how, diff["tables"][name], page["texts"]) for name, how in _DIFFS.items())
    for number, timeline in enumerate(page["timelines"]):
        if page["shown"] in timeline["snapshots"]:
            yield _list_snapshots(page, timeline["snapshots"])
            trends = [trend for trend in page["trends"] if trend["timeline"] == number]
    for trend in trends:
        yield _make(_TREND, trend["rows"], page["texts"])
    lists: Any = data.shown  # asked for by name
    for name, how in _LISTS.items():
        if lists[name] is not None:
            yield _make(how, lists[name], data.shown["texts"], whose)


def _name_snapshot(page: Page) -> str:
    """Say for the heading of a table which of several snapshots it is of: the one that the page is about."""
    if len(page["snapshots"]) == 1:
        return ""
    snapshot = page["snapshots"][page["shown"]]
    place = f"{snapshot['id'] + 1:,} of {len(page['snapshots']):,}"
    return f" in snapshot {place}, {snapshot['head']['time']}"


def _list_snapshots(page: Page, ids: Sequence[int]) -> PlainTable:
    """List the snapshots of a timeline; of a long one the first, the last and some between."""
    count = min(len(ids), _MOST_SNAPSHOTS)
    chosen = [page["snapshots"][ids[at * (len(ids) - 1) // (count - 1)]] for at in range(count)]
    rows = [
        [Cell(each["head"]["time"]), Cell(each["label"])]
        + [_show_total(each["totals"][name]) for name in _FIGURES]
        for each in chosen
    ]
    heads = ["Taken", "Snapshot", *map(make_title, _FIGURES)]
    is_number = [False, False, *[True] * len(_FIGURES)]
    return PlainTable("timeline", "Snapshots", heads, is_number, rows, len(ids) - count)


def _show_total(value: int | str | None) -> Cell:
    exact = None if value is None else int(value)
    return Cell(show_bytes(exact), _tell_exactly(exact))


def _make(how: _Shown, table: Table, texts: Sequence[str], whose: str = "") -> PlainTable:
    values = decode_table(table, texts)
    columns = [column for name in how.columns for column in table["columns"] if column["name"] == name]
    order = list(range(table["rows"]))
    if how.sort is not None and how.sort in values:
        sizes = values[how.sort]
        order.sort(key=lambda row: -(sizes[row] or 0))
    if how.moving:
        order = [row for row in order if any(values[name][row] != 0 for name in _DELTAS)]
    chosen = order[: how.most or None]
    rows = [[_show_in(table["name"], row, column, values) for column in columns] for row in chosen]
    heads = [column["title"] for column in columns]
    is_number = [column["unit"] != "text" for column in columns]
    return PlainTable(how.section, how.title + whose, heads, is_number, rows, len(order) - len(chosen))


def _show_in(table: str, row: int, column: Column, values: Mapping[str, Sequence[Any]]) -> Cell:
    name = column["name"]
    if table == "summary" and column["unit"] != "text":
        shown = show_summary_figure({each: values[each][row] for each in ("type", "partial", name)}, name)
        return Cell(shown, _tell_exactly(values[name][row]) if column["unit"] == "bytes" else None)
    return _show(values[name][row], column, values["unit"][row] if "unit" in values else None)


_SHOWN: dict[str, Callable[[Any], str]] = {
    "address": show_address,
    "number": "{:.4g}".format,
    "bool": lambda value: "yes" if value else "no",
}


_NAMES = ("pid", "ppid", "tid", "uid")
"""Numbers that name a thing are not grouped by thousands."""


def _show(value: Any, column: Column, unit: str | None) -> Cell:
    """Write a cell; of limits and trends, the row itself says in which unit its numbers are."""
    if value is None:
        return Cell("" if column["unit"] == "text" else UNKNOWN)
    if column["unit"] == "text":
        return Cell(make_title(value) if column["name"] == "metric" else shorten_middle(value, _NAME))
    if column["name"].removesuffix("_a").removesuffix("_b") in _NAMES:
        return Cell(str(value))
    is_change = column["name"].endswith("delta") or column["name"] == "change"
    if column["unit"] == "bytes" or (unit == "bytes" and column["unit"] == "count"):
        return Cell(show_bytes(value, sign=is_change), _tell_exactly(value))
    return Cell(("+" if is_change and value > 0 else "") + _SHOWN.get(column["unit"], show_count)(value))


def _tell_exactly(value: int | None) -> str | None:
    return None if not value else f"{value:,} bytes"
