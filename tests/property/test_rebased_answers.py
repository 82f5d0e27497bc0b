"""Answers about files whose addresses were moved are those about the originals, up to addresses."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fuzz.seeds import list_own_seeds
from mmpscope.analysis import LoadedSnapshot, diff, find_trends, list_heaps, summarize
from mmpscope.analysis.columns import RawColumns
from mmpscope.analysis.freespace import Holes, find_snapshot_holes
from mmpscope.formats.errors import MmpError
from mmpscope.formats.redaction.rebase import Rebase
from mmpscope.formats.redaction.rules import NUMBERS, Kind
from mmpscope.formats.registry import list_formats, open_source
from support.answers import PAIRS, SAMPLES, Question, answer, read_sample, show
from support.rebasing import find_leaks, plan
from support.redacting import load_both, read_all

ADDRESSES: set[str | tuple[str, str]] = {
    *(name for name, kind in NUMBERS.items() if kind in (Kind.ADDRESS, Kind.END, Kind.BASE)),
    *("address", "end", "allocation", "stack", "Largest"),
    *(f"{name}_{side}" for name in ("address", "end") for side in "ab"),
    *(("Free", name) for name in ("largest", "largest_a", "largest_b", "largest_delta")),
}
"""Columns of addresses, of answers and of files; and the largest hole, mostly one between two zones."""
WORDS_OF_HOLES = ("word", "size_a", "size_b", "size_delta")
"""What the diff of the largest free block says."""

Pair = tuple[LoadedSnapshot, LoadedSnapshot]
QUESTIONS: tuple[Question, ...] = (
    lambda snapshot: snapshot.regions,
    lambda snapshot: snapshot.threads,
    lambda snapshot: snapshot.modules,
    list_heaps,
    summarize,
)


def check_alike(pair: Pair) -> None:
    """Compare what a snapshot answers with what its copy does: the same at the addresses that were moved."""
    original, moved = pair
    for question in QUESTIONS:
        assert answer(question, moved, ADDRESSES) == answer(question, original, ADDRESSES)
    try:
        places = [RawColumns(side.regions).numbers("address").values.tolist() for side in pair]
        holes = [find_snapshot_holes(side) for side in pair]
    except MmpError:  # of both, as the answers above are alike
        return
    expected = plan(original.raw)
    assert places[1] == [expected.move(address, Kind.ADDRESS) for address in places[0]]
    check_holes(holes[0], holes[1], expected)


def check_holes(original: Holes, moved: Holes, expected: Rebase) -> None:
    """Compare holes: as many, with the same sum, and each of the same size that lies in one zone."""
    assert (original.unusable == moved.unusable).all()
    assert int(original.ranges.size.sum()) == int(moved.ranges.size.sum())
    distance = expected.find_distance
    inside = np.array(
        [
            distance(max(start - 1, 0)) == distance(end)
            for start, end in zip(original.ranges.start.tolist(), original.ranges.end.tolist(), strict=True)
        ],
        bool,
    )
    assert (original.ranges.size[inside] == moved.ranges.size[inside]).all()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_answer_alike_and_tell_no_address(path: Path, tmp_path: Path) -> None:
    """Types, rules, figures, sums, heaps, threads, modules; no number lies where memory was."""
    for pair in load_both(read_all(open_source(path)), tmp_path, rebase=True):
        check_alike(pair)
        assert find_leaks(pair[0].raw, pair[1].raw) == []


@pytest.mark.parametrize("known", [known.name for known in list_formats() if known.name != "zip"])
def test_files_of_every_format_answer_alike_and_tell_no_address(known: str, tmp_path: Path) -> None:
    """Small files of each format: texts, dumps and cores have addresses at places of their own."""
    [form] = [each for each in list_formats() if each.name == known]
    for number, seed in enumerate(list_own_seeds(form)):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "seed").write_bytes(seed)
        for pair in load_both(read_all(open_source(place / "seed", partial=True)), place, rebase=True):
            check_alike(pair)
            assert find_leaks(pair[0].raw, pair[1].raw) == []


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_files_differ_as_the_originals_do(one: str, two: str, tmp_path: Path) -> None:
    """Every table of a diff, of one instance and of two, but for addresses and the largest hole."""
    both = load_both([*read_sample(one), *read_sample(two)], tmp_path, rebase=True)
    for (a, moved_a), (b, moved_b) in [*pairwise(both), (both[0], both[-1])]:
        expected, found = diff(a, b), diff(moved_a, moved_b)
        assert found.mode == expected.mode
        for name, table in expected.to_tables().items():
            without = ADDRESSES | set(WORDS_OF_HOLES if name == "largest_free" else ())
            assert show(found.to_tables()[name], without) == show(table, without), name


def test_trends_are_those_of_the_original(tmp_path: Path) -> None:
    """The same verdict with the same slopes for each figure, the largest hole among them."""
    both = load_both(read_sample("linux-leak-v1.0.mmp"), tmp_path, rebase=True)
    expected, found = (find_trends([pair[side] for pair in both]) for side in (0, 1))
    assert show(found) == show(expected)
