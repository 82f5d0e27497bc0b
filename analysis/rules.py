"""What a rule of classification is: conditions, and what a region that meets them is called.

Rules are ordered, anchored and versioned, each with the fact that it rests on; a rule claims regions that
no rule before it has claimed. There is one table for each family of raw columns (rules_linux, rules_windows
...); `classify` applies them, and `user_rules` reads a user's own of the same form, which go first.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES_VERSION", "Rule", "search"]

RULES_VERSION = "2"
"""Changes with every change of a table that can move a region from one type to another."""


@dataclass(frozen=True)
class Rule:
    """What a region must be, and what it is then called; all conditions that are given must hold.

    ``name`` is a regular expression for the whole path or name; ``where`` has pairs of a raw text column
    and a regular expression for the whole of it. ``pseudo`` asks for no file behind the region: a file may be
    called ``[heap]``. ``find`` names a search of `classify` that looks at more than text. ``type`` is None
    where a region takes the type of its neighbour.
    """

    id: str
    type: str | None
    subtype: str | None
    confidence: str
    because: str
    name: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    pseudo: bool = False
    find: str | None = None
    min_size: int | None = None
    max_size: int | None = None


def search(rule: str, kind: str | None, subtype: str | None, confidence: str, because: str) -> Rule:
    """Return a rule whose only condition is the search of the same name."""
    return Rule(rule, kind, subtype, confidence, because, find=rule)
