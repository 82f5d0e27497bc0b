"""SQL over a dataset, by DuckDB: a view for each table, and nothing else that could be read or written."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from mmpscope.analysis.datasets.layout import Part, list_parts, read_description
from mmpscope.analysis.datasets.results import make_plain
from mmpscope.analysis.datasets.schema import MONTH, PARTITIONED, TABLES
from mmpscope.analysis.errors import AnalysisError, UsageError
from mmpscope.formats.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

__all__ = ["ERRORS", "ask", "connect"]

ERRORS = "errors"
"""A view beside those of the tables: files that have an error, and were not read by a later build."""

_TYPES = {
    "string": "VARCHAR",
    "uint64": "UBIGINT",
    "int64": "BIGINT",
    "uint32": "UINTEGER",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
}
_ERRORS_SQL = """\
SELECT input, error FROM files AS f WHERE error IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM files AS later WHERE later.input = f.input AND later.error IS NULL)"""
_WITHOUT_TEXT = ("INTERVAL", "BIT")
_NOTHING_ELSE = "A dataset is only read: give one SELECT"
_GLANCE_S = 0.1
"""How long Ctrl-C may wait where no signal ends a wait: on Windows."""


def ask(root: Path, sql: str) -> pa.Table:
    """Answer one SELECT over the tables of a dataset; rows and columns are in the order of the answer.

    Whole numbers stay whole: uint64 where they fit, int64 where one is below 0, else text. What neither JSON
    nor CSV can hold (lists, structs, intervals) is text. Raises UsageError for what is no SELECT or is
    refused by DuckDB, and without the extra; InputError where a part cannot be read. Ctrl-C, and whatever
    else a handler of a signal raises, ends the work of DuckDB.
    """
    if not _is_unicode(sql):
        raise UsageError("the SQL is not UTF-8. Write other bytes as in '\\xff'::BLOB")
    with connect(root, _find_mentioned(sql)) as connection, _explaining(root):
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            what = "there is no SQL in it" if not statements else f"these are {len(statements)} statements"
            raise UsageError(f"{what}. {_NOTHING_ELSE}")
        kind = statements[0].type.name
        if kind != "SELECT":
            raise UsageError(f"{kind} is refused. {_NOTHING_ELSE}")
        return make_plain(_fetch(connection, statements[0].query))


def _is_unicode(text: str) -> bool:
    """Tell if text is Unicode; bytes of the command line that are none are lone surrogates (PEP 383)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fetch(connection: DuckDBPyConnection, sql: str) -> pa.Table:
    """Let DuckDB work in a thread: Python looks for signals only where it runs itself, in the main one."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_work, connection, sql)
        try:
            while not wait([answer], _GLANCE_S).done:
                pass
        finally:
            while not answer.done():  # more than once: it does nothing before DuckDB has begun
                connection.interrupt()
                wait([answer], _GLANCE_S)
    return answer.result()


def _work(connection: DuckDBPyConnection, sql: str) -> pa.Table:
    """Answer a SELECT; what Arrow has no text for (intervals, bits) is that of DuckDB."""
    relation = connection.sql(sql)
    own = [any(word in str(kind) for word in _WITHOUT_TEXT) for kind in relation.types]
    if any(own):  # columns are told by number, for two may have one name
        cells = ", ".join(
            f"c{number}{'::VARCHAR' if is_own else ''} AS {_quote_name(name)}"
            for number, (is_own, name) in enumerate(zip(own, relation.columns, strict=True))
        )
        numbers = ", ".join(f"c{number}" for number in range(len(own)))
        shown = relation.query("answer", f"SELECT {cells} FROM answer AS t({numbers})")  # noqa: S608  # names, quoted
        relation = relation if shown is None else shown  # None of what is no SELECT, says its type
    return relation.to_arrow_table()


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def connect(root: Path, tables: Sequence[str] = tuple(TABLES)) -> Iterator[DuckDBPyConnection]:
    """Open a database in memory that has tables of a dataset as views, and sees no other file.

    It may write nowhere but to a temporary folder of its own, where a large sort goes. Raises as
    `read_description`, and UsageError without the extra.
    """
    try:
        import duckdb
    except ImportError as error:
        raise UsageError("SQL needs DuckDB: pip install 'mmpscope[sql]'") from error
    generation = read_description(root).generation
    parts = list_parts(root.resolve(), generation, *tables)
    with (
        tempfile.TemporaryDirectory(prefix="mmpscope-sql-") as spill,
        duckdb.connect(":memory:", config=_CONFIGURATION) as connection,
    ):
        connection.execute("SET temp_directory = ?", [spill])
        connection.execute("SET allowed_directories = ?", [[f"{root.resolve()}/", f"{spill}/"]])
        connection.execute("SET enable_external_access = false")
        with _explaining(root):
            for name, own in parts.items():
                connection.execute(f"CREATE VIEW {name} AS {_make_view(name, own)}")
            if "files" in parts:
                connection.execute(f"CREATE VIEW {ERRORS} AS {_ERRORS_SQL}")
        connection.execute("SET lock_configuration = true")
        yield connection


_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # else a word of the SQL may be a variable of ours
}


def _find_mentioned(sql: str) -> list[str]:
    """Return the tables whose names are words of the SQL; all of them where none is, as in SHOW TABLES.

    A view costs a look at its parts, of which there may be many thousands.
    """
    words = set(re.findall(r"\w+", sql.lower()))
    if ERRORS in words:
        words.add("files")
    return [name for name in TABLES if name in words] or list(TABLES)


def _make_view(name: str, parts: Sequence[Part]) -> str:
    """Write the SELECT behind a view: parts of one month and the same columns, and the others below them.

    DuckDB would find months by itself, but would take every key=value in the path of the dataset for one; and
    columns, but only by reading the end of every part before each answer.
    """
    month = f", %s::VARCHAR AS {MONTH.name}" if name in PARTITIONED else ""
    if not parts:
        cells = ", ".join(f'NULL::{_TYPES[field.type]} AS "{field.name}"' for field in TABLES[name])
        return f"SELECT {cells}{month.replace('%s', 'NULL')} WHERE false"
    alike = groupby(sorted(parts, key=_tell_kind), key=_tell_kind)
    return " UNION ALL BY NAME ".join(
        f"SELECT *{month.replace('%s', key)} FROM {_scan(own)}"  # noqa: S608  # names and paths of ours, quoted
        for (key, _), own in alike
    )


def _tell_kind(part: Part) -> tuple[str, str]:
    return _quote(part.month), part.columns


def _scan(parts: Iterable[Part]) -> str:
    paths = ", ".join(_quote(str(part.path)) for part in parts)
    return f"read_parquet([{paths}], hive_partitioning = false)"


def _quote(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


@contextmanager
def _explaining(root: Path) -> Iterator[None]:
    """Say in one sentence what DuckDB refuses; what names a file of the dataset is no fault of the SQL."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise AnalysisError(f"the memory is too small for this question: {_shorten(error)}") from error
    except duckdb.Error as error:
        reason = _shorten(error)
        is_told = str(root.resolve()) in reason and not isinstance(error, duckdb.PermissionException)
        if isinstance(error, duckdb.IOException) or is_told:
            raise InputError(f"a part of the dataset cannot be read: {reason}") from error
        raise UsageError(f"DuckDB refuses the SQL: {reason}") from error
    except RuntimeError as error:  # how DuckDB says that Ctrl-C was pressed
        raise KeyboardInterrupt from error


def _shorten(error: Exception) -> str:
    """Take the message without the lines that point into the SQL."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())
