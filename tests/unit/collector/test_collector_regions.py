"""Reading the map of a process that moves meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from mmpscope.collector.base import Options
from mmpscope.collector.cost import Cost
from mmpscope.collector.linux.collector import LinuxCollector
from mmpscope.collector.linux.procfs import ProcDir
from mmpscope.collector.linux.regions import MapTexts, drop_doubles, read_again
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.proc.smaps import parse_smaps
from support.fakeproc import FakeProc, FakeProcess

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


def _make_line(start: int, end: int) -> bytes:
    return b"%x-%x rw-p 00000000 00:00 0 \nSize: 4 kB\nRss: %d kB\n" % (start, end, (end - start) >> 10)


@pytest.mark.parametrize(
    ("listed", "kept"),
    [
        ([(0x1000, 0x2000), (0x2000, 0x5000)], [0, 1]),
        ([(0x3000, 0x5000), (0x2000, 0x6000)], [1]),
        ([(0x1000, 0x2000), (0x3000, 0x5000), (0x2000, 0x6000), (0x7000, 0x8000)], [0, 2, 3]),
        ([(0x4000, 0x5000), (0x3000, 0x5000), (0x2000, 0x5000)], [2]),
        ([(0x2000, 0x5000), (0x2000, 0x5000)], [1]),
        ([(0x3000, 0x4000), (0x1000, 0x2000)], [0, 1]),
    ],
)
def test_of_two_that_overlap_the_later_counts(listed: list[tuple[int, int]], kept: list[int]) -> None:
    """What is listed twice even at the last try is dropped and counted; what is apart stays in its order."""
    regions = parse_smaps(b"".join(_make_line(*span) for span in listed))
    found, doubles = drop_doubles(regions)
    assert doubles == len(listed) - len(kept)
    assert list(found.columns["start"].values) == [listed[row][0] for row in kept]
    assert list(found.columns["Rss"].values) == [listed[row][1] - listed[row][0] for row in kept]
    assert (found.rows, found.encode().rows) == (len(kept), len(kept))


def test_a_mapping_that_is_listed_twice_to_the_end_is_told(tmp_path: Path) -> None:
    """Its figures are in the snapshot once, and the capability list has the rule that chose."""
    proc = FakeProc(tmp_path)
    proc.add(FakeProcess(smaps=_make_line(0x3000, 0x5000) + _make_line(0x2000, 0x6000)))
    collector = LinuxCollector(Options(), str(proc.path))
    snapshot = collector.open_target(4711).take_snapshot(collector.take_capture([]))
    assert decode_table(snapshot.tables["regions"])["Rss"] == [0x4000]
    [known] = [known for known in snapshot.capability if known.item == "regions"]
    assert (known.state, known.reason) == (
        "partial",
        "the kernel listed 1 mapping twice, which grew meanwhile: the later of both counts",
    )
