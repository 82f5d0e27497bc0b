"""The line of totals below a listing of pmap, and whether it is the sum of the rows above."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mmpscope.formats.pmap.columns import Columns, to_bytes

__all__ = ["find_differences", "is_detailed_total", "is_rule", "read_totals"]

_RULE = re.compile(rb"[ \t]*[-=]{2,}(?:[ \t]+[-=]{2,})*[ \t]*")
_SIMPLE = re.compile(rb"[ \t]*total[ \t]+(?:kB[ \t]+)?(\d{1,20}K?(?:[ \t]+(?:\d{1,20}|-)){0,8})[ \t]*")
_MAPPED = re.compile(
    rb"mapped:[ \t]+(\d{1,20})K"
    rb"(?:[ \t]+writeable/private:[ \t]+(\d{1,20})K[ \t]+shared:[ \t]+(\d{1,20})K)?[ \t]*"
)
_DETAILED = re.compile(rb"[ \t]+(\d{1,20}(?:[ \t]+\d{1,20}){0,127})[ \t]+KB[ \t]*")
_WRITABLE, _SHARED = "writeable/private", "shared"


def is_rule(line: bytes) -> bool:
    """Whether a line only separates rows from their totals."""
    return _RULE.fullmatch(line) is not None


def is_detailed_total(line: bytes) -> bool:
    """Whether a line holds the totals of -X or -XX."""
    return _DETAILED.fullmatch(line) is not None


def read_totals(line: bytes, columns: Columns) -> dict[str, int] | None:
    """Read the totals by the name of their figure, in bytes; None where a line has none.

    `-d` has the size of all regions, and of those that are writable and private, or shared. `-XX` adds up
    page sizes as well.
    """
    mapped = _MAPPED.fullmatch(line)
    if mapped is not None:
        names = (columns.figures[0], _WRITABLE, _SHARED)
        return {
            name: int(number) * 1024
            for name, number in zip(names, mapped.groups(), strict=True)
            if number is not None
        }
    match = _SIMPLE.fullmatch(line) or _DETAILED.fullmatch(line)
    if match is None:
        return None
    numbers = zip(columns.figures, match[1].replace(b"K", b"").split(), strict=False)
    return {name: to_bytes(name, int(number)) for name, number in numbers if number != b"-"}


def find_differences(
    totals: Mapping[str, int],
    figures: Mapping[str, Sequence[int | None]],
    perms: Sequence[bytes],
    carried: Mapping[str, int],
) -> list[str]:
    """List the totals that are not the sum of their rows; the first of the figures is the size.

    With several processes, -X and -XX of procps 4.0.2 go on from the totals of the process before,
    ``carried``: 5548 KB below the first, and 10688 KB below the second, whose rows are 5140 KB.
    """
    sums = {name: sum(filter(None, values)) for name, values in figures.items()}
    sizes = next(iter(figures.values()), ())
    for name, (at, letter) in {_SHARED: (3, b"s"), _WRITABLE: (1, b"w")}.items():
        of_kind = [
            size or 0
            for size, mode in zip(sizes, perms, strict=True)
            if mode[at : at + 1] == letter and (name == _SHARED or mode[3:4] == b"p")
        ]
        sums[name] = sum(of_kind)
    return [
        name
        for name, total in totals.items()
        if total not in (sums.get(name, 0), sums.get(name, 0) + carried.get(name, 0))
    ]
