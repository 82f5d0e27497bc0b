"""What an allocation has and none of its sub-blocks, where a source states both: so that a diff adds up.

VMMap rounds to KiB, and the generations of a managed heap are none: two heaps of a real save lose 1 KiB each
among their sub-blocks. Regions are compared by sub-block, totals are sums over allocations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.diffs.schema import CHANGED, DIFF_ROWS, METRICS
from mmpscope.analysis.diffs.sides import OUTSIDE
from mmpscope.analysis.schema import TYPES
from mmpscope.analysis.tables import build_table
from mmpscope.analysis.type_sums import sum_types

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["diff_rest"]

_DETAILS = "in no sub-block"
_FREE = "Free"

Rest = dict[tuple[str, str], int]


def diff_rest(a: tuple[LoadedSnapshot, pa.Table], b: tuple[LoadedSnapshot, pa.Table]) -> pa.Table:
    """Return a row (diffs.schema.DIFF_ROWS) for each type of which the rest changed; snapshots and summaries.

    Before and after are null where sub-blocks add up to more than their allocation, which no unsigned number
    can say; the delta is known.
    """
    one, two = (_measure(*side) for side in (a, b))
    rows = [_compare(type_, one, two) for type_ in TYPES if type_ not in (*OUTSIDE, _FREE)]
    changed = [row for row in rows if any(row.get(f"{name}_delta") for name in METRICS)]
    names = dict.fromkeys(name for row in changed for name in row)
    columns: dict[str, object] = {name: [row.get(name) for row in changed] for name in names}
    return build_table(DIFF_ROWS, columns, len(changed))


def _measure(snapshot: LoadedSnapshot, summary: pa.Table) -> Rest:
    """Return what the summary has more than the regions, by type and figure; empty where it sums regions."""
    if snapshot.stated_allocations is None:
        return {}
    of_regions = sum_types(snapshot.classified.columns, METRICS)
    columns, rest = RawColumns(summary), Rest()
    for row, type_ in enumerate(summary.column("type").to_pylist()):
        for name in METRICS if type_ in of_regions else ():
            stated, listed = columns.numbers(name), of_regions[type_].values[name]
            if stated.is_known[row] and listed is not None:
                rest[type_, name] = int(stated.values[row]) - listed
    return rest


def _compare(type_: str, one: Rest, two: Rest) -> dict[str, object]:
    row: dict[str, object] = {"word": CHANGED, "match": "summary", "confidence": "high", "rows": 1}
    for side in "ab":
        row |= {f"type_{side}": type_, f"details_{side}": _DETAILS}
    for name in METRICS:
        before, after = (rest.get((type_, name), 0) for rest in (one, two))
        row |= {f"{name}_a": before if before >= 0 else None, f"{name}_b": after if after >= 0 else None}
        row[f"{name}_delta"] = after - before if abs(after - before) < 1 << 63 else None
    return row
