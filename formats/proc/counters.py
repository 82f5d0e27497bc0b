"""The lines below a map line: counters in kB, bare numbers and texts, in any order, known or not."""

from __future__ import annotations

import re
from re import Match
from typing import Literal, NamedTuple, Union

from mmpscope.formats.proc.layout import escape

__all__ = ["REGION_COLUMNS", "Body", "BodyReader", "Kind"]

REGION_COLUMNS = (
    "start",
    "size",
    "end",
    "perms",
    "offset",
    "dev_major",
    "dev_minor",
    "inode",
    "path",
    "layout",
    "raw",
)
"""Names that a line of the text cannot have for a column of its own."""

Value = Union[int, bytes]
Kind = Literal["kB", "number", "text"]
"""How a key is printed throughout a file."""

_KB = (
    "Size KernelPageSize MMUPageSize Rss Pss Pss_Dirty Pss_Anon Pss_File Pss_Shmem Shared_Clean Shared_Dirty "
    "Private_Clean Private_Dirty Referenced Anonymous KSM LazyFree AnonHugePages ShmemPmdMapped "
    "ShmemHugePages FilePmdMapped Shared_Hugetlb Private_Hugetlb Swap SwapPss Locked"
)
_KNOWN: dict[str, Kind] = dict.fromkeys(_KB.split(), "kB")
_KNOWN.update(THPeligible="number", ProtectionKey="number", VmFlags="text", Name="text")
"""What mainline and Android kernels print (fs/proc/task_mmu.c); other keys are known by their first line."""
_LINE = re.compile(rb"([A-Za-z_][\w-]{0,63}):([ \t]*)(?:(0|[1-9]\d{0,19})([ \t]+kB)?([ \t\r]*)|(\S[^\n]*)?)")
_MAX_NUMBER = (1 << 64) - 1
_MAX_KEYS = 128
"""Columns that one text may have: the longest real list is about 30, and a row costs all of them."""
_KERNEL_WIDTH = 8


class Body(NamedTuple):
    """The counters of one block; ``layout`` is its text as a template.

    Where a line does not fit, ``layout`` is None, ``oddity`` says why and ``odd_at`` where in the text it
    begins; the other lines still count.
    """

    keys: tuple[str, ...]
    values: tuple[Value, ...]
    layout: bytes | None
    oddity: str = ""
    odd_at: int = 0


class _Line(NamedTuple):
    key: str
    value: Value
    layout: bytes


class _Odd(NamedTuple):
    why: str


class BodyReader:
    """Parses bodies, each distinct one and each distinct line once.

    A key keeps the kind that it had first (the kernel's own counters are known): one column has one unit. A
    line of another kind makes its block odd, as `Rss: 4 pages` would.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = dict(_KNOWN)
        self._keys: set[str] = set()
        self._bodies: dict[bytes, Body] = {}
        self._lines: dict[bytes, _Line | _Odd] = {}

    def read(self, body: bytes) -> Body:
        """Parse what follows a map line, from its line feed on."""
        known = self._bodies.get(body)
        if known is None:
            known = self._bodies[body] = self._parse(body)
        return known

    def _parse(self, body: bytes) -> Body:
        values: dict[str, Value] = {}
        layout: list[bytes] = []
        oddity, odd_at, position = "", 0, 0
        for text in body.split(b"\n"):
            line = self._read_line(text) if text.strip() else None
            if line is None:
                layout.append(text)  # a blank line
            elif isinstance(line, _Line) and line.key not in values:
                values[line.key] = line.value
                layout.append(line.layout)
            elif not oddity:
                oddity = line.why if isinstance(line, _Odd) else f"{line.key} comes twice"
                odd_at = position
            position += len(text) + 1
        whole = None if oddity else b"\n".join(layout)
        return Body(tuple(values), tuple(values.values()), whole, oddity, odd_at)

    def _read_line(self, text: bytes) -> _Line | _Odd:
        known = self._lines.get(text)
        if known is None:
            known = self._lines[text] = self._parse_line(text)
        return known

    def _parse_line(self, text: bytes) -> _Line | _Odd:
        match = _LINE.fullmatch(text)
        if match is None:
            return _Odd("this line is neither a map line nor a counter")
        key = match[1].decode()
        kind: Kind = "text" if match[3] is None else "number" if match[4] is None else "kB"
        if self.kinds.get(key) == "text":
            kind = "text"
        oddity = self._check_key(key, kind)
        if oddity:
            return _Odd(oddity)
        if kind == "text":
            return _Line(key, text[match.end(2) :], escape(text[: match.end(2)]) + b"{%s}" % match[1])
        number = int(match[3]) * (1024 if kind == "kB" else 1)
        if number > _MAX_NUMBER:
            return _Odd(f"the value of {key} does not fit 64 bits")
        return _Line(key, number, _write_number(match, kind) + text[match.end(3) :])

    def _check_key(self, key: str, kind: Kind) -> str:
        """Say what speaks against a line of this key and kind; "" where nothing does."""
        if key in REGION_COLUMNS:
            return f"{key} is the name of another column"
        if key not in self._keys and len(self._keys) == _MAX_KEYS:
            return f"there are more than {_MAX_KEYS} keys"
        if self.kinds.setdefault(key, kind) != kind:
            return f"the value of {key} is not of its usual form ({self.kinds[key]})"
        self._keys.add(key)
        return ""


def _write_number(match: Match[bytes], kind: Kind) -> bytes:
    """Write the layout of `key: number`, the same one for numbers of any length wherever that can be told.

    The kernel pads the key to 16 characters and the number to 8 (`Rss:                   4`), and a number of
    more than 8 digits makes the line longer. Elsewhere one blank, or tabs, are no padding
    (`THPeligible:\t\t0`).
    """
    key, blanks, digits = match[1], match[2], match[3]
    width = 0
    if not blanks.strip(b" "):
        if len(blanks) + len(digits) > _KERNEL_WIDTH:
            width = _KERNEL_WIDTH
        elif len(blanks) > 1:
            width = len(blanks) + len(digits)
    literal = blanks[: len(blanks) - max(0, width - len(digits))]
    unit = b"/1024" if kind == "kB" else b""
    return b"%s:%s{%s%s:%sd}" % (key, literal, key, unit, b"%d" % width if width else b"")
