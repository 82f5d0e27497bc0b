"""Measures of many snapshots to the answer of `mmp compare`: rows, outliers and groups."""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers
from mmpscope.analysis.comparisons.metrics import METRICS, Metric, read_metrics
from mmpscope.analysis.comparisons.outliers import (
    LEAST_GROUP,
    USUAL_SENSITIVITY,
    Odd,
    Sensitivity,
    find_odd,
    take_nearest,
)
from mmpscope.analysis.comparisons.schema import CANNOT_TELL, COMPARE, GROUPS, OUTLIER, OUTLIERS, USUAL
from mmpscope.analysis.grouping import group_by
from mmpscope.analysis.intervals import Rows
from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.tables import build_table, list_rows

__all__ = ["GROUPINGS", "Comparison", "compare_measures", "group_measures"]

_PARTS = (("min", 0.0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("p95", 0.95), ("max", 1.0))
_ALL_REGIONS = "all regions"
_MOST_REASONS = 3

Key = Callable[[dict[str, object]], str]


@dataclass(frozen=True)
class Comparison:
    """``rows`` has schema.COMPARE, without files that could not be read; ``outliers`` schema.OUTLIERS."""

    rows: pa.Table
    outliers: pa.Table


def _name_executable(row: dict[str, object]) -> str:
    """Name a program by its file alone: the same one lies elsewhere on another machine."""
    path = str(row["exe"] or "").removesuffix(" (deleted)")
    file = ntpath.basename(path) if "\\" in path else posixpath.basename(path)
    return file or str(row["name"] or "unknown program")


def _name_build(row: dict[str, object]) -> str:
    version = str(row["version"])[:16] if row["version"] is not None else "version unknown"
    return f"{_name_executable(row)} / {version}"


def _read(column: str) -> Key:
    return lambda row: str(row[column]) if row[column] is not None else "unknown"


GROUPINGS: dict[str, Key] = {
    "executable": _name_executable,
    "build": _name_build,
    "host": lambda row: str(row["hostname"] or row["host_id"] or "unknown"),
    "name": _read("name"),
    "version": _read("version"),
    "os": _read("os"),
    "kernel": _read("kernel"),
    "all": lambda _: "all",
}
"""What snapshots can be grouped by; build is executable and version."""
_GROUPED = ("exe", "name", "version", "hostname", "host_id", "os", "kernel")


def compare_measures(measures: Measures, sensitivity: Sensitivity = USUAL_SENSITIVITY) -> Comparison:
    """Judge each snapshot among those of its executable and version.

    Only snapshots of which all regions are listed are judged and count as peers; a group of fewer than
    outliers.LEAST_GROUP cannot tell. Reads captures and summaries alone.
    """
    captures = measures.captures
    facts = _list_facts(measures)
    whole = np.array([row["extent"] == _ALL_REGIONS for row in facts], np.bool_)
    keys = [(_name_executable(row), row["version"]) for row in facts]
    groups = [rows[whole[rows]] for rows in _group(keys)]
    peers = np.zeros(len(facts), np.int64)
    for rows in groups:
        peers[rows] = len(rows) - 1
    odd = [
        each
        for metric, numbers in read_metrics(measures)
        for each in find_odd(metric, numbers, groups, sensitivity)
    ]
    odd.sort(key=lambda each: (each.row, -_rank(each), each.metric.name))
    told = [each.describe(_name_kin(facts[each.row])) for each in odd]
    verdicts = _decide_all(odd, facts, np.where(whole, peers, -1))
    columns = {name: captures[name] for name in captures.column_names}
    columns |= {
        "verdict": [verdict for verdict, _ in verdicts],
        "peers": Numbers(peers.astype(np.uint64)).only(whole),
        "reason": [reason for _, reason in verdicts],
    }
    return Comparison(build_table(COMPARE, columns, len(facts)), _list_outliers(captures, odd, told))


def _list_facts(measures: Measures) -> list[dict[str, object]]:
    return list_rows(measures.captures, [*_GROUPED, "lacks", "extent"])


def _group(keys: Sequence[object]) -> list[Rows]:
    """Return the rows of each distinct key, in the order in which keys come."""
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    groups = group_by(np.array([places[key] for key in keys], np.int64))
    return np.split(groups.order, groups.begins[1:]) if len(keys) else []


def _rank(odd: Odd) -> float:
    """Order reasons by how far they are; of what is far from values that are all equal, by its part."""
    return abs(odd.mads) if odd.mads is not None else abs(odd.excess) / max(odd.median, 1)


def _name_kin(row: dict[str, object]) -> str:
    return f"this executable{' and version' if row['version'] is not None else ', version unknown'}"


def _decide_all(
    odd: Sequence[Odd], facts: Sequence[dict[str, object]], peers: Rows
) -> list[tuple[str, str | None]]:
    found: dict[int, list[Odd]] = {}
    for each in odd:
        found.setdefault(each.row, []).append(each)
    return [
        (OUTLIER, _join_reasons(found[number], row)) if number in found else _decide(row, count)
        for number, (row, count) in enumerate(zip(facts, peers.tolist(), strict=True))
    ]


def _join_reasons(odd: Sequence[Odd], row: dict[str, object]) -> str:
    """Write the oddest figures; one that grows takes its sums along, so that the rest says little more."""
    first, *others = odd
    told = [first.describe(_name_kin(row)), *(each.describe() for each in others[: _MOST_REASONS - 1])]
    more = len(odd) - len(told)
    return "; ".join([*told, *([f"{more} more"] if more else [])])


def _decide(row: dict[str, object], peers: int) -> tuple[str, str | None]:
    """Tell a snapshot that is like the others from one that cannot be judged: -1 peers, or too few."""
    if peers < 0:
        return CANNOT_TELL, str(row["lacks"])
    if peers + 1 < LEAST_GROUP:
        others = f"{peers} other{'' if peers == 1 else 's'}"
        return CANNOT_TELL, f"{others} of {_name_kin(row)}, and {LEAST_GROUP - 1} are needed"
    return USUAL, None


def _list_outliers(captures: pa.Table, odd: Sequence[Odd], told: Sequence[str]) -> pa.Table:
    rows = pa.array([each.row for each in odd], pa.int64())
    columns = {
        **{name: captures[name].take(rows) for name in ("snapshot_id", "input")},
        "metric": [each.metric.name for each in odd],
        "unit": [each.metric.unit for each in odd],
        **{
            name: [getattr(each, name) for each in odd]
            for name in ("value", "median", "excess", "deviation", "mads", "peers")
        },
        "reason": list(told),
    }
    return build_table(OUTLIERS, columns, len(odd))


def group_measures(measures: Measures, by: Sequence[str]) -> pa.Table:
    """Return how every figure is spread over each group (schema.GROUPS), groups in the order of their names.

    ``by`` are words of GROUPINGS. Quartiles and percentiles are values that occur (nearest rank).
    """
    facts = _list_facts(measures)
    keys = [" / ".join(GROUPINGS[word](row) for word in by) for row in facts]
    names = sorted(set(keys))
    order = sorted(_group(keys), key=lambda rows: keys[int(rows[0])])
    figures = dict(read_metrics(measures))
    rows = [
        {"group": name, **_spread(metric, figures[metric], members)}
        for name, members in zip(names, order, strict=True)
        for metric in METRICS
    ]
    return build_table(GROUPS, {f.name: [row[f.name] for row in rows] for f in GROUPS}, len(rows))


def _spread(metric: Metric, numbers: Numbers, rows: Rows) -> dict[str, object]:
    known = rows[numbers.is_known[rows]]
    ordered = np.sort(numbers.values[known])
    return {
        "metric": metric.name,
        "unit": metric.unit,
        "snapshots": len(rows),
        "known": len(known),
        **{name: int(take_nearest(ordered, part)) if len(known) else None for name, part in _PARTS},
    }
