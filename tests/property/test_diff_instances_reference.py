"""The diff of two instances against its slow reference, on 10,000 pairs of processes and what they share."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis.diffs.instances import diff_instances
from mmpscope.analysis.diffs.sides import list_compared, read_sides
from mmpscope.analysis.diffs.units import describe_units
from support.effort import scale
from support.slow_units import (
    Process,
    Unit,
    choose_word,
    draw_process,
    find_units,
    match_slowly,
    rename_process,
)
from support.snapshots import make_snapshot

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

EXAMPLES, AT_ONCE = 200, 50
"""10,000 pairs: so many in one snapshot, with names, builds and places of their own, as make tables dear."""
_FIGURES = ("size", "committed", "private", "total_ws", "pss")
Pair = tuple[Process, Process]


def draw_pairs(random: Random, count: int) -> list[Pair]:
    """Draw pairs of processes of which nothing is like anything of another pair."""
    return [
        (_set_apart(draw_process(random), number), _set_apart(draw_process(random), number))
        for number in range(count)
    ]


def _set_apart(process: Process, number: int) -> Process:
    mark = f"{chr(97 + number // 26)}{chr(97 + number % 26)}"

    def rename(name: str) -> str:
        at = max(map(name.rfind, "/[:")) + 1
        return f"{name[:at]}{mark}{name[at:]}"

    return rename_process(process, rename, shift=number << 40, mark=mark)


def join(pairs: list[Pair]) -> Pair:
    """Put pairs into one, on each side."""
    one, two = Process(), Process()
    for pair in pairs:
        for whole, part in zip((one, two), pair, strict=True):
            whole.regions += part.regions
            whole.modules += part.modules
            whole.threads += part.threads
    return one, two


def make(process: Process) -> LoadedSnapshot:
    """Make a snapshot of a process."""
    return make_snapshot(process.regions, modules=process.modules, threads=process.threads)


def list_fast(pairs: list[Pair]) -> Counter[Any]:
    """Count the rows of the real diff: word, match, blocks, every figure before, after and between."""
    a, b = (make(process) for process in join(pairs))
    sides = read_sides(a, b)
    units = (describe_units(a, sides[0]), describe_units(b, sides[1]))
    rows = diff_instances(*units, list_compared(*sides)).rows.to_pylist()
    return Counter(
        (
            row["word"],
            row["match"],
            tuple((row[f"{name}_a"], row[f"{name}_b"], row[f"{name}_delta"]) for name in _FIGURES),
            (row["blocks_a"], row["blocks_b"]),
            row["unknown"],
        )
        for row in rows
    )


def list_slowly(pairs: list[Pair]) -> Counter[Any]:
    """Count the same of the reference, pair by pair."""
    found: Counter[Any] = Counter()
    for a, b in pairs:
        for match, one, two in match_slowly(find_units(a), find_units(b)):
            word, before, after = choose_word(match, one, two), one or Unit(), two or Unit()
            figures = [(before.size, after.size), *_pair_figures(before, after)]
            deltas = tuple((x, y, None if None in (x, y) else y - x) for x, y in figures)
            unknown = [
                name for name, (x, y, _) in zip(_FIGURES, deltas, strict=True) if (x is None) != (y is None)
            ]
            is_counted = match in ("thread", "name", "cohort", "size")
            blocks = tuple(len(each.blocks) if is_counted else None for each in (before, after))
            if word != "same" or unknown:
                found[word, match, deltas, blocks, ", ".join(unknown) or None] += 1
    return found


def _pair_figures(one: Unit, two: Unit) -> list[tuple[Any, Any]]:
    return [*zip(one.figures.values(), two.figures.values(), strict=True)]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_10000_pairs_agree_with_the_reference(seed: int) -> None:
    """Which units there are, how each was matched, its word, blocks and figures, known or not."""
    pairs = draw_pairs(Random(seed), AT_ONCE)
    if list_fast(pairs) != list_slowly(pairs):
        for pair in pairs:  # a pair that fails alone says more
            assert list_fast([pair]) == list_slowly([pair])
        assert list_fast(pairs) == list_slowly(pairs)


@settings(max_examples=scale(200), deadline=None)
@given(st.randoms(use_true_random=False))
def test_one_pair_agrees_with_the_reference(random: Random) -> None:
    """The same, one pair at a time, so that a failure comes down to its smallest case."""
    pairs = [(draw_process(random), draw_process(random))]
    assert list_fast(pairs) == list_slowly(pairs)
