"""Charts of the answers, for notebooks: each shows the figures of one table, exact bytes beside them.

    from mmpscope.analysis import load, plots
    plots.plot_timeline(load("run.mmp"))

Every function returns an Altair chart, which Jupyter shows as it is and `.save("chart.html")` writes; its
data are the rows of the table that the docstring names. What is not known is no mark, and the subtitle names
it; a sum of which a part is not known is named there as well. Needs the extra plot.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.reporters.amounts import show_size
from mmpscope.analysis.reporters.names import shorten_middle, show_name
from mmpscope.analysis.schema import TYPES

if TYPE_CHECKING:
    import altair as alt
    from mmpscope.analysis.diffs.snapshots import DiffResult
    from mmpscope.analysis.freespace import Window
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.trends.series import Series

__all__ = ["TYPE_COLORS", "plot_holes", "plot_movers", "plot_summary", "plot_timeline", "plot_unusable"]

Row = dict[str, Any]

TYPE_COLORS = {
    "Image": "#cc79a7",
    "Mapped File": "#0072b2",
    "Shareable": "#56b4e9",
    "Heap": "#d55e00",
    "Managed Heap": "#009e73",
    "Stack": "#e69f00",
    "Private Data": "#f0e442",
    "Page Table": "#9098a3",
    "Unusable": "#5a6068",
    "Free": "#e4e7ec",
}
"""The colours of report pages: for all kinds of colour vision, after Okabe and Ito."""

_FREE = "Free"
_BARS = ("committed", "private", "total_ws")
"""What VMMap's three bars show."""
_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("bytes", 1))
_LONGEST = 60
_WIDTH = 560
_MARKS: dict[str, dict[str, Any]] = {
    "area": {"type": "area"},
    "bar": {"type": "bar"},
    "line": {"type": "line", "point": True},
}


def plot_summary(snapshot: LoadedSnapshot, metrics: Sequence[str] = _BARS) -> alt.Chart:
    """Draw a bar a figure, stacked by type: the rows of `summarize` but Total and Free.

    Data: metric, type, bytes, partial. UsageError where a figure is none of a summary, or Altair is not
    installed.
    """
    from mmpscope.analysis.summary import summarize

    _check_metrics(metrics)
    found = summarize(snapshot).to_pylist()
    rows = [{"metric": name} | figure for name in metrics for figure in _list_figures(found, name)]
    alt, known = _load_altair(), _drop_unknown(rows)
    return _make_chart("bar", known, snapshot.label, _list_unknown(rows)).encode(
        alt.X("amount:Q", title=_name_unit(known), stack="zero"),
        alt.Y("metric:N", title=None, sort=list(metrics)),
        **_by_type(["metric", "type"]),
    )


def plot_timeline(snapshots: Iterable[LoadedSnapshot], metric: str = "private") -> alt.Chart:
    """Draw one figure of one process over time, stacked by type, as the rows of `summarize` have it.

    Data: snapshot, seconds (since the first), type, bytes, partial. A type that some snapshot does not know
    is left out of all, so that areas stay comparable. Each snapshot is read once, in the order given.
    UsageError where they are of several processes; CannotTellError where they do not tell their time.
    """
    from mmpscope.analysis.summary import summarize
    from mmpscope.analysis.trends.moments import read_moment
    from mmpscope.analysis.trends.series import split_series

    _check_metrics([metric])
    moments, tables = [], []
    for snapshot in snapshots:
        moments.append(read_moment(snapshot))
        tables.append(_list_figures(summarize(snapshot).to_pylist(), metric))
    series = _choose_one(split_series(moments))
    rows = [
        {"snapshot": moments[at].label, "seconds": seconds} | figure
        for at, seconds in zip(series.rows, series.times_s, strict=True)
        for figure in tables[at]
    ]
    unknown = _list_unknown(rows)
    alt, known = _load_altair(), [row for row in rows if row["type"] not in unknown]
    return _make_chart("area", known, f"{metric} of {series.last.name or 'a process'}", unknown).encode(
        alt.X("seconds:Q", title="seconds since the first snapshot"),
        alt.Y("amount:Q", title=_name_unit(known), stack="zero"),
        **_by_type(["snapshot", "type"]),
    )


def plot_movers(result: DiffResult) -> alt.Chart:
    """Draw what changed most, a bar a row of `result.movers`, by the figure that was compared.

    Data: row, word, what, type, bytes (the change). Rows whose change is not known have no bar.
    """
    metric = f"{result.metric}_delta"
    rows = [
        {"row": at, "word": row["word"], "what": _name_mover(at, row), "bytes": row[metric]}
        | {"type": row["type_b"] or row["type_a"]}
        for at, row in enumerate(result.movers.to_pylist())
    ]
    alt, known = _load_altair(), _drop_unknown(rows)
    unknown = [f"{len(rows) - len(known):,} of {len(rows):,} changes"] if len(known) < len(rows) else []
    return _make_chart("bar", known, f"what changed most, by {result.metric}", unknown).encode(
        alt.X("amount:Q", title=f"change, {_name_unit(known)}"),
        alt.Y("what:N", title=None, sort=[row["what"] for row in known], axis=alt.Axis(labelLimit=320)),
        **_by_type(["word", "what", "type"]),
    )


