"""What a reader tells of its format, and what it is given; the registry knows readers by this alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from mmpscope.formats.limits import Allowance
from mmpscope.formats.source import Fault, Source

if TYPE_CHECKING:
    from mmpscope.formats.containers.packed import TextBudget

__all__ = ["Format", "Input"]


class Input(NamedTuple):
    """A seekable stream at its start, the name for messages, and whether to survive damage.

    ``opened`` closes the stream when the opening is over, unless a reader takes that over (`pop_all`).
    ``beside`` holds small files of the same process, by their names below /proc/PID. ``allowance`` is what
    may be decoded to verify it, ``texts`` what the members of an archive may unpack to; None: all.
    """

    stream: BinaryIO
    name: str
    partial: bool
    opened: ExitStack
    beside: Mapping[str, bytes] = {}
    allowance: Allowance | None = None
    texts: TextBudget | None = None


class Format(NamedTuple):
    """A format that can be read; docs/formats.md is generated from these.

    ``sniff`` tells from the first bytes (64 KiB, or all) whether content is of this format, ``open`` reads
    it. ``verify`` reads all of it and lists what is wrong; None: the faults of the opened source are that
    list. ``tools`` names the programs and versions whose output was seen; ``gives`` and ``lacks`` the facts
    that a snapshot of it has, and those it can never have, in the words of the capability table; ``known_by``
    tells in words what ``sniff`` looks for. ``weight`` is what each of its bytes counts
    for where they were packed, those of text being 1; 0: what is not read whole.
    """

    name: str
    title: str
    sniff: Callable[[bytes], bool]
    open: Callable[[Input], Source]
    tools: str
    gives: tuple[str, ...]
    lacks: tuple[str, ...]
    verify: Callable[[Input], list[Fault]] | None = None
    known_by: str = ""
    weight: int = 1
