"""Reading the map of a process that moves meanwhile."""

from __future__ import annotations

from typing import cast

import pytest
from mmpscope.collector.cost import Cost
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.regions import MapTexts, read_again

ONCE = b"7fe734adf000-7fe734b26000 rw-p 00000000 00:00 0 \nSize: 284 kB\n"
TWICE = b"7fe734ae3000-7fe734b05000 rw-p 00000000 00:00 0 \nSize: 136 kB\n" + ONCE
COST = Cost(1, 0, 0.0, 0.0, 0.0, 0.0)


class _Moving:
    """A process whose lists are others each time that they are read; the last ones stay."""

    def __init__(self, **lists: list[bytes | OSError]) -> None:
        self._lists = lists

    def read(self, name: str) -> bytes:
        texts = self._lists[name]
        text = texts.pop(0) if len(texts) > 1 else texts[0]
        if isinstance(text, OSError):
            raise text
        return text


@pytest.mark.parametrize(
    ("later", "taken"),
    [([ONCE], ONCE), ([TWICE, ONCE], ONCE), ([TWICE], TWICE), ([OSError(3, "No such process")], TWICE)],
)
def test_a_region_that_grows_downwards_while_it_is_read_is_not_counted_twice(
    later: list[bytes | OSError], taken: bytes
) -> None:
    """Counters that go backwards are read again; what stays so, or has ended, stays as it was read."""
    texts = MapTexts(b"before", COST, TWICE)
    assert read_again(cast("ProcDir", _Moving(maps=[b"after"], smaps=later)), texts)
    assert texts.smaps == taken


def test_counters_of_a_map_that_held_still_are_not_read_again() -> None:
    """Whatever they are: looking through them costs time."""
    texts = MapTexts(b"the same", COST, TWICE)
    assert not read_again(cast("ProcDir", _Moving(maps=[b"the same"], smaps=[ONCE])), texts)
    assert texts.smaps == TWICE
