"""Telling what VMMap saved from other content by its first bytes."""

from __future__ import annotations

import re

__all__ = ["is_csv", "is_text", "is_xml"]

_DECLARATION = re.compile(r"\s*<\?xml\s")
_ELEMENTS = re.compile(r"<(?:[\w.-]+:)?(?:Snapshots?(?=[\s/>])|Region\s[^<>]*Address=)")
_START = re.compile(r"\s*<[A-Za-z_!]")


def is_xml(head: bytes) -> bool:
    """Whether this is XML that may be VMMap's: declared, or with its elements.

    What a traced program did comes before the first snapshot and may fill more than the first bytes; no other
    format that we read is XML, so the reader tells whether it is VMMap's.
    """
    text = _decode(head)
    if _DECLARATION.match(text):
        return True
    return _START.match(text) is not None and _ELEMENTS.search(text) is not None


def is_csv(head: bytes) -> bool:
    """Whether a line is the heading of VMMap's list or summary, separated."""
    return _find_heading(head) == "CsvLayout"


def is_text(head: bytes) -> bool:
    """Whether a line is the heading of VMMap's list or summary, in columns of fixed width."""
    return _find_heading(head) == "TextLayout"


def _find_heading(head: bytes) -> str | None:
    text = _decode(head)
    if "Committed" not in text:
        return None
    from mmpscope.formats.vmmap.layouts import find_layout

    layouts = (find_layout(line.rstrip("\r")) for line in text.split("\n"))
    return next((type(layout).__name__ for layout in layouts if layout is not None), None)


def _decode(head: bytes) -> str:
    from mmpscope.formats.vmmap.text import decode_head

    return decode_head(head)
