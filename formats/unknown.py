"""Telling in words what content is that no reader takes: people drop all sorts of files on a tool."""

from __future__ import annotations

import re

__all__ = ["describe_unknown"]

_SHOWN_CHARACTERS = 20
_BINARY = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"MZ", "a Windows program, not a dump of one"),
    (b"\x7fELF", "an ELF file, and no core"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd"),
    (b"\x04\x22\x4d\x18", "a file packed with LZ4"),
    (b"PAGEDU", "a memory dump of a whole Windows system"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or core"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
)
_TEXTS = (
    (
        re.compile(r"Name:\t[^\n]*\n(?:Umask|State):\t"),
        "/proc/PID/status, which has no map: give the smaps beside it",
    ),
    (re.compile(r"W/google-breakpad"), "a microdump of Breakpad, which has no map"),
    (re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE), "an HTML page"),
    (re.compile(r"<\?xml|<[A-Za-z][\w:.-]*[\s>]"), "XML of another tool"),
    (re.compile(r'\{\s*["}]|\[\s*[\[{"\d\]]'), "JSON"),
    (re.compile(r"\{\\rtf"), "an RTF document"),
)
_SEPARATORS = "\t,;|"
_LEAST_FIELDS = 3


def describe_unknown(head: bytes) -> str:
    """Say what content of no known format looks like, in characters that do a terminal no harm."""
    if not head:
        return "it is empty"
    text = _decode(head)
    start = f"it starts with '{_show_start(text)}'"
    for magic, words in _BINARY:
        if head.startswith(magic):
            return f"it looks like {words}"
    for pattern, words in _TEXTS:
        if pattern.match(text.lstrip()):
            return f"it looks like {words}" + ("" if "," in words else f" ({start})")
    if "\0" in text:
        return start
    if _is_table(text):
        return f"it looks like a CSV of another tool ({start})"
    return f"{start}, and line 1 is not a map line"


def _decode(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", "backslashreplace")
    return head.decode("utf-8-sig", "backslashreplace")


def _show_start(text: str) -> str:
    line = " ".join(text.split("\n", 1)[0][:_SHOWN_CHARACTERS].split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def _is_table(text: str) -> bool:
    """Whether the first lines have the same number of fields, and more than two, by one separator."""
    lines = text.splitlines()[:4]
    counts = ({line.count(separator) for line in lines} for separator in _SEPARATORS)
    return len(lines) > 1 and any(len(count) == 1 and min(count) >= _LEAST_FIELDS - 1 for count in counts)
