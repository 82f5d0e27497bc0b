"""Laws of the whole diff: nothing against itself, turned round, every sum the difference of the totals."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from mmpscope.analysis import DiffResult, diff, summarize
from mmpscope.analysis.diffs.schema import DIFF_TABLES, METRICS
from support.effort import scale
from support.slow_diff import Map, draw_pair, to_rows
from support.snapshots import PAGE, make_snapshot, region

if TYPE_CHECKING:
    from mmpscope.analysis import LoadedSnapshot

SEEDS = range(scale(6))
OPPOSITE = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown"}


def draw_snapshots(seed: int, *, nulls: bool) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Draw 60 small maps and what became of them; without nulls, every counter is known."""
    random = Random(seed)
    pairs = [draw_pair(random.randrange, 12, number * 64) for number in range(1, 61)]
    sides: list[list[dict[str, Any]]] = [[], []]
    for pair in pairs:
        for rows, parts in zip(sides, pair, strict=True):
            rows += to_rows(_tame(parts, nulls))
    status = [{"VmPTE": random.randrange(1, 9) * PAGE} for _ in sides]
    one, two = (
        make_snapshot(rows, process={"status": state}) for rows, state in zip(sides, status, strict=True)
    )
    return one, two


def _tame(parts: Map, nulls: bool) -> Map:
    """Keep counters so small that no total leaves 64 bits."""
    for part in parts:
        for name, value in part.counters.items():
            part.counters[name] = None if nulls and value is None else (value or 0) % (1 << 40)
    return parts


def find_rows(result: DiffResult, name: str) -> list[dict[str, Any]]:
    """Return the rows of one of the tables."""
    rows: list[dict[str, Any]] = result.to_tables()[name].to_pylist()
    return rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nulls", [False, True])
def test_nothing_changes_against_itself(seed: int, nulls: bool) -> None:
    """diff(a, a) is empty, also with unknown counters."""
    a, _ = draw_snapshots(seed, nulls=nulls)
    result = diff(a, a)
    assert result.is_empty
    assert result.movers.num_rows == 0
    assert all(not delta for delta in result.totals.column("delta").to_pylist())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nulls", [False, True])
def test_turned_round_every_sign_turns(seed: int, nulls: bool) -> None:
    """diff(b, a) = -diff(a, b): the same rows, sides and words swapped, deltas negated."""
    a, b = draw_snapshots(seed, nulls=nulls)
    forth, back = diff(a, b, limit=0), diff(b, a, limit=0)
    for name in ("totals", "types", "components", "ranges"):
        assert [turn(row) for row in find_rows(forth, name)] == [
            row | {"note": None} for row in find_rows(back, name)
        ]


