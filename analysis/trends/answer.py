"""From what was recorded of a series to its trends: one verdict for each thing that is followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.trends.judge import judge
from mmpscope.analysis.trends.judgement import Judgement, Verdict
from mmpscope.analysis.trends.recorder import (
    COUNT,
    KIND,
    LIMIT,
    MAXIMUM,
    OTHER,
    OTHER_TOTALS,
    TOTAL_SCOPE,
    TYPE,
    Key,
    Points,
    Recorder,
)
from mmpscope.analysis.trends.schema import TREND

if TYPE_CHECKING:
    from mmpscope.analysis.trends.births import Tally
    from mmpscope.analysis.trends.series import Series

__all__ = ["LEAD", "SHAPE", "Row", "SeriesTrend", "judge_all", "judge_series", "make_table"]

Row = dict[str, Any]
"""A row of schema.TREND by column, SHAPE and LEAD."""
Tallies = Mapping[Key, "Tally"]

LEAD = "lead"
"""Key of what came before the stretch that was fitted, in words."""
SHAPE = "shape"
"""Key of the values that a small chart shows: the last known one of each of equal stretches of time."""
_CELLS = 24
_MOST_SERIES = 20
"""Series that are judged in full."""
_TOTAL_ONLY = "one of many processes: only its total is judged (--process judges the rest)"
_MOST = 30
"""Names, cohorts and kinds of one series that are judged: those that moved most."""
_LEAST_STEPS = 3
"""Snapshots with births before a leak is suspected: a program that starts maps much once."""
_DEATHS = 10
"""Of what is born, at most one byte in so many dies: malloc trims the end of a heap that leaks, too."""
_ALWAYS = (TOTAL_SCOPE, TYPE, LIMIT, COUNT)
_RANKS = (Verdict.GROWING, Verdict.CANNOT_TELL, Verdict.SHRINKING, Verdict.FLAT)
_HIDDEN = (MAXIMUM, OTHER)
_RISEN = 0.25
"""Of its first level: what another total rises by, and by so much more than a flat one, to be named."""
_UNTIMED = "the snapshots do not tell when they were taken"


@dataclass(frozen=True)
class SeriesTrend:
    """The trends of one series: `rows` begin with the total of `metric`, the figure that is followed.

    `steady` counts names, cohorts and kinds that never moved, `small` those that moved, but less than the
    many that are judged. `risen` is another total that rose while this one stayed flat, and by how much.
    """

    series: Series
    metric: str
    rows: tuple[Row, ...]
    steady: int
    small: int
    notes: tuple[str, ...]
    risen: tuple[str, int] | None = None

    def _repr_html_(self) -> str:
        from mmpscope.analysis.notebook import show_trend

        return show_trend(self)

    @property
    def total(self) -> Row:
        """The row that decides: all memory of the process."""
        return self.rows[0]

    @property
    def can_tell(self) -> bool:
        """Whether something is told of the total, growth or none."""
        return bool(self.total["verdict"] != Verdict.CANNOT_TELL)


class _Judge:
    """Judges values, equal ones once: what grows is often a name, its type and a kind at the same time."""

    def __init__(self, bound: int | None) -> None:
        self._bound = bound
        self._known: dict[tuple[bytes, bytes, str], Judgement] = {}

    def judge(self, points: Points, unit: str) -> Judgement:
        """Return the verdict; the bound is one of bytes."""
        asked = (points.times_s.tobytes(), points.values.tobytes(), unit)
        if asked not in self._known:
            bound = self._bound if unit == "bytes" else None
            self._known[asked] = judge(points.times_s, points.values, unit=unit, bound=bound)
        return self._known[asked]


def judge_all(
    found: Sequence[Series], recorder: Recorder, tallies: Sequence[Tallies], bound: int | None = None
) -> list[SeriesTrend]:
    """Judge several series, the most interesting first: growing ones by slope, then what cannot be told.

    Of many, only the first are judged in full, and of the others the total. ``tallies`` are the births and
    deaths of the kinds of each series, ``bound`` the bytes an hour below which growth is of no interest.
    """
    if len(found) > _MOST_SERIES:
        totals = [judge_series(series, recorder, None, bound) for series in found]
        order = sorted(range(len(found)), key=lambda number: _rank(totals[number]))
        chosen = [judge_series(found[at], recorder, tallies[at], bound) for at in order[:_MOST_SERIES]]
        return chosen + [totals[at] for at in order[_MOST_SERIES:]]
    pairs = zip(found, tallies, strict=True)
    return sorted((judge_series(series, recorder, each, bound) for series, each in pairs), key=_rank)


def _rank(trend: SeriesTrend) -> tuple[int | float | str, ...]:
    """Order processes by what they do; those that do the same by who they are, in whatever files they lie."""
    total, is_single, who = trend.total, len(trend.series.rows) == 1, trend.series.last.identity
    moves = -abs(total["slope"] or 0), -abs(total["change"])
    name = who.host or "", who.boot or "", who.pid_namespace or 0, who.pid or 0, who.start_time or 0
    return _RANKS.index(total["verdict"]), is_single, *moves, *name


def judge_series(
    series: Series, recorder: Recorder, tallies: Tallies | None, bound: int | None = None
) -> SeriesTrend:
    """Judge what is followed of one series; of names, cohorts and kinds those that moved most.

    ``tallies`` are the births and deaths of kinds; None judges the total alone.
    """
    metric, judges = recorder.metric or "size", _Judge(bound)
    total = Key(TOTAL_SCOPE, TOTAL)
    if tallies is None:
        row = _make_row(series, total, recorder.read(series, total), metric, judges)
        notes = (*_note(series, recorder), _TOTAL_ONLY)
        return SeriesTrend(series, metric, (row,), 0, 0, notes, _find_risen(row, series, recorder))
    keys = [*dict.fromkeys([*recorder.list_keys(series), total])]
    always = [key for key in keys if key.scope in _ALWAYS]
    # Of a hundred thousand names only a few are told: the values of the others are let go of at once.
    others = [key for key in keys if key.scope not in (*_ALWAYS, *_HIDDEN)]
    is_single = len(series.rows) == 1
    spreads = {key: 0 if is_single else _spread(recorder.read(series, key)) for key in others}
    moved = [key for key in others if spreads[key] or key in tallies]
    moved.sort(key=lambda key: (-spreads[key], key.scope, key.name))
    told = [*always, *moved[:_MOST]]
    rows = [_make_row(series, key, recorder.read(series, key), metric, judges) for key in told]
    for row, key in zip(rows, told, strict=True):
        _add_limit(row, recorder.read(series, key._replace(scope=MAXIMUM)))
        _add_births(row, tallies.get(key))
    rows.sort(key=_place)
    steady = len(others) - len(moved)
    left, risen = max(0, len(moved) - _MOST), _find_risen(rows[0], series, recorder)
    return SeriesTrend(series, metric, tuple(rows), steady, left, _note(series, recorder), risen)


def _find_risen(total: Row, series: Series, recorder: Recorder) -> tuple[str, int] | None:
    """Return the total that rose most while the one that is followed is flat, if that is much."""
    if total["verdict"] != Verdict.FLAT:
        return None
    rises = []
    for name in OTHER_TOTALS:
        values = recorder.read(series, Key(OTHER, name)).values
        rise = int(values[-1]) - int(values[0]) if len(values) else 0
        if rise - max(0, total["change"]) > _RISEN * int(values[0] if len(values) else 0):
            rises.append((name, rise))
    return max(rises, key=lambda each: each[1], default=None)


def _note(series: Series, recorder: Recorder) -> tuple[str, ...]:
    sizes = recorder.list_page_sizes(series)
    if len(sizes) < 2:
        return series.notes
    said = " and ".join(f"{size:,}" for size in sizes)
    return (*series.notes, f"pages have {said} bytes: these snapshots are not all of one process")


def _spread(points: Points) -> int:
    return int(points.values.max() - points.values.min()) if len(points.values) else 0


def _place(row: Row) -> tuple[int, int, int, str]:
    """Order rows: total, types as a summary has them, limits, counts, then what changed most."""
    scope = row["scope"]
    if scope in _ALWAYS:
        place = TYPES.index(row["name"]) if row["name"] in TYPES else 0
        return _ALWAYS.index(scope), place, 0, row["name"]
    return len(_ALWAYS), 0, -abs(row["change"]), row["name"]


def _make_row(series: Series, key: Key, points: Points, metric: str, judges: _Judge) -> Row:
    judgement = judges.judge(points, key.unit)
    identity = series.last.identity
    metrics = {LIMIT: "used", COUNT: key.name, KIND: "size"}
    return {
        "process": series.last.name,
        "pid": identity.pid,
        "scope": key.scope,
        "name": key.name,
        "type": key.type,
        "metric": metrics.get(key.scope, metric),
        "unit": key.unit,
        **_describe(judgement),
        "first": int(points.values[0]) if len(points.values) else None,
        "last": int(points.values[-1]) if len(points.values) else None,
        "reason": _explain(series, points, judgement),
        SHAPE: _draw_shape(points),
    }


_SAME = (
    *("slope", "low", "high", "change", "bound", "detectable", "method", "plateau_s", "fitted_s"),
    *("points", "used"),
)
"""What a row has of a judgement by the same name."""


def _describe(judgement: Judgement) -> Row:
    found = {name: getattr(judgement, name) for name in _SAME}
    return {"verdict": judgement.verdict, LEAD: judgement.lead, **found, "jumps": len(judgement.steps)}


def _explain(series: Series, points: Points, judgement: Judgement) -> str:
    if series.clock is None:
        return _UNTIMED
    said = [judgement.reason]
    if points.lacking:
        said.append(f"{points.lacking:,} of {len(series.rows):,} snapshots do not know it")
    if points.at_least:
        said.append("values are at least that: the rest is not known")
    return "; ".join(said)


def _draw_shape(points: Points) -> list[int | None]:
    """Take the last value of each of equal stretches of time; one alone without has that before it."""
    count = len(points.values)
    if not count:
        return []
    cells = min(_CELLS, count)
    times = points.times_s - points.times_s[0]
    places = np.minimum(times * cells / (float(times[-1]) or 1.0), cells - 1).astype(np.int64)
    found = dict(zip(places.tolist(), points.values.tolist(), strict=True))
    return [found.get(cell, found.get(cell - 1)) for cell in range(cells)]


def _add_limit(row: Row, maxima: Points) -> None:
    """Say when a limit is reached if it goes on like this; the last limit counts where it was changed."""
    if row["scope"] != LIMIT or not len(maxima.values):
        return
    row["maximum"] = int(maxima.values[-1])
    if row["verdict"] != Verdict.GROWING:
        return
    left = max(0, row["maximum"] - row["last"])
    for name, slope in (("reached_h", "slope"), ("reached_low_h", "high"), ("reached_high_h", "low")):
        row[name] = left / row[slope] if row[slope] is not None and row[slope] > 0 else None


def _add_births(row: Row, tally: Tally | None) -> None:
    if tally is None:
        return
    row |= {"births": tally.births, "deaths": tally.deaths, "born": tally.born, "died": tally.died}
    power = tally.usual_class
    row["birth_size"] = None if power is None else 1 << power
    is_open = row["verdict"] in (Verdict.GROWING, Verdict.CANNOT_TELL)
    stays = tally.died * _DEATHS <= tally.born
    row["suspect"] = tally.steps >= _LEAST_STEPS and stays and is_open


def make_table(trends: Sequence[SeriesTrend]) -> pa.Table:
    """Put the rows of all series into one table of schema.TREND; series are numbered as they come."""
    rows = list(
        chain.from_iterable(
            [{**row, "series": number} for row in trend.rows] for number, trend in enumerate(trends)
        )
    )
    columns = {field.name: [row.get(field.name) for row in rows] for field in TREND}
    return build_table(TREND, columns, len(rows))
