"""Facts as they come from a file, which may come from a stranger: a fact of the wrong kind is no fact."""

from __future__ import annotations

from mmpscope.formats.model import Facts

__all__ = ["get_map", "get_number"]


def get_map(facts: Facts, name: str) -> Facts:
    """Return the facts below a name; empty where there are none."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def get_number(facts: Facts, name: str) -> int | None:
    """Return a count, a size or an address below 2^64; None where there is none."""
    found = facts.get(name)
    return found if type(found) is int and 0 <= found < 1 << 64 else None