def plot_unusable(snapshot: LoadedSnapshot, window: Window | None = None) -> alt.Chart:
    """Draw the unusable free space index U(S) of each window: the requests of `measure_fragmentation`.

    Data: window, request (bytes), size (the same in words), unusable_index. 0: all free space can be had in
    pieces of S; 1: none of it. CannotTellError where the source does not list every region.
    """
    from mmpscope.analysis.fragmentation import measure_fragmentation

    table = measure_fragmentation(snapshot, window).requests.select(["window", "request", "unusable_index"])
    rows = [row | {"size": show_size(row["request"])} for row in table.to_pylist()]
    alt = _load_altair()
    chart = _make_chart("line", rows, f"free space that requests of S cannot have, {snapshot.label}", [])
    return chart.encode(
        alt.X("size:O", title="S, size of a request", sort=list(dict.fromkeys(r["size"] for r in rows))),
        alt.Y("unusable_index:Q", title="U(S)", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("window:N", title="window"),
        strokeDash=alt.StrokeDash("window:N", title="window"),
        tooltip=[alt.Tooltip(name) for name in ("window:N", "size:O", "unusable_index:Q")],
    )


def plot_holes(snapshot: LoadedSnapshot, window: Window | None = None) -> alt.Chart:
    """Draw how many free holes there are of each size: the rows of `hole_histogram`.

    Data: from_size (bytes, a power of two), size (the same in words), holes, bytes (all of them together).
    CannotTellError where the source does not list every region.
    """
    from mmpscope.analysis.freespace import hole_histogram

    rows = [
        {"from_size": row["from_size"], "size": show_size(row["from_size"])}
        | {"holes": row["holes"], "bytes": row["free"]}
        for row in hole_histogram(snapshot, window).to_pylist()
    ]
    alt = _load_altair()
    return _make_chart("bar", rows, f"free holes, {snapshot.label}", []).encode(
        alt.X("size:O", title="from this size to twice as much", sort=[row["size"] for row in rows]),
        alt.Y("holes:Q", title="holes", axis=alt.Axis(tickMinStep=1)),
        tooltip=[alt.Tooltip("size:O"), alt.Tooltip("holes:Q"), _exact()],
    )


def _load_altair() -> Any:
    """Import Altair when a chart is asked for; UsageError where it is not installed."""
    try:
        return importlib.import_module("altair")
    except ImportError as error:
        raise UsageError("charts need Altair: pip install 'mmpscope[plot]'") from error


def _check_metrics(metrics: Iterable[str]) -> None:
    from mmpscope.analysis.diffs.schema import METRICS

    for name in metrics:
        if name not in METRICS:
            raise UsageError(f"{name!r} is no figure of a summary; these are: {', '.join(METRICS)}")


def _list_figures(summary: Iterable[Row], metric: str) -> list[Row]:
    """List a figure of every type but Free; `partial` is whether it is at least that."""
    return [
        {"type": row["type"], "bytes": row[metric], "partial": metric in (row["partial"] or "").split(", ")}
        for row in summary
        if row["type"] in TYPES and row["type"] != _FREE
    ]


def _choose_one(found: Sequence[Series]) -> Series:
    if len(found) != 1:
        names = ", ".join(f"{each.last.name or 'unknown'} ({each.last.label})" for each in found)
        raise UsageError(
            f"a timeline is of one run of one process, these are {len(found)}: {names or 'none'}"
        )
    if not found[0].times_s:
        raise CannotTellError(f"{found[0].last.label}: the snapshots do not tell when they were taken")
    return found[0]


def _name_mover(at: int, row: Row) -> str:
    """Name a row in a few words; its number keeps two of the same words two bars."""
    details = row["details_b"] or row["details_a"] or row["type_b"] or row["type_a"] or ""
    words = f"{row['rows']} others" if row["word"] == "others" else f"{row['word']} {show_name(details)}"
    return f"{at + 1}. {shorten_middle(words, _LONGEST)}"


def _make_chart(mark: str, rows: Sequence[Row], title: str, unknown: Sequence[str]) -> alt.Chart:
    """Start a chart of rows; `amount` is their bytes in the unit of the axis, `place` that of their type."""
    altair = _load_altair()
    partial = dict.fromkeys(row["type"] for row in rows if row.get("partial"))
    said = [f"not known: {', '.join(unknown)}"] if unknown else []
    said += [f"at least: {', '.join(partial)}"] if partial else []
    chart: alt.Chart = altair.Chart(altair.Data(values=list(rows)), mark=_MARKS[mark], width=_WIDTH)
    chart = chart.properties(title=altair.TitleParams(show_name(title), subtitle=said, anchor="start"))
    return chart.transform_calculate(
        amount=f"datum.bytes / {dict(_UNITS)[_name_unit(rows)]}",
        place=f"indexof({list(TYPES)}, datum.type)",
    )


def _by_type(words: Sequence[str]) -> dict[str, Any]:
    """Encode colour by type in the order of VMMap, and tooltips of some columns with the exact bytes."""
    alt = _load_altair()
    scale = alt.Scale(domain=list(TYPE_COLORS), range=list(TYPE_COLORS.values()))
    return {
        "color": alt.Color("type:N", scale=scale, title="type"),
        "order": alt.Order("place:Q"),
        "tooltip": [*(alt.Tooltip(f"{word}:N") for word in words), _exact()],
    }


def _exact() -> Any:
    return _load_altair().Tooltip("bytes:Q", format=",")


def _name_unit(rows: Sequence[Row]) -> str:
    """Choose the largest binary unit that the largest amount reaches."""
    most = max((abs(row.get("bytes") or 0) for row in rows), default=0)
    return next((name for name, factor in _UNITS if most >= factor), "bytes")


def _drop_unknown(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["bytes"] is not None]


def _list_unknown(rows: Sequence[Row]) -> list[str]:
    """Name the types of which a figure is not known."""
    return list(dict.fromkeys(row["type"] for row in rows if row["bytes"] is None))
