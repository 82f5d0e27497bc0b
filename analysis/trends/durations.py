"""Lengths of time and rates as a person reads them: ``4 d``, ``+1.2 MiB/h``."""

from __future__ import annotations

__all__ = ["show_duration", "show_interval", "show_rate"]

_DURATIONS = ((86_400 * 365.25, "y"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"))
_LONGEST_S = 1_000 * 86_400 * 365.25
_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))


def show_duration(seconds: float) -> str:
    """Write a length of time with two digits in its largest unit, as in ``7.5 h`` or ``90 d``."""
    if seconds > _LONGEST_S:
        return "more than 1,000 y"
    factor, unit = next((pair for pair in _DURATIONS if seconds >= pair[0]), _DURATIONS[-1])
    return f"{_round(seconds / factor)} {unit}"


def _round(value: float) -> str:
    """Write two digits, more only before the point."""
    if value < 9.95:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:,.0f}"


def show_rate(slope: float, unit: str, low: float | None = None, high: float | None = None) -> str:
    """Write what something gains an hour, as in ``+1.2 MiB/h`` or ``-3 mappings/h``.

    The unit is one that suits the ends of the interval as well, which `show_interval` writes without it.
    """
    factor, word = _choose_unit(unit, slope, low or 0, high or 0)
    shown = _show(slope / factor)
    return f"{'+' if slope > 0 and shown != '0' else ''}{shown} {word}/h"


def show_interval(low: float, high: float, slope: float, unit: str) -> str:
    """Write an interval in the unit that `show_rate` gives its slope, as in ``0.9 to 1.5``."""
    factor, _ = _choose_unit(unit, slope, low, high)
    return f"{_show(low / factor)} to {_show(high / factor)}"


def _choose_unit(unit: str, *values: float) -> tuple[int, str]:
    if unit != "bytes":
        return 1, unit
    largest = max(map(abs, values))
    return next((pair for pair in _UNITS if largest >= pair[0]), _UNITS[-1])


def _show(value: float) -> str:
    """Write three digits, more only before the point: two would hide how narrow an interval is."""
    size = abs(value)
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    shown = f"{size:,.{digits}f}"
    shown = shown.rstrip("0").removesuffix(".") if digits else shown
    return f"-{shown}" if value < 0 and shown != "0" else shown
