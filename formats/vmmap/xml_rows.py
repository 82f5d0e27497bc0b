"""One snapshot of VMMap's XML to rows: attributes in decimal, sizes in bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.vmmap.rows import Place, RegionRows, name_extra
from mmpscope.formats.vmmap.words import FIGURES, NUMBERS, USE_TYPES
from mmpscope.formats.vmmap.xml_parser import Encoding, Handlers, parse

__all__ = ["Attributes", "SnapshotRows", "read_number", "read_range"]

Attributes = dict[str, str]
_KNOWN = frozenset({"Address", "Size", "Type", "Details", *NUMBERS})
_LAST = 1 << 64
_MOST_DIGITS = 20
_DIRECTLY_INSIDE = 2
_USE_NAMES = {str(number): name for number, name in USE_TYPES.items()}
_TOTAL_WS, _PRIVATE_WS, _SHAREABLE_WS = (
    [figure.name for figure in FIGURES].index(name) for name in ("TotalWS", "PrivateWS", "ShareableWS")
)


def read_number(text: str | None) -> int | None:
    """Read a decimal number of 64 bits; None for anything else."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        return None
    number = int(text)
    return number if number < _LAST else None


def read_range(attributes: Attributes) -> tuple[int, int] | None:
    """Read address and size of a region; None where one is missing or they are no range."""
    start, size = read_number(attributes.get("Address")), read_number(attributes.get("Size"))
    if start is None or not size or start + size > _LAST:
        return None
    return start, size


class SnapshotRows:
    """The rows of one snapshot, and the attributes of its tag; what is odd is in ``log``."""

    def __init__(self) -> None:
        self.log = FaultLog()
        self.rows = RegionRows(lambda what: self.log.add(what, offset=self._offset))
        self.attributes: Attributes = {}
        self.lost = 0
        self._offset: int | None = None
        self._snapshots = 0
        self._regions = 0
        self._is_done = False

    def read(self, stream: BinaryIO, encoding: Encoding, offset: int) -> None:
        """Read the snapshot whose tag is at an offset, or all regions of a document without snapshots."""
        parse(stream, encoding, Handlers(self._start, self._end, lambda: self._is_done), offset)
        self._offset = None

    def _start(self, name: str, attributes: Attributes, offset: int) -> None:
        if name == "Region":
            self._offset = offset
            self._regions += 1
            self._add(attributes)
        elif name == "Snapshot":
            if not self._snapshots:
                self.attributes = attributes
            self._snapshots += 1

    def _end(self, name: str) -> None:
        if name == "Region":
            self._regions -= 1
        elif name == "Snapshot":
            self._snapshots -= 1
            self._is_done = self._is_done or not self._snapshots

    def _add(self, attributes: Attributes) -> None:
        found = read_range(attributes)
        if found is None:
            self.lost += 1
            self.log.add("a region has no address or no size", offset=self._offset, lost="the region")
            return
        numbers = list(self._read_numbers(attributes))
        if numbers[_TOTAL_WS] is None:
            numbers[_TOTAL_WS] = _add_up(numbers[_PRIVATE_WS], numbers[_SHAREABLE_WS])
        kind = attributes.get("Type") or _USE_NAMES.get(attributes.get("UseType", ""))
        extra = {name_extra(name): value for name, value in attributes.items() if name not in _KNOWN}
        place = Place(*found, kind, True if self._regions == _DIRECTLY_INSIDE else None)
        self.rows.add(place, tuple(numbers), attributes.get("Details"), extra)

    def _read_numbers(self, attributes: Attributes) -> Iterable[int | None]:
        for name in NUMBERS:
            text = attributes.get(name)
            value = read_number(text)
            if value is None and text is not None:
                self.log.add(f"{name} is no number", offset=self._offset)
            yield value


def _add_up(one: int | None, other: int | None) -> int | None:
    """Total WS, which a `.mmp` leaves out: private and shareable pages are all there are."""
    if one is None or other is None or one + other >= _LAST:
        return None
    return one + other
