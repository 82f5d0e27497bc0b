"""The map line that begins each region: its grammar, its values, and the layout in which it was printed."""

from __future__ import annotations

import re
from re import Match
from typing import NamedTuple

from mmpscope.formats.proc.layout import escape, pad_path

__all__ = ["HEADER", "Header", "HeaderForm", "HeaderReader", "is_header", "parse_header"]

HEADER = re.compile(
    rb"(?m)^([0-9a-fA-F]{1,16})-([0-9a-fA-F]{1,16})([ \t]+)([-rwxps]{4})([ \t]+)([0-9a-fA-F]{1,16})([ \t]+)"
    rb"([0-9a-fA-F]{1,8}):([0-9a-fA-F]{1,8})([ \t]+)(\d{1,20})([ \t\r]*)((?<=[ \t\r])[^\n]+)?$"
)
"""`start-end perms offset dev inode [path]`, proc_pid_maps(5); only this tells where a region begins.

Old and patched kernels, emulators and people's editors differ in blanks and widths, never in these fields.
Device numbers are hex and have no width limit (`fe:1a3`); the path is the rest of the line, blanks and all.
"""

KERNEL_WIDTH = 8
KERNEL_PATH_COLUMN = 73
"""`25 + sizeof(void *) * 6 - 1` blanks and one more (fs/proc/task_mmu.c): 73 on 64-bit, 49 on 32-bit."""


class Header(NamedTuple):
    """The values of one map line: ``path`` None where there is none, ``inode`` None beyond 64 bits."""

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


class HeaderForm(NamedTuple):
    """How a map line was printed: widths, what stands after the inode, the column where a path begins."""

    address: int = KERNEL_WIDTH
    offset: int = KERNEL_WIDTH
    major: int = 2
    minor: int = 2
    tail: bytes = b" "
    column: int = KERNEL_PATH_COLUMN

    @property
    def layout(self) -> bytes:
        """The layout of a map line of this form."""
        address, offset, major, minor, tail, column = self
        addresses = b"{start:0%dx}-{end:0%dx} {perms} {offset:0%dx} " % (address, address, offset)
        device = b"{dev_major:0%dx}:{dev_minor:0%dx} " % (major, minor)
        return addresses + device + b"{inode:d}%s{path@%d}" % (escape(tail), column)

    def print(self, header: Header) -> bytes:
        """Write a map line in this form."""
        addresses = b"%0*x-%0*x" % (self.address, header.start, self.address, header.start + header.size)
        offset = b"%0*x" % (self.offset, header.offset)
        device = b"%0*x:%0*x" % (self.major, header.dev_major, self.minor, header.dev_minor)
        inode = b"" if header.inode is None else b"%d" % header.inode
        line = b" ".join([addresses, header.perms, offset, device, inode]) + self.tail
        return line if header.path is None else line + pad_path(len(line), self.column) + header.path


class HeaderReader:
    """Tells the layout of map lines one after the other, keeping to the last form wherever it fits.

    A line without a path does not show where paths begin, and a number that fills its field does not show the
    width; so the form of the line before is tried first, and a file gets by with one or two.
    """

    def __init__(self, form: HeaderForm) -> None:
        self.form = form

    def fit(self, match: Match[bytes], header: Header) -> bytes | None:
        """Tell the layout that writes this line again; None where none does."""
        for form in (self.form, _guess_form(match, self.form)):
            if form.print(header) == match[0]:
                self.form = form
                return form.layout
        return None


def _guess_form(match: Match[bytes], usual: HeaderForm) -> HeaderForm:
    address = KERNEL_WIDTH
    if match[1][:1] == b"0" or len(match[1]) < address:
        address = len(match[1])
    offset = _guess_width(match[6], KERNEL_WIDTH)
    major, minor = _guess_width(match[8], 2), _guess_width(match[9], 2)
    blanks, tail, column = match[12], usual.tail, usual.column
    if match[13] is None:
        tail = blanks
    else:
        tail = tail if len(blanks) > len(tail) else b""
        column = 0 if len(blanks) == len(tail) + 1 else match.end(12) - match.start()
    return HeaderForm(address, offset, major, minor, tail, column)


def _guess_width(digits: bytes, usual: int) -> int:
    """Tell the width to which a hex number was padded: leading zeros show it, else the usual one fits."""
    return len(digits) if len(digits) < usual or digits[:1] == b"0" else usual
