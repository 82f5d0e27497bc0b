"""The largest changes, and one row for all the others, so that nothing is missing from the sum."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.diffs.schema import DIFF_ROWS, METRICS, OTHERS
from mmpscope.analysis.exact_sums import Deltas, Spans, sum_deltas, sum_spans
from mmpscope.analysis.tables import build_table

__all__ = ["choose_movers"]


def choose_movers(components: pa.Table, metric: str, limit: int, least: int = 0) -> pa.Table:
    """Choose the rows that changed most by a metric, and fold the rest into one row, word others.

    The largest change comes first, be it growth or loss, the folded row last. Every column of figures adds up
    to that of all components, or is unknown in the folded row. `limit` 0 shows all of those that changed by
    at least `least` bytes.
    """
    deltas = _read_deltas(components, metric).values
    place = np.arange(len(deltas))
    by_size = np.lexsort([place, -np.abs(deltas)])
    large = int(np.count_nonzero(np.abs(deltas) >= least))
    count = min(limit, large) if limit else large
    shown, rest = by_size[:count], by_size[count:]
    movers = components.take(pa.array(shown))
    if not len(rest):
        return movers
    return pa.concat_tables([movers, _fold(components.take(pa.array(np.sort(rest))))]).combine_chunks()


def _read_deltas(rows: pa.Table, name: str) -> Deltas:
    column = rows.column(name if name.endswith("_delta") else f"{name}_delta")
    return Deltas(column.fill_null(0).to_numpy(), column.is_valid().to_numpy())


def _fold(rows: pa.Table) -> pa.Table:
    """Add rows up to one.

    A figure is summed over the rows of which a side tells anything, as in a total, and `partial` names it
    where there are others. Unknown of one of these, it is unknown of all: what was not counted is no drop.
    """
    columns: dict[str, object] = {"word": [OTHERS], "match": [None], "confidence": [None]}
    for name in ("rows", "regions_a", "regions_b", "blocks_a", "blocks_b"):
        counts = RawColumns(rows).numbers(name)
        columns[name] = [_add_up(Numbers(counts.values)) if counts.is_known.any() else None]
    partial = []
    for name in METRICS:
        told = _keep_told(rows, name)
        columns |= {f"{name}_{side}": [_add_up(RawColumns(told).numbers(f"{name}_{side}"))] for side in "ab"}
        columns[f"{name}_delta"] = [_add_up_deltas(_read_deltas(told, name))]
        partial += [name] if 0 < len(told) < len(rows) else []
    effective = _read_deltas(_keep_told(rows, "total_ws", "lazyfree"), "effective_ws_delta")
    columns["effective_ws_delta"] = [_add_up_deltas(effective)]
    left_out = {name for text in RawColumns(rows).text("unknown").values if text for name in text.split(", ")}
    columns["unknown"] = [", ".join(name for name in METRICS if name in left_out) or None]
    columns["partial"] = [", ".join(partial) or None]
    return build_table(DIFF_ROWS, columns, 1)


def _keep_told(rows: pa.Table, *figures: str) -> pa.Table:
    """Keep the rows of which a side tells one of these figures; nothing is added up of the others."""
    columns = [rows.column(f"{name}_{part}").is_valid() for name in figures for part in ("a", "b", "delta")]
    return rows.filter(reduce(pc.or_, columns))


def _add_up(numbers: Numbers) -> int | None:
    """Add up; None where one is unknown, where the sum leaves 64 bits, and of nothing."""
    total = sum_spans(numbers, Spans(np.array([0]), np.array([len(numbers.values)])))
    return int(total.values[0]) if total.is_known[0] and len(numbers.values) else None


def _add_up_deltas(deltas: Deltas) -> int | None:
    total = sum_deltas(deltas)
    return total if abs(total) < 2**63 and deltas.known.all() and len(deltas.values) else None
