"""The sentences that stand on top of a page: what is near its limit, what grew, what still fits."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis.diffs.schema import DIFF_ROWS, DIFF_TYPES
from mmpscope.analysis.free_schema import WINDOWS
from mmpscope.analysis.pages.says import (
    choose_lead,
    is_tight,
    say_of_diff,
    say_of_limits,
    say_of_memory,
    say_of_movers,
    say_of_room,
)
from mmpscope.analysis.pages.schema import ROOM
from mmpscope.analysis.schema import SUMMARY
from mmpscope.analysis.tables import build_table

MIB = 1 << 20
Row = dict[str, Any]


def _table(fields: Any, rows: list[Row]) -> Any:
    return build_table(fields, {f.name: [row.get(f.name) for row in rows] for f in fields}, len(rows))


TOTAL = {"type": "Total", "private": 100 * MIB}
HEAP = {"type": "Heap", "private": 80 * MIB, "allocations": 3, "largest": 64 * MIB}


def test_the_largest_type_is_named() -> None:
    """The type that most of the private memory is of is named; a largest one of another figure is not."""
    said = say_of_memory(_table(SUMMARY, [TOTAL, HEAP]))
    assert said == "private memory is 100 MiB, 80% of it Heap in 3 allocations"


def test_a_near_limit_is_told() -> None:
    """Of limits that are used to nine tenths, the one that is used most is told, in its own unit."""
    limits = [
        {"limit": "RLIMIT_AS", "used": 91, "maximum": 100, "headroom": 9, "unit": "bytes"},
        {"limit": "mapping count", "used": 64_000, "maximum": 65_530, "headroom": 1_530, "unit": "mappings"},
        {"limit": "cgroup", "used": 10, "maximum": None, "headroom": None, "unit": "bytes"},
    ]
    assert say_of_limits(limits) == "mapping count is at 97.6% of its limit: 1,530 left of 65,530"
    assert say_of_limits(limits[2:]) is None


def test_without_figures_none_is_made_up() -> None:
    """Where nothing is known of the memory, the sentence says that."""
    assert say_of_memory(_table(SUMMARY, [{"type": "Total"}])) == "no figure of its memory is known"


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
    assert said == (
        "committed memory grew by 2 MiB (+200%), to 3 MiB; most of it is Mapped File (+2 MiB);"
        " private memory did not change"
    )
    assert say_of_diff(_table(DIFF_TYPES, [{"type": "Total"}]), "private").endswith("is not known")


@pytest.mark.parametrize(
    ("private", "committed", "resident", "lead"),
    [
        (10, 12, 12, "private"),
        (1, 41, 41, "committed"),
        (0, 0, 50, "total_ws"),
        (30, 30, 0, "private"),
        (0, 0, 0, "private"),
        (None, 2, 2, "committed"),
        (-1, -41, -41, "committed"),
    ],
)
def test_a_comparison_is_told_by_what_moved(
    private: int | None, committed: int, resident: int, lead: str
) -> None:
    """Forty shared mappings are no growth of a heap by one, and a mapped file is no page table."""
    deltas = {"private_delta": private, "committed_delta": committed, "total_ws_delta": resident}
    row = {name: None if value is None else value * MIB for name, value in deltas.items()}
    assert choose_lead(_table(DIFF_TYPES, [{"type": "Total", **row}]), "private") == lead


def test_what_is_committed_and_not_in_memory_is_told() -> None:
    """The stacks of thirty threads are 240 MiB by what was committed, and next to nothing in memory."""
    rows = [
        {"type": "Total", "private_a": 10 * MIB, "private_b": 250 * MIB, "private_delta": 240 * MIB}
        | {"committed_delta": 240 * MIB, "total_ws_delta": MIB},
        {"type": "Stack", "private_delta": 240 * MIB},
    ]
    said = say_of_diff(_table(DIFF_TYPES, rows), "private")
    assert said.endswith("most of it is Stack (+240 MiB); of the working set +1 MiB")
    stacks = [
        {"word": "new", "type_b": "Stack", "details_b": f"tid {tid} worker", "private_delta": 8 * MIB}
        for tid in range(30)
    ]
    assert say_of_movers(_table(DIFF_ROWS, stacks), "private") == "30 new Stack worker +240 MiB"


def test_movers_are_named_by_what_they_are() -> None:
    """Up to three changes of the figure are named, each by what it is and where."""
    rows = [
        {"word": "new", "type_b": "Private Data", "address_b": 0x7000, "private_delta": 16 * MIB},
        {"word": "grown", "type_b": "Heap", "details_b": "[heap]", "private_delta": MIB},
        {"word": "gone", "unit": "stacks of workers", "type_a": "Stack", "private_delta": -MIB},
        {"word": "grown", "type_b": "Page Table", "private_delta": 4096},
        {"word": "new", "type_b": "Shareable", "private_delta": 0},
    ]
    said = say_of_movers(_table(DIFF_ROWS, rows), "private")
    assert said == (
        "new Private Data at 7000 +16 MiB, grown Heap [heap] +1 MiB, gone stacks of workers -1 MiB"
    )
    assert say_of_movers(_table(DIFF_ROWS, rows[4:]), "private") == ""


def test_movers_of_one_name_are_told_together() -> None:
    """Forty shared mappings of a mebibyte come before a heap that grew by less than all of them."""
    heap = {"word": "grown", "type_b": "Heap", "details_b": "[heap]", "private_delta": 9 * MIB}
    zero = {"word": "new", "type_b": "Shareable", "details_b": "/dev/zero", "private_delta": MIB}
    nameless = [
        {"word": "new", "type_b": "Private Data", "address_b": at << 20, "private_delta": 2 * MIB}
        for at in (1, 2)
    ]
    said = say_of_movers(_table(DIFF_ROWS, [heap, *[zero] * 40, *nameless]), "private")
    assert said == (
        "40 new Shareable /dev/zero +40 MiB, grown Heap [heap] +9 MiB, new Private Data at 100000 +2 MiB"
    )


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["fits", "does not fit"], "one request of up to 1 MiB fits, a larger one does not (commit: 1)"),
        (["fits", "cannot tell"], "one request of up to 1 MiB fits, a larger one perhaps (commit: 1)"),
        (["does not fit"], "no request fits, not even one of a page (commit: 0)"),
        (["cannot tell"], "whether one more request fits cannot be told (commit: 0)"),
    ],
)
def test_room_is_told_up_to_what_stands_against_it(outcomes: list[str], said: str) -> None:
    """The largest request that fits is told to the byte, what stands against a larger one, and the hole."""
    rows = [
        {"upto": MIB << 2 * at, "outcome": outcome, "check": "commit", "reason": str(at)}
        for at, outcome in enumerate(outcomes)
    ]
    windows = _table(WINDOWS, [{"window": "whole range", "largest": 8 * MIB}])
    lead = "the address space does not bind: its" if outcomes[-1] == "does not fit" else "the"
    assert say_of_room(_table(ROOM, rows), windows) == f"{said}; {lead} largest free block has 8 MiB"
    assert say_of_room(_table(ROOM, rows), None) == said


def test_a_small_request_that_fails_stands_out() -> None:
    """Where a request of less than 64 MiB is sure to fail room is tight; what cannot be told is not."""
    small, large = {"upto": 63 * MIB, "outcome": "fits"}, {"upto": 64 * MIB, "outcome": "fits"}
    no, open_ = {"upto": 1 << 63, "outcome": "does not fit"}, {"upto": 1 << 63, "outcome": "cannot tell"}
    assert is_tight([small, no])
    assert is_tight([no])
    assert not is_tight([large, no])
    assert not is_tight([small, open_])
