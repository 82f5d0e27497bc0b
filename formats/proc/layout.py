"""The layout column: a template for each region that turns its values back into the kernel's very bytes.

A layout is the text of the block (map line and counter lines) with each value replaced by a field in braces:

    {start:08x}-{end:08x} {perms} {offset:08x} {dev_major:02x}:{dev_minor:02x} {inode:d} {path@73}
    Size:           {Size/1024:8d} kB
    THPeligible:    {THPeligible:8d}
    VmFlags: {VmFlags}

- `{name}` is a text. `{name:d}` is a number in decimal, `{name:8d}` the same right-aligned with blanks to at
  least 8 characters, `{name:08x}` a number in lower-case hex, padded with zeros to at least 8.
- `{name/1024:8d}` is the value divided by 1024: the line is in kB, the column in bytes.
- `{end}` is start + size, up to 2^64.
- `{path@73}` is nothing where path is null; else at least one blank, and as many as it takes for the path to
  begin at column 73 of its line, counted from 0.
- `{{` and `}}` are braces; everything else stands for itself, line ends included.

A kernel prints all its regions in one layout, so the column is as good as constant. It is null where the
`raw` column has the exact text of the block instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError
from mmpscope.formats.model import Fact

__all__ = ["Layout", "compile_layout", "escape", "pad_path", "render"]

_TOKEN = re.compile(
    rb"[^{}]+|(?P<brace>\{\{|\}\})|\{path@(?P<column>\d{1,4})\}"
    rb"|\{(?P<name>[A-Za-z_][\w-]*)(?P<kib>/1024)?(?::(?P<spec>(?:0?[1-9]\d{0,2})?[dx]))?\}"
)
_LINE_UNIT = 1024


class _Field(NamedTuple):
    name: str
    unit: int
    is_text: bool


class _Part(NamedTuple):
    format: bytes
    fields: tuple[_Field, ...]


class Layout(NamedTuple):
    """A compiled layout: what stands before and after the path, and the column at which the path begins."""

    before: _Part
    path_column: int
    after: _Part


def escape(text: bytes) -> bytes:
    """Write text that stands for itself in a layout."""
    return text.replace(b"{", b"{{").replace(b"}", b"}}")


def pad_path(length: int, column: int) -> bytes:
    """Write the blanks between the ``length`` characters before a path and the path at ``column``."""
    return b" " * max(1, column - length)


def compile_layout(layout: bytes) -> Layout:
    """Compile a layout for `render`; CorruptError where it is not of the form above or has not one path."""
    formats: list[bytes] = [b""]
    fields: list[list[_Field]] = [[]]
    columns: list[int] = []
    position = 0
    while position < len(layout):
        token = _TOKEN.match(layout, position)
        if token is None:
            raise CorruptError("a layout has a brace out of place", offset=position, field="layout")
        position = token.end()
        if token["column"] is not None:
            columns.append(int(token["column"]))
            formats.append(b"")
            fields.append([])
        elif token["name"] is not None:
            spec = token["spec"]
            formats[-1] += b"%" + (spec or b"s")
            unit = _LINE_UNIT if token["kib"] else 1
            fields[-1].append(_Field(token["name"].decode(), unit, spec is None))
        else:
            text = token[0][:1] if token["brace"] else token[0]
            formats[-1] += text.replace(b"%", b"%%")
    if len(columns) != 1:
        raise CorruptError("a layout must name its path once", field="layout")
    before, after = (_Part(*pair) for pair in zip(formats, map(tuple, fields)))
    return Layout(before, columns[0], after)


def render(layout: Layout, row: Mapping[str, Fact]) -> bytes:
    """Write the block of one region; CorruptError where a value is missing or of the wrong type."""
    before = _fill(layout.before, row)
    path = row.get("path")
    if path is None:
        return before + _fill(layout.after, row)
    if not isinstance(path, bytes):
        raise CorruptError("the path is not text", field="path")
    length = len(before) - (before.rfind(b"\n") + 1)
    return before + pad_path(length, layout.path_column) + path + _fill(layout.after, row)


def _fill(part: _Part, row: Mapping[str, Fact]) -> bytes:
    return part.format % tuple([_take(field, row) for field in part.fields])


def _take(field: _Field, row: Mapping[str, Fact]) -> Fact:
    if field.name == "end":
        return _number("start", row) + _number("size", row)
    if not field.is_text:
        return _number(field.name, row) // field.unit
    value = row.get(field.name)
    if not isinstance(value, bytes):
        raise CorruptError("the layout asks for a text that is not there", field=field.name)
    return value


def _number(name: str, row: Mapping[str, Fact]) -> int:
    value = row.get(name)
    if not isinstance(value, int):
        raise CorruptError("the layout asks for a number that is not there", field=name)
    return value
