"""Numbers, times and durations as a person reads them; exact, and never through a float."""

from __future__ import annotations

from collections.abc import Iterable

from mmpscope.analysis.errors import UsageError

__all__ = ["parse_address", "parse_size", "show_address", "show_bytes", "show_kib", "show_size", "show_time"]

UNKNOWN = "?"
"""Stands for a null: known to the schema, not known for this snapshot."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def show_kib(value: int | None, *, sign: bool = False) -> str:
    """Write bytes as KiB with thousands separators; a part of a KiB stays visible as one decimal at least."""
    if value is None:
        return UNKNOWN
    whole, rest = divmod(abs(value), 1024)
    tenth = min(9, -(-rest * 10 // 1024))
    lead = "-" if value < 0 else "+" if sign and value else ""
    return f"{lead}{whole:,}" + (f".{tenth}" if rest else "")
