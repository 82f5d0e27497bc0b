"""Counter blocks read as a grid of characters: many blocks at once, without a step per line or per block.

A kernel prints the counters of every region into one form of fixed width, so that the blocks of many regions,
put below each other, are a table of characters in which each position is a column: of literals, or of digits
of one weight. Taking columns instead of lines leaves the interpreter a thousand steps for a million numbers.

Nothing is taken on trust: a stretch of text that would not come out again exactly is left to `BlockReader`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmpscope.formats.model import Fact
from mmpscope.formats.proc.header import HeaderForm
from mmpscope.formats.proc.map_lines import ITEM, read_headers, read_items
from mmpscope.formats.proc.segments import Segment

__all__ = ["Grid", "make_grid"]

_BODY = re.compile(rb"(\n[\w-]+:)([^{}]*)((?:\{[\w-]+(?:/1024)?:\d?d\}[^{}]*)+)\{([\w-]+)\}\n")
_FIELD = re.compile(rb"\{([\w-]+)(/1024)?:(\d?)d\}([^{}]*)")
_VALUES = bytes(c - 48 if 48 <= c <= 57 else 0 for c in range(256))
_DIGITS = bytes(1 if 48 <= c <= 57 else 0 if c == 32 else 255 for c in range(256))
_ZEROS = bytes(c == 48 for c in range(256))


class _Field(NamedTuple):
    key: str
    offset: int
    width: int


class Grid(NamedTuple):
    """One form of counter block: ``template`` is its fixed part with blanks for the digits.

    A block is ``separator``, the fixed part, the text of ``text_key`` and a line feed. ``fields`` has those
    in kB first, ``in_kb`` of them.
    """

    layout: bytes
    separator: bytes
    template: bytes
    fields: tuple[_Field, ...]
    in_kb: int
    text_key: str

    def read(self, chunk: bytes, form: HeaderForm) -> Segment | None:
        """Read whole blocks, map line and all; None where one of them is of another form."""
        if chunk[-1:] != b"\n":
            return None
        first, *pieces = chunk[:-1].split(self.separator)
        size = len(self.template)
        tails = [piece[size:].split(b"\n") for piece in pieces]
        texts, lines = [tail[0] for tail in tails], [tail[-1] for tail in tails[:-1]]
        if not tails or set(map(len, tails[:-1])) - {2} or len(tails[-1]) != 1 or b"\n" in first:
            return None
        if any(text[:1].isspace() for text in set(texts)):  # blanks before a text are layout
            return None
        headers = read_headers([first, *lines], form)
        numbers = self._read_numbers(b"".join([piece[:size] for piece in pieces]), len(pieces))
        if headers is None or numbers is None:
            return None
        columns = {**headers, **numbers, self.text_key: texts}
        columns["layout"] = [form.layout + self.layout] * len(pieces)
        return Segment(len(pieces), columns)

    def _read_numbers(self, blocks: bytes, rows: int) -> dict[str, Sequence[Fact]] | None:
        step = len(self.template)
        if len(blocks) != rows * step:
            return None
        digits = [
            [blocks[place::step] for place in range(offset, offset + width)]
            for _, offset, width in self.fields
        ]
        if self._fill_in(digits, rows) != blocks:
            return None
        columns = _sort_by_weight(digits, b" " * rows)
        if not _are_numbers(columns, rows * len(digits)):
            return None
        packed = read_items(_add_up(columns, rows * len(digits), rows * self.in_kb))
        return {field.key: packed[i * rows : (i + 1) * rows] for i, field in enumerate(self.fields)}

    def _fill_in(self, digits: Sequence[Sequence[bytes]], rows: int) -> bytearray:
        """Write the template for each row, with these columns of digits."""
        step = len(self.template)
        blocks = bytearray(self.template * rows)
        for field, columns in zip(self.fields, digits):
            for place, column in enumerate(columns, field.offset):
                blocks[place::step] = column
        return blocks


def _sort_by_weight(digits: Sequence[Sequence[bytes]], blank: bytes) -> list[bytes]:
    """Join the columns of the same weight of all fields, units first."""
    longest = max(map(len, digits))
    return [
        b"".join([columns[-1 - weight] if weight < len(columns) else blank for columns in digits])
        for weight in range(longest)
    ]


def _are_numbers(columns: Sequence[bytes], cells: int) -> bool:
    """Whether each row of these columns is a decimal number, right-aligned, without leading zeros.

    A column is compared as one long integer, a byte a row: each digit but the first needs one to its left.
    """
    digits = [int.from_bytes(column.translate(_DIGITS), "little") for column in columns]
    zeros = [int.from_bytes(column.translate(_ZEROS), "little") for column in columns]
    if digits[0] != int.from_bytes(b"\1" * cells, "little"):
        return False
    left = [*digits[1:], 0]
    return all(digit & further == further for digit, further in zip(digits, left)) and all(
        zero & further == zero for zero, further in zip(zeros[1:], left[1:])
    )


def _add_up(columns: Sequence[bytes], cells: int, in_kb: int) -> bytes:
    """Add up columns of digits to numbers, the first ``in_kb`` of them times 1024, as items of 8 bytes.

    Long integers do the arithmetic for all rows at once: a digit pair has a byte to itself, a number 8 bytes,
    and no sum outgrows them.
    """
    digits = [int.from_bytes(column.translate(_VALUES), "little") for column in (*columns, b"")]
    total = 0
    for weight in range(0, len(columns), 2):
        pairs = digits[weight] + 10 * digits[weight + 1]
        if pairs:
            items = bytearray(cells * ITEM)
            items[::ITEM] = pairs.to_bytes(cells, "little")
            total += int.from_bytes(items, "little") * 10**weight
    total += (total & ((1 << 8 * ITEM * in_kb) - 1)) * 1023
    return total.to_bytes(cells * ITEM, "little")


def make_grid(layout: bytes) -> Grid | None:
    """Make the grid of a body's layout; None where it is not of fixed width up to one text at its end."""
    match = _BODY.fullmatch(layout)
    if match is None:
        return None
    template = match[2]
    fields: list[_Field] = []
    others: list[_Field] = []
    for key, unit, digits, literal in _FIELD.findall(match[3]):
        width = int(digits or b"1")
        (fields if unit else others).append(_Field(key.decode(), len(template), width))
        template += b" " * width + literal
    return Grid(layout, match[1], template, (*fields, *others), len(fields), match[4].decode())
