"""Laws of a diff of two instances: sums, turned round, nothing against itself."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from mmpscope.analysis import DiffResult, diff, summarize
from mmpscope.analysis.diffs.choice import Choice, choose_changes
from mmpscope.analysis.diffs.groups import GROUPINGS, group_changes
from mmpscope.analysis.diffs.matching import summarize_matching
from mmpscope.analysis.diffs.schema import METRICS
from support.effort import scale
from support.slow_units import Process, draw_process
from support.snapshots import PAGE, make_snapshot

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

SEEDS = range(scale(8))
PAIRS = 10
"""Pairs of each seed."""
OPPOSITE = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown"}
Snapshots = tuple["LoadedSnapshot", "LoadedSnapshot"]


def make(process: Process, page_table: int) -> LoadedSnapshot:
    """Make a snapshot of a drawn process."""
    return make_snapshot(
        process.regions,
        modules=process.modules,
        threads=process.threads,
        process={"status": {"VmPTE": page_table * PAGE}},
    )


@cache
def draw_pairs(seed: int) -> list[tuple[tuple[Process, Process], Snapshots]]:
    """Draw pairs of processes, each of them with some module and thread, so that both sides know theirs."""
    random = Random(seed)
    pairs: list[tuple[tuple[Process, Process], Snapshots]] = []
    while len(pairs) < PAIRS:
        a, b = draw_process(random), draw_process(random)
        if all((bool(a.modules) == bool(b.modules), bool(a.threads) == bool(b.threads))):
            pairs.append(((a, b), (make(a, random.randrange(9)), make(b, random.randrange(9)))))
    return pairs


def list_rows(result: DiffResult, name: str = "components") -> list[dict[str, Any]]:
    """Return the rows of one of the tables."""
    rows: list[dict[str, Any]] = result.to_tables()[name].to_pylist()
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_units_add_up_to_totals_and_types(seed: int) -> None:
    """For every figure that all know: sums of rows are the differences of the summaries, type by type."""
    for _, (a, b) in draw_pairs(seed):
        result = diff(a, b, "different", limit=3)
        before, after = ({row["type"]: row for row in summarize(side).to_pylist()} for side in (a, b))
        for name in (each for each in METRICS if each != "pss"):
            for type_ in before:
                rows = list_rows(result)
                own = [r[f"{name}_delta"] for r in rows if type_ in (r["type_a"] or r["type_b"], "Total")]
                if type_ != "Free":
                    assert sum(own) == after[type_][name] - before[type_][name], (name, type_)
            assert sum(row[f"{name}_delta"] for row in list_rows(result, "movers")) == (
                after["Total"][name] - before["Total"][name]
            )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["same", "different"])
def test_groups_add_up_to_the_total(seed: int, mode: str) -> None:
    """Whatever decides the groups, and in both modes: every region is in one group, and nothing in two."""
    for _, (a, b) in draw_pairs(seed)[:4]:
        result = diff(a, b, mode)
        totals = {row["metric"]: row["delta"] for row in list_rows(result, "totals")}
        for by in GROUPINGS:
            groups = group_changes((a, b), result, by)
            folded = choose_changes(result, (), Choice(1, 5 * PAGE, groups)).movers
            for name in (each for each in METRICS if each != "pss"):
                assert sum(groups[f"{name}_delta"].to_pylist()) == totals[name], (by, name)
                assert sum(folded[f"{name}_delta"].to_pylist()) == totals[name], (by, name)
            heaps = group_changes((a, b), result, by, ("Heap",))
            [heap] = [row for row in list_rows(result, "types") if row["type"] == "Heap"]
            assert sum(heaps["size_delta"].to_pylist()) == heap["size_delta"]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_matched_adds_up_to_what_there_is(seed: int) -> None:
    """Rows of matching have each committed byte of each side once, and against itself all is matched."""
    for (one, two), (a, b) in draw_pairs(seed):
        matching = diff(a, b, "different").matching
        figure = set(matching["figure"].to_pylist()).pop()
        for side, process in (("a", one), ("b", two)):
            assert sum(matching[side].to_pylist()) == sum(row[figure] for row in process.regions)
        if one.regions:
            told = summarize_matching(diff(a, a, "different").matching)
            assert told is not None
            assert told.startswith("matched 100 % of committed bytes")


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes_between_a_process_and_itself(seed: int) -> None:
    """diff(a, a) is empty, also with unknown counters, also moved to other addresses and split anew."""
    for (one, _), (a, _) in draw_pairs(seed):
        assert diff(a, a, "different").is_empty
        moved = Process(
            [row | {n: row[n] + 64 * PAGE for n in ("address", "end", "allocation")} for row in one.regions],
            [row | {n: row[n] + 64 * PAGE for n in ("address", "end")} for row in one.modules],
            [row | {"stack": row["stack"] + 64 * PAGE} for row in one.threads],
        )
        result = diff(a, make(moved, a.process["status"]["VmPTE"] // PAGE), "different")
        assert not list_rows(result)
        assert not list_rows(result, "modules")


@pytest.mark.parametrize("seed", SEEDS)
def test_turned_round_every_sign_turns(seed: int) -> None:
    """diff(b, a) = -diff(a, b): the same units, sides and words swapped, deltas negated."""
    for _, (a, b) in draw_pairs(seed):
        forth, back = diff(a, b, "different", limit=0), diff(b, a, "different", limit=0)
        for name in ("totals", "types"):
            assert [turn(row) for row in list_rows(forth, name)] == [
                row | {"note": None} for row in list_rows(back, name)
            ]
        turned, straight = (
            sorted(map(repr, rows))
            for rows in (
                [turn(row) for row in list_rows(forth)],
                [row | {"note": None, "unit": None} for row in list_rows(back)],
            )
        )
        assert turned == straight


def turn(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a row round; the note is about growth, and a unit is called by what its first side calls it."""
    turned: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("delta"):
            turned[name] = None if value is None else -value
        elif name[-2:] in ("_a", "_b"):
            turned[name[:-1] + ("b" if name.endswith("a") else "a")] = value
        elif name in ("a", "b"):
            turned["b" if name == "a" else "a"] = value
        else:
            turned[name] = OPPOSITE.get(value, value) if name == "word" else value
    unit = {"unit": None} if "unit" in row else {}
    return {name: turned[name] for name in row} | {"note": None} | unit
