"""Follows processes over snapshots: first when each was taken, then, in that order, what it holds.

One snapshot is in memory at a time, and the ranges of the one before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.errors import AnalysisError, UsageError
from mmpscope.analysis.loading import open_inputs
from mmpscope.analysis.measures.measure import Gatherer
from mmpscope.analysis.snapshot import LoadedSnapshot
from mmpscope.analysis.trends.answer import SeriesTrend, judge_series, rank_trends
from mmpscope.analysis.trends.births import Births, Kind
from mmpscope.analysis.trends.moments import Moment, read_moment
from mmpscope.analysis.trends.recorder import KIND, Key, Recorder
from mmpscope.analysis.trends.series import split_series

if TYPE_CHECKING:
    from mmpscope.analysis.rules import Rule
    from mmpscope.formats.source import Source

__all__ = ["Aim", "Shelf", "choose_process", "follow_files"]

_OPEN = 8
"""Files that are kept open: snapshots in order of time may come from a few files by turns."""
_TOGETHER = 32
"""Snapshots whose measures are made into tables at once."""
_STDIN = "-"


class Aim(NamedTuple):
    """What is followed: a figure (None: private if it is known), and of which process, by pid or name.

    ``bound`` are bytes an hour below which growth is of no interest; None lets the series itself say.
    """

    metric: str | None = None
    bound: int | None = None
    process: str | None = None


class Shelf:
    """Snapshots by their labels, read again when they are asked for; standard input is kept as it is."""

    def __init__(self, rules: Sequence[Rule], *, partial: bool) -> None:
        self._rules = rules
        self._partial = partial
        self._open: OrderedDict[str, Source] = OrderedDict()
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
        source = self._open_file(path)
        place = next((at for at, entry in enumerate(source.entries) if entry.index == number), None)
        if place is None:
            raise AnalysisError(f"{label} is no longer there: {path} was changed meanwhile. Try again")
        return LoadedSnapshot(label, lambda: source.read(place), self._rules)

    def _open_file(self, path: str) -> Source:
        if path not in self._open:
            [opened] = open_inputs(path, partial=self._partial)
            self._open[path] = opened.source
        self._open.move_to_end(path)
        while len(self._open) > _OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[path]

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].close()


def _split(label: str) -> tuple[str, int]:
    path, _, number = label.rpartition("#")
    return path, int(number)


def choose_process(moments: Sequence[Moment], wanted: str | None) -> list[Moment]:
    """Keep the snapshots of one process, by its pid or name; UsageError where there is none."""
    if wanted is None:
        return list(moments)
    chosen = [moment for moment in moments if wanted in (str(moment.identity.pid), moment.name)]
    if not chosen:
        names = sorted({f"{moment.name or 'unknown'} ({moment.identity.pid})" for moment in moments})
        more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
        raise UsageError(f"--process {wanted!r} is none of {', '.join(names[:10])}{more}")
    return chosen


def follow_files(
    moments: Sequence[Moment],
    read: Callable[[str], LoadedSnapshot],
    aim: Aim | None = None,
    advance: Callable[[Iterable[LoadedSnapshot]], Iterable[LoadedSnapshot]] = iter,
) -> list[SeriesTrend]:
    """Judge each process of some snapshots, the most interesting first; ``read`` returns one by its label.

    ``aim`` says what is followed; ``advance`` sees the snapshots pass, as a display of progress does.
    FormatError where one is damaged.
    """
    aim = aim or Aim()
    found, recorder = split_series(moments), Recorder(moments, aim.metric)
    births = [Births() for _ in found]
    order = [(number, row) for number, series in enumerate(found) for row in series.rows]
    snapshots = advance(read(moments[row].label) for _, row in order)
    gatherer, rows = Gatherer(), dict[str, int]()
    for (number, row), snapshot in zip(order, snapshots, strict=True):
        gatherer.add(snapshot, str(row))
        rows[str(row)] = row
        if recorder.metric is None or len(rows) == _TOGETHER:
            recorder.add(gatherer.build(), rows)
            gatherer, rows = Gatherer(), {}
        for kind, value in births[number].add(snapshot, "size").items():
            recorder.record(_key(kind), row, value)
    if rows:
        recorder.add(gatherer.build(), rows)
    tallies = [{_key(kind): tally for kind, tally in each.tallies.items()} for each in births]
    return rank_trends(
        [
            judge_series(series, recorder, tally, aim.bound)
            for series, tally in zip(found, tallies, strict=True)
        ]
    )


def _key(kind: Kind) -> Key:
    return Key(KIND, " ".join(filter(None, [kind.name or kind.type, kind.protection])), kind.type)
