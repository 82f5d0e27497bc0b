"""Columns of an Arrow table as ready text: how a value looks follows from its unit in the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN, show_address, show_count, show_kib
from mmpscope.analysis.reporters.names import show_name
from mmpscope.analysis.reporters.text_table import KEEP, TextColumn, digest_parts
from mmpscope.analysis.schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EMPTY_SPACE", "Laid", "Shown", "fold_rows", "lay_out", "show_values"]

_PART = 4096
"""Rows that are text at the same time."""

_COUNTS = {"blocks", "loads", "threads", "allocations", "count", "holes", "regions"}
"""Columns that count things: they get thousands separators, unlike the number of a process or thread."""

_ARGUMENTS = "cmdline"
"""The column of words that end with a NUL each; ps(1) writes blanks between them, too."""

_NO_SUM = {"largest", "below", "above", "merged", "gain"}
"""Sizes of which a sum means nothing: two splitters share the hole between them."""

EMPTY_SPACE = frozenset({"Free", "Unusable"})
"""Types of rows that have a size and no other figure."""


@dataclass(frozen=True)
class Shown:
    """A column of a table as it appears on a screen; `TextColumn` explains ``worth`` and ``least``."""

    name: str
    title: str
    worth: int = KEEP
    least: int = 0


def lay_out(
    fields: Sequence[Field], columns: Sequence[Shown], shown: pa.Table, rest: pa.Table | None = None
) -> list[TextColumn]:
    """Turn columns of a table into text; ``rest`` are rows beyond a limit, folded into one that keeps the
    sums.

    Columns that the table lacks are left out.
    """
    known = {field.name: field for field in fields}
    laid: list[TextColumn] = []
    for column in columns:
        if column.name not in shown.column_names:
            continue
        field = known[column.name]
        folded = fold_rows(rest, field, is_first=not laid)
        cells = [*show_values(field, shown[column.name].to_pylist()), *folded]
        laid.append(TextColumn(column.title, cells, field.type != "string", column.worth, column.least))
    return laid


class Laid:
    """A table as text in parts, each laid out when it is looked at: a long one is not in memory as text.

    ``lay`` makes columns of some rows, and of those that are folded into one below the last.
    """

    def __init__(
        self,
        lay: Callable[[pa.Table, pa.Table | None], Sequence[TextColumn]],
        shown: pa.Table,
        rest: pa.Table | None = None,
    ) -> None:
        self._lay = lay
        self._shown = shown
        self._rest = rest
        self._only = list(self._lay_out()) if shown.num_rows <= _PART else None
        self.columns = digest_parts(self) if self._only is None else self._only[0]

    def __iter__(self) -> Iterator[Sequence[TextColumn]]:
        return self._lay_out() if self._only is None else iter(self._only)

    def _lay_out(self) -> Iterator[Sequence[TextColumn]]:
        last = max(self._shown.num_rows - 1, 0) // _PART
        for number in range(last + 1):
            rest = self._rest if number == last else None
            yield self._lay(self._shown.slice(number * _PART, _PART), rest)


def show_values(field: Field, values: Sequence[Any]) -> list[str]:
    """Write one column: a null number is not known, a null text blank, a null ratio means nothing."""
    if field.name == _ARGUMENTS:
        return [show_name((value or "").rstrip("\0").replace("\0", " ")) for value in values]
    if field.type == "string":
        return ["" if value is None else show_name(value) for value in values]
    if field.type.startswith("float"):
        return [NOT_APPLICABLE if value is None else f"{value:.3f}" for value in values]
    if field.unit == "bytes":
        return [show_kib(value) for value in values]
    if field.unit == "address":
        return [show_address(value) for value in values]
    if field.name in _COUNTS:
        return [show_count(value) for value in values]
    return [UNKNOWN if value is None else str(value) for value in values]


def fold_rows(rest: pa.Table | None, field: Field, *, is_first: bool) -> list[str]:
    """Write the one cell that stands for the rows beyond the limit; no cell where there are none."""
    if rest is None or not rest.num_rows:
        return []
    if is_first:
        return [f"({rest.num_rows:,} more)"]
    if field.unit != "bytes" or field.name in _NO_SUM:
        return [""]
    import pyarrow as pa
    import pyarrow.compute as pc

    values = rest[field.name]
    if (
        field.name != "size" and "type" in rest.column_names
    ):  # free space has no other figure, so it lacks none
        values = values.filter(pc.invert(pc.is_in(rest["type"], pa.array(sorted(EMPTY_SPACE), pa.string()))))
    return [UNKNOWN if values.null_count else show_kib(pc.sum(values).as_py() or 0)]
