"""Timelines of a page, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mmpscope.analysis.ahead import classify_ahead
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.pages.schema import Timeline, Trend
from mmpscope.analysis.pages.tables import Texts, encode_table, show_text
from mmpscope.analysis.reporters.trend_words import write_headline
from mmpscope.analysis.trends.answer import SeriesTrend, make_table
from mmpscope.analysis.trends.following import follow_files
from mmpscope.analysis.trends.schema import TREND
from mmpscope.analysis.trends.series import Series

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot
    from mmpscope.analysis.trends.moments import Moment

__all__ = ["PAGE_TREND", "describe_timelines", "encode_trends", "judge"]

Read = Callable[[str], "LoadedSnapshot"]
See = Callable[[Iterable["LoadedSnapshot"]], Iterable["LoadedSnapshot"]]

PAGE_TREND = tuple(field for field in TREND if field.name not in {"series", "process", "pid"})
_LEAST = 3
"""Snapshots of a series of which a verdict is worth asking for."""
_NO_SCIPY = "no verdicts on the timeline: they need scipy, pip install 'mmpscope[stats]'"


def judge(
    moments: Sequence[Moment], found: Sequence[Series], read: Read, see: See
) -> tuple[list[SeriesTrend], list[str]]:
    """Pass every snapshot of the series to ``see``, in their order, and judge series that are long enough.

    Where there can be no verdict, the second value says why.
    """
    why = []
    if max(len(series.rows) for series in found) >= _LEAST:
        if find_spec("scipy") is None:
            why.append(_NO_SCIPY)
        else:
            try:
                return follow_files(moments, read, None, see), why
            except CannotTellError as error:
                why.append(f"no verdicts on the timeline: {error}")
    for _ in see(classify_ahead(read(moments[row].label) for series in found for row in series.rows)):
        pass
    return [], why


def describe_timelines(series: Sequence[Series], numbers: Sequence[list[int]]) -> list[Timeline]:
    """Describe the series of several snapshots; ``numbers`` are the ids of the snapshots of each series."""
    return [
        {
            "title": show_text(each.last.name or "unknown process"),
            "snapshots": ids,
            "seconds": list(each.times_s) or None,
            "clock": each.clock,
            "notes": [show_text(note) for note in each.notes],
        }
        for each, ids in zip(series, numbers, strict=True)
        if len(ids) > 1
    ]


def encode_trends(trends: Sequence[SeriesTrend], series: Sequence[Series], texts: Texts) -> list[Trend]:
    """Encode the verdicts on the timelines, in the order of these."""
    several = [each for each in series if len(each.rows) > 1]
    places = {each.rows: place for place, each in enumerate(several)}
    found: list[Trend] = [
        {
            "timeline": places[trend.series.rows],
            "metric": trend.metric,
            "verdict": trend.total["verdict"],
            "sentence": show_text(write_headline(trend)),
            "rows": encode_table("trend", PAGE_TREND, make_table([trend]), texts),
        }
        for trend in trends
        if trend.series.rows in places
    ]
    return sorted(found, key=lambda trend: trend["timeline"])
