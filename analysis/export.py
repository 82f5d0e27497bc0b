"""Tables into files: CSV, Parquet, Arrow, JSON lines and plain text, by one function.

A file for machines to keep (Parquet, Arrow, JSON lines) holds every value exactly. CSV is what people open
in a spreadsheet: there, text that a spreadsheet would run is made harmless, numbers stay numbers. Nothing
is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.output import STDOUT, open_output
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "EXTENSIONS",
    "FORMATS",
    "VMMAP_FORMATS",
    "check_extension",
    "choose_format",
    "describe_columns",
    "iterate_rows",
    "neutralise_cell",
    "write_table",
]

EXTENSIONS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".smaps": "smaps",
}
"""File name extensions and the format that each stands for."""

_NO_TEXT = frozenset(
    (".mmp", ".xlsx", ".xls", ".ods", ".html", ".htm", ".xml", ".pdf", ".gz", ".xz", ".zip", ".dmp")
)
"""Extensions of formats that no table and no text of ours is."""

VMMAP_FORMATS = ("vmmap-xml", "vmmap-csv")
"""What VMMap saves: no extension stands for it, because .mmp and .csv are something else here."""

_BINARY = {"parquet", "arrow"}
_BATCH_ROWS = 512
"""Rows that are objects of Python at the same time; they may have 4,000 columns."""


def check_extension(path: str, made: str, own: Collection[str], now: str) -> None:
    """Refuse a file whose name promises another format than ``made``; UsageError, with what to do ``now``.

    ``own`` are the extensions of what is made. One that stands for no format that we know promises nothing.
    """
    extension = PurePath(path).suffix.lower()
    if extension not in own and extension in {*EXTENSIONS, ".json", *_NO_TEXT}:
        raise UsageError(f"{path}: {made} does not belong in a {extension} file. {now}")


def choose_format(path: str, format: str | None) -> str:  # noqa: A002  # the word of the command line
    """Take the format that was asked for, else the one that the file's extension names.

    Raises UsageError for an unknown word, and for a format of bytes that would go to a terminal's stream.
    """
    chosen = format or EXTENSIONS.get(PurePath(path).suffix.lower())
    if chosen is None and path == STDOUT:
        raise UsageError("in which format? Name a file with -o, or give --format, as in --format csv")
    if chosen is None and PurePath(path).suffix.lower() == ".mmp":
        raise UsageError(f"{path}: an export is one table. For an .mmp file use `mmp convert FILE -o {path}`")
    if chosen is None:
        raise UsageError(
            f"{path}: no format goes by that extension. Give one of {', '.join(EXTENSIONS)}, or --format"
        )
    if chosen not in (known := {**dict.fromkeys(EXTENSIONS.values()), **dict.fromkeys(VMMAP_FORMATS)}):
        raise UsageError(f"there is no format {show_name(chosen)!r}. Give one of {', '.join(known)}")
    if path == STDOUT and chosen in _BINARY:
        raise UsageError(f"{chosen} is not text. Name a file with -o")
    return chosen


def write_table(table: pa.Table, path: str, format: str | None = None, *, force: bool = False) -> None:  # noqa: A002  # the word of the option --format
    """Write one table; a file appears whole or not at all, ``-`` is standard output.

    Addresses are uint64 in Parquet and Arrow, and text of 16 hex digits in CSV and JSON. Raises UsageError,
    OutputExistsError or OutputError.
    """
    writer = _WRITERS.get(choose_format(path, format))
    if writer is None:
        raise UsageError(f"only `mmp export -t regions` writes {format or PurePath(path).suffix}")
    with open_output(path, force=force) as stream:
        writer(table, stream)


def describe_columns(table: pa.Table, fields: Sequence[Field]) -> pa.Table:
    """Put unit and meaning of every column that the schema knows into the table's field metadata."""
    known = {field.name: field for field in fields}
    schema = table.schema
    for index, field in enumerate(schema):
        if (meant := known.get(field.name)) is not None:
            schema = schema.set(index, field.with_metadata({"unit": meant.unit, "meaning": meant.meaning}))
    return table.cast(schema)


