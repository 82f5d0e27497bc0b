"""Looking for addresses: every whole number of a snapshot, wherever it stands, and what it lies in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from mmpscope.formats.mmp.columns import decode_column
from mmpscope.formats.model import Snapshot
from mmpscope.formats.redaction.rebase import Rebase, plan_rebase
from mmpscope.formats.redaction.tokens import Tokens
from support.redacting import KEY

__all__ = ["Places", "find_leaks", "list_numbers", "list_regions", "plan"]

_HIGHEST = 1 << 56
"""Pages of the kernel lie above."""
_LEAST = 1 << 32
_DIGITS = re.compile(rb"[0-9a-fA-F]{9,16}")


def plan(snapshot: Snapshot) -> Rebase:
    """Plan where the addresses of a snapshot go under our key."""
    return plan_rebase(snapshot, Tokens(KEY))


def list_regions(snapshot: Snapshot) -> list[tuple[int, int]]:
    """List the ranges of a snapshot, in address order."""
    if "regions" not in snapshot.tables:
        return []
    columns = (decode_column(snapshot.tables["regions"], name) for name in ("start", "size"))
    return sorted((start, start + size) for start, size in zip(*columns, strict=True) if start < _HIGHEST)


class Places:
    """Ranges that a number can lie in; the first byte behind one counts as well."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _ in self._ranges]

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number <= self._ranges[place][1]


def list_numbers(snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """List each whole number of a snapshot and its capture with where it stands, those in texts as well."""
    facts = {
        "process": snapshot.process,
        "moment": snapshot.moment,
        "host": snapshot.capture.host,
        "system": snapshot.capture.system,
        "capability": [list(row) for row in snapshot.capability],
        "capture": [list(row) for row in snapshot.capture.capability],
        "extra": snapshot.extra,
    }
    yield from _walk("", facts)
    for tables in (snapshot.tables, snapshot.capture.tables):
        for name, table in tables.items():
            for column in table.columns:
                for value in set(decode_column(table, column)):
                    yield from _walk(f"{name}.{column}", value)


def _walk(where: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(f"{where}.{key}", item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(where, item)
    elif isinstance(value, (str, bytes)):
        text = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        for digits in _DIGITS.findall(text):
            yield where, int(digits, 16)
            if digits.isdigit():
                yield where, int(digits)
    elif type(value) is int:
        yield where, value


def find_leaks(original: Snapshot, redacted: Snapshot) -> list[tuple[str, int]]:
    """Find numbers that lie in a range that was moved, and in none of those that it was moved to."""
    moved = plan(original)
    ranges = [one for one in list_regions(original) if moved.find_distance(one[0]) and one[1] > _LEAST]
    before, after = Places(ranges), Places(list_regions(redacted))
    return [pair for pair in list_numbers(redacted) if pair[1] in before and pair[1] not in after]
