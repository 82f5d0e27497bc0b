"""How many examples and seeds a test tries: a quarter, unless MMP_EFFORT asks for more or fewer."""

from __future__ import annotations

import os

__all__ = ["scale"]

_EFFORT = float(os.environ.get("MMP_EFFORT", "0.25"))
"""1 is what the numbers in tests mean; every push tries a part of it, in minutes."""


def scale(count: int) -> int:
    """Return that part of a number of examples that is tried, 2 at least."""
    return max(2, round(count * _EFFORT))
