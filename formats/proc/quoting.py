"""Maps that somebody quoted: each line behind a `> `, blanks, a `| `, or the path that `grep -r` prints.

The prefix is taken off, and kept, so that the text can be written again. Where lines do not share it, the
text is refused in words: taking off what happens to be there could join the wrong lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mmpscope.formats.errors import CorruptError
from mmpscope.formats.proc.header import HEADER

__all__ = ["PREFIX", "Quoted", "has_map_line", "quote", "split_quoted", "strip_colours"]

PREFIX = rb"(?:[^\w\n]{1,40}|[^\s:]{1,200}:[ \t]{0,8})"
"""What may stand before a map line in each line: marks and blanks, or `/proc/12/smaps:`."""
_MAP_LINE = re.compile(rb"(?m)^(" + PREFIX + rb")(?=" + HEADER.pattern.replace(b"(?m)^", b"") + rb")")
_LOOKED_AT = 1 << 20
_ESCAPE = re.compile(rb"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_ESCAPED_LINE = re.compile(rb"(?m)^[^\n\x1b]*\x1b\[[^\n]*$")
_ADVICE = "Take off what stands before the map lines, or give the file itself."


class Quoted(NamedTuple):
    """Lines that share a prefix, without it; ``line`` is the number of the first.

    ``blank`` is what empty lines have in place of the prefix: editors cut blanks at the end of lines.
    ``lead`` and ``trail`` are the text before and behind them, which has no prefix.
    """

    text: bytes
    line: int = 1
    prefix: bytes = b""
    blank: bytes = b""
    lead: bytes = b""
    trail: bytes = b""


def strip_colours(text: bytes) -> tuple[bytes, int]:
    """Take off the colours of a terminal, and count them.

    `grep --color` marks what it found with `ESC [ 01;31m` and `ESC [ K`. A path may hold such bytes of its
    own, so nothing is taken off where only paths do.
    """
    lines = _ESCAPED_LINE.finditer(text, 0, _LOOKED_AT) if b"\x1b[" in text else iter(())
    if not any(HEADER.fullmatch(line[0]) is None for line in lines):
        return text, 0
    return _ESCAPE.subn(b"", text)


def split_quoted(text: bytes) -> Iterator[Quoted]:
    """Yield the runs of lines that share a prefix; a text that is not quoted is one, without a prefix.

    CorruptError where map lines stand behind a prefix that lines between them do not have.
    """
    match = None if has_map_line(text) else _MAP_LINE.search(text, 0, _LOOKED_AT)
    if match is None:
        yield Quoted(text)
        return
    lead, position, line = text[: match.start()], match.start(), 1 + text.count(b"\n", 0, match.start())
    while match is not None:
        prefix = match[1]
        end = _find_run_end(text, position, prefix)
        lines = text.count(b"\n", position, end)
        following = _MAP_LINE.match(text, end)
        if following is None and _MAP_LINE.search(text, end):
            raise _refuse(f"line {line + lines} does not begin with {_show(prefix)}, as lines around it do")
        trail = b"" if following else text[end:]
        yield _unquote(text[position:end], prefix, line)._replace(lead=lead, trail=trail)
        match, lead, position, line = following, b"", end, line + lines


def has_map_line(text: bytes) -> bool:
    """Whether a line of a text is a map line as it stands."""
    return HEADER.search(text) is not None


def _find_run_end(text: bytes, start: int, prefix: bytes) -> int:
    """Find the first line behind ``start`` without the prefix; empty lines may have lost its blanks."""
    marks = re.escape(prefix.rstrip())
    other = re.compile(rb"\n(?!" + re.escape(prefix) + rb"|" + marks + rb"[ \t]*(?:\n|\Z))")
    match = other.search(text, start)
    return len(text) if match is None else match.end()


def _unquote(run: bytes, prefix: bytes, line: int) -> Quoted:
    """Take a prefix off each line of a run; CorruptError where it could not be put back."""
    lines = b"\n" + run
    marks = prefix.rstrip()
    for blank in (prefix, marks):
        text = lines.replace(b"\n" + prefix, b"\n")
        if blank != prefix:
            text = re.sub(rb"\n" + re.escape(marks) + rb"(?=\n)", b"\n", text)
        found = Quoted(text[1:], line, prefix, blank)
        if quote(found.text, prefix, blank) == run:
            return found
    raise _refuse(f"the lines from line {line} on begin with {_show(prefix)}, but not all of them alike")


def quote(text: bytes, prefix: bytes, blank: bytes) -> bytes:
    """Put a prefix before each line, and ``blank`` in place of an empty one."""
    if not text:
        return text
    body, end = (text[:-1], b"\n") if text.endswith(b"\n") else (text, b"")
    quoted = (b"\n" + body).replace(b"\n", b"\n" + prefix)
    if blank != prefix:
        quoted = re.sub(rb"\n" + re.escape(prefix) + rb"(?=\n|\Z)", lambda _: b"\n" + blank, quoted)
    return quoted[1:] + end


def _refuse(what: str) -> CorruptError:
    return CorruptError(what, now=_ADVICE)


def _show(prefix: bytes) -> str:
    return "'" + "".join(c if c.isprintable() else "?" for c in prefix.decode("utf-8", "replace")) + "'"
