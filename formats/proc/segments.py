"""Stretches of parsed regions, and joining them into the columns of one table."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mmpscope.formats.errors import LimitError
from mmpscope.formats.limits import DEFAULT_LIMITS
from mmpscope.formats.mmp.columns import Plain
from mmpscope.formats.model import Fact
from mmpscope.formats.proc.counters import Kind
from mmpscope.formats.proc.header import Header

__all__ = ["Segment", "join_segments", "pack_numbers", "tell_encoding"]

_HEADER_TEXTS = ("perms", "path")
_LAST = ("layout", "raw")


class Segment(NamedTuple):
    """``rows`` regions that follow each other, by column; a key that none of them has is left out.

    Numbers without a null are an ``array("Q")``, which takes a quarter of the memory of a list.
    """

    rows: int
    columns: Mapping[str, Sequence[Fact]]


def pack_numbers(numbers: Sequence[Fact]) -> Sequence[Fact]:
    """Pack numbers into an array, unless one of them is null."""
    return numbers if None in numbers else array("Q", numbers)


def join_segments(segments: Sequence[Segment], kinds: Mapping[str, Kind]) -> dict[str, Plain]:
    """Join segments: the values of the map line, counters by first appearance, layout and raw text.

    ``kinds`` tells which counters are texts. LimitError where there are more cells than a table may have.
    """
    rows = sum(segment.rows for segment in segments)
    names = dict.fromkeys(Header._fields)
    for segment in segments:
        names.update(dict.fromkeys(name for name in segment.columns if name not in _LAST))
    names.update(dict.fromkeys(_LAST))
    if rows * len(names) > DEFAULT_LIMITS.table_cells:
        raise LimitError(f"{rows} regions of {len(names)} columns are more than a table may hold")
    columns = {}
    for name in names:
        values = _join(segments, name)
        if name in _HEADER_TEXTS or name in _LAST or kinds.get(name) == "text":
            columns[name] = Plain("text", values, text=tell_encoding(values))
        else:
            columns[name] = Plain("uint", values, len_of="start" if name == "size" else None)
    return columns


def _join(segments: Sequence[Segment], name: str) -> Sequence[Fact]:
    parts = [segment.columns.get(name) for segment in segments]
    if parts and all(isinstance(part, array) for part in parts):
        numbers = array("Q")
        for part in parts:
            numbers.extend(part or ())
        return numbers
    values: list[Fact] = []
    for segment, part in zip(segments, parts):
        values.extend([None] * segment.rows if part is None else part)
    return values


def tell_encoding(values: Sequence[Fact]) -> str:
    """Tell whether texts, given as bytes or None, are all UTF-8."""
    try:
        b"\n".join({value for value in values if value is not None}).decode()
    except UnicodeDecodeError:
        return "bytes"
    return "utf-8"
