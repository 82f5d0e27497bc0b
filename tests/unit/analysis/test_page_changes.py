"""The sentence of what changed: every figure and type that moved by a share that matters, no other."""

from __future__ import annotations

from typing import Any

from mmpscope.analysis.pages.changes import NOTHING, say_of_changes

MIB = 1 << 20
FIGURES = ("size", "committed", "private", "total_ws")


def _row(kind: str, size: int | None, committed: int | None, private: int | None, ws: int | None) -> Any:
    values = (size, committed, private, ws)
    known = [None if value is None else value * MIB for value in values]
    return {"type": kind, **{f"{name}_delta": v for name, v in zip(FIGURES, known, strict=True)}}


def test_figures_are_told_apart_and_types_come_largest_first() -> None:
    """Shared growth stands under committed, a file that was read under working set, reserved by itself."""
    rows = [
        _row("Total", 90, 25, 17, 24),
        _row("Mapped File", 0, 0, 0, 8),
        _row("Shareable", 8, 8, 0, 0),
        _row("Private Data", 70, 5, 5, 4),
        _row("Heap", 12, 12, 12, 12),
        _row("Stack", 0, 0, 0, 0),
        _row("Free", -90, 0, 0, 0),
    ]
    assert say_of_changes(rows) == (
        "private +17 MiB (Heap +12 MiB, Private Data +5 MiB), committed +25 MiB (Shareable +8 MiB), "
        "working set +24 MiB (Heap +12 MiB, Mapped File +8 MiB, Private Data +4 MiB), "
        "reserved +65 MiB (Private Data +65 MiB)"
    )


def test_what_does_not_matter_is_left_out() -> None:
    """A type below a twentieth is not named; one MiB of ten is."""
    rows = [_row("Total", 100, 100, 100, 100), _row("Heap", 96, 96, 96, 96), _row("Stack", 4, 4, 4, 4)]
    assert say_of_changes(rows) == "private +100 MiB (Heap +96 MiB), working set +100 MiB (Heap +96 MiB)"


def test_types_that_cancel_each_other_are_told() -> None:
    """A total that stayed does not hide what grew in it."""
    rows = [_row("Total", 0, 0, 0, 0), _row("Heap", 9, 9, 9, 0), _row("Stack", -9, -9, -9, 0)]
    assert say_of_changes(rows) == "private the same (Heap +9 MiB, Stack -9 MiB)"


def test_nothing_and_the_unknown_are_not_the_same() -> None:
    """No change says so; figures that are not known are no change of nothing."""
    assert say_of_changes([_row("Total", 0, 0, 0, 0)]) == NOTHING
    assert say_of_changes([_row("Total", None, None, None, None)]) == "how it changed is not known"
    assert say_of_changes([]) == "how it changed is not known"
