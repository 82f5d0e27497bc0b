"""The list of !address in its old form: a line with base and size, and a line for each fact below it.

`01240000 : 01292000 - 00fae000` is allocation base, base and *size*; without the first, the allocation of the
row before goes on.
"""

from __future__ import annotations

import re

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.windbg.listing import Listing, Row
from mmpscope.formats.windbg.words import STATES, TYPES, parse_hex, parse_protection

__all__ = ["OldRows", "begins_old_list"]

_DASHES = re.compile(rb"\xe2\x80[\x93\x94]|\x96|\x97")
"""Word processors and blogs make a dash of the hyphen, in UTF-8 or in the code page of Windows."""
_FACTS = {b"Type", b"Protect", b"State", b"Usage", b"FullPath", b"Handle", b"Pid.Tid", b"Pid", b"Tid"}


class _OldRow:
    """One region while its lines come in."""

    def __init__(self, allocation: int | None, start: int, size: int) -> None:
        self.allocation = allocation
        self.start = start
        self.size = size
        self._facts: dict[bytes, bytes] = {}

    def take(self, line: bytes) -> bool:
        """Take one fact; False where the line is none."""
        name, _, value = line.strip().partition(b" ")
        if name not in _FACTS:
            return False
        self._facts[name] = value.strip()
        return True

    def finish(self) -> Row | None:
        """Make the row; None where the line of its state is missing."""
        state = self._read_number(b"State")
        if state is None:
            return None
        details = [
            b"%b %b" % (name, self._facts[name])
            for name in (b"Handle", b"Pid.Tid", b"Pid", b"Tid")
            if name in self._facts
        ]
        return Row(
            self.start,
            self.size,
            self.allocation,
            state,
            self._read_number(b"Protect"),
            self._read_number(b"Type"),
            self._facts.get(b"Usage"),
            b"; ".join(details) or None,
            self._facts.get(b"FullPath"),
        )

    def _read_number(self, name: bytes) -> int | None:
        """Read the number in front of the name; of some excerpts only the name is left."""
        value = self._facts.get(name, b"")
        word = value.partition(b" ")[0]
        number = parse_hex(word)
        if number is not None:
            return number
        return TYPES.get(word) or STATES.get(word) or parse_protection(value) or None


def _parse_head(line: bytes, allocation: int | None) -> _OldRow | None:
    """Parse the line with base and size; ``allocation`` is that of the row before."""
    words = _DASHES.sub(b"-", line).split(None, 5)
    if len(words) == 5 and words[1] == b":" and words[3] == b"-":
        allocation = parse_hex(words[0])
        words = words[2:]
    if len(words) != 3 or words[1] != b"-":
        return None
    start, size = parse_hex(words[0]), parse_hex(words[2])
    if start is None or not size or len(words[0]) < 8:
        return None
    return _OldRow(allocation, start, size)


class OldRows:
    """Takes the lines of one list and adds its rows."""

    def __init__(self, listing: Listing, faults: FaultLog) -> None:
        self._listing = listing
        self._faults = faults
        self._row: _OldRow | None = None
        self._base: int | None = None
        self._line = 0

    def take(self, line: bytes, number: int) -> bool:
        """Take a line of a row; False where it is none."""
        head = _parse_head(line, self._base)
        if head is None:
            return self._row is not None and self._row.take(line)
        self.close()
        self._row, self._base, self._line = head, head.allocation, number
        return True

    def take_rest(self, line: bytes) -> bool:
        """Take nothing: each fact has a line of its own."""
        return False

    def close(self) -> None:
        """Add the row that is complete now; one without its state is a fault."""
        if self._row is None:
            return
        row = self._row.finish()
        self._row = None
        if row is None:
            self._faults.add("a region without a line for its state", line=self._line, lost="that region")
            self._listing.cuts.append(self._line)
        else:
            self._listing.add(row)


def begins_old_list(line: bytes) -> bool:
    """Whether a line is the first one of a region and names its allocation."""
    return b" : " in line and _parse_head(line, None) is not None
