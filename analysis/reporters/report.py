"""One finished answer and the ways out for it: text, JSON, or a table file.

Reporters make a `Report`; commands hand it to `deliver`. Nothing here computes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from mmpscope.analysis.checks.schema import CHECK
from mmpscope.analysis.comparisons.schema import COMPARE
from mmpscope.analysis.datasets.schema import COLUMNS, ERRORS
from mmpscope.analysis.diffs.process_schema import DIFF_PROCESSES
from mmpscope.analysis.diffs.schema import DIFF_ROWS
from mmpscope.analysis.errors import UsageError
from mmpscope.analysis.export import EXTENSIONS, check_extension, describe_columns, iterate_rows, write_table
from mmpscope.analysis.options import Manner, Writing
from mmpscope.analysis.output import STDOUT, check_output, open_output
from mmpscope.analysis.progress import follow
from mmpscope.analysis.reporters.screen import Screen, find_screen
from mmpscope.analysis.schema import TABLES, Field
from mmpscope.analysis.trends.schema import TREND

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JSON_VERSION", "Report", "check_writing", "deliver", "write_json"]

JSON_VERSION = 1
"""Raised when a key of a JSON answer changes its meaning or goes away (docs/json.md)."""

FIELDS: dict[str, tuple[Field, ...]] = {
    **TABLES,
    "diff": DIFF_ROWS,
    "diff_processes": DIFF_PROCESSES,
    "check": CHECK,
    "trend": TREND,
    "compare": COMPARE,
    "dataset-build": ERRORS,
    "dataset-info": COLUMNS,
    "sql": (),
}
"""The columns of the table of each kind of answer; those of an answer in SQL are as they were asked for."""


@dataclass(frozen=True)
class Report:
    """``kind`` names the table in the schema, ``facts`` are the JSON keys besides ``rows``.

    ``draw`` lays the answer out as lines for a screen. JSON takes its rows from the table that ``tabulate``
    makes, unless an answer brings ``rows`` of its own; iterators, there and among the facts, are read by it
    alone.
    """

    kind: str
    draw: Callable[[Screen], Iterable[str]]
    facts: Mapping[str, object]
    tabulate: Callable[[], pa.Table] | None = None
    rows: Iterable[Mapping[str, object]] | None = None


def check_writing(writing: Writing) -> Literal["table", "json", "text"]:
    """Choose the form of an answer; refuse a place that it cannot go to, before any work is spent on it.

    Raises UsageError where a name promises another form, else as `check_output`.
    """
    path = writing.output or STDOUT
    suffix = PurePath(path).suffix.lower()
    check_output(path, force=writing.force)
    if EXTENSIONS.get(suffix, "txt") != "txt" and not writing.json:
        return "table"
    if writing.json or suffix == ".json":
        check_extension(path, "a JSON document", (".json", ".txt"), "Name a .json file")
        return "json"
    check_extension(path, "a text", (".txt",), _show_ways(path))
    return "text"


def deliver(reports: Iterable[Report], writing: Writing, manner: Manner) -> None:
    """Write the answers in the form that was asked for, to the place that was asked for.

    Several answers follow each other: texts with a blank line between, JSON documents one after the other,
    tables stacked. Raises as `check_writing`, and OutputError.
    """
    path = writing.output or STDOUT
    form = check_writing(writing)
    reports = follow(reports, manner, path)
    if form == "table":
        write_table(_stack(reports), path, force=writing.force)
    elif form == "json":
        _write_lines(chain.from_iterable(map(write_json, reports)), path, force=writing.force)
    else:
        screen = Screen(verbose=manner.verbose) if path != STDOUT else _find(manner)
        _write_lines(_draw_all(reports, screen), path, force=writing.force)


def _show_ways(path: str) -> str:
    if PurePath(path).suffix.lower() == ".mmp":
        return f"For an .mmp file use `mmp convert FILE -o {path}`"
    return "Name a .txt, .csv, .parquet, .arrow, .jsonl or .json file"


def _write_lines(lines: Iterable[str], path: str, *, force: bool) -> None:
    if path == STDOUT:  # as text: a stream for people may have any encoding
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.writelines(f"{_escape(line, encoding)}\n" for line in lines)
        return
    with open_output(path, force=force) as stream:
        stream.writelines(f"{line}\n".encode() for line in lines)


def _escape(line: str, encoding: str) -> str:
    r"""Escape what an encoding lacks: a name in Greek is `\u03b1` on a Latin-1 or a Windows console."""
    return line.encode(encoding, "backslashreplace").decode(encoding)


def write_json(report: Report) -> Iterator[str]:
    """Yield the lines of one JSON document, a row a line, so that two documents can be compared by line."""
    yield "{" + f'"schema": "mmpscope/{report.kind}/{JSON_VERSION}",'
    for key, value in report.facts.items():
        if isinstance(value, list | Iterator):
            yield f" {json.dumps(key)}: ["
            yield from _write_rows(value)
            yield " ],"
        else:
            yield f" {json.dumps(key)}: {json.dumps(value)},"
    yield ' "rows": ['
    yield from _write_rows(_list_rows(report))
    yield " ]}"


def _write_rows(rows: Iterable[object]) -> Iterator[str]:
    last = None
    for row in rows:
        if last is not None:
            yield f"{last},"
        last = f"  {json.dumps(row)}"
    if last is not None:
        yield last


def _list_rows(report: Report) -> Iterable[Mapping[str, object]]:
    if report.rows is not None:
        return report.rows
    assert report.tabulate is not None, "an answer has a table or rows"
    return iterate_rows(describe_columns(report.tabulate(), FIELDS[report.kind]))


def _find(manner: Manner) -> Screen:
    return find_screen(no_color=manner.no_color, verbose=manner.verbose)


def _draw_all(reports: Iterable[Report], screen: Screen) -> Iterator[str]:
    for index, report in enumerate(reports):
        if index:
            yield ""
        yield from report.draw(screen)


def _stack(reports: Iterable[Report]) -> pa.Table:
    """Keep the tables alone: a report holds on to its snapshot, and that to its open file."""
    from mmpscope.analysis.tables import stack

    kinds, tables = set(), []
    for report in reports:
        kinds.add(report.kind)
        tables += [report.tabulate()] if report.tabulate is not None else []
    if not tables:
        raise UsageError("this answer is no table. Use --json, or a file name that ends in .json or .txt")
    stacked = stack(tables)
    return describe_columns(stacked, FIELDS[kinds.pop()])
