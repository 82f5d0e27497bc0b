"""The lists of snapshots, packed, as many as a page has room for; too large ones are folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mmpscope.analysis.pages.embed import pack
from mmpscope.analysis.pages.folding import MOST_ROWS, fold_answers
from mmpscope.analysis.pages.schema import Lists
from mmpscope.analysis.pages.snapshots import Answers, ask, encode_lists

if TYPE_CHECKING:
    from mmpscope.analysis.snapshot import LoadedSnapshot

__all__ = ["KeptLists", "keep_lists"]

_NEEDED = 2
"""Snapshots that are folded rather than left out: the first of those that are wanted."""
_MISSES = 3
"""Snapshots that may not fit before no more are tried."""
_LEAST_ROWS = 64


class KeptLists(NamedTuple):
    """Packed lists by id, and those of the snapshot that was wanted first."""

    packed: dict[int, str]
    first: Lists


def keep_lists(wanted: Sequence[int], read: Callable[[int], LoadedSnapshot], room: int) -> KeptLists:
    """Pack the lists of snapshots until ``room`` bytes are full; ``wanted`` begins with what matters most."""
    packed: dict[int, str] = {}
    first: Lists | None = None
    misses, needed = 0, min(_NEEDED, len(wanted))
    for place, number in enumerate(wanted):
        answers = ask(read(number))
        if place < needed:
            lists, text = _fold(answers, room // (needed - place))
            first = first or lists
        else:
            text = pack(encode_lists(*fold_answers(answers)))
        if len(text) <= room or place < needed:
            packed[number] = text
            room -= len(text)
        else:
            misses += 1
            if misses == _MISSES:
                break
    assert first is not None, "a page has a snapshot"
    return KeptLists(packed, first)


def _fold(answers: Answers, room: int) -> tuple[Lists, str]:
    """Pack lists so that they take at most ``room`` bytes, with fewer rows if need be."""
    most = MOST_ROWS
    while True:
        lists = encode_lists(*fold_answers(answers, most))
        text = pack(lists)
        if len(text) <= room or most <= _LEAST_ROWS:
            return lists, text
        most = max(_LEAST_ROWS, min(most // 2, most * room // len(text) * 9 // 10))
