"""What every reader looks like from outside: a list of snapshots, each of them read on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from mmpscope.formats.model import Facts, Snapshot

__all__ = ["Entry", "Fault", "ListedSource", "Source"]


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


@dataclass
class ListedSource:
    """A `Source` of snapshots that are each made by a function of their own, one for each entry.

    ``opened`` holds what they read from, and is closed with the source.
    """

    name: str
    format: str
    entries: list[Entry]
    reads: Sequence[Callable[[], Snapshot]]
    faults: list[Fault] = field(default_factory=list)
    opened: ExitStack = field(default_factory=ExitStack)

    def read(self, index: int) -> Snapshot:
        """Make one snapshot; IndexError outside the list."""
        if not 0 <= index < len(self.reads):
            raise IndexError(f"no snapshot {index}")
        return self.reads[index]()

    def close(self) -> None:
        """Let go of the file."""
        self.opened.close()
