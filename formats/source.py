"""What every reader looks like from outside: a list of snapshots, each of them read on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from mmpscope.formats.model import Facts, Snapshot

__all__ = ["Entry", "Fault", "Source"]


@dataclass(frozen=True)
class Fault:
    """Damage or an oddity found while reading: what, where (byte or line), and what it cost."""

    what: str
    offset: int | None = None
    line: int | None = None
    lost: str | None = None


@dataclass(frozen=True)
class Entry:
    """What is known of one snapshot without reading its tables; ``time_ns`` is wall time since 1970."""

    index: int
    pid: int | None = None
    time_ns: int | None = None
    name: str | None = None
    info: Facts = field(default_factory=dict)


class Source(Protocol):
    """One opened input.

    ``format`` names format and version ("mmp 1.0", "smaps text"); ``faults`` lists damage that was survived.
    Reading snapshot i neither reads nor keeps the others' tables.
    """

    name: str
    format: str
    faults: list[Fault]
    entries: list[Entry]

    def read(self, index: int) -> Snapshot:
        """Read one snapshot; IndexError outside the list, FormatError where its bytes are damaged."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
