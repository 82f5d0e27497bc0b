"""From the bytes of a text file to the lines that a kernel would have written, and back.

People save a capture in an editor, on Windows, in PowerShell (UTF-16): what is odd about the whole file is
taken off here and kept as facts, so that the parsers see one form and the file can be written byte for byte.
"""

from __future__ import annotations

from typing import NamedTuple

from mmpscope.formats.errors import CorruptError
from mmpscope.formats.model import Facts

__all__ = ["SourceText", "normalize", "restore"]

_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_MARK = b"\xef\xbb\xbf"


class SourceText(NamedTuple):
    """``text`` with plain line feeds.

    ``form`` holds what was taken off: `encoding` (utf-16-le or utf-16-be), `newline`, and `before`, the byte
    order mark in UTF-8.
    """

    text: bytes
    form: Facts


def normalize(data: bytes) -> SourceText:
    """Take off UTF-16 (told by its mark), a byte order mark, and line ends other than LF if all are alike."""
    form: Facts = {}
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        text = _recode(data, encoding)
        if text is not None:
            form["encoding"] = encoding
            data = text
    if data.startswith(_MARK):
        form["before"] = _MARK
        data = data[len(_MARK) :]
    newline = _find_newline(data)
    if newline != b"\n":
        form["newline"] = newline.decode()
        data = data.replace(newline, b"\n")
    return SourceText(data, form)


def _recode(data: bytes, encoding: str) -> bytes | None:
    try:
        text = data.decode(encoding)
        return text.encode() if text.encode(encoding) == data else None
    except UnicodeError:
        return None


def _find_newline(data: bytes) -> bytes:
    """Tell the line end that all lines share; a line feed where they do not.

    Line ends of CR CR LF are real: a program wrote text with CR LF through a layer that added another CR.
    """
    end = data.find(b"\n")
    if end < 0:
        return b"\r" if b"\r" in data else b"\n"
    # Not a search for CR* LF, which takes a minute for a file of nothing but CR.
    newline = data[len(data[:end].rstrip(b"\r")) : end + 1]
    if newline == b"\n" or data.count(newline) != data.count(b"\n"):
        return b"\n"
    return newline if data.replace(newline, b"\n").replace(b"\n", newline) == data else b"\n"


def restore(text: bytes, form: Facts) -> bytes:
    """Write a normalized text as it was in its file; CorruptError where it does not fit the form."""
    newline, encoding = form.get("newline"), form.get("encoding")
    if isinstance(newline, str):
        text = text.replace(b"\n", newline.encode())
    if isinstance(encoding, str) and encoding in _UTF16.values():
        try:
            text = text.decode().encode(encoding)
        except UnicodeError as error:
            raise CorruptError(
                "the text does not fit the encoding that it is said to have", field="encoding"
            ) from error
    return text
