"""Many map lines at once, by column; nothing is taken that would not be written again as it is."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Sequence
from operator import lt, sub
from typing import TypeVar

from mmpscope.formats.model import Fact
from mmpscope.formats.proc.header import KERNEL_WIDTH, HeaderForm

__all__ = ["ITEM", "read_headers", "read_items"]

T = TypeVar("T")

ITEM = 8
"""Bytes of an item of ``array("Q")``."""
_PERMS = re.compile(rb"[-rwxps]{4}")
_NO_PATH = (b"", b"\t", b"\r")  # how nothing, or white space other than blanks, begins


def read_headers(lines: Sequence[bytes], form: HeaderForm) -> dict[str, Sequence[Fact]] | None:
    """Read map lines of one kernel's form; None where one of them is of another form."""
    if form._replace(column=0) != HeaderForm(column=0):
        return None
    try:
        return _read_headers(lines, form.column)
    except (ValueError, OverflowError):
        return None


def _read_headers(lines: Sequence[bytes], column: int) -> dict[str, Sequence[Fact]]:
    ranges, perms, offsets, devices, inodes, rests = zip(*[line.split(b" ", 5) for line in lines])
    bounds = b"-".join(ranges).split(b"-")
    if len(bounds) != 2 * len(lines) or not all(map(_PERMS.fullmatch, set(perms))):
        raise ValueError
    starts, ends = _read_hex(bounds[::2]), _read_hex(bounds[1::2])
    if not all(map(lt, starts, ends)):
        raise ValueError
    majors, minors = zip(*_convert(devices, _parse_device, b"%02x:%02x"))
    return {
        "start": starts,
        "size": array("Q", map(sub, ends, starts)),
        "perms": perms,
        "offset": _read_hex(offsets),
        "dev_major": array("Q", majors),
        "dev_minor": array("Q", minors),
        "inode": array("Q", _convert(inodes, int, b"%d")),
        "path": _take_paths(lines, rests, column),
    }


def _read_hex(words: Sequence[bytes]) -> array[int]:
    """Read numbers that `%08x` printed; where all are of one even width, all together."""
    width = len(words[0])
    if width % 2 or width < KERNEL_WIDTH or set(map(len, words)) != {width}:
        return array("Q", _convert(words, _parse_hex, b"%08x"))
    text = b"".join(words).decode("ascii")
    data = bytes.fromhex(text)
    if data.hex() != text or (width > KERNEL_WIDTH and "0" in text[::width]):
        raise ValueError
    size = width // 2
    items = bytearray(len(words) * ITEM)
    for place in range(size):
        items[size - 1 - place :: ITEM] = data[place::size]
    return read_items(items)


def read_items(data: bytes | bytearray) -> array[int]:
    """Take numbers from little-endian items."""
    numbers = array("Q")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _convert(words: Sequence[bytes], parse: Callable[[bytes], T], form: bytes) -> list[T]:
    """Parse each distinct word once; ValueError where one would not be written again as it is."""
    parsed = {word: parse(word) for word in set(words)}
    if any(form % value != word or len(word) > 20 for word, value in parsed.items()):
        raise ValueError
    return [parsed[word] for word in words]


def _parse_hex(word: bytes) -> int:
    return int(word, 16)


def _parse_device(word: bytes) -> tuple[int, int]:
    major, minor = word.split(b":")
    if len(word) > 17:
        raise ValueError
    return int(major, 16), int(minor, 16)


def _take_paths(lines: Sequence[bytes], rests: Sequence[bytes], column: int) -> list[bytes | None]:
    """Take the paths out of what follows the inode and a blank; ValueError where one is out of its column."""
    paths = [rest.lstrip(b" ") for rest in rests]
    for line, rest, path in zip(lines, rests, paths):
        padding = len(rest) - len(path)
        if rest and (path[:1] in _NO_PATH or padding != max(1, column - len(line) + len(rest))):
            raise ValueError
    return [path or None for path in paths]
