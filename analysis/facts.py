"""Facts as they come from a file, which may come from a stranger: a fact of the wrong kind is no fact."""

from __future__ import annotations

from collections.abc import Sequence

from mmpscope.formats.model import Fact, Facts

__all__ = ["as_number", "get_list", "get_map", "get_number", "show_fact"]


def get_map(facts: Facts, name: str) -> Facts:
    """Return the facts below a name; empty where there are none."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def get_number(facts: Facts, name: str) -> int | None:
    """Return a count, a size or an address below 2^64; None where there is none."""
    return as_number(facts.get(name))


def as_number(fact: Fact) -> int | None:
    """Take a fact for a count, a size or an address below 2^64; None where it is none."""
    return fact if type(fact) is int and 0 <= fact < 1 << 64 else None


def get_list(facts: Facts, name: str) -> Sequence[Fact]:
    """Return the list below a name; empty where there is none."""
    found = facts.get(name)
    return found if isinstance(found, list) else ()


def show_fact(fact: object) -> str | None:
    """Write a fact as text: facts are text where they were UTF-8, else the bytes that were found."""
    if isinstance(fact, bytes):
        return fact.decode("utf-8", "backslashreplace")
    return fact if isinstance(fact, str) else None
