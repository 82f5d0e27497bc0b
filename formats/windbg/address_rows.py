"""The rows of !address: base, end, size, type, state, protection, usage, details.

A `+` marks the first region of an allocation. Windows that are too narrow, mails and tickets break rows in
two.
"""

from __future__ import annotations

import re
from itertools import product
from operator import add
from typing import NamedTuple

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.windbg.listing import Listing, Row
from mmpscope.formats.windbg.words import STATES, TYPES, parse_hex, parse_protection

__all__ = ["AddressRows", "ParsedRow", "begins_list", "parse_row", "split_thread"]

_MARKS = {b"+": True, b"*": True, b"|-": False}
"""What stands before a row: whether an allocation begins there. Some versions write `*` and `|-`."""
_PAGE = b"PAGE_"
_QUOTED = re.compile(rb'"([^"]*)"')
_PAGING_FILE = b"PageFile"
_THREAD = re.compile(rb"\[(?:~\d+; ?)?([0-9a-f]{1,8})\.([0-9a-f]{1,8})")
_IMAGES = (b"Image", b"Image32", b"Image64")
_USAGES = frozenset(
    b"<unknown> <unclassified> Free Image Image32 Image64 Stack Stack32 Stack64 Heap Heap32 Heap64 TEB TEB32 "
    b"TEB64 PEB PEB32 PEB64 PageHeap MappedFile MemoryMappedFile FileMap Other CSR Actx NLS".split()
)
_MAX_PARTS = 4


class ParsedRow(NamedTuple):
    """A row; ``starts`` tells whether an allocation begins with it, None without a mark.

    ``is_odd``: a word is unknown where there are few. ``is_whole``: nothing of it can have gone to the next
    line.
    """

    starts: bool | None
    row: Row
    is_odd: bool
    is_whole: bool


class AddressRows:
    """Takes the lines of one list and adds its rows, joining those that are broken."""

    def __init__(self, listing: Listing, faults: FaultLog) -> None:
        self._listing = listing
        self._faults = faults
        self._parts: list[bytes] = []
        self._parsed: ParsedRow | None = None
        self._line = 0
        self._base: int | None = None
        self._end = 0

    def take(self, line: bytes, number: int) -> bool:
        """Take a line that begins a row; False where it does not."""
        parsed = parse_row(line)
        if parsed is None and not _looks_like_row(line):
            return False
        self.close()
        self._parts, self._parsed, self._line = [line], parsed, number
        return True

    def take_rest(self, line: bytes) -> bool:
        """Take a line that goes on with the row before: that is not complete, or this is its details."""
        is_whole = (
            self._parsed is not None and self._parsed.is_whole and line.lstrip()[:1] not in (b"[", b'"')
        )
        if not self._parts or len(self._parts) == _MAX_PARTS or is_whole:
            return False
        self._parts.append(line)
        self._parsed = self._join()
        return True

    def _join(self) -> ParsedRow | None:
        """Put the parts of a row together: a console breaks words, a mail breaks at blanks and drops them."""
        first, *others = self._parts
        for blanks in product((b"", b" "), repeat=len(others)):
            parsed = parse_row(first + b"".join(map(add, blanks, others)))
            if parsed is not None and parsed.is_whole:
                return parsed
        return parse_row(b" ".join(self._parts))

    def close(self) -> None:
        """Add the row that is complete now; one that makes no sense is a fault."""
        if not self._parts:
            return
        parsed, self._parts, self._parsed = self._parsed, [], None
        if parsed is None:
            what = "a row is cut or contradicts itself"
            self._faults.add(what, line=self._line, lost="that row")
            self._listing.cuts.append(self._line)
            return
        if parsed.is_odd:
            self._faults.add("a row has unknown words", line=self._line)
        row = parsed.row
        self._listing.add(row._replace(allocation=self._find_allocation(parsed)))
        self._end = row.start + row.size

    def _find_allocation(self, parsed: ParsedRow) -> int | None:
        """Tell the base of the allocation: that of the last mark, as long as rows follow each other."""
        if parsed.starts:
            self._base = parsed.row.start
        elif parsed.row.start != self._end:
            self._base = None
        return self._base


def begins_list(line: bytes) -> bool:
    """Whether a line is a row beyond doubt, so that an excerpt without a head may begin with it."""
    parsed = parse_row(line)
    return parsed is not None and parsed.is_whole and (parsed.row.state is not None or bool(parsed.starts))


def _looks_like_row(line: bytes) -> bool:
    """Whether a line begins as a row does: it is one, or what is left of one that was cut."""
    words = line.split(None, 3)
    if words[0] in _MARKS:
        return len(words) == 1 or parse_hex(words[1]) is not None
    if any(parse_hex(word) is None for word in words[:3]):
        return False
    return b"`" in words[0] or parse_row(line) is not None or (line[:1] == b" " and len(words[0]) >= 4)


def parse_row(line: bytes) -> ParsedRow | None:
    """Parse a row; None where its three numbers are not base, end and size of one range."""
    words = line.split(None, 1)
    starts = _MARKS.get(words[0]) if words else None
    if starts is not None:
        line = words[1] if len(words) > 1 else b""
    numbers = line.split(None, 3)
    if len(numbers) < 3:
        return None
    start, end, size = map(parse_hex, numbers[:3])
    if start is None or end is None or not size or end - start != size:
        return None
    return _parse_rest(starts, start, size, numbers[3] if len(numbers) > 3 else b"")


def _parse_rest(starts: bool | None, start: int, size: int, rest: bytes) -> ParsedRow:
    """Parse what follows the numbers: words that may be absent, then a word for the usage and details."""
    kind, rest = _take(rest, TYPES)
    state, rest = _take(rest, STATES)
    names, rest = _take_protection(rest)
    protect = parse_protection(names) if names else None
    usage, _, details = rest.strip().partition(b" ")
    details = details.strip()
    is_closed = not details or details[-1:] in (b"]", b'"')
    is_odd = (protect is None and bool(names)) or usage.startswith((b"MEM_", _PAGE))
    row = Row(
        start, size, None, state, protect, kind, usage or None, details or None, _find_path(usage, details)
    )
    return ParsedRow(starts, row, is_odd, is_closed and not is_odd and usage in _USAGES)


def _take(text: bytes, known: dict[bytes, int]) -> tuple[int | None, bytes]:
    word, _, rest = text.lstrip().partition(b" ")
    return (known[word], rest) if word in known else (None, text)


def _take_protection(text: bytes) -> tuple[bytes, bytes]:
    """Take names of protections off the front, as in `PAGE_READWRITE | PAGE_GUARD` or without blanks."""
    taken: list[bytes] = []
    while True:
        word, _, rest = text.lstrip().partition(b" ")
        if not word.startswith(_PAGE) and word != b"|":
            return b" ".join(taken), text
        taken.append(word)
        text = rest


def _find_path(usage: bytes, details: bytes) -> bytes | None:
    """Find the file in the details: in quotes, or for an image the name of its module."""
    quoted = _QUOTED.search(details)
    if quoted is not None:
        return None if quoted[1] == _PAGING_FILE else quoted[1] or None
    if usage in _IMAGES and details[:1] == b"[":
        return details[1:].split(b";", 1)[0].rstrip(b"]") or None
    return None


def split_thread(details: bytes) -> tuple[int, int] | None:
    """Tell process and thread id in details such as `[~0; 11f0.2bcc]`; None where they name no thread."""
    found = _THREAD.match(details)
    return (int(found[1], 16), int(found[2], 16)) if found else None
