"""Which rows of a table are listed, in which order, and how many; computes no figure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.schema import TYPES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "choose_types",
    "expand_allocations",
    "find_rows",
    "keep_types",
    "limit_rows",
    "nest_regions",
    "sort_rows",
    "suggest",
]


def choose_types(words: Sequence[str] | None) -> list[str]:
    """Turn what was typed into names of types: any case, and a beginning that fits only one.

    An empty list stands for all types. Raises UsageError.
    """
    return [_choose_type(word) for word in words or ()]


def _choose_type(word: str) -> str:
    wanted = word.replace("-", " ").replace("_", " ").lower()
    exact = [kind for kind in TYPES if kind.lower() == wanted]
    hits = exact or [kind for kind in TYPES if kind.lower().startswith(wanted)]
    if len(hits) != 1:
        found = "fits " + " and ".join(hits) if hits else "is no type of memory"
        raise UsageError(f"--type {word!r} {found}. The types are {', '.join(TYPES)}")
    return hits[0]


def keep_types(table: pa.Table, types: Sequence[str]) -> pa.Table:
    """Keep the rows of some types; an empty list keeps all."""
    if not types:
        return table
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["type"], pa.array(types, pa.string())))


def sort_rows(table: pa.Table, column: str | None) -> pa.Table:
    """Sort by a column: sizes and counts largest first, addresses and text ascending, nulls last.

    Rows that are equal keep their order. Raises UsageError for a column that is not there.
    """
    if column is None:
        return table
    name = column.lower().replace("-", "_")
    if name not in table.column_names:
        now = suggest(column, table.column_names) or f"Columns: {', '.join(table.column_names)}"
        raise UsageError(f"--sort {column!r}: there is no such column. {now}")
    import pyarrow as pa
    import pyarrow.compute as pc

    values = table[name]
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    order = "descending" if is_number and name not in _ASCENDING else "ascending"
    keys = pa.table({"key": values})
    return table.take(pc.sort_indices(keys, sort_keys=[("key", order)]))  # stable


def suggest(word: str, known: Iterable[str]) -> str | None:
    """Ask whether a known word was meant: spelled nearly alike, or with what was typed at an end of it."""
    typed, names = word.lower().replace("-", "_").replace(" ", "_"), list(known)
    close = difflib.get_close_matches(typed, names, n=3, cutoff=0.75)
    parts = [name for name in names if name.startswith(typed) or name.endswith(f"_{typed}")]
    found = list(dict.fromkeys([*close, *parts]))[:3]
    return f"Did you mean {' or '.join(found)}?" if found else None


_ASCENDING = {"address", "end", "allocation", "pid", "ppid", "tid", "low", "high", "base", "snapshot"}
"""Numbers that name a thing instead of measuring it."""


def find_rows(table: pa.Table, text: str | None) -> pa.Table:
    """Keep the rows whose details hold a text in any case, or that cover an address.

    An address is written as ``0x...``, or as the tables print it: six or more hexadecimal digits.
    """
    if text is None:
        return table
    import pyarrow as pa
    import pyarrow.compute as pc

    details = table["details"].cast(pa.string())
    hit = pc.fill_null(pc.match_substring(details, text, ignore_case=True), False)
    if _ADDRESS.fullmatch(text):
        at = pa.scalar(int(text, 16), pa.uint64())
        hit = pc.or_(hit, pc.and_(pc.less_equal(table["address"], at), pc.less(at, table["end"])))
    return table.filter(hit)


_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9a-fA-F]{6,16}")


def nest_regions(allocations: pa.Table, regions: pa.Table) -> pa.Table:
    """Put the regions of each allocation under it, with ``level`` 0 and 1; where an allocation is one region,
    that region stands in its place. How many blocks it counts decides nothing: VMMap counts other things.

    The order is that of the allocations. Columns that one of the tables lacks are null in its rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = _keep(regions, pc.is_in(regions["allocation"], allocations["address"].combine_chunks()))
    counts = parts["allocation"].combine_chunks().value_counts()
    bases, count = counts.field("values"), counts.field("counts")
    several, single = (bases.filter(fits) for fits in (pc.greater(count, 1), pc.equal(count, 1)))
    tops = allocations.filter(pc.invert(pc.is_in(allocations["address"], single)))
    nested = _interleave(tops, parts, allocations)
    level = pc.is_in(nested["allocation"], several).cast(pa.int8())
    return nested.set_column(nested.column_names.index("level"), "level", level)


def expand_allocations(allocations: pa.Table, regions: pa.Table) -> pa.Table:
    """Put the regions of each allocation in its place; a row that has none (free space) stays."""
    import pyarrow.compute as pc

    parts = _keep(regions, pc.is_in(regions["allocation"], allocations["address"].combine_chunks()))
    is_listed = pc.is_in(allocations["address"], parts["allocation"].combine_chunks())
    return _interleave(allocations.filter(pc.invert(is_listed)), parts, allocations).drop_columns("level")


def _keep(table: pa.Table, wanted: pa.ChunkedArray) -> pa.Table:
    """Keep the wanted rows, without a copy where that is all of them, as it is without a filter."""
    import pyarrow.compute as pc

    return table if pc.all(wanted).as_py() else table.filter(wanted)


def _interleave(tops: pa.Table, parts: pa.Table, order: pa.Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    bases = order["address"].combine_chunks()
    levels = []
    for level, table, base in ((0, tops, "address"), (1, parts, "allocation")):
        numbered = table.append_column("rank", pc.index_in(table[base], bases))
        levels.append(numbered.append_column("level", pa.repeat(pa.scalar(level, pa.int8()), table.num_rows)))
    merged = pa.concat_tables(
        reversed(levels), promote_options="permissive"
    )  # the columns of a region come first
    keys = [("rank", "ascending"), ("level", "ascending"), ("address", "ascending")]
    return merged.take(pc.sort_indices(merged, sort_keys=keys)).drop_columns("rank")


def limit_rows(table: pa.Table, limit: int | None, default: int = 0) -> tuple[pa.Table, pa.Table]:
    """Split into the rows that are shown and the rest; 0 shows all."""
    count = (default if limit is None else limit) or table.num_rows
    return table.slice(0, count), table.slice(count)
