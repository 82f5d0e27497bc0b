"""The words of VMMap: types, columns and lines of its summary, as its files spell them.

One table a kind, for readers and writers; protections have their own (`protection`).
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "FIGURES",
    "HOLES",
    "NUMBERS",
    "PAGE_TABLE",
    "USE_TYPES",
    "Figure",
    "name_summary_line",
]

USE_TYPES = {
    0: "Heap",
    1: "Thread Stack",
    2: "Image",
    3: "Mapped File",
    4: "Private Data",
    5: "Shareable",
    6: "Free",
    8: "Managed Heap",
    9: "Page Table",
    10: "Unusable",
}
"""UseType of a `.mmp`, as two public readers agree; what 7 means neither of them knows."""

HOLES = frozenset({"Free", "Unusable"})
"""Rows that are no memory of the process."""
PAGE_TABLE = "Page Table"


class Figure(NamedTuple):
    """A column of numbers: its raw name, which is the attribute of a `.mmp`, and its heading in a list."""

    name: str
    heading: str


FIGURES = (
    Figure("Commit", "Committed"),
    Figure("PrivateBytes", "Private"),
    Figure("TotalWS", "Total WS"),
    Figure("PrivateWS", "Private WS"),
    Figure("ShareableWS", "Shareable WS"),
    Figure("SharedWS", "Shared WS"),
    Figure("LockedWS", "Locked WS"),
)
"""Sizes: bytes in a `.mmp`, K in a list; in the order of a list's columns."""

_COUNTS = ("Blocks", "Protection", "UseType", "Storage", "Id")
"""Numbers that are no sizes; the last three stand in a `.mmp` only."""

NUMBERS = (*(figure.name for figure in FIGURES), *_COUNTS)
"""Every column of numbers besides start and size, in the order of a row's values."""


def name_summary_line(kind: str) -> str:
    """Return the line of the summary that a type of the list counts in, as Image for Image (ASLR)."""
    plain = kind.split(" (", 1)[0]
    return "Stack" if plain == "Thread Stack" else plain