def turn(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a row round; the note is about growth, which the other direction does not have."""
    turned = {}
    for name, value in row.items():
        if name.endswith("delta"):
            turned[name] = None if value is None else -value
        elif name[-2:] in ("_a", "_b"):
            turned[name[:-1] + ("b" if name.endswith("a") else "a")] = value
        elif name in ("a", "b"):
            turned["b" if name == "a" else "a"] = value
        else:
            turned[name] = OPPOSITE.get(value, value) if name == "word" else value
    return {name: turned[name] for name in row} | {"note": None}


@pytest.mark.parametrize("seed", SEEDS)
def test_components_and_movers_add_up_to_the_difference_of_the_totals(seed: int) -> None:
    """For every metric: sum of component deltas = sum of mover deltas = total(b) - total(a)."""
    a, b = draw_snapshots(seed, nulls=False)
    result = diff(a, b, limit=7)
    [before], [after] = ([r for r in summarize(side).to_pylist() if r["type"] == "Total"] for side in (a, b))
    for row in find_rows(result, "totals"):
        name = row["metric"]
        assert (row["a"], row["b"], row["partial"]) == (before[name], after[name], False)
        assert row["delta"] == after[name] - before[name]
        for table in (result.components, result.movers):
            assert sum(table.column(f"{name}_delta").to_pylist()) == row["delta"]
        for side, total in (("a", before[name]), ("b", after[name])):
            listed = sum(result.components.column(f"{name}_{side}").to_pylist())
            assert sum(result.movers.column(f"{name}_{side}").to_pylist()) == listed <= total
    assert sum(result.movers.column("rows").to_pylist()) == result.components.num_rows


@pytest.mark.parametrize("seed", SEEDS)
def test_types_add_up_to_the_total(seed: int) -> None:
    """For every metric the deltas of the types but Free add up to that of Total, as totals has it."""
    a, b = draw_snapshots(seed, nulls=False)
    result = diff(a, b)
    total, *types = find_rows(result, "types")
    for row in find_rows(result, "totals"):
        name = f"{row['metric']}_delta"
        assert total[name] == row["delta"]
        assert sum(each[name] for each in types if each["type"] != "Free") == row["delta"]


@pytest.mark.parametrize("seed", SEEDS)
def test_ranges_tell_the_change_of_size_of_every_type(seed: int) -> None:
    """Per type, what ranges have of it after less what they have before is the delta of its size."""
    a, b = draw_snapshots(seed, nulls=True)
    result = diff(a, b)
    changes = dict.fromkeys(result.types.column("type").to_pylist(), 0)
    for row in find_rows(result, "ranges"):
        if row["type_a"]:
            changes[row["type_a"]] -= row["size_a"]
        if row["type_b"]:
            changes[row["type_b"]] += row["size_b"]
    for row in find_rows(result, "types"):
        if row["type"] not in ("Total", "Free", "Page Table", "Unusable"):
            assert row["size_delta"] == changes[row["type"]], row["type"]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_unknown_makes_a_total_unknown_and_is_said(seed: int) -> None:
    """With nulls no total pretends to a change; components and movers tell what is known, alike."""
    a, b = draw_snapshots(seed, nulls=True)
    result = diff(a, b, limit=5)
    totals = {row["metric"]: row for row in find_rows(result, "totals")}
    deltas = [delta for delta in result.components.column("swap_delta").to_pylist() if delta is not None]
    assert totals["swap"]["delta"] is None
    assert totals["swap"]["partial"]
    assert "Heap" in totals["swap"]["note"]
    known = [delta for delta in result.movers.column("swap_delta").to_pylist() if delta is not None]
    assert sum(known) == sum(deltas)
    assert (totals["thp"]["a"], totals["thp"]["delta"]) == (None, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_maps_conserve_and_never_go_below_zero(seed: int) -> None:
    """Regions that overlap, repeat and end before they start: sums still hold, and nothing against itself."""
    random = Random(seed)
    sides = [
        [
            region(random.randrange(40) * PAGE, random.randrange(1, 9) * PAGE, total_ws=random.randrange(99))
            for _ in range(30)
        ]
        for _ in range(2)
    ]
    for rows in sides:
        rows[3] |= {"end": rows[3]["address"]}
        rows[4] |= {"end": max(0, rows[4]["address"] - PAGE)}
    clean = [region(at * 2 * PAGE, PAGE, total_ws=random.randrange(99)) for at in range(20)]
    for before, after in ((sides[0], sides[1]), (clean, sides[1]), (sides[0], clean)):
        a, b = (make_snapshot(sorted(rows, key=lambda row: row["address"])) for rows in (before, after))
        result = diff(a, b)
        for name in METRICS:
            expected = sum(row[name] for row in after) - sum(row[name] for row in before)
            assert sum(result.components.column(f"{name}_delta").to_pylist()) == expected
        assert diff(a, a).is_empty


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_in_a_file_does_not_matter(seed: int) -> None:
    """Regions in any order give the same answer as sorted ones."""
    a, b = draw_snapshots(seed, nulls=True)
    rows = a.regions.to_pylist()
    Random(seed).shuffle(rows)
    shuffled = make_snapshot(rows, process=a.process)
    for name in ("totals", "components", "ranges"):
        assert find_rows(diff(shuffled, b), name) == find_rows(diff(a, b), name)


def test_every_table_has_the_columns_that_are_written_down() -> None:
    """Names and order of columns come from diffs.schema."""
    result = diff(*draw_snapshots(0, nulls=True))
    assert {name: table.column_names for name, table in result.to_tables().items()} == {
        name: [field.name for field in fields] for name, fields in DIFF_TABLES.items()
    }
