"""Figures of a page as a person reads them in a table: in the unit that they reach, and what a null means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mmpscope.analysis.reporters.amounts import NOT_APPLICABLE, UNKNOWN, show_count, show_size

__all__ = ["AT_LEAST", "show_bytes", "show_summary_figure"]

AT_LEAST = "\N{GREATER-THAN OR EQUAL TO} "
"""Before a sum of what is known, where not all of it is."""
_NO_BLOCKS = {"Page Table": ("blocks", "largest"), "Unusable": ("blocks",)}
"""What rows of no region do not have: memory of the kernel, and what is lost between regions."""


def show_bytes(value: int | None, *, sign: bool = False) -> str:
    """Write an amount of bytes; ``sign`` says that it is a change."""
    if not value:
        return UNKNOWN if value is None else "0"
    return ("+" if sign and value > 0 else "") + show_size(value)


def show_summary_figure(row: Mapping[str, Any], name: str) -> str:
    """Write a figure of a row of the summary: a dash where the type has none, a sign before a part."""
    value = row[name]
    if value is None and name in _NO_BLOCKS.get(row["type"], ()):
        return NOT_APPLICABLE
    shown = show_count(value) if name in ("blocks", "allocations") else show_bytes(value)
    is_part = value is not None and name in (row["partial"] or "").split(", ")
    return AT_LEAST * is_part + shown
