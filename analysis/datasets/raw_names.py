"""Columns of the regions of a dataset: ours under their names, those of the source under others."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from mmpscope.analysis.datasets.schema import RAW_PREFIX
from mmpscope.analysis.schema import REGIONS

__all__ = ["name_columns", "stack"]

_OURS = len(REGIONS)
_CLASH = "raw."
"""What `LoadedSnapshot.regions` puts before a raw column that has the very name of one of ours."""


def name_columns(table: pa.Table) -> list[str]:
    """Return the names of the columns of a regions table in a dataset: raw ones get ``raw_`` before theirs.

    SQL tells no case apart. Of raw columns that differ only in case, the later ones get ``_2``, ``_3`` ...
    """
    names: list[str] = table.column_names[:_OURS]
    taken = {name.lower() for name in names}
    for name in table.column_names[_OURS:]:
        plain = name.removeprefix(_CLASH) if name.removeprefix(_CLASH) in names[:_OURS] else name
        shown, count = f"{RAW_PREFIX}{plain}", 1
        while shown.lower() in taken:
            count += 1
            shown = f"{RAW_PREFIX}{plain}_{count}"
        taken.add(shown.lower())
        names.append(shown)
    return names


def stack(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; a column that one lacks is null there.

    A column that is of one type here and of another there (as of an unknown source) becomes text in all.
    """
    types: dict[str, set[pa.DataType]] = {}
    for schema in {table.schema for table in tables}:
        for field in schema:
            types.setdefault(field.name, set()).add(field.type)
    mixed = {name for name, found in types.items() if len(found) > 1}
    if mixed:
        tables = [_write_as_text(table, mixed) for table in tables]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def _write_as_text(table: pa.Table, names: set[str]) -> pa.Table:
    for index, name in enumerate(table.column_names):
        if name in names:
            text = table.column(index).cast(pa.string()).dictionary_encode()
            table = table.set_column(index, name, text)
    return table
