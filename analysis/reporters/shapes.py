"""How values move over time, drawn in a few characters: a sparkline (Tufte, Beautiful Evidence, 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.analysis.reporters.screen import Screen

__all__ = ["draw_shape"]

_FINE, _COARSE = "▁▂▃▄▅▆▇█", "_.-=^"
_NOTHING = " "
_NARROW = 100
_FEW = 12
"""On a screen of fewer columns, every second value is drawn where there are more than a few."""


def draw_shape(values: Sequence[int | None], screen: Screen) -> str:
    """Draw values between their least and their largest; what never moves is a line at the bottom.

    A blank is a stretch of time without a value.
    """
    marks = _FINE if screen.fine else _COARSE
    if len(values) > _FEW and screen.width is not None and screen.width < _NARROW:
        values = values[len(values) % 2 == 0 :: 2]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        _NOTHING if value is None else marks[(value - low) * (len(marks) - 1) // span if span else 0]
        for value in values
    ).rstrip()
