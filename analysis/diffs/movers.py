"""The largest changes, and one row for all the others, so that nothing is missing from the sum."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from mmpscope.analysis.columns import Numbers, RawColumns
from mmpscope.analysis.diffs.schema import DIFF_ROWS, METRICS, OTHERS
from mmpscope.analysis.exact_sums import Deltas, Spans, sum_deltas, sum_spans
from mmpscope.analysis.tables import build_table

__all__ = ["choose_movers"]


def choose_movers(components: pa.Table, metric: str, limit: int, least: int = 0) -> pa.Table:
    """Choose the rows that changed most by a metric, and fold the rest into one row, word others.

    The largest change comes first, be it growth or loss, the folded row last. Every column of figures adds up
    to that of all components. `limit` 0 shows all of those
    that changed by at least `least` bytes.
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
    """Add rows up to one; what is unknown in some of them is left out of the sum, and named."""
    columns: dict[str, object] = {"word": [OTHERS], "match": [None], "confidence": [None]}
    for name in ("rows", "regions_a", "regions_b", "blocks_a", "blocks_b"):
        columns[name] = [_add_up(rows, name)]
    for name in METRICS:
        columns |= {f"{name}_{side}": [_add_up(rows, f"{name}_{side}")] for side in ("a", "b")}
        columns[f"{name}_delta"] = [_add_up_deltas(rows, f"{name}_delta")]
    columns["effective_ws_delta"] = [_add_up_deltas(rows, "effective_ws_delta")]
    left_out = {name for text in RawColumns(rows).text("unknown").values if text for name in text.split(", ")}
    columns["unknown"] = [", ".join(name for name in METRICS if name in left_out) or None]
    return build_table(DIFF_ROWS, columns, 1)


def _add_up(rows: pa.Table, name: str) -> int | None:
    numbers = RawColumns(rows).numbers(name)
    everything = Spans(np.array([0]), np.array([len(numbers.values)]))
    total = sum_spans(Numbers(numbers.values), everything)  # an unknown value is stored as 0
    return int(total.values[0]) if total.is_known[0] and numbers.is_known.any() else None


def _add_up_deltas(rows: pa.Table, name: str) -> int | None:
    deltas = _read_deltas(rows, name)
    total = sum_deltas(deltas)
    return total if abs(total) < 2**63 and deltas.known.any() else None
