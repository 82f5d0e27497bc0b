"""Arrow tables into the tables of a page: by columns, exact, and small once compressed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.pages.schema import Column, Table
from mmpscope.analysis.reporters.diff_report import TITLES
from mmpscope.analysis.reporters.names import shorten_middle, show_name
from mmpscope.analysis.schema import Field

__all__ = [
    "LONGEST_TEXT",
    "Texts",
    "decode_table",
    "encode_number",
    "encode_table",
    "list_rows",
    "make_title",
    "show_text",
]

LONGEST_TEXT = 8_192
"""Characters of a text that a page keeps: a path has at most 4,096 bytes (PATH_MAX), escapes are longer."""
_MOST_TEXT = 16 << 20
"""Characters of a block: 60,000 paths of 250 characters."""
_SHORT = 200
_SAFE = (1 << 53) - 1
"""Number.MAX_SAFE_INTEGER (ECMA-262): up to here a double holds every integer."""
_FEW = 8
"""Values of which a copy is shorter than the name of another column."""
_SIDES = {"_a": "Before", "_b": "After"}
_CHANGE = "_delta"
_WORDS = {"a": "Before", "b": "After", "delta": "Change", "upto": "Up to", "word": "What happened"}
_ABBREVIATIONS = frozenset(("bss", "elf", "id", "ip", "pid", "ppid", "rss", "sp", "tid", "uid", "ws"))
"""Words that are written in capitals."""
_UNITS = {"string": "text", "bool": "bool", "float64": "number"}


class Texts:
    """The texts of one block, each once, and their numbers.

    Once there are very many of them, only the ends of further ones are kept: hostile names have no end.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._left = _MOST_TEXT

    def number(self, text: str) -> int:
        """Return the number of a text as a page shows it."""
        shown = show_text(text if self._left > 0 else shorten_middle(text, _SHORT))
        if shown not in self._numbers:
            self._numbers[shown] = len(self._numbers)
            self._left -= len(shown)
        return self._numbers[shown]

    def list_all(self) -> list[str]:
        """Return the texts by number."""
        return list(self._numbers)


def show_text(text: str) -> str:
    """Write a text so that nothing in it acts, and that it is not endless."""
    return show_name(shorten_middle(text, LONGEST_TEXT) if len(text) > LONGEST_TEXT else text)


def encode_table(name: str, fields: Sequence[Field], table: pa.Table, texts: Texts) -> Table:
    """Encode the columns of a schema that a table has; those of its texts are numbers of ``texts``."""
    known = [field for field in fields if field.name in table.column_names]
    stored = [field for field in known if not (field.name == "end" and _is_end_told(table))]
    return {
        "name": name,
        "rows": table.num_rows,
        "columns": [_describe(field) for field in known],
        "data": _leave_out_twins({field: _encode(field, table, texts) for field in stored}),
    }


def _is_end_told(table: pa.Table) -> bool:
    """Tell if every end is address + size: modules with gaps span more than their size."""
    if not {"address", "size", "end"} <= set(table.column_names):
        return False
    sums = zip(*(table[name].to_pylist() for name in ("address", "size", "end")), strict=True)
    return all(end == (None if None in (start, size) else start + size) for start, size, end in sums)


def _leave_out_twins(data: dict[Field, Any]) -> dict[str, Any]:
    """Name an earlier column in place of one that equals it, as uss and total_ws of a lone process do."""
    found: dict[str, Any] = {}
    for field, values in data.items():
        alike = (other.name for other in data if other.type == field.type and found.get(other.name) == values)
        twin = next(alike, None)
        found[field.name] = values if twin is None or len(values) < _FEW else {"like": twin}
    return found


def decode_table(table: Table, texts: Sequence[str]) -> dict[str, list[Any]]:
    """Undo `encode_table`, as data.js does: the columns by name, integers exact, text as a page shows it."""
    units = {column["name"]: column["unit"] for column in table["columns"]}
    found: dict[str, list[Any]] = {}
    for name, values in table["data"].items():
        twin = values.get("like") if isinstance(values, dict) else None
        found[name] = found[twin] if twin else _decode(values, units[name], table["rows"], texts)
    if "end" in units and "end" not in found:
        pairs = zip(found["address"], found["size"], strict=True)
        found["end"] = [None if None in pair else sum(pair) for pair in pairs]
    return {name: found[name] for name in units}


def list_rows(table: Table, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an encoded table, as `decode_table` has its columns."""
    columns = decode_table(table, texts)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _decode(values: Any, unit: str, rows: int, texts: Sequence[str]) -> list[Any]:
    if isinstance(values, dict):
        values = [values["same"]] * rows if "same" in values else list(accumulate(values["steps"]))
    if unit == "text":
        return [None if value is None else texts[value] for value in values]
    return [int(value, 0) if isinstance(value, str) else value for value in values]


def make_title(name: str) -> str:
    """Write the name of a column as the head of a table has it."""
    if name.endswith(_CHANGE):
        return f"\u0394 {make_title(name.removesuffix(_CHANGE))}"
    for end, side in _SIDES.items():
        if name.endswith(end):
            title = make_title(name.removesuffix(end))
            return f"{side}, {title if title[:2].isupper() else title[:1].lower() + title[1:]}"
    shown = _WORDS.get(name) or TITLES.get(name) or _spell(name)
    return shown[:1].upper() + shown[1:].replace("\n", " ")


def _spell(name: str) -> str:
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in name.split("_"))


def encode_number(value: int | None, *, is_address: bool = False) -> int | str | None:
    """Write an integer beyond what a double holds as text: an address in hex, any other in decimal."""
    if value is None or -_SAFE <= value <= _SAFE:
        return value
    return f"0x{value:016x}" if is_address else str(value)


def _describe(field: Field) -> Column:
    unit = _UNITS.get(field.type, field.unit or "count")
    return {"name": field.name, "title": make_title(field.name), "unit": unit}


def _encode(field: Field, table: pa.Table, texts: Texts) -> Any:
    values: list[Any]
    if field.type == "string":
        values = _encode_texts(table, field.name, texts)
    else:
        values = _list_values(table.column(field.name), is_address=field.unit == "address")
    if values and values.count(values[0]) == len(values):
        return {"same": values[0]}
    if field.unit == "address" and values and _is_rising(values):
        return {"steps": [values[0], *(b - a for a, b in pairwise(values))]}
    return values


def _list_values(column: pa.ChunkedArray, *, is_address: bool) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if not pa.types.is_integer(column.type):
        return values
    span: dict[str, Any] = pc.min_max(column).as_py()
    if span["max"] is None or (span["max"] <= _SAFE and span["min"] >= -_SAFE):
        return values
    return [encode_number(value, is_address=is_address) for value in values]


def _is_rising(values: list[Any]) -> bool:
    return all(type(value) is int for value in values) and all(a <= b for a, b in pairwise(values))


def _encode_texts(table: pa.Table, name: str, texts: Texts) -> list[int | None]:
    """Number the texts that occur; a dictionary of Arrow may hold more, and the same one twice."""
    column = RawColumns(table.select([name])).text(name)
    numbers: dict[int, int | None] = {}
    codes = column.codes.tolist()
    for code in codes:
        if code not in numbers:
            value = column.values[code]
            numbers[code] = None if value is None else texts.number(value)
    return [numbers[code] for code in codes]
