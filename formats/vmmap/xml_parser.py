"""XML in bounded memory: expat fed piece by piece, without document types, entities or endless tags.

What the elements mean is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from mmpscope.formats.errors import CorruptError, LimitError, TruncatedError
from mmpscope.formats.vmmap.text import find_mark, is_utf8

__all__ = ["Encoding", "Handlers", "find_encoding", "parse"]

_CHUNK_BYTES = 1 << 16
_MOST_TAG = 1 << 20
_MOST_DEPTH = 64
_MOST_ATTRIBUTES = 128
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_HEAD_BYTES = 1024
_ANSI = "windows-1252"


class Encoding(NamedTuple):
    """``name`` as expat takes it, ``mark`` the length of a mark before the text, ``doubt`` what is odd."""

    name: str
    mark: int
    doubt: str | None = None


class Handlers(NamedTuple):
    """What is told of the elements: ``start`` with name, attributes and offset, ``end`` with name.

    Names come without a prefix. ``is_done`` is asked after each piece: whether the rest does not matter.
    """

    start: Callable[[str, dict[str, str], int], None]
    end: Callable[[str], None]
    is_done: Callable[[], bool]


def find_encoding(stream: BinaryIO) -> Encoding:
    """Tell the encoding by the bytes, and where they say nothing by the declaration; leave the stream at 0.

    Editors change the encoding and leave the declaration: bytes are right. CorruptError for an encoding that
    expat cannot read.
    """
    stream.seek(0)
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    found, mark = find_mark(head)
    if found != "utf-8":
        return Encoding(found.upper().replace("-LE", "LE").replace("-BE", "BE"), mark)
    declared = _DECLARED.match(head[mark:])
    name = "utf-8" if declared is None or mark else declared[1].decode("ascii").casefold()
    if name not in ("utf-8", "utf8") and not name.startswith(("utf-16", "ucs-2")):
        return _check_encoding(Encoding(name, 0))
    if mark or is_utf8(stream):
        return Encoding("utf-8", mark)
    return Encoding(_ANSI, 0, f"bytes that are no UTF-8, read as {_ANSI}")


def _check_encoding(encoding: Encoding) -> Encoding:
    try:
        expat.ParserCreate(encoding.name).Parse(b"<a/>", True)
    except (LookupError, ValueError, expat.ExpatError) as error:
        what = f"its encoding {encoding.name!r} is none that I can read"
        raise CorruptError(what, now="Save it as UTF-8.") from error
    return encoding


def parse(stream: BinaryIO, encoding: Encoding, handlers: Handlers, start: int = 0) -> None:
    """Parse from an offset on, until the handlers are done or the document ends.

    TruncatedError where it ends too early, CorruptError where it is no XML or has a document type,
    LimitError where it asks for too much.
    """
    start = max(start, encoding.mark)
    stream.seek(start)
    parser = _make_parser(encoding, handlers, start)
    fed = 0
    while chunk := stream.read(_CHUNK_BYTES):
        try:
            parser.Parse(chunk, False)
        except expat.ExpatError as error:
            if (
                handlers.is_done()
            ):  # at the end of one snapshot; the tags that close the document have no start
                return
            raise CorruptError(
                f"line {error.lineno}: it is no well-formed XML ({_explain(error)})",
                offset=start + parser.ErrorByteIndex,
            ) from error
        if handlers.is_done():
            return
        fed += len(chunk)
        if fed - parser.CurrentByteIndex > _MOST_TAG + _CHUNK_BYTES:
            raise LimitError(
                f"a tag has more than {_MOST_TAG >> 20} MiB", offset=start + parser.CurrentByteIndex
            )
    try:
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = "the document ends in the middle"
        raise TruncatedError(what, offset=start + fed, now="Save it again, or use --partial.") from error


def _explain(error: expat.ExpatError) -> str:
    return expat.ErrorString(error.code) or "unknown error"


def _make_parser(encoding: Encoding, handlers: Handlers, start: int) -> expat.XMLParserType:
    parser = expat.ParserCreate(encoding.name)
    depth = 0

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        offset = start + parser.CurrentByteIndex
        if depth > _MOST_DEPTH:
            raise LimitError(f"elements are nested more than {_MOST_DEPTH} deep", offset=offset)
        if len(attributes) > _MOST_ATTRIBUTES:
            raise LimitError(f"an element has more than {_MOST_ATTRIBUTES} attributes", offset=offset)
        handlers.start(name[name.rfind(":") + 1 :], attributes, offset)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handlers.end(name[name.rfind(":") + 1 :])

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    return parser


def _refuse_doctype(*_: object) -> None:
    raise CorruptError(
        "it has a document type, which VMMap never writes and which may stand for gigabytes",
        now="Save it again from VMMap.",
    )
