"""One list of regions, and one table of totals, as they grow while a log is read."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import NamedTuple

from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table
from mmpscope.formats.windbg.words import MEM_FREE

__all__ = ["Listing", "Row", "Sum", "Totals", "list_sums"]

_NUMBERS = ("AllocationBase", "State", "Protect", "Type")
_TEXTS = ("Usage", "Details", "path")


class Row(NamedTuple):
    """One range as printed; what its line does not say is None. ``state`` None is a gap of a Linux dump."""

    start: int
    size: int
    allocation: int | None
    state: int | None
    protect: int | None
    type: int | None
    usage: bytes | None
    details: bytes | None = None
    path: bytes | None = None


class Listing:
    """The rows of one list; free ranges are kept apart, as they are no regions.

    ``command`` is what was typed, ``kinds`` those that !maddress -list was asked for, ``cuts`` the lines at
    which something is missing.
    """

    def __init__(self, form: str, line: int, command: bytes) -> None:
        self.form = form
        self.line = line
        self.command = command
        self.cuts: list[int] = []
        self.kinds: list[bytes] = []
        self.has_unstated = False
        self._start, self._size = array("Q"), array("Q")
        self._numbers: dict[str, list[int | None]] = {name: [] for name in _NUMBERS}
        self._texts: dict[str, list[bytes | None]] = {name: [] for name in _TEXTS}
        self._words: dict[bytes, bytes] = {}
        self._free_start, self._free_size = array("Q"), array("Q")

    def add(self, row: Row) -> None:
        """Add a row; a list has the same few words over and over, which are kept once."""
        if row.state is None:
            self.has_unstated = True
        if row.state in (None, MEM_FREE):
            self._free_start.append(row.start)
            self._free_size.append(row.size)
            return
        self._start.append(row.start)
        self._size.append(row.size)
        for name, number in zip(_NUMBERS, (row.allocation, row.state, row.protect, row.type), strict=True):
            self._numbers[name].append(number)
        for name, text in zip(_TEXTS, (row.usage, row.details, row.path), strict=True):
            self._texts[name].append(None if text is None else self._words.setdefault(text, text))

    @property
    def regions(self) -> int:
        """How many regions there are."""
        return len(self._start)

    @property
    def rows(self) -> int:
        """How many rows there are, free ones too."""
        return len(self._start) + len(self._free_start)

    def numbers(self, name: str) -> list[int | None]:
        """The column of a number that may be missing."""
        return self._numbers[name]

    def texts(self, name: str) -> list[bytes | None]:
        """The column of a text."""
        return self._texts[name]

    def ranges(self) -> list[tuple[int, int]]:
        """Start and size of each region in the order of the list."""
        return list(zip(self._start, self._size, strict=True))

    def find_extent(self) -> tuple[int, int, bool]:
        """Tell first address, end, and whether rows follow each other without a gap or an overlap."""
        free = zip(self._free_start, self._free_size, strict=True)
        ranges = sorted([*self.ranges(), *free])
        is_closed = all(start + size == following for (start, size), (following, _) in pairwise(ranges))
        start, size = ranges[-1]
        return ranges[0][0], start + size, is_closed

    def encode(self) -> Table:
        """Make the regions table: sizes in bytes, the rest as Windows numbers it or as WinDbg writes it."""
        columns = {
            "start": Plain("uint", self._start),
            "size": Plain("uint", self._size, len_of="start"),
            **{name: Plain("uint", values) for name, values in self._numbers.items()},
            **{name: Plain("text", values, text="bytes") for name, values in self._texts.items()},
        }
        return encode_table(columns, self.regions)


class Sum(NamedTuple):
    """One row of totals: ``name`` None where it was lost (a web page takes `<unclassified>` for a tag)."""

    name: bytes | None
    regions: int | None
    size: int


class Totals:
    """Sums by usage, the largest region of each where that was printed, and the sums by other criteria.

    ``space`` is the size of the whole address space where it is stated; ``cuts`` are lines at which something
    is missing.
    """

    def __init__(self, line: int) -> None:
        self.line = line
        self.cuts: list[int] = []
        self.sizes: list[Sum] = []
        self.largest: dict[bytes | None, int] = {}
        self.others: dict[str, list[Sum]] = {}
        self.space: int | None = None

    def encode(self) -> Table:
        """Make the totals table: name, count, RegionSize and maybe Largest in bytes."""
        columns = list_sums(self.sizes)
        if self.largest:
            columns["Largest"] = Plain("uint", [self.largest.get(row.name) for row in self.sizes])
        return encode_table(columns, len(self.sizes))


def list_sums(sums: list[Sum]) -> dict[str, Plain]:
    """Make the columns of a table of sums."""
    return {
        "name": Plain("text", [row.name for row in sums], text="bytes"),
        "count": Plain("uint", [row.regions for row in sums]),
        "RegionSize": Plain("uint", [row.size for row in sums]),
    }
