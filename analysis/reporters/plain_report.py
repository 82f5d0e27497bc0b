"""Any table as plain text, all columns at full width; for a file, not for a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmpscope.analysis.reporters.cells import show_values
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import TextColumn, explain_marks, render_table
from mmpscope.analysis.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["render_plain"]


def render_plain(table: pa.Table) -> str:
    """Lay a table out as text; sizes are in KiB where the column's metadata says that they are bytes."""
    import pyarrow as pa

    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        unit = (field.metadata or {}).get(b"unit", b"").decode()
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        kind = str(field.type) if is_number else "string"
        values = column.to_pylist()
        cells = show_values(
            Field(field.name, kind, unit, ""), values if is_number else list(map(_to_text, values))
        )
        columns.append(TextColumn(show_name(field.name), cells, is_number))
    lines = render_table(columns, Screen(), explain_marks(columns, "sizes in KiB"))
    return "".join(f"{line}\n" for line in lines)


def _to_text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.hex()
    return None if value is None else str(value)
