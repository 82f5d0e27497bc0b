"""What was built, what a dataset holds and what SQL answers, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from mmpscope.analysis.datasets.schema import ERRORS
from mmpscope.analysis.reporters.amounts import show_address, show_count, show_kib
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, render_table

if TYPE_CHECKING:
    import pyarrow as pa
    from mmpscope.analysis.datasets.building import Built
    from mmpscope.analysis.datasets.info import Contents

__all__ = ["report_build", "report_info", "report_rows"]

_NULL = "NULL"


def report_build(folder: str, built: Built) -> Report:
    """Make the answer of `mmp dataset build`; its rows are the files that could not be read."""
    from mmpscope.analysis.tables import build_table

    errors = {field.name: [getattr(row, field.name) for row in built.errors] for field in ERRORS}
    facts = {
        "dataset": folder,
        "files": built.files,
        "snapshots": built.snapshots,
        "known": built.known,
        "errors": len(built.errors),
    }
    added = f"{_count(built.files, 'file')} with {_count(built.snapshots, 'snapshot')} added"
    others = f"{built.known:,} known already, {len(built.errors):,} not readable"
    sentence = f"{show_name(folder)}: {added}, {others}"
    table = build_table(ERRORS, errors, len(built.errors))
    return Report("dataset-build", lambda screen: screen.wrap(sentence), facts, lambda: table)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def report_info(contents: Contents) -> Report:
    """Make the answer of `mmp dataset info`; its rows are the columns of all tables."""
    facts = {
        "dataset": str(contents.root),
        **asdict(contents.description),
        "months": list(contents.months),
        "tables": [{"table": name, **asdict(size)} for name, size in contents.tables.items()],
    }
    draw = partial(_draw_info, contents)
    return Report("dataset-info", draw, facts, lambda: contents.columns)


def _draw_info(contents: Contents, screen: Screen) -> list[str]:
    about = contents.description
    head = f"{show_name(str(contents.root))}: version {about.version}, rules {about.rules}, {about.producer}"
    names, sizes = list(contents.tables), list(contents.tables.values())
    columns = contents.columns["table"].to_pylist()
    tables = [
        TextColumn("Table", names),
        TextColumn("Rows", [show_count(size.rows) for size in sizes], True),
        TextColumn("Columns", [show_count(columns.count(name)) for name in names], True),
        TextColumn("Parts", [show_count(size.parts) for size in sizes], True),
        TextColumn("Size", [show_kib(size.bytes) for size in sizes], True),
    ]
    months = f"months: {', '.join(month or 'not known' for month in contents.months) or 'none'}"
    lines = [*screen.wrap(head), *screen.wrap(months), "", *render_table(tables, screen, "sizes in KiB")]
    return [*lines, "", *_draw_columns(contents.columns, screen)] if screen.verbose else lines


def _draw_columns(columns: pa.Table, screen: Screen) -> list[str]:
    cells = {name: [cell or "" for cell in columns[name].to_pylist()] for name in columns.column_names}
    return render_table(
        [
            TextColumn("Table", cells["table"]),
            TextColumn("Column", list(map(show_name, cells["column"])), least=16),
            TextColumn("Type", cells["type"]),
            TextColumn("Unit", cells["unit"]),
            TextColumn("Meaning", cells["meaning"], worth=5, least=20),
        ],
        screen,
    )


def report_rows(sql: str, table: pa.Table) -> Report:
    """Make the answer of `mmp dataset sql`; numbers appear as they are: SQL may have computed anything."""
    return Report("sql", lambda screen: _draw_rows(table, screen), {"sql": sql}, lambda: table)


def _draw_rows(table: pa.Table, screen: Screen) -> list[str]:
    import pyarrow as pa

    columns = []
    for index, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        is_address = bool(field.metadata) and field.metadata.get(b"unit") == b"address"
        cells = [_show(value, is_address=is_address) for value in column.to_pylist()]
        worth = KEEP if index == 0 else max(1, KEEP - 1 - index)
        columns.append(TextColumn(show_name(field.name), cells, is_number, worth, 0 if is_number else 8))
    return render_table(columns, screen, "" if table.num_rows else "no rows")


def _show(value: object, *, is_address: bool) -> str:
    if value is None:
        return _NULL
    if is_address and isinstance(value, int):
        return show_address(value)
    if isinstance(value, float):
        return f"{value:.15g}"
    return show_name(value.hex() if isinstance(value, bytes) else str(value))
