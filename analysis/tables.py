"""Arrow tables in the form that the schema writes down; every table of the analysis is made here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

import pyarrow as pa
from mmpscope.analysis.columns import Numbers, Text
from mmpscope.analysis.schema import Field

__all__ = ["TEXT", "build_table", "find_arrow_type", "keep_exact_in_pandas", "list_rows", "stack"]

TEXT = pa.dictionary(pa.int32(), pa.string())
"""How all text is kept: names repeat, and equal names can be compared as numbers."""

_PANDAS_TYPES = {pa.uint64(): "UInt64", pa.int64(): "Int64", pa.uint32(): "UInt32"}


def build_table(fields: Sequence[Field], columns: Mapping[str, object], rows: int) -> pa.Table:
    """Put columns (Numbers, Text, Arrow, numpy or lists) into the order and the types of the schema.

    One that is not given is all null. Arrow refuses values that do not fit the field's type, and columns
    that are not ``rows`` long.
    """
    schema = _find_schema(tuple(fields))
    arrays = [
        _convert(columns.get(name), kind, rows) for name, kind in zip(schema.names, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


@lru_cache(64)
def _find_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """Describe a table: the same for each of thousands of snapshots."""
    return _describe_to_pandas(pa.schema([(field.name, find_arrow_type(field)) for field in fields]))


def find_arrow_type(field: Field) -> pa.DataType:
    """Return the Arrow type of a column."""
    return TEXT if field.type == "string" else pa.type_for_alias(field.type)


def keep_exact_in_pandas(table: pa.Table) -> pa.Table:
    """Let ``to_pandas()`` make whole numbers of whole numbers, also in columns with nulls.

    pandas' own choice for those is float64, which holds no address beyond 2^53 (F47). The metadata that
    pandas itself writes into a table says which of its types a column had; here it says UInt64, which knows
    null.
    """
    return table.replace_schema_metadata(_describe_to_pandas(table.schema).metadata)


def _describe_to_pandas(schema: pa.Schema) -> pa.Schema:
    columns = [
        {"name": field.name, "field_name": field.name, "pandas_type": str(field.type), "numpy_type": name}
        for field in schema
        if (name := _PANDAS_TYPES.get(field.type)) is not None
    ]
    described = {"columns": columns, "index_columns": [], "column_indexes": [], "pandas_version": "2.2"}
    return schema.with_metadata({**(schema.metadata or {}), b"pandas": json.dumps(described).encode()})


def list_rows(table: pa.Table, names: Sequence[str]) -> list[dict[str, object]]:
    """Return some columns row by row, as ``to_pylist`` does: several times as fast where text repeats."""
    columns = [_list_values(table.column(name).combine_chunks()) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _list_values(array: pa.Array) -> list[object]:
    if isinstance(array, pa.ChunkedArray):  # of no rows
        return []
    if pa.types.is_dictionary(array.type):
        values = [*array.dictionary.to_pylist(), None]
        codes = array.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
        return [values[code] for code in codes.tolist()]
    if array.null_count or not pa.types.is_integer(array.type):
        listed: list[object] = array.to_pylist()
        return listed
    numbers: list[object] = array.to_numpy().tolist()
    return numbers


def _convert(column: object, wanted: pa.DataType, rows: int) -> pa.Array | pa.ChunkedArray:
    if column is None:
        return pa.nulls(rows, wanted)
    if isinstance(column, Numbers | Text):
        array = column.to_arrow()
    elif isinstance(column, pa.Array | pa.ChunkedArray):
        array = column
    elif wanted == TEXT:
        array = pa.array(column, pa.string())
    else:
        array = pa.array(column, wanted)
    if wanted == TEXT and pa.types.is_string(array.type):
        return array.dictionary_encode()
    return array if array.type == wanted else array.cast(wanted)


def stack(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables below each other; a column that one lacks is null there.

    A column that is of one type here and of another there (as of an unknown source) becomes text in all.
    """
    types: dict[str, set[pa.DataType]] = {}
    seen: list[pa.Schema] = []  # most are alike; those with metadata have no hash before pyarrow 18
    for table in tables:
        if table.schema not in seen:
            seen.append(table.schema)
    for schema in seen:
        for field in schema:
            if not pa.types.is_null(field.type):
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
