"""What is kept of each snapshot: known values, zeros that are known, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from mmpscope.analysis.errors import CannotTellError
from mmpscope.analysis.identity import Identity
from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.measures.schema import MEASURES
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.trends.moments import Moment
from mmpscope.analysis.trends.recorder import Key, Points, Recorder
from mmpscope.analysis.trends.series import Series

IDENTITY = Identity("h", "b", 4, 7, 500, "linux")
TOTAL = Key("total", "Total")
Row = dict[str, Any]


def _measures(captures: Sequence[Row], **tables: Sequence[Row]) -> Measures:
    given: Mapping[str, Sequence[Row]] = {"captures": captures, **tables}
    made = {}
    for name, fields in MEASURES.items():
        rows = given.get(name, ())
        columns = {field.name: [row.get(field.name) for row in rows] for field in fields}
        made[name] = build_table(fields, columns, len(rows))
    return Measures(**made)


def _capture(place: int, private: int | None = 100, **more: Any) -> Row:
    facts = {"snapshot_id": str(place), "input": f"a#{place}", "extent": "all regions", "page_size": 4096}
    return {**facts, "private": private, **more}


def _series(count: int) -> Series:
    moments = tuple(Moment(f"a#{place}", IDENTITY) for place in range(count))
    return Series(moments, tuple(range(count)), tuple(map(float, range(count))), "wall", True, ())


def _record(captures: Sequence[Row], key: Key = TOTAL, **tables: Sequence[Row]) -> Points:
    series = _series(len(captures))
    recorder = Recorder(series.moments, "private")
    recorder.add(_measures(captures, **tables), {row["snapshot_id"]: at for at, row in enumerate(captures)})
    return recorder.read(series, key)


def test_unknown_values_are_left_out_and_counted() -> None:
    """Never 0, never carried over from the snapshot before."""
    points = _record([_capture(0, 5), _capture(1, None), _capture(2, 7)])
    assert points.values.tolist() == [5, 7]
    assert points.times_s.tolist() == [0.0, 2.0]
    assert (points.lacking, points.at_least) == (1, False)


def test_a_total_that_is_partial_counts_only_beside_its_like() -> None:
    """Beside exact ones it would look like a drop; where all are partial, they are at least that."""
    partial = {"partial": "private, swap"}
    mixed = _record([_capture(0, 5), _capture(1, 3, **partial), _capture(2, 7)])
    assert (mixed.values.tolist(), mixed.at_least) == ([5, 7], False)
    alike = _record([_capture(0, 5, **partial), _capture(1, 3, **partial)])
    assert (alike.values.tolist(), alike.at_least) == ([5, 3], True)


def test_a_name_that_is_not_there_is_0_where_all_regions_are_listed() -> None:
    """A module that is not loaded yet takes nothing; where regions are missing, it may be there."""
    name = {"snapshot_id": "1", "kind": "module", "name": "/lib/a.so", "private": 9}
    captures = [_capture(0), _capture(1), _capture(2, extent="some regions")]
    points = _record(captures, Key("module", "/lib/a.so"), names=[name])
    assert (points.values.tolist(), points.lacking) == ([0, 9], 1)


def test_cohorts_that_share_a_name_are_added_up() -> None:
    """Of two states of one right and size; a sum beyond 64 bits, which is hostile, is not known."""
    cohort = {"snapshot_id": "0", "type": "Private Data", "protection": "rw-p", "size_class": 65_536}
    key = Key("cohort", "Private Data rw-p of 64K to 128K", "Private Data")
    rows = [{**cohort, "state": state, "private": 3} for state in ("committed", None)]
    assert _record([_capture(0)], key, cohorts=rows).values.tolist() == [6]
    huge = [{**row, "private": 1 << 63} for row in rows]
    assert _record([_capture(0)], key, cohorts=huge).values.tolist() == [0]


def test_a_limit_and_what_counts_against_it_are_two_values() -> None:
    """No limit is no value, not 0."""
    limits = [
        {"snapshot_id": str(at), "limit": "RLIMIT_AS", "used": 5, "maximum": maximum, "unit": "bytes"}
        for at, maximum in enumerate((None, 10))
    ]
    captures = [_capture(0), _capture(1)]
    assert _record(captures, Key("limit", "RLIMIT_AS"), limits=limits).values.tolist() == [5, 5]
    assert _record(captures, Key("maximum", "RLIMIT_AS"), limits=limits).values.tolist() == [10]


@pytest.mark.parametrize(
    ("known", "chosen"),
    [({"private": 1, "size": 2}, "private"), ({"total_ws": 1, "size": 2}, "total_ws"), ({"size": 2}, "size")],
)
def test_the_first_snapshot_decides_what_is_followed(known: Row, chosen: str) -> None:
    """Private, else what comes nearest to it; a map alone knows only sizes."""
    recorder = Recorder(_series(1).moments)
    recorder.add(_measures([_capture(0, **{"private": None, **known})]), {"0": 0})
    assert recorder.metric == chosen


def test_a_first_snapshot_without_figures_is_refused() -> None:
    """By its label, with what it lacks."""
    recorder = Recorder(_series(1).moments)
    with pytest.raises(CannotTellError, match="a#0 tells no figure of its memory: headers alone"):
        recorder.add(_measures([_capture(0, None, lacks="headers alone")]), {"0": 0})


def test_snapshots_that_are_not_asked_for_are_passed_over() -> None:
    """A dataset holds other processes as well."""
    series = _series(1)
    recorder = Recorder(series.moments, "private")
    recorder.add(_measures([_capture(0, 5), _capture(1, 6)]), {"0": 0})
    assert recorder.read(series, TOTAL).values.tolist() == [5]
