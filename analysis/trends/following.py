"""Follows processes over snapshots: first when each was taken, then, in that order, what it holds.

A few snapshots are in memory at a time, and the ranges of the one before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.ahead import Batch, read_batches
from mmpscope.analysis.density import bound_rows
from mmpscope.analysis.errors import AnalysisError, UsageError
from mmpscope.analysis.export import describe_columns
from mmpscope.analysis.loading import OpenedInput, open_inputs
from mmpscope.analysis.measures.measure import Gatherer, Measures
from mmpscope.analysis.snapshot import LoadedSnapshot
from mmpscope.analysis.trends.answer import SeriesTrend, judge_all, make_table
from mmpscope.analysis.trends.births import Births, Kind, Tally
from mmpscope.analysis.trends.moments import Moment, read_moment, read_row
from mmpscope.analysis.trends.recorder import KIND, Key, Recorder
from mmpscope.analysis.trends.schema import TREND
from mmpscope.analysis.trends.series import Series, split_series

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.rules import Rule

__all__ = ["Aim", "Shelf", "choose_process", "find_trends", "follow_files", "follow_measures", "measure_each"]

_OPEN = 8
"""Files that are kept open: snapshots in order of time may come from a few files by turns."""
_NAMED = 10
_REMEMBERED = 1_000
"""Snapshots of other processes whose names are told where there is none of the one that is asked for."""
_STDIN = "-"


class Aim(NamedTuple):
    """What is followed: a figure (None: private if it is known), and of which process, by pid or name.

    ``bound`` are bytes an hour below which growth is of no interest; None lets the series itself say.
    """

    metric: str | None = None
    bound: int | None = None
    process: str | None = None


class Shelf:
    """Snapshots by their labels, read again when they are asked for; standard input is kept as it is.

    ``times`` bounds the rows of each file, as in `density.bound_rows`; None does not.
    """

    def __init__(self, rules: Sequence[Rule], *, partial: bool, times: int | None = None) -> None:
        self._rules = rules
        self._partial = partial
        self._times = times
        self._open: OrderedDict[str, OpenedInput] = OrderedDict()
        self._kept: dict[str, LoadedSnapshot] = {}

    def list_moments(self, snapshots: Iterable[LoadedSnapshot]) -> list[Moment]:
        """Read when each was taken, and let go of all but those that cannot be read again."""
        moments = []
        for snapshot in snapshots:
            moments.append(read_moment(snapshot))
            if _split(snapshot.label)[0] == _STDIN:
                self._kept[snapshot.label] = snapshot
        return moments

    def read(self, label: str) -> LoadedSnapshot:
        """Return the snapshot of a label; AnalysisError where its file changed since it was listed."""
        if label in self._kept:
            return self._kept[label]
        path, number = _split(label)
        opened = self._open_file(path)
        place = next((at for at, entry in enumerate(opened.source.entries) if entry.index == number), None)
        if place is None:
            raise AnalysisError(f"{label} is no longer there: {path} was changed meanwhile. Try again")
        return LoadedSnapshot(label, lambda: opened.read(place), self._rules)

    def _open_file(self, path: str) -> OpenedInput:
        if path not in self._open:
            [opened] = open_inputs(path, partial=self._partial)
            self._open[path] = opened if self._times is None else bound_rows(opened, self._times)
        self._open.move_to_end(path)
        while len(self._open) > _OPEN:
            self._open.popitem(last=False)[1].source.close()
        return self._open[path]

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].source.close()


def _split(label: str) -> tuple[str, int]:
    path, _, number = label.rpartition("#")
    return path, int(number)


def choose_process(moments: Sequence[Moment], wanted: str | None) -> list[Moment]:
    """Keep the snapshots of one process, by its pid or name; UsageError where there is none."""
    chosen = [moment for moment in moments if _is_of(moment, wanted)]
    if moments and not chosen:
        names = sorted({f"{moment.name or 'unknown'} ({moment.identity.pid})" for moment in moments})
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        raise UsageError(f"--process {wanted!r} is none of {', '.join(names[:_NAMED])}{more}")
    return chosen


def _is_of(moment: Moment, wanted: str | None) -> bool:
    return wanted is None or wanted in (str(moment.identity.pid), moment.name)


def follow_files(
    moments: Sequence[Moment],
    read: Callable[[str], LoadedSnapshot],
    aim: Aim | None = None,
    advance: Callable[[Iterable[LoadedSnapshot]], Iterable[LoadedSnapshot]] = iter,
) -> list[SeriesTrend]:
    """Judge each process of some snapshots, the most interesting first; ``read`` returns one by its label.

    ``aim`` says what is followed, its process left aside; ``advance`` sees the snapshots pass, as a display
    of progress does. FormatError where one is damaged.
    """
    metric, bound, _ = aim or Aim()
    found, recorder = split_series(moments), Recorder(moments, metric)
    order = [row for series in found for row in series.rows]

    def measure_all() -> Iterator[LoadedSnapshot]:
        rows = iter(order)
        for batch in read_batches(read(moments[row].label) for row in order):
            _record(batch, list(islice(rows, len(batch.snapshots))), recorder)
            yield from batch.snapshots

    snapshots = iter(advance(measure_all()))
    tallies = [_follow_one(series, snapshots, recorder) for series in found]
    return judge_all(found, recorder, tallies, bound)


def _record(batch: Batch, rows: Sequence[int], recorder: Recorder) -> None:
    """Record the measures of some snapshots, which are these rows of the moments."""
    gatherer = Gatherer()
    named = [(snapshot, str(row)) for snapshot, row in zip(batch.snapshots, rows, strict=True)]
    for error in gatherer.add_all(named, batch.stacks).values():
        raise error
    recorder.add(gatherer.build(), {str(row): row for row in rows})


def _follow_one(series: Series, snapshots: Iterator[LoadedSnapshot], recorder: Recorder) -> dict[Key, Tally]:
    """Count what is born and dies in one series, whose snapshots come next."""
    births = Births()
    for row in series.rows:
        for kind, value in births.add(next(snapshots), "size").items():
            recorder.record(_key(kind), row, value)
    return {_key(kind): tally for kind, tally in births.tallies.items()}


def _key(kind: Kind) -> Key:
    return Key(KIND, " ".join(filter(None, [kind.name or kind.type, kind.protection])), kind.type)


def find_trends(
    snapshots: Iterable[LoadedSnapshot], metric: str | None = None, bound: int | None = None
) -> pa.Table:
    """Judge each process of some snapshots, in any order: a table of schema.TREND, the total of each first.

    ``metric`` is a figure of the summary (None: private if it is known), ``bound`` the bytes an hour below
    which growth is flat. UsageError for a figure that there is not and without the extra stats,
    CannotTellError where the first snapshot knows no figure at all.
    """
    given = list(snapshots)
    moments = [replace(read_moment(each), label=str(place)) for place, each in enumerate(given)]
    trends = follow_files(moments, lambda label: given[int(label)], Aim(metric, bound))
    return describe_columns(make_table(trends), TREND)


def measure_each(snapshots: Iterable[LoadedSnapshot]) -> Iterator[Measures]:
    """Measure snapshots, some at a time, for `follow_measures`; each is known by its label."""
    for batch in read_batches(snapshots):
        gatherer = Gatherer()
        named = [(snapshot, snapshot.label) for snapshot in batch.snapshots]
        for error in gatherer.add_all(named, batch.stacks).values():
            raise error
        yield gatherer.build()


def follow_measures(parts: Iterable[Measures], aim: Aim | None = None) -> list[SeriesTrend]:
    """Judge each process of which the measures are kept, as in a dataset, in any order and any parts.

    Births and deaths are not told: measures have no addresses. UsageError where no snapshot is of the process
    that is aimed at.
    """
    metric, bound, process = aim or Aim()
    moments: list[Moment] = []
    recorder = Recorder(moments, metric)
    passed: list[Moment] = []
    for part in parts:
        rows = {}
        for capture in part.captures.to_pylist():
            moment = read_row(capture)
            if _is_of(moment, process):
                rows[capture["snapshot_id"]] = len(moments)
                moments.append(moment)
            elif len(passed) < _REMEMBERED:
                passed.append(moment)
        if rows:
            recorder.add(part, rows)
    found = split_series(moments or choose_process(passed, process))
    return judge_all(found, recorder, [{} for _ in found], bound)
