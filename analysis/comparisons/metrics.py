"""The figures by which snapshots are compared: of the whole process, and of its types of memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Numbers
from mmpscope.analysis.measures.measure import Measures

__all__ = ["METRICS", "Metric", "choose_metric", "read_metrics"]


class Metric(NamedTuple):
    """A figure by name; ``type`` is None for the whole process, ``unit`` is bytes or empty."""

    name: str
    column: str
    type: str | None
    unit: str


_BYTES = "bytes"
_OF_PROCESS = ("size", "committed", "private", "total_ws", "private_ws", "swap", "largest_free")
_COUNTS = ("mappings", "threads", "modules")
_OF_TYPES = {
    "Heap": "private",
    "Managed Heap": "private",
    "Stack": "private",
    "Private Data": "private",
    "Image": "private",
    "Mapped File": "total_ws",
    "Shareable": "total_ws",
}
"""What a type costs: what it has for itself, or, of memory that others have as well, what is resident."""

METRICS = (
    *(Metric(name, name, None, _BYTES) for name in _OF_PROCESS),
    *(Metric(f"{kind} {name}", name, kind, _BYTES) for kind, name in _OF_TYPES.items()),
    *(Metric(name, name, None, "") for name in _COUNTS),
)


def choose_metric(word: str) -> Metric | None:
    """Return the metric that was typed, in any case; None where there is none of that name."""
    wanted = word.replace("-", " ").replace("_", " ").lower()
    return next((metric for metric in METRICS if metric.name.replace("_", " ").lower() == wanted), None)


def read_metrics(measures: Measures) -> Iterator[tuple[Metric, Numbers]]:
    """Yield every metric with its value for each row of captures, in order."""
    captures, summaries = measures.captures, measures.summaries
    ids = _read_text(captures["snapshot_id"])
    of_type = {kind: summaries.filter(pc.equal(summaries["type"], kind)) for kind in _OF_TYPES}
    places = {kind: pc.index_in(ids, _read_text(rows["snapshot_id"])) for kind, rows in of_type.items()}
    for metric in METRICS:
        if metric.type is None:
            column = captures[metric.column]
        else:
            column = of_type[metric.type][metric.column].take(places[metric.type])
        yield metric, Numbers.from_arrow(_join(column))


def _join(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _read_text(column: pa.ChunkedArray) -> pa.Array:
    return _join(column.cast(pa.string()))
