"""The log of a reader's faults: a million of one kind are one fault, and kinds are bounded."""

from __future__ import annotations

from mmpscope.formats.faults import FaultLog
from mmpscope.formats.source import Fault


def test_faults_of_one_kind_are_told_once() -> None:
    """With the first place, and the number where there is more than one; kinds keep their order."""
    log = FaultLog()
    for line in (7, 9, 12):
        log.add("a row has too few columns", line=line)
    log.add("the text is cut", line=20, lost="the last row")
    assert log.list() == [
        Fault("a row has too few columns (3 times, here first)", line=7),
        Fault("the text is cut", line=20, lost="the last row"),
    ]
    assert log.count == 4


def test_a_million_kinds_are_not_kept() -> None:
    """A reader that puts names into its words must not fill the memory."""
    log = FaultLog()
    for number in range(5_000):
        log.add(f"odd name {number}")
    assert len(log.list()) == 1_001
    assert log.count == 5_000
    assert log.list()[-1].what == "faults of further kinds (4,000 times, here first)"
