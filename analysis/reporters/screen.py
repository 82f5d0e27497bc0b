"""What a text is read on: its width, colours and characters, from the stream and the environment."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TextIO

__all__ = ["Screen", "find_screen"]

_PROSE = 120
"""Where prose breaks when nothing limits the width."""


@dataclass(frozen=True)
class Screen:
    """``width`` None is as wide as it takes; ``fine``: the stream can write characters beyond ASCII."""

    width: int | None = None
    colour: bool = False
    fine: bool = True
    verbose: bool = False

    def paint(self, text: str, code: str) -> str:
        """Wrap a text in an SGR sequence where colours are wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def wrap(self, text: str, hang: str = "") -> list[str]:
        """Break prose into lines that fit, all but the first after ``hang``; none for an empty text."""
        import textwrap

        return textwrap.wrap(
            text,
            self.width or _PROSE,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
        )


def find_screen(*, no_color: bool = False, verbose: bool = False, stream: TextIO | None = None) -> Screen:
    """Look at the stream: a terminal has a width and colours, a pipe or a file neither.

    COLUMNS, where it is set, decides in both cases; NO_COLOR (no-color.org) and a dumb terminal switch
    colours off.
    """
    out = stream or sys.stdout
    is_terminal = out.isatty()
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) > 0 else None
    if width is None and is_terminal:
        width = os.get_terminal_size(out.fileno()).columns or None
    plain = no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(width, is_terminal and not plain, _can_write(out, "…█"), verbose)


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
