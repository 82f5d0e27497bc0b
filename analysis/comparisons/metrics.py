"""The figures by which snapshots are compared: of the whole process, and of its types of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import Numbers, read_dictionary
from mmpscope.analysis.measures.measure import Measures
from mmpscope.analysis.tables import TEXT

__all__ = ["METRICS", "Metric", "choose_metric", "keep_compared", "read_metrics"]


class Metric(NamedTuple):
    """A figure by name; ``type`` is None for the whole process, ``unit`` is bytes or empty."""

    name: str
    column: str
    type: str | None
    unit: str


_BYTES = "bytes"
_NOWHERE = -1
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


def keep_compared(measures: Measures) -> Measures:
    """Keep of the summaries what `read_metrics` reads, a few columns of a few types."""
    columns = ["snapshot_id", "type", *dict.fromkeys(_OF_TYPES.values())]
    is_read = pc.is_in(measures.summaries["type"].cast(pa.string()), pa.array(list(_OF_TYPES)))
    return replace(measures, summaries=measures.summaries.select(columns).filter(is_read))


def read_metrics(measures: Measures) -> Iterator[tuple[Metric, Numbers]]:
    """Yield every metric with its value for each row of captures, in order."""
    captures, summaries = measures.captures, measures.summaries
    places = _find_summaries(captures, summaries)
    for metric in METRICS:
        if metric.type is None:
            column = captures[metric.column]
        else:
            column = summaries[metric.column].take(places[metric.type])
        yield metric, Numbers.from_arrow(_join(column))


def _find_summaries(captures: pa.Table, summaries: pa.Table) -> dict[str, pa.Array]:
    """Return for each type the row of the summary of each capture; null where there is none."""
    known, types = (read_dictionary(_encode(summaries[name])) for name in ("snapshot_id", "type"))
    wanted = read_dictionary(_encode(captures["snapshot_id"]))
    codes = {value: code for code, value in enumerate(known.values[:-1])}
    at = np.array([codes.get(value, _NOWHERE) for value in wanted.values], np.int64)[wanted.codes]
    places = {}
    for kind in _OF_TYPES:
        rows = np.flatnonzero(types.equals(kind))
        of_code = np.full(len(codes) + 1, _NOWHERE, np.int64)  # the last is that of nowhere
        of_code[known.codes[rows[::-1]]] = rows[::-1]
        found = of_code[at]
        places[kind] = pa.array(found, mask=found == _NOWHERE)
    return places


def _encode(column: pa.ChunkedArray) -> pa.DictionaryArray:
    array = _join(column.cast(TEXT))
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def _join(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
