"""The generated table of docs/formats.md: one row for each format that the registry knows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mmpscope.formats.interface import Format
from mmpscope.formats.registry import list_formats

__all__ = ["write_formats"]

_BLOCK = re.compile(r"(?P<mark><!-- formats -->\n\n)(?:\|[^\n]*\n)*")
_HEAD = ("format", "what it is", "known by", "seen from", "gives", "lacks")


def write_formats(text: str) -> str:
    """Write the table after each mark `<!-- formats -->` anew."""
    return _BLOCK.sub(lambda block: block["mark"] + _write(list_formats()), text)


def _write(formats: Iterable[Format]) -> str:
    lines = [_HEAD, ("---",) * len(_HEAD), *map(_describe, formats)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _describe(known: Format) -> tuple[str, ...]:
    gives, lacks = (", ".join(words) or "nothing" for words in (known.gives, known.lacks))
    cells = (f"`{known.name}`", known.title, known.known_by, known.tools, gives, lacks)
    return tuple(cell.replace("|", "\\|") for cell in cells)
