"""The lines below a map line: counters in kB, bare numbers and texts, in any order, known or not."""

from __future__ import annotations

import re
from re import Match
from typing import Literal, NamedTuple, Union

from mmpscope.formats.proc.layout import escape

__all__ = ["COUNTER", "KERNEL_KINDS", "REGION_COLUMNS", "Body", "BodyReader", "Kind"]

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
KERNEL_KINDS: dict[str, Kind] = dict.fromkeys(_KB.split(), "kB")
"""What mainline kernels print, in their order (fs/proc/task_mmu.c)."""
KERNEL_KINDS.update(THPeligible="number", ProtectionKey="number", VmFlags="text")
_KNOWN: dict[str, Kind] = {**KERNEL_KINDS, "Name": "text"}
"""Those, and what Android adds; other keys are known by their first line."""
_LINE = re.compile(rb"([A-Za-z_][\w-]{0,63}):([ \t]*)(?:(0|[1-9]\d{0,19})([ \t]+kB)?([ \t\r]*)|(\S[^\n]*)?)")
COUNTER = rb"(?:Size|Rss|Pss):[ \t]+\d{1,20} kB"
"""A line that is in each block of counters and, unlike others of them, nowhere else below /proc."""
_MAX_NUMBER = (1 << 64) - 1
_MAX_KEYS = 128
"""Columns that one text may have: the longest real list is about 30, and a row costs all of them."""
_MOST_BODY = 1 << 16
"""Bytes below one map line; the longest real block has 1,500. Ten million lines would take a minute."""
_KERNEL_WIDTH = 8


class Body(NamedTuple):
    """The counters of one block; ``layout`` is its text as a template.

    Where a line does not fit, ``layout`` is None, ``oddity`` says why and ``odd_at`` where in the text it
    begins; the other lines still count. ``may_hide`` tells whether one of the lines could be what is left of
    a map line.
    """

    keys: tuple[str, ...]
    values: tuple[Value, ...]
    layout: bytes | None
    oddity: str = ""
    odd_at: int = 0
    may_hide: bool = False


class _Line(NamedTuple):
    key: str
    value: Value
    layout: bytes


class _Odd(NamedTuple):
    why: str
    may_hide: bool = False


class _NumberForm(NamedTuple):
    """How a number was printed: what stands after the colon, and to what width blanks pad the digits."""

    blanks: bytes
    width: int


class BodyReader:
    """Parses bodies, each distinct one and each distinct line once.

    A key keeps the kind that it had first (the kernel's own counters are known): one column has one unit. A
    line of another kind makes its block odd, as `Rss: 4 pages` would.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = dict(_KNOWN)
        self._keys: set[str] = set()
        self._forms: dict[bytes, _NumberForm] = {}
        self._bodies: dict[bytes, Body] = {}
        self._lines: dict[bytes, _Line | _Odd] = {}

    def read(self, body: bytes) -> Body:
        """Parse what follows a map line, from its line feed on."""
        if len(body) > _MOST_BODY:
            return Body(
                (),
                (),
                None,
                f"there are more than {_MOST_BODY:,} bytes before the next map line",
                may_hide=True,
            )
        known = self._bodies.get(body)
        if known is None:
            known = self._bodies[body] = self._parse(body)
        return known

    def _parse(self, body: bytes) -> Body:
        values: dict[str, Value] = {}
        layout: list[bytes] = []
        odd: list[tuple[_Odd, int]] = []
        position = 0
        for text in body.split(b"\n"):
            line = self._read_line(text) if text.strip() else None
            if isinstance(line, _Line) and line.key in values:
                line = _Odd(f"{line.key} comes twice", may_hide=True)  # the map line between them is gone
            if line is None:
                layout.append(text)  # a blank line
            elif isinstance(line, _Odd):
                odd.append((line, position))
            else:
                values[line.key] = line.value
                layout.append(line.layout)
            position += len(text) + 1
        if not odd:
            return Body(tuple(values), tuple(values.values()), b"\n".join(layout))
        first, odd_at = odd[0]
        may_hide = any(line.may_hide for line, _ in odd)
        return Body(tuple(values), tuple(values.values()), None, first.why, odd_at, may_hide)

    def _read_line(self, text: bytes) -> _Line | _Odd:
        known = self._lines.get(text)
        if known is None:
            known = self._lines[text] = self._parse_line(text)
        return known

    def _parse_line(self, text: bytes) -> _Line | _Odd:
        match = _LINE.fullmatch(text)
        if match is None:
            return _Odd("this line is neither a map line nor a counter", may_hide=True)
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
        return _Line(key, number, self._write_number(match, kind) + text[match.end(3) :])

    def _write_number(self, match: Match[bytes], kind: Kind) -> bytes:
        """Write the layout of `key: number`, keeping to the key's last form wherever it fits."""
        key, blanks, digits = match[1], match[2], match[3]
        form = self._forms.get(key)
        if form is None or form.blanks + digits.rjust(form.width) != blanks + digits:
            form = self._forms[key] = _guess_form(blanks, digits)
        unit = b"/1024" if kind == "kB" else b""
        width = b"%d" % form.width if form.width else b""
        return b"%s:%s{%s%s:%sd}" % (key, form.blanks, key, unit, width)

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


def _guess_form(blanks: bytes, digits: bytes) -> _NumberForm:
    """Tell how a number was padded from a single one.

    The kernel pads the key to 16 characters and the number to 8 (`Rss:                   4`); a number of
    more digits makes the line longer. Where the key takes 16 it pads to 7 (`Private_Hugetlb:       0`).
    Elsewhere one blank, or tabs, are no padding (`THPeligible:\t\t0`).
    """
    length = len(blanks) + len(digits)
    if blanks.strip(b" ") or (length < _KERNEL_WIDTH and len(blanks) < 2):
        return _NumberForm(blanks, 0)
    if length <= _KERNEL_WIDTH:
        return _NumberForm(blanks[:1], length - 1)
    return _NumberForm(blanks[: length - _KERNEL_WIDTH], _KERNEL_WIDTH)
