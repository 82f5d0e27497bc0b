"""The map line that begins each region: its grammar, its values, and the layout in which it was printed."""

from __future__ import annotations

import re
from re import Match
from typing import NamedTuple

from mmpscope.formats.proc.layout import escape, pad_path

__all__ = ["HEADER", "Header", "HeaderReader", "is_header", "parse_header"]

HEADER = re.compile(
    rb"(?m)^([0-9a-fA-F]{1,16})-([0-9a-fA-F]{1,16})([ \t]+)([-rwxps]{4})([ \t]+)([0-9a-fA-F]{1,16})([ \t]+)"
    rb"([0-9a-fA-F]{1,8}):([0-9a-fA-F]{1,8})([ \t]+)(\d{1,20})([ \t\r]*)((?<=[ \t\r])[^\n]+)?$"
)
"""`start-end perms offset dev inode [path]`, proc_pid_maps(5); only this tells where a region begins.

Old and patched kernels, emulators and people's editors differ in blanks and widths, never in these fields. Device
numbers are hex and have no width limit (`fe:1a3`), the path is the rest of the line, blanks and brackets included.
"""

KERNEL_ADDRESS_WIDTH = 8
KERNEL_PATH_COLUMN = 73
"""`25 + sizeof(void *) * 6 - 1` blanks and one more (fs/proc/task_mmu.c): 73 on 64-bit, 49 on 32-bit."""


class Header(NamedTuple):
    """The values of one map line; ``path`` None where there is none, ``inode`` None where it is beyond 64 bits."""

    start: int
    size: int
    perms: bytes
    offset: int
    dev_major: int
    dev_minor: int
    inode: int | None
    path: bytes | None


def is_header(match: Match[bytes]) -> bool:
    """Whether a line of this form is a region: one that covers at least a byte."""
    return int(match[1], 16) < int(match[2], 16)


def parse_header(match: Match[bytes]) -> Header:
    """Take the values out of a match of `HEADER`."""
    start, inode = int(match[1], 16), int(match[11])
    return Header(
        start,
        int(match[2], 16) - start,
        match[4],
        int(match[6], 16),
        int(match[8], 16),
        int(match[9], 16),
        inode if inode < 1 << 64 else None,
        match[13] or None,
    )


class _Form(NamedTuple):
    """How a map line was printed: widths, what stands after the inode, and where the path begins."""

    address: int
    offset: int
    major: int
    minor: int
    tail: bytes
    column: int


class HeaderReader:
    """Tells the layout of map lines one after the other, keeping to the last one wherever it fits.

    A line without a path does not show where paths begin, and a number that fills its field does not show the
    width; so the layout before is tried first, and a file gets by with one or two.
    """

    def __init__(self, column: int = KERNEL_PATH_COLUMN) -> None:
        self._form = _Form(KERNEL_ADDRESS_WIDTH, KERNEL_ADDRESS_WIDTH, 2, 2, b" ", column)

    def fit(self, match: Match[bytes], header: Header) -> bytes | None:
        """Tell the layout that writes this line again; None where none does."""
        for form in (self._form, self._guess(match)):
            if _print(form, header) == match[0]:
                self._form = form
                return _write(form)
        return None

    def _guess(self, match: Match[bytes]) -> _Form:
        address = KERNEL_ADDRESS_WIDTH
        if match[1][:1] == b"0" or len(match[1]) < address:
            address = len(match[1])
        offset = _guess_width(match[6], KERNEL_ADDRESS_WIDTH)
        major, minor = _guess_width(match[8], 2), _guess_width(match[9], 2)
        tail, column = self._guess_tail(match)
        return _Form(address, offset, major, minor, tail, column)

    def _guess_tail(self, match: Match[bytes]) -> tuple[bytes, int]:
        if match[13] is None:
            return match[12], self._form.column
        blanks = len(match[12])
        tail = self._form.tail if blanks > len(self._form.tail) else b""
        if blanks == len(tail) + 1:
            return tail, 0
        return tail, match.end(12) - match.start()


def _guess_width(digits: bytes, usual: int) -> int:
    """Tell the width to which a hex number was padded: leading zeros show it, else the usual one where possible."""
    return len(digits) if len(digits) < usual or digits[:1] == b"0" else usual


def _print(form: _Form, header: Header) -> bytes:
    end = header.start + header.size
    text = b"%0*x-%0*x %s %0*x %0*x:%0*x %d%s" % (
        form.address,
        header.start,
        form.address,
        end,
        header.perms,
        form.offset,
        header.offset,
        form.major,
        header.dev_major,
        form.minor,
        header.dev_minor,
        -1 if header.inode is None else header.inode,
        form.tail,
    )
    if header.path is None:
        return text
    return text + pad_path(len(text), form.column) + header.path


def _write(form: _Form) -> bytes:
    address, offset, major, minor, tail, column = form
    return (
        b"{start:0%dx}-{end:0%dx} {perms} {offset:0%dx} {dev_major:0%dx}:{dev_minor:0%dx} {inode:d}%s{path@%d}"
    ) % (address, address, offset, major, minor, escape(tail), column)