def iterate_rows(table: pa.Table) -> Iterator[dict[str, object]]:
    """Yield rows as JSON can hold them: addresses and bytes as hex text, every other value as it is."""
    import pyarrow as pa

    for begin in range(0, table.num_rows, _BATCH_ROWS):
        part = table.slice(begin, _BATCH_ROWS)
        columns = [
            _write_address(column) if _is_address(field) else _write_bytes(column)
            for field, column in zip(part.schema, part.columns, strict=True)
        ]
        yield from pa.table(columns, part.column_names).to_pylist()


def _write_csv(table: pa.Table, stream: BinaryIO) -> None:
    from pyarrow import csv

    csv.write_csv(_make_spreadsheet_safe(table), stream)


def _write_parquet(table: pa.Table, stream: BinaryIO) -> None:
    from pyarrow import parquet

    parquet.write_table(table, stream)


def _write_arrow(table: pa.Table, stream: BinaryIO) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table.unify_dictionaries())


def _write_jsonl(table: pa.Table, stream: BinaryIO) -> None:
    for row in iterate_rows(table):
        stream.write(json.dumps(row).encode() + b"\n")


def _write_text(table: pa.Table, stream: BinaryIO) -> None:
    from mmpscope.analysis.reporters.plain_report import render_plain

    stream.write(render_plain(table).encode())


_WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "jsonl": _write_jsonl,
    "txt": _write_text,
}

FORMATS = tuple(_WRITERS)
"""What any table can be written as."""


def _is_address(field: pa.Field) -> bool:
    return bool(field.metadata) and field.metadata.get(b"unit") == b"address"


def _make_spreadsheet_safe(table: pa.Table) -> pa.Table:
    """Turn addresses into text and make text that a spreadsheet would run harmless; numbers stay numbers."""
    import pyarrow as pa

    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if _is_address(field):
            columns.append(_write_address(column))
            continue
        plain = _write_bytes(column)
        is_number = (
            pa.types.is_integer(plain.type)
            or pa.types.is_floating(plain.type)
            or pa.types.is_boolean(plain.type)
        )
        columns.append(plain if is_number else _map_text(plain, neutralise_cell))
    return pa.table(columns, names=list(map(neutralise_cell, table.column_names)))


def neutralise_cell(text: str) -> str:
    """Put an apostrophe before what a spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    shown = show_name(text)
    return f"'{shown}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else shown


def _map_text(column: pa.ChunkedArray, change: Callable[[str], str]) -> pa.ChunkedArray:
    """Apply ``change`` once to each distinct text of a column."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    coded = column.combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # an empty column has no chunk to combine
        coded = (
            pa.concat_arrays(coded.chunks) if coded.chunks else pa.array([], pa.string()).dictionary_encode()
        )
    words = [None if word is None else change(word) for word in coded.dictionary.to_pylist()]
    changed = pa.DictionaryArray.from_arrays(coded.indices, pa.array(words, pa.string()))
    return pa.chunked_array([changed.cast(pa.string())])


def _write_bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write a column of bytes as hex text; leave every other column alone."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        return column
    return pa.chunked_array(
        [[None if cell is None else cell.hex() for cell in column.to_pylist()]], pa.string()
    )


def _write_address(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write addresses as ``0x`` and 16 hex digits, all at once and without a float on the way."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.fill_null(0).cast(pa.uint64()).to_numpy()
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    octets = values.astype(">u8").view(np.uint8).reshape(-1, 8)
    text = np.empty((len(values), 18), np.uint8)
    text[:, 0:2] = np.frombuffer(b"0x", np.uint8)
    text[:, 2::2] = digits[octets >> 4]
    text[:, 3::2] = digits[octets & 15]
    ends = np.arange(0, 18 * (len(values) + 1), 18, dtype=np.int32)
    written = pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(text)])
    return pa.chunked_array([pc.if_else(pc.is_valid(column).combine_chunks(), written, None)])
