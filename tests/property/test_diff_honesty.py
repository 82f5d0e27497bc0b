"""Any two sources, any columns missing: a change is what lies between its two figures, or unknown."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import DiffResult, LoadedSnapshot, diff, summarize
from mmpscope.analysis.diffs.groups import GROUPINGS, group_changes
from mmpscope.analysis.diffs.movers import choose_movers
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.extent import ALL
from support.effort import scale
from support.foreign import WINDOWS, load_foreign, make_mbi, make_vmmap, missing

PAGE = 4096
LINUX = {"os": "linux"}
SEEDS = st.integers(0, 2**32)
MODES = st.sampled_from([None, "same", "different"])
PARTS = ("a", "b", "delta")
Row = dict[str, Any]


def draw_any(random: Random) -> LoadedSnapshot:
    """Draw a snapshot of any family, of which some columns, cells, facts or regions are not known."""
    family = random.choice([draw_linux, draw_vmmap, draw_dump, draw_totals])
    return family(random)


def lose(random: Random, rows: list[Row], names: tuple[str, ...]) -> list[Row]:
    """Take some columns out of rows, and some cells of numbers."""
    lost = {name for name in names if random.random() < 0.3}
    share = random.choice([0, 0, 0.2])

    def is_hole(name: str, cell: object) -> bool:
        return name in names and isinstance(cell, int) and random.random() < share

    return [
        {name: None if is_hole(name, cell) else cell for name, cell in row.items() if name not in lost}
        for row in rows
    ]


def draw_linux(random: Random) -> LoadedSnapshot:
    """Draw smaps, maps or pmap: with and without inodes, page tables and counters."""
    rows: list[Row] = []
    for at in range(random.randint(1, 8)):
        pages, rss = random.randint(1, 9), random.randint(0, 3) * 1024
        row = {
            "start": (at * 16 + 16) * PAGE,
            "size": pages * PAGE,
            "perms": random.choice(["rw-p", "r-xp", "---p"]),
        }
        row |= dict.fromkeys(("Rss", "Pss", "Anonymous", "Private_Dirty"), rss)
        row |= {"Shared_Clean": 0, "Shared_Dirty": 0, "Private_Clean": 0, "Swap": 0, "Locked": 0, "inode": 0}
        row |= {"path": random.choice(["[heap]", "[stack]", "/lib/a.so", "[anon:x]"]), "VmFlags": "rd wr ac"}
        rows.append(row)
    names = ("Rss", "Pss", "Anonymous", "Shared_Clean", "Shared_Dirty", "Swap", "Locked", "inode", "VmFlags")
    status: Row = random.choice([{}, {"status": {"VmPTE": random.randint(1, 9) * 1024}}])
    part = [missing("an excerpt")] if random.random() < 0.15 else []
    return load_foreign(lose(random, rows, names), host=LINUX, capability=part, **status)


def draw_vmmap(random: Random) -> LoadedSnapshot:
    """Draw a save of VMMap, with and without page tables."""
    kinds = ("Heap (Private Data)", "Image (ASLR)", "Private Data", "Thread Stack")
    sizes = [random.randint(1, 9) * PAGE for _ in range(random.randint(1, 8))]
    rows = [
        make_vmmap(0x10000 * (at + 1), size, random.choice(kinds), Commit=size, TotalWS=1024, PrivateWS=1024)
        for at, size in enumerate(sizes)
    ]
    facts: Row = random.choice([{}, {"page_table": 8192}])
    return load_foreign(
        lose(random, rows, ("Commit", "TotalWS", "PrivateWS")), host=WINDOWS, bits=32, **facts
    )


def draw_dump(random: Random) -> LoadedSnapshot:
    """Draw a minidump: no working sets, heaps only where a debugger names them."""
    usage: Row = random.choice([{}, {"Usage": "Heap"}])
    sizes = [random.randint(1, 9) * PAGE for _ in range(random.randint(1, 8))]
    rows = [make_mbi(0x10000 * (at + 1), size, **usage) for at, size in enumerate(sizes)]
    return load_foreign(rows, host=WINDOWS, bits=32)


def draw_totals(random: Random) -> LoadedSnapshot:
    """Draw totals: a roll-up, or objects with or without a sum below them."""
    names = random.choice([["[rollup]"], ["[heap]", "/lib/a.so"], ["[heap]", "/lib/a.so", "TOTAL"]])
    rows = [
        {"name": name, **{key: random.randint(1, 99) * 1024 for key in ("Size", "Rss", "Pss")}}
        for name in names
    ]
    status: Row = random.choice([{}, {"status": {"VmPTE": 4096}}])
    return load_foreign(host=LINUX, tables={"totals": lose(random, rows, ("Size", "Pss"))}, **status)


def find_lies(result: DiffResult) -> list[tuple[str, Row]]:
    """List the totals and types of which the change is known and is not after - before."""
    lies = []
    for row in result.totals.to_pylist():
        if row["delta"] is not None and (None in (row["a"], row["b"]) or row["delta"] != row["b"] - row["a"]):
            lies.append((row["metric"], row))
    for row in result.types.to_pylist():
        for name in (*METRICS, "blocks", "allocations", "largest"):
            before, after, delta = (row[f"{name}_{part}"] for part in ("a", "b", "delta"))
            if delta is not None and (None in (before, after) or delta != after - before):
                lies.append((f"{row['type']} {name}", row))
    return lies


@settings(max_examples=scale(150), deadline=None)
@given(SEEDS, SEEDS, MODES)
def test_every_change_is_after_less_before_or_unknown(one: int, two: int, mode: str | None) -> None:
    """Of each total and each type, whatever either side does not know."""
    assert find_lies(diff(draw_any(Random(one)), draw_any(Random(two)), mode)) == []


@settings(max_examples=scale(60), deadline=None)
@given(SEEDS, SEEDS)
def test_both_modes_give_the_same_totals(one: int, two: int) -> None:
    """How regions are compared is no matter to what they add up to."""
    a, b = draw_any(Random(one)), draw_any(Random(two))
    assert diff(a, b, "same").totals.equals(diff(a, b, "different").totals)


@settings(max_examples=scale(60), deadline=None)
@given(SEEDS, SEEDS)
def test_before_and_after_are_what_a_summary_shows(one: int, two: int) -> None:
    """With its mark; but for a row that one side lacks, which is named and left out of both."""
    a, b = draw_any(Random(one)), draw_any(Random(two))
    rows = diff(a, b).totals.to_pylist()
    for side, snapshot in (("a", a), ("b", b)):
        total = _read_total(summarize(snapshot))
        marked = (total["partial"] or "").split(", ")
        for row in rows:
            name = row["metric"]
            if "without" not in (row["note"] or ""):
                assert row[side] == total[name], name
                assert row[f"partial_{side}"] == (total[name] is not None and name in marked), name


def _read_total(summary: pa.Table) -> Row:
    row: Row = summary.to_pylist()[0]
    return row


@settings(max_examples=scale(150), deadline=None)
@given(SEEDS, SEEDS, MODES, st.sampled_from([None, *GROUPINGS]), st.sampled_from(METRICS))
def test_what_is_folded_tells_no_more_than_its_rows(
    one: int, two: int, mode: str | None, by: str | None, metric: str
) -> None:
    """Unknown in one row and on one side makes the folded sum of that side unknown, and never a drop."""
    pair = draw_any(Random(one)), draw_any(Random(two))
    result = diff(*pair, mode)
    if by in ("type", "rule") and not result.scope.types:
        return
    changes = result.components if by is None else group_changes(pair, result, by)
    rows = changes.to_pylist()
    for folded in choose_movers(changes, metric, 0, 1 << 60).to_pylist():
        for name in METRICS:
            told = [row for row in rows if any(row[f"{name}_{part}"] is not None for part in PARTS)]
            for part in PARTS:
                cells = [row[f"{name}_{part}"] for row in told]
                expected = None if None in cells or not cells else sum(cells)
                assert folded[f"{name}_{part}"] == expected, (name, part)
            is_partial = 0 < len(told) < len(rows)
            assert (name in (folded["partial"] or "").split(", ")) == is_partial, name


@settings(max_examples=scale(100), deadline=None)
@given(SEEDS, SEEDS, MODES, st.sampled_from([*GROUPINGS]))
def test_groups_add_up_to_a_total_that_is_known(one: int, two: int, mode: str | None, by: str) -> None:
    """Of two sources, too, whose units are not matched: what no region has is a group of its own."""
    pair = draw_any(Random(one)), draw_any(Random(two))
    result = diff(*pair, mode)
    if result.scope.regions != ALL or (by in ("type", "rule") and not result.scope.types):
        return
    rows = group_changes(pair, result, by).to_pylist()
    for total in result.totals.to_pylist():
        name = f"{total['metric']}_delta"
        is_known = all(row[name] is not None or row["match"] == "summary" for row in rows)
        if total["delta"] is not None and is_known:
            assert sum(row[name] or 0 for row in rows) == total["delta"], name
