"""Many faults of one kind told once: the first place, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from mmpscope.formats.source import Fault

__all__ = ["FaultLog", "tell_count"]


@dataclass
class _Kind:
    first: Fault
    count: int = 1


_MOST_KINDS = 1000
_OTHERS = "faults of further kinds"


class FaultLog:
    """Faults of a reader while it reads: a million damaged rows are one fault with a count."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def add(
        self, what: str, *, line: int | None = None, offset: int | None = None, lost: str | None = None
    ) -> None:
        """Note a fault; ``what`` names its kind and so holds no number that differs from row to row."""
        if what not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            what = _OTHERS
        known = self._kinds.get(what)
        if known is None:
            self._kinds[what] = _Kind(Fault(what, offset, line, lost))
        else:
            known.count += 1

    @property
    def count(self) -> int:
        """How many were noted."""
        return sum(kind.count for kind in self._kinds.values())

    def list(self) -> list[Fault]:
        """Return one fault a kind, in the order in which they were met first."""
        return [_tell(kind) for kind in self._kinds.values()]


def tell_count(number: int, noun: str) -> str:
    """Say how many there are of what has a plain plural: "1 row", "2 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _tell(kind: _Kind) -> Fault:
    first = kind.first
    if kind.count == 1:
        return first
    return Fault(f"{first.what} ({kind.count:,} times, here first)", first.offset, first.line, first.lost)
