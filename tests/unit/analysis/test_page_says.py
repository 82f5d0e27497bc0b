"""The sentences that stand on top of a page: what is near its limit, what grew, what still fits."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.diffs.schema import DIFF_TYPES
from mmpscope.analysis.pages.says import say_of_diff, say_of_room, say_of_snapshot
from mmpscope.analysis.pages.schema import LIMITS
from mmpscope.analysis.schema import SUMMARY
from mmpscope.analysis.tables import build_table

MIB = 1 << 20
Row = dict[str, Any]


def _table(fields: Any, rows: list[Row]) -> Any:
    return build_table(fields, {f.name: [row.get(f.name) for row in rows] for f in fields}, len(rows))


def _say(summary: list[Row], limits: list[Row]) -> str:
    return say_of_snapshot(_table(SUMMARY, summary), _table(LIMITS, limits))


TOTAL = {"type": "Total", "private": 100 * MIB}
HEAP = {"type": "Heap", "private": 80 * MIB, "allocations": 3, "largest": 64 * MIB}


def test_the_largest_type_is_named() -> None:
    """Without a limit in sight, the type that most of the private memory is of stands out."""
    assert _say([TOTAL, HEAP], []) == (
        "private memory is 100 MiB, 80% of it Heap: 3 allocations, the largest of 64 MiB"
    )


def test_a_near_limit_goes_first() -> None:
    """Of limits that are used to nine tenths, the one that is used most is told, in its own unit."""
    limits = [
        {"limit": "RLIMIT_AS", "used": 91, "maximum": 100, "unit": "bytes"},
        {"limit": "mapping count", "used": 64_000, "maximum": 65_530, "headroom": 1_530, "unit": "mappings"},
        {"limit": "cgroup", "used": 10, "maximum": None, "unit": "bytes"},
    ]
    assert _say([TOTAL, HEAP], limits) == "mapping count is at 97.6% of its limit: 1,530 left of 65,530"


def test_without_figures_none_is_made_up() -> None:
    """Where nothing is known of the memory, the sentence says that."""
    assert _say([{"type": "Total"}], []) == "no figure of its memory is known"


def test_growth_names_its_type() -> None:
    """A change tells how much, which share, to what, and which type most of it comes from."""
    rows = [
        {"type": "Total", "private_a": 40 * MIB, "private_b": 60 * MIB, "private_delta": 20 * MIB},
        {"type": "Heap", "private_delta": 15 * MIB},
        {"type": "Stack", "private_delta": -1 * MIB},
        {"type": "Private Data", "private_delta": 6 * MIB},
    ]
    said = say_of_diff(_table(DIFF_TYPES, rows), "private")
    assert said == "private memory grew by 20 MiB (+50%), to 60 MiB; most of it is Heap (+15 MiB)"


def test_another_figure_that_moved_is_told() -> None:
    """Where the figure that is followed stays, growth of another is not passed over in silence."""
    rows = [
        {"type": "Total", "private_delta": 0, "committed_a": MIB, "committed_b": 3 * MIB}
        | {"committed_delta": 2 * MIB},
        {"type": "Mapped File", "committed_delta": 2 * MIB},
    ]
    said = say_of_diff(_table(DIFF_TYPES, rows), "private")
    assert said.startswith("private memory did not change, but committed memory grew by 2 MiB (+200%)")
    assert say_of_diff(_table(DIFF_TYPES, [{"type": "Total"}]), "private").endswith("is not known")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["fits", "fits"], "room for one more request of 4 MiB"),
        (["fits", "does not fit"], "room for one more request of 1 MiB, not of 4 MiB (holes: 0)"),
        (["fits", "cannot tell"], "room for one more request of 1 MiB, perhaps not of 4 MiB (holes: 0)"),
        (["does not fit"], "no room for one more request of 1 MiB (holes: 0)"),
        (["cannot tell"], "whether there is room for one more request cannot be told (holes: 0)"),
    ],
)
def test_room_is_told_up_to_the_first_that_fails(outcomes: list[str], said: str) -> None:
    """The largest request that fits is named, and the first that does not, with what stands against it."""
    rows = [
        {"request": MIB << 2 * at, "outcome": outcome, "check": "holes", "reason": "0"}
        for at, outcome in enumerate(outcomes)
    ]
    assert say_of_room(rows) == said
