"""What each snapshot adds to a series: one number for each thing that is followed, kept in 16 bytes.

Measures come in parts of any size and in any order; how many snapshots there may be depends on these bytes
alone. Nothing is judged here.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mmpscope.analysis.diffs.units import name_size_class
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.measures.schema import COHORTS, FIGURES
from mmpscope.analysis.totals import TOTAL
from mmpscope.analysis.trends.moments import Moment, name_instance
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.measures.measure import Measures
    from mmpscope.analysis.trends.series import Series

__all__ = [
    "COHORT",
    "COUNT",
    "KIND",
    "LIMIT",
    "MAXIMUM",
    "OTHER",
    "OTHER_TOTALS",
    "TOTAL_SCOPE",
    "TYPE",
    "Key",
    "Points",
    "Recorder",
]

TOTAL_SCOPE, TYPE, LIMIT, COUNT, COHORT, KIND = "total", "type", "limit", "count", "cohort", "kind"
MAXIMUM = "maximum"
"""Scope of the limits themselves, beside what counts against them."""

OTHER = "other total"
"""Scope of the totals that are not followed, but may move where the one that is does not."""
OTHER_TOTALS = ("total_ws", "private_ws", "size")

_CHOICE = ("private", "private_ws", "total_ws", "committed", "size")
"""Which figure is followed where nobody chose: the first that the first snapshot knows."""
_COUNTS = ("threads", "modules")
_EMPTY = ("Free", "Unusable")
"""Types that have a size and no other figure."""
_ALL_REGIONS = "all regions"


class Key(NamedTuple):
    """One thing that is followed: ``scope`` is one of the words above or a kind of measures.schema.NAMES."""

    scope: str
    name: str
    type: str | None = None
    unit: str = "bytes"


class Points(NamedTuple):
    """Times and values of one thing in one series, as far as they are known; ``lacking`` counts the others.

    ``at_least``: every value leaves out what is not known.
    """

    times_s: NDArray[np.float64]
    values: NDArray[np.uint64]
    lacking: int
    at_least: bool


class _Column:
    """Values of one key by row, in one array: an empty one takes 80 bytes, and there may be 400,000 keys."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers = array("Q")

    def add(self, row: int, value: int, *, partial: bool) -> None:
        self._numbers.extend((row << 1 | partial, value))

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        """Yield row, value, and whether it leaves something out."""
        numbers = iter(self._numbers)
        return ((row >> 1, value, bool(row & 1)) for row, value in zip(numbers, numbers, strict=True))


class _Placed(NamedTuple):
    """A series, its columns by key, the place of each row, when each was taken, which show all regions."""

    series: Series
    columns: dict[Key, _Column]
    places: dict[int, int]
    times_s: NDArray[np.float64]
    whole: NDArray[np.bool_]


class Recorder:
    """Values by instance, key and row; a row is the place of a snapshot among ``moments``.

    ``metric`` is the figure in bytes to follow; where it is None, the first snapshot decides. UsageError for
    a word that is none.
    """

    def __init__(self, moments: Sequence[Moment], metric: str | None = None) -> None:
        if metric is not None and metric not in FIGURES:
            raise UsageError(
                f"--metric {metric!r}: there is no such figure. Give one of {', '.join(FIGURES)}"
            )
        self.metric = metric
        self._moments = moments
        self._columns: dict[tuple[object, ...], dict[Key, _Column]] = defaultdict(
            lambda: defaultdict(_Column)
        )
        self._whole: set[int] = set()
        self._page_sizes: dict[int, int] = {}
        self._placed: _Placed | None = None
        self._found: tuple[int, dict[Key, _Column]] | None = None

    def add(self, measures: Measures, rows: Mapping[str, int]) -> None:
        """Take the measures of some snapshots; ``rows`` are their places by id. Others are passed over.

        Raises CannotTellError where the first snapshot of all knows no figure that could be followed.
        """
        self._placed = None
        if self.metric is None:
            self.metric = _choose_metric(measures.captures)
        metric = self.metric
        owners = self._add_captures(measures.captures, rows, metric)
        for key, row, value, partial in _read_values(measures, metric, rows):
            owners[row][key].add(row, value, partial=partial)

    def _add_captures(
        self, captures: pa.Table, rows: Mapping[str, int], metric: str
    ) -> dict[int, dict[Key, _Column]]:
        owners = {}
        for capture in captures.to_pylist():
            row = rows.get(capture["snapshot_id"])
            if row is None:
                continue
            columns = owners[row] = self._find(row)
            if capture["extent"] == _ALL_REGIONS:
                self._whole.add(row)
            self._page_sizes[row] = capture["page_size"]
            for key, name in _list_totals(metric):
                if capture[name] is not None:
                    is_partial = name in (capture["partial"] or "").split(", ")
                    columns[key].add(row, capture[name], partial=is_partial)
        return owners

    def _find(self, row: int) -> dict[Key, _Column]:
        if self._found is None or self._found[0] != row:
            self._found = row, self._columns[name_instance(self._moments[row])]
        return self._found[1]

    def record(self, key: Key, row: int, value: int) -> None:
        """Add one value of the snapshot of a row, as something else found it."""
        self._find(row)[key].add(row, value, partial=False)

    def list_keys(self, series: Series) -> list[Key]:
        """List what is followed of an instance, in the order in which it first appeared."""
        return list(self._columns[name_instance(series.last)])

    def list_page_sizes(self, series: Series) -> list[int]:
        """List the sizes of a page in a series, which are more than one where it is not one process."""
        return sorted({self._page_sizes[row] for row in series.rows if row in self._page_sizes})

    def read(self, series: Series, key: Key) -> Points:
        """Return the known values of one thing, in the order of the series.

        What is a name or a cohort is 0 bytes where a snapshot that shows all regions does not have it. Values
        that leave something out count only where no other does.
        """
        _, columns, places, times, whole = self._place(series)
        column = columns.get(key) or _Column()
        values = np.zeros(len(places), np.uint64)
        known, partial = np.zeros((2, len(places)), np.bool_)
        if key.scope not in (TOTAL_SCOPE, OTHER, TYPE, LIMIT, COUNT, MAXIMUM):
            known[:] = whole
        for row, value, is_partial in column:
            place = places.get(row)
            if place is not None:
                values[place], known[place], partial[place] = value, True, is_partial
        at_least = bool(partial.any() and partial[known].all())
        kept = known if at_least else known & ~partial
        return Points(times[kept], values[kept], int((~kept).sum()), at_least)

    def _place(self, series: Series) -> _Placed:
        """Return what a series is read by; a series has thousands of keys."""
        if self._placed is None or self._placed.series is not series:
            places = {row: place for place, row in enumerate(series.rows)}
            times = np.array(series.times_s or [0.0] * len(places), np.float64)
            whole = np.array([row in self._whole for row in series.rows], np.bool_)
            columns = self._columns[name_instance(series.last)]
            self._placed = _Placed(series, columns, places, times, whole)
        return self._placed


