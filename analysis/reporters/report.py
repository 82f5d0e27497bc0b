"""One finished answer and the ways out for it: text, JSON, or a table file.

Reporters make a `Report`; commands hand it to `deliver`. Nothing here computes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.export import EXTENSIONS, describe_columns, iterate_rows, write_table
from mmpscope.analysis.options import Manner, Writing
from mmpscope.analysis.output import STDOUT, check_output, open_output
from mmpscope.analysis.reporters.screen import Screen, find_screen
from mmpscope.analysis.schema import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JSON_VERSION", "Report", "deliver", "write_json"]

JSON_VERSION = 1
"""Raised when a key of a JSON answer changes its meaning or goes away (docs/json.md)."""


@dataclass(frozen=True)
class Report:
    """``kind`` names the table in the schema, ``facts`` are the JSON keys besides ``rows``.

    ``draw`` lays the answer out as lines for a screen. An answer without a ``table`` brings its JSON
    ``rows`` itself.
    """

    kind: str
    draw: Callable[[Screen], Sequence[str]]
    facts: Mapping[str, object]
    table: pa.Table | None = None
    rows: Sequence[Mapping[str, object]] = ()


def deliver(reports: Iterable[Report], writing: Writing, manner: Manner) -> None:
    """Write the answers in the form that was asked for, to the place that was asked for.

    Several answers follow each other: texts with a blank line between, JSON documents one after the other,
    tables stacked. Raises OutputExistsError or OutputError.
    """
    path = writing.output or STDOUT
    suffix = PurePath(path).suffix.lower()
    check_output(path, force=writing.force)
    if EXTENSIONS.get(suffix, "txt") != "txt" and not writing.json:
        write_table(_stack(list(reports)), path, force=writing.force)
    elif writing.json or suffix == ".json":
        _write_lines(chain.from_iterable(map(write_json, reports)), path, force=writing.force)
    else:
        screen = Screen(verbose=manner.verbose) if path != STDOUT else _find(manner)
        _write_lines(_draw_all(reports, screen), path, force=writing.force)


def _write_lines(lines: Iterable[str], path: str, *, force: bool) -> None:
    if path == STDOUT:  # as text: a stream for people may have any encoding
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    with open_output(path, force=force) as stream:
        stream.writelines(f"{line}\n".encode() for line in lines)


def write_json(report: Report) -> Iterator[str]:
    """Yield the lines of one JSON document, a row a line, so that two documents can be compared by line."""
    yield "{" + f'"schema": "mmpscope/{report.kind}/{JSON_VERSION}",'
    for key, value in report.facts.items():
        yield f" {json.dumps(key)}: {json.dumps(value)},"
    yield ' "rows": ['
    table = report.table
    rows = iter(report.rows) if table is None else iterate_rows(describe_columns(table, TABLES[report.kind]))
    last = next(rows, None)
    for row in rows:
        yield f"  {json.dumps(last)},"
        last = row
    if last is not None:
        yield f"  {json.dumps(last)}"
    yield " ]}"


def _find(manner: Manner) -> Screen:
    return find_screen(no_color=manner.no_color, verbose=manner.verbose)


def _draw_all(reports: Iterable[Report], screen: Screen) -> Iterator[str]:
    for index, report in enumerate(reports):
        if index:
            yield ""
        yield from report.draw(screen)


def _stack(reports: Sequence[Report]) -> pa.Table:
    import pyarrow as pa

    tables = [report.table for report in reports if report.table is not None]
    if not tables:
        raise UsageError("this answer is no table. Use --json, or a file name that ends in .json or .txt")
    stacked = pa.concat_tables(tables, promote_options="permissive")
    return describe_columns(stacked, TABLES[reports[0].kind])
