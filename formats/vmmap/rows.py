"""Rows of VMMap, in the order of the file, to raw tables: regions, allocations and free.

A row lies inside an earlier one or not; that tells allocations from their sub-blocks in every file that VMMap
writes. Regions are the rows without rows inside; their figures are no parts of their allocation's, which may
have more or less, so both are kept.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from operator import and_
from typing import NamedTuple

from mmpscope.formats.errors import LimitError
from mmpscope.formats.mmp.columns import Plain, encode_table
from mmpscope.formats.model import Table
from mmpscope.formats.vmmap.words import HOLES, NUMBERS, PAGE_TABLE

__all__ = ["GRANULARITY", "MOST_ROWS", "Place", "RegionRows", "name_extra"]

MOST_ROWS = 1 << 19
"""Rows of one snapshot, which take some 800 bytes each while they are encoded: eight times what a default
Linux allows a process, and far beyond what the window of VMMap is made for."""
GRANULARITY = 64 * 1024
"""Allocations of Windows begin at its multiples (GetSystemInfo, dwAllocationGranularity)."""
_MOST_EXTRA = 64
_MOST_EXTRA_CELLS = 1 << 20
_MOST_TEXT = 1 << 26
"""Bytes of distinct names: a thousand for each of 65,536 regions."""
_PENDING = 4096
_THREAD = re.compile(rb"Thread ID: (\d{1,10})")
"""What VMMap says of the stack of a thread."""
_OWN = frozenset({"start", "size", "AllocationBase", "VmmapType", "Details", "path", *NUMBERS})
_BLOCKS = 3 + NUMBERS.index("Blocks")
_LAST = 1 << 64


class Place(NamedTuple):
    """Where a row lies, and what it says of its place in the tree.

    ``is_part`` is True directly below the allocation before it, False for an allocation, None if unsaid.
    """

    start: int
    size: int
    kind: str | None
    is_part: bool | None = None


class _Numbers:
    """A column of uint64, where unknown values are rare or all."""

    def __init__(self) -> None:
        self.values = array("Q")
        self.known = bytearray()

    def extend(self, values: Sequence[int | None]) -> None:
        self.known += bytes(value is not None for value in values)
        self.values.extend(value or 0 for value in values)

    def select(self, chosen: bytearray) -> Plain:
        values = compress(self.values, chosen)
        known = bytes(compress(self.known, chosen))
        if 0 not in known:
            return Plain("uint", array("Q", values))
        return Plain(
            "uint", [value if is_known else None for value, is_known in zip(values, known, strict=True)]
        )


def name_extra(name: str) -> str:
    """Return the name of the raw column for an attribute or heading that we do not know."""
    return f"raw.{name}" if name in _OWN else name


class RegionRows:
    """Rows as they are read; ``note`` is told of what is odd about the row that is being added.

    ``slack`` is what sizes may be rounded by: a sub-block may seem to end so much behind its allocation.
    """

    def __init__(self, note: Callable[[str], None], slack: int = 0) -> None:
        self._note = note
        self._slack = slack
        self._pending: list[tuple[int | None, ...]] = []
        self._numbers = [_Numbers() for _ in range(3 + len(NUMBERS))]
        self._kinds: list[bytes | None] = []
        self._details: list[bytes | None] = []
        self._extra: dict[str, dict[int, bytes]] = {}
        self._is_leaf = bytearray()
        self._is_allocation = bytearray()
        self._open: list[tuple[int, int, int]] = []
        self._texts: dict[str, bytes] = {}
        self._text_bytes = 0
        self._extra_cells = 0
        self.holes: list[tuple[int, int, str]] = []
        self.page_table = 0
        self.sizes: Counter[str] = Counter()
        self.aligned = 0
        self.unaligned = 0
        self.low = _LAST
        self.high = 0

    def __len__(self) -> int:
        return len(self._is_leaf)

    def add(
        self, place: Place, numbers: tuple[int | None, ...], details: str | None, extra: Mapping[str, str]
    ) -> None:
        """Add a row; ``numbers`` in the order of `NUMBERS`. LimitError where there are too many."""
        start, size, kind, _ = place
        if kind == PAGE_TABLE:
            self.page_table += size  # memory of the kernel, which has no address in the process
            return
        self.low, self.high = min(self.low, start), max(self.high, start + size)
        if len(self._is_leaf) + len(self.holes) >= MOST_ROWS:
            raise LimitError(f"a snapshot has more than {MOST_ROWS:,} rows")
        if kind in HOLES:
            self.holes.append((start, size, str(kind)))
            return
        base = self._put_into_tree(place)
        self._pending.append((start, size, base, *numbers))
        self._kinds.append(self._share(kind))
        self._details.append(self._share(details))
        for name, value in extra.items():
            self._add_extra(name, value)
        if len(self._pending) >= _PENDING:
            self._flush()

    def _put_into_tree(self, place: Place) -> int:
        """Find the allocation that a row belongs to, and return its base."""
        row, start, end = len(self._is_leaf), place.start, place.start + place.size
        if place.is_part is not None:
            del self._open[1 if place.is_part else 0 :]
        while self._open and not self._holds(self._open[-1], place):
            self._open.pop()
        is_allocation = not self._open
        if is_allocation:
            self.sizes[place.kind or ""] += place.size
            self.aligned += start % GRANULARITY == 0
            self.unaligned += start % GRANULARITY != 0
            if place.is_part:
                self._note("a sub-block lies in no allocation")
        else:
            self._is_leaf[self._open[-1][2]] = 0
            if end > self._open[-1][1] + self._slack:
                self._note("a sub-block ends behind its allocation")
        self._open.append((start, end, row))
        self._is_leaf.append(1)
        self._is_allocation.append(is_allocation)
        return self._open[0][0]

    def _holds(self, outer: tuple[int, int, int], inner: Place) -> bool:
        start, end, _ = outer
        if not start <= inner.start < end:
            return False
        return inner.start + inner.size <= end + self._slack or inner.is_part is True

    def _share(self, text: str | None) -> bytes | None:
        """Keep each distinct text once; nothing is null."""
        if not text:
            return None
        if text not in self._texts:
            encoded = self._texts[text] = text.encode("utf-8", "backslashreplace")
            self._text_bytes += len(encoded)
            if self._text_bytes > _MOST_TEXT:
                raise LimitError(f"the names of a snapshot have more than {_MOST_TEXT >> 20} MiB")
        return self._texts[text]

    def _add_extra(self, name: str, value: str) -> None:
        is_new = name not in self._extra
        if (is_new and len(self._extra) >= _MOST_EXTRA) or self._extra_cells >= _MOST_EXTRA_CELLS:
            self._note("there is more in columns of unknown names than is kept")
            return
        self._extra_cells += 1
        self._extra.setdefault(name, {})[len(self._is_leaf) - 1] = self._share(value) or b""

    def _flush(self) -> None:
        for column, values in zip(
            self._numbers, zip(*self._pending, strict=True), strict=False
        ):  # there may be none
            column.extend(values)
        self._pending.clear()

    def encode(self) -> dict[str, Table]:
        """Encode what was added as the tables regions, allocations and, if there are holes, free."""
        self._flush()
        self._judge()
        tables = {"regions": self._select(self._is_leaf), "allocations": self._select(self._is_allocation)}
        if self.holes:
            tables["free"] = _encode_holes(self.holes)
        threads = self._find_threads()
        if threads:
            tables["threads"] = _encode_threads(threads)
        return tables

    def _find_threads(self) -> dict[int, tuple[int, int]]:
        """Find the threads that own an allocation, by id: where their stack begins, and its size."""
        threads: dict[int, tuple[int, int]] = {}
        starts, sizes = (column.values for column in self._numbers[:2])
        for row in compress(range(len(self._details)), self._is_allocation):
            found = _THREAD.fullmatch(self._details[row] or b"")
            if found is not None:
                threads.setdefault(int(found[1]), (starts[row], sizes[row]))
        return threads

    def _judge(self) -> None:
        """Look at the rows as a whole: which lie over each other, which allocations hide their sub-blocks."""
        without_parts = bytes(map(and_, self._is_leaf, self._is_allocation))
        if max(compress(self._numbers[_BLOCKS].values, without_parts), default=0) > 1:
            self._note("an allocation of several blocks lists none of them")
        ends = 0
        leaves = (compress(column.values, self._is_leaf) for column in self._numbers[:2])
        for start, size in sorted(zip(*leaves, strict=True)):
            if start + self._slack < ends:
                self._note("a region begins below the end of one before it")
            ends = max(ends, start + size)

    def _select(self, chosen: bytearray) -> Table:
        start, size, base, *numbers = (column.select(chosen) for column in self._numbers)
        columns = {"start": start, "size": size._replace(len_of="start"), "AllocationBase": base}
        columns["VmmapType"] = Plain("text", list(compress(self._kinds, chosen)), "utf-8")
        columns.update(zip(NUMBERS, numbers, strict=True))
        columns["Details"] = Plain("text", list(compress(self._details, chosen)), "utf-8")
        for name, values in self._extra.items():
            every = map(values.get, range(len(self._is_leaf)))
            columns[name] = Plain("text", list(compress(every, chosen)), "utf-8")
        return encode_table(columns, sum(chosen))


def _encode_threads(threads: Mapping[int, tuple[int, int]]) -> Table:
    """Make a table of threads: tid, stack_start and stack_size (its whole reservation, in bytes)."""
    starts, sizes = zip(*threads.values(), strict=True)
    columns = {
        "tid": Plain("uint", list(threads)),
        "stack_start": Plain("uint", starts),
        "stack_size": Plain("uint", sizes),
    }
    return encode_table(columns, len(threads))


def _encode_holes(holes: Iterable[tuple[int, int, str]]) -> Table:
    starts, sizes, kinds = (list(values) for values in zip(*holes, strict=True))
    columns = {
        "start": Plain("uint", starts),
        "size": Plain("uint", sizes, len_of="start"),
        "VmmapType": Plain("text", [kind.encode() for kind in kinds], "utf-8"),
    }
    return encode_table(columns, len(starts))
