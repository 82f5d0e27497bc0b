"""Numbers and times as a person reads and types them; exact, and never through a float."""

from __future__ import annotations

import re

from mmpscope.analysis.errors import UsageError

__all__ = [
    "NOT_APPLICABLE",
    "UNKNOWN",
    "parse_size",
    "parse_window",
    "show_address",
    "show_count",
    "show_kib",
    "show_size",
    "show_time",
]

UNKNOWN = "?"
"""Stands for a null: a figure that exists, and is not known here."""
NOT_APPLICABLE = "-"
"""Stands for a figure that does not exist for a row."""

_WIDE = 1 << 40
_FACTORS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_SIZE = re.compile(r"(0x[0-9a-f]+)|([0-9]+)(?:\.([0-9]+))?([kmgt]?)(?:i?b)?", re.IGNORECASE)


def show_kib(value: int | None, *, sign: bool = False) -> str:
    """Write bytes as KiB with thousands separators; the part of a KiB shows as a tenth, rounded up.

    From 1 TiB on the unit is TiB, and said: the free space of a 64-bit process would widen every table.
    """
    if value is None:
        return UNKNOWN
    lead = "-" if value < 0 else "+" if sign and value else ""
    if abs(value) >= _WIDE:
        return f"{lead}{abs(value) * 10 // _WIDE / 10:,.1f} TiB"
    whole, rest = divmod(abs(value), 1024)
    return f"{lead}{whole:,}" + (f".{min(9, -(-rest * 10 // 1024))}" if rest else "")


def show_count(value: int | None, *, sign: bool = False) -> str:
    """Write a number of things with thousands separators."""
    if value is None:
        return UNKNOWN
    return f"{value:+,}" if sign and value else f"{value:,}"


def show_size(value: int | None) -> str:
    """Write bytes in the largest binary unit that they reach, as in ``1.5 MiB``; for prose, not tables."""
    if value is None:
        return UNKNOWN
    lead, left = ("-" if value < 0 else ""), abs(value)
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if left >= 1 << shift:
            whole, tenth = divmod(left * 10 >> shift, 10)
            return f"{lead}{whole:,}.{tenth} {unit}" if tenth else f"{lead}{whole:,} {unit}"
    return f"{lead}{left} bytes"


def show_address(value: int | None) -> str:
    """Write an address as the kernel does: hex digits, no prefix."""
    return UNKNOWN if value is None else f"{value:x}"


def show_time(time_ns: int | None, *, fraction: bool = False) -> str:
    """Write nanoseconds since 1970 as a UTC time, of whole seconds or with the milliseconds."""
    if time_ns is None:
        return "unknown time"
    from datetime import UTC, datetime, timedelta

    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=time_ns // 1_000_000_000)
    thousandths = f".{time_ns // 1_000_000 % 1000:03}" if fraction else ""
    return f"{moment:%Y-%m-%d %H:%M:%S}{thousandths} UTC"


def parse_size(text: str, option: str) -> int:
    """Read ``200M``, ``64KiB``, ``1.5G`` or ``0x1000`` as bytes; every unit is binary.

    Raises UsageError, naming the option.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{option}: {text!r} is no size. Write it as in 4096, 64K, 200M, 1.5G or 0x1000")
    digits, whole, fraction, unit = found.groups()
    if digits:
        return int(digits, 16)
    scaled = int(whole + (fraction or "")) << _FACTORS[unit.lower()]
    return scaled // int("1" + "0" * len(fraction or ""))


def parse_window(text: str, option: str) -> tuple[int, int]:
    """Read ``LO-HI`` as a half-open range; both ends as in `parse_size`. Raises UsageError."""
    low, dash, high = text.partition("-")
    if not dash:
        raise UsageError(f"{option}: {text!r} is no range. Write it as in 0-4G or 0x10000-0x80000000")
    start, end = parse_size(low, option), parse_size(high, option)
    if start >= end:
        raise UsageError(f"{option}: {text!r} is empty. The second address must lie above the first")
    return start, end
