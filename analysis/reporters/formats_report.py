"""The formats that can be read, as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.analysis.reporters.report import Report
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.reporters.text_table import TextColumn, render_table
from mmpscope.formats.interface import Format

__all__ = ["report_formats"]


def report_formats(formats: Sequence[Format]) -> Report:
    """Make the answer of `mmp formats`, in the order in which formats are tried."""
    rows = [
        {
            "name": known.name,
            "title": known.title,
            "known_by": known.known_by,
            "tools": known.tools,
            "gives": list(known.gives),
            "lacks": list(known.lacks),
        }
        for known in formats
    ]

    def draw(screen: Screen) -> list[str]:
        if screen.verbose:
            return [line for known in formats for line in _describe(known, screen)]
        return render_table(
            [
                TextColumn("Format", [known.name for known in formats]),
                TextColumn("What it is", [known.title for known in formats], least=20),
            ],
            screen,
            "-v tells what each gives and lacks",
        )

    return Report("formats", draw, {}, rows=rows)


def _describe(known: Format, screen: Screen) -> list[str]:
    parts = (
        ("known by", known.known_by),
        ("seen from", known.tools),
        ("gives", ", ".join(known.gives)),
        ("lacks", ", ".join(known.lacks)),
    )
    told = (line for name, words in parts if words for line in screen.wrap(f"  {name}: {words}", "    "))
    return [f"{known.name}: {known.title}", *told]
