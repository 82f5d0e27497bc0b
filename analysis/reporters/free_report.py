"""Free space as text: mapping count, windows, histogram, largest holes with neighbours, splitters."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmpscope.analysis.export import describe_columns, iterate_rows
from mmpscope.analysis.free_schema import FREE_TABLES
from mmpscope.analysis.listing import limit_rows
from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, show_count, show_kib, show_size
from mmpscope.analysis.reporters.cells import Shown, lay_out
from mmpscope.analysis.reporters.head import describe_capability, describe_snapshot, draw_head
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, render_table
from mmpscope.analysis.schema import FREE, Field

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.mapping_count import MappingCount
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["FreeSpace", "report_free"]

_WINDOWS = (
    Shown("window", "Window"),
    Shown("low", "From", 6),
    Shown("high", "To", 6),
    Shown("size", "Size", 7),
    Shown("mapped", "Mapped", 5),
    Shown("unusable", "Unusable", 4),
    Shown("free", "Free"),
    Shown("holes", "Holes"),
    Shown("largest", "Largest"),
    Shown("external", "External\nfragm."),
)
_HOLES = (
    Shown("address", "Address"),
    Shown("size", "Size"),
    Shown("end", "End", 5),
    Shown("before", "Below", KEEP, 20),
    Shown("after", "Above", KEEP, 20),
)
_SPLITTERS = (
    Shown("address", "Address"),
    Shown("size", "Size"),
    Shown("regions", "Regions", 4),
    Shown("below", "Hole\nbelow", 6),
    Shown("above", "Hole\nabove", 6),
    Shown("merged", "Without\nit"),
    Shown("type", "Type", 5),
    Shown("details", "Details", KEEP, 20),
)

_INDICES = (
    ("holes", "{}\nholes", "{:,}".format),
    ("unusable_index", "U(S)", "{:.3f}".format),
    ("fragmentation_index", "FI(S)", "{:.3f}".format),
)
_BAR = 40
"""Columns of the longest bar of the histogram."""


@dataclass(frozen=True)
class FreeSpace:
    """The finished tables about the free space of one snapshot; ``title`` tells the order of ``holes``."""

    title: str
    holes: pa.Table
    windows: pa.Table
    requests: pa.Table
    histogram: pa.Table
    splitters: pa.Table
    mappings: MappingCount


def report_free(snapshot: LoadedSnapshot, space: FreeSpace, rows: pa.Table, limit: int) -> Report:
    """Make the answer of `mmp free`; ``rows`` are the holes for machines.

    The text shows the first ``limit`` free holes in the order of ``space.holes``, and splitters; 0 shows all.
    """
    facts: dict[str, object] = {
        "snapshot": describe_snapshot(snapshot),
        "capability": describe_capability(snapshot),
        "mappings": {"count": space.mappings.count, "limit": space.mappings.limit},
    }
    for name in ("windows", "requests", "histogram", "splitters"):
        facts[name] = iterate_rows(describe_columns(getattr(space, name), FREE_TABLES[name]))

    def draw(screen: Screen) -> list[str]:
        return [*draw_head(snapshot, screen), "", *_draw(space, limit, screen)]

    return Report("free", draw, facts, lambda: rows)


def _draw(space: FreeSpace, limit: int, screen: Screen) -> list[str]:
    import pyarrow.compute as pc

    if not space.windows.num_rows:
        return ["no free space is known"]
    holes = space.holes.filter(pc.equal(space.holes["type"], "Free"))
    splitters = FREE_TABLES["splitters"]
    parts = [
        [_describe_mappings(space.mappings)] if space.mappings.applies else [],
        _draw_windows(space, screen),
        _draw_histogram(space.histogram, screen),
        _draw_requests(space, screen),
        _draw_rows(space.title, FREE, _HOLES, holes, limit, screen),
        _draw_rows("Splitters, between two holes", splitters, _SPLITTERS, space.splitters, limit, screen),
    ]
    return [line for part in parts if part for line in ("", *part)][1:]


def _describe_mappings(mappings: MappingCount) -> str:
    if mappings.count is None or mappings.limit is None:
        return f"{show_count(mappings.count)} mappings; the limit is not known"
    share = f"{mappings.count / mappings.limit:.1%}" if mappings.limit else "all"
    return f"{mappings.count:,} of at most {mappings.limit:,} mappings ({share})"


def _draw_windows(space: FreeSpace, screen: Screen) -> list[str]:
    columns = lay_out(FREE_TABLES["windows"], _WINDOWS, space.windows)
    notes = dict.fromkeys(note for note in space.windows["note"].to_pylist() if note)
    return render_table(columns, screen, "; ".join(["sizes in KiB", *notes]))


def _draw_requests(space: FreeSpace, screen: Screen) -> list[str]:
    """Set the windows with free space side by side, a row for each size of a request."""
    windows = [row["window"] for row in space.windows.to_pylist() if row["free"]]
    rows = [row for row in space.requests.to_pylist() if row["window"] in windows]
    sizes = dict.fromkeys(row["request"] for row in rows)
    columns = [TextColumn("Request\nS", [show_size(size) for size in sizes], True)]
    for name in windows:
        title = textwrap.fill(name, 14, break_long_words=False)
        for place, (key, suffix, show) in enumerate(_INDICES, 1):
            values = [row[key] for row in rows if row["window"] == name]
            cells = [NOT_APPLICABLE if value is None else show(value) for value in values]
            columns.append(TextColumn(suffix.format(title), cells, True, KEEP - place))
    note = "holes that hold S; U(S): share of free space lost to S; FI(S): near 0 lack, near 1 fragmentation"
    return render_table(columns, screen, note) if rows else []


def _draw_histogram(histogram: pa.Table, screen: Screen) -> list[str]:
    rows = [row for row in histogram.to_pylist() if row["holes"]]
    most = max((row["holes"] for row in rows), default=0)
    mark = "█" if screen.fine else "#"
    bars = [mark * -(-row["holes"] * _BAR // most) if most else "" for row in rows]
    columns = [
        TextColumn("Holes from", [show_size(row["from_size"]) for row in rows], True),
        TextColumn("Holes", [show_count(row["holes"]) for row in rows], True),
        TextColumn("Free", [show_kib(row["free"]) for row in rows], True),
        TextColumn("", bars, worth=1),
    ]
    return render_table(columns, screen) if rows else []


def _draw_rows(
    title: str, fields: Sequence[Field], columns: Sequence[Shown], table: pa.Table, limit: int, screen: Screen
) -> list[str]:
    shown, rest = limit_rows(table, limit)
    if not shown.num_rows:
        return [f"{title}: none"]
    return [title, *render_table(lay_out(fields, columns, shown, rest), screen)]