def _list_totals(metric: str) -> list[tuple[Key, str]]:
    """List what is followed of a whole process, each with its column."""
    others = [(Key(OTHER, name), name) for name in OTHER_TOTALS if name != metric]
    counts = [(Key(COUNT, name, None, name), name) for name in _COUNTS]
    return [(Key(TOTAL_SCOPE, TOTAL), metric), *others, *counts]


def _choose_metric(captures: pa.Table) -> str:
    first = captures.slice(0, 1).to_pylist()[0]
    metric = next((name for name in _CHOICE if first[name] is not None), None)
    if metric is None:
        raise CannotTellError(f"{first['input']} tells no figure of its memory: {first['lacks']}")
    return metric


def _read_values(
    measures: Measures, metric: str, rows: Mapping[str, int]
) -> Iterator[tuple[Key, int, int, bool]]:
    """Yield key, row, value, and whether it leaves something out, of every known value but totals."""
    left_out = {TOTAL, *(_EMPTY if metric != "size" else ())}
    for identity, type_, value, partial in _zip(
        measures.summaries, ("snapshot_id", "type", metric, "partial")
    ):
        row = rows.get(identity)
        if row is not None and value is not None and type_ not in left_out:
            yield Key(TYPE, type_, type_), row, value, metric in (partial or "").split(", ")
    for identity, kind, name, value in _zip(measures.names, ("snapshot_id", "kind", "name", metric)):
        if (row := rows.get(identity)) is not None and value is not None:
            yield Key(kind, name), row, value, False
    yield from _read_cohorts(measures.cohorts, metric, rows)
    for identity, name, used, maximum, unit in _zip(
        measures.limits, ("snapshot_id", "limit", "used", "maximum", "unit")
    ):
        row = rows.get(identity)
        for scope, value in ((LIMIT, used), (MAXIMUM, maximum)):
            if row is not None and value is not None:
                yield Key(scope, name, None, unit), row, value, False


def _read_cohorts(
    cohorts: pa.Table, metric: str, rows: Mapping[str, int]
) -> Iterator[tuple[Key, int, int, bool]]:
    """Cohorts have fewer figures than the rest: of others, none is followed."""
    if metric not in {field.name for field in COHORTS}:
        return
    sums: dict[tuple[int, Key], int] = defaultdict(int)
    for identity, *words, size_class, value in _zip(
        cohorts, ("snapshot_id", "type", "subtype", "protection", "state", "size_class", metric)
    ):
        if (row := rows.get(identity)) is not None and value is not None:
            sums[row, _name_cohort(words, size_class)] += value
    for (row, key), value in sums.items():
        if value < 1 << 64:  # only hostile input adds up to more
            yield key, row, value, False


def _name_cohort(words: Sequence[str | None], size_class: int) -> Key:
    type_, subtype, protection, state = words
    said = [subtype or type_, protection, state if state == "reserved" else None]
    size = name_size_class(size_class.bit_length() - 1)
    return Key(COHORT, " ".join(filter(None, [*said, "of", size])), type_)


def _zip(table: pa.Table, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)
