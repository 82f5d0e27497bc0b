"""A first look through VMMap's XML: where its snapshots are, how many rows they have, what else is in it.

Nothing of a row is kept, so a file of any number of snapshots costs a few words for each.
"""

from __future__ import annotations

from collections import Counter
from typing import BinaryIO, NamedTuple

from mmpscope.formats.errors import FormatError, LimitError, NotASnapshotError
from mmpscope.formats.faults import FaultLog
from mmpscope.formats.vmmap.xml_parser import Encoding, Handlers, parse
from mmpscope.formats.vmmap.xml_rows import Attributes, read_number, read_range

__all__ = ["Scan", "Span", "scan"]

_MOST_SNAPSHOTS = 1 << 17
"""A day and a half of one every second, which is as often as VMMap takes them."""
_MOST_KINDS = 100


class Span(NamedTuple):
    """One snapshot: where its tag begins, its time as stated, and how many rows of regions it has."""

    offset: int
    ticks: int | None
    rows: int


class Scan(NamedTuple):
    """What is in a file; ``others`` counts elements that are neither rows nor around them."""

    spans: list[Span]
    others: Counter[str]
    log: FaultLog


class _Scanner:
    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.others: Counter[str] = Counter()
        self.log = FaultLog()
        self.loose = 0
        self._holds_rows: list[bool] = []
        self._inside: int | None = None
        self._offset = 0
        self._ticks: int | None = None
        self._rows = 0

    def start(self, name: str, attributes: Attributes, offset: int) -> None:
        is_row = name == "Region" or (name == "Snapshot" and self._inside is None)
        if is_row:
            self._mark_outer()
        self._holds_rows.append(is_row)
        if name == "Region":
            self._count_row(attributes, offset)
        elif is_row:
            if len(self.spans) >= _MOST_SNAPSHOTS:
                raise LimitError(f"there are more than {_MOST_SNAPSHOTS:,} snapshots", offset=offset)
            self._inside = len(self._holds_rows)
            self._offset, self._rows = offset, 0
            self._ticks = read_number(attributes.get("Timestamp"))

    def _mark_outer(self) -> None:
        """Mark the elements around a row: they are its outline, whatever their names."""
        for at in range(len(self._holds_rows) - 1, -1, -1):
            if self._holds_rows[at]:
                break
            self._holds_rows[at] = True

    def _count_row(self, attributes: Attributes, offset: int) -> None:
        if self._inside is None:
            self.loose += 1
        self._rows += 1
        if read_range(attributes) is None:
            self.log.add("a region has no address or no size", offset=offset, lost="the region")

    def end(self, name: str) -> None:
        if self._inside == len(self._holds_rows):
            self.spans.append(Span(self._offset, self._ticks, self._rows))
            self._inside = None
        if not self._holds_rows.pop():
            self.others[name if name in self.others or len(self.others) < _MOST_KINDS else "..."] += 1


def scan(stream: BinaryIO, encoding: Encoding, *, partial: bool) -> Scan:
    """Look through a file; with ``partial``, damage ends it and what came before is kept.

    Regions outside of any snapshot are one, if there is no other. NotASnapshotError where there is neither,
    other FormatErrors as `parse`.
    """
    scanner = _Scanner()
    log = scanner.log
    if encoding.doubt is not None:
        log.add(encoding.doubt)
    try:
        parse(stream, encoding, Handlers(scanner.start, scanner.end, lambda: False))
    except LimitError:
        raise
    except FormatError as error:
        if not partial or not scanner.spans:
            raise
        log.add(error.what, offset=error.offset, lost="what follows the last whole snapshot")
    if not scanner.spans and scanner.loose:
        scanner.spans.append(Span(0, None, scanner.loose))
    if not scanner.spans:
        raise NotASnapshotError(
            "it is XML, but has no element Snapshot or Region as VMMap saves them",
            now="Save it from VMMap as .mmp.",
        )
    return Scan(scanner.spans, scanner.others, log)
