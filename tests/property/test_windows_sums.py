"""Random saves of VMMap and lists of MEMORY_BASIC_INFORMATION: sums, holes and diffs against plain loops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.analysis import LoadedSnapshot, diff, find_free, list_allocations, summarize
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.schema import TYPES
from support.effort import scale
from support.foreign import WINDOWS, load_foreign, make_mbi, make_vmmap, missing

UNIT, PAGE, KIB = 0x10000, 0x1000, 0x400
END = 64 * UNIT
SPACE = {"start": 0, "end": END, "source": "made up"}
KINDS = {
    "Image (ASLR)": "Image",
    "Mapped File": "Mapped File",
    "Shareable": "Shareable",
    "Heap (Private Data)": "Heap",
    "Managed Heap": "Managed Heap",
    "Private Data": "Private Data",
}
FIGURES = {
    "Commit": "committed",
    "TotalWS": "total_ws",
    "PrivateWS": "private_ws",
    "ShareableWS": "shareable_ws",
    "SharedWS": "shared_ws",
    "LockedWS": "locked_ws",
}
_SUMMED = (*FIGURES.values(), "size", "private", "blocks", "allocations", "largest")
Row = dict[str, Any]
SEEDS = st.integers(0, 2**32)


class Save(NamedTuple):
    """Rows of a save: allocations, and the sub-blocks of each."""

    allocations: list[Row]
    parts: list[list[Row]]

    def load(self) -> LoadedSnapshot:
        """Load it as a reader hands it out."""
        leaves = [part for parts in self.parts for part in parts]
        tables = {"allocations": self.allocations}
        return load_foreign(leaves, host=WINDOWS, tables=tables, range=SPACE, page_table=12 * KIB, bits=32)


def draw_save(random: Random) -> Save:
    """Make allocations at multiples of 64 KiB, of any length; sub-blocks fill them, or lack some KiB."""
    at, allocations, parts = 0, [], []
    while at < END - 8 * UNIT:
        at += random.choice([0, 0, UNIT, 3 * UNIT])
        size, kind = random.randint(1, 40) * PAGE, random.choice([*KINDS])
        figures = {"Blocks": random.randint(1, 3), **_draw_figures(random, size)}
        allocations.append(make_vmmap(at, size, kind, **figures))
        parts.append([*_draw_parts(random, at, size, kind)])
        at = -(-(at + size) // UNIT) * UNIT
    return Save(allocations, parts)


def _draw_parts(random: Random, base: int, size: int, kind: str) -> Iterator[Row]:
    lost = random.choice([0, 0, KIB])
    edges = sorted({0, size - lost, *(random.randrange(0, size, PAGE) for _ in range(random.randint(0, 3)))})
    for low, high in pairwise(edges):
        yield make_vmmap(base + low, high - low, kind, base=base, **_draw_figures(random, high - low))


def _draw_figures(random: Random, size: int) -> Row:
    """Make figures that agree with each other."""
    commit = random.randint(0, size)
    private_ws, shareable = random.randint(0, commit // 2), random.randint(0, commit // 2)
    return {
        "Commit": commit,
        "PrivateBytes": random.randint(private_ws, commit),
        "TotalWS": private_ws + shareable,
        "PrivateWS": private_ws,
        "ShareableWS": shareable,
        "SharedWS": random.randint(0, shareable),
        "Protection": random.choice([0, 2, 4, 0x104]),
    }


def sum_slowly(save: Save) -> dict[str, dict[str, int]]:
    """Add up what VMMap's summary has, row by row."""
    rows: dict[str, dict[str, int]] = {}
    for whole, parts in zip(*save, strict=True):
        row = rows.setdefault(KINDS[whole["VmmapType"]], dict.fromkeys(_SUMMED, 0))
        row["size"] += whole["size"]
        row["blocks"] += whole["Blocks"]
        row["allocations"] += 1
        row["largest"] = max(row["largest"], whole["size"])
        for name, figure in FIGURES.items():
            row[figure] += whole[name]
        fills = sum(part["size"] for part in parts) == whole["size"]
        row["private"] += sum(p["PrivateBytes"] for p in parts) if fills else whole["PrivateBytes"]
    return rows


def find_holes_slowly(taken: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """Walk the space in steps of KiB: what nothing covers is Unusable up to the next 64 KiB, then Free."""
    holes: list[tuple[int, int, str]] = []
    kind = None
    for at in range(0, END, KIB):
        is_taken = any(low <= at < high for low, high in taken)
        was, kind = kind, None if is_taken else "Free" if at % UNIT == 0 or kind == "Free" else "Unusable"
        if kind and kind == was:
            holes[-1] = (holes[-1][0], holes[-1][1] + KIB, kind)
        elif kind:
            holes.append((at, KIB, kind))
    return holes


def _list_holes(snapshot: LoadedSnapshot) -> list[tuple[int, int, str]]:
    rows = find_free(snapshot).select(["address", "size", "type"]).to_pylist()
    return [(row["address"], row["size"], row["type"]) for row in rows]


@settings(max_examples=scale(40), deadline=None)
@given(SEEDS)
def test_a_save_sums_up_as_plain_loops_do(seed: int) -> None:
    """Every type, every figure, blocks, allocations and the largest; holes are between allocations."""
    save = draw_save(Random(seed))
    snapshot, expected = save.load(), sum_slowly(save)
    rows = {row["type"]: row for row in summarize(snapshot).to_pylist()}
    for kind, row in expected.items():
        assert {name: rows[kind][name] for name in row} == row, kind
    for name in ("size", "private", *FIGURES.values()):
        parts = [rows[kind][name] for kind in TYPES if kind != "Free"]
        assert rows["Total"][name] == sum(parts)
    taken = [(row["start"], row["start"] + row["size"]) for row in save.allocations]
    holes = find_holes_slowly(taken)
    assert _list_holes(snapshot) == holes
    assert rows["Free"]["blocks"] == sum(kind == "Free" for _, _, kind in holes)
    everything = sum(rows[kind]["size"] for kind in TYPES if kind != "Page Table")
    assert everything == END


@settings(max_examples=scale(30), deadline=None)
@given(SEEDS, SEEDS)
def test_changes_between_two_saves_add_up(one: int, two: int) -> None:
    """Sub-blocks, what is in none of them, unusable space and page tables make up the change of Total."""
    a, b = (draw_save(Random(seed)).load() for seed in (one, two))
    result, back = diff(a, b, limit=0), diff(b, a, limit=0)
    rows = {row["metric"]: row for row in result.totals.to_pylist()}
    turned = {row["metric"]: row["delta"] for row in back.totals.to_pylist()}
    for name in METRICS:
        row = rows[name]
        if row["a"] is None:
            assert row["delta"] is None
            continue
        deltas = [each[f"{name}_delta"] or 0 for each in result.components.to_pylist()]
        assert row["delta"] == row["b"] - row["a"] == sum(deltas) == -turned[name], name


@settings(max_examples=scale(30), deadline=None)
@given(SEEDS)
def test_a_save_is_no_change_of_itself(seed: int) -> None:
    """Whatever its allocations have and its sub-blocks do not."""
    assert diff(draw_save(Random(seed)).load(), draw_save(Random(seed)).load()).is_empty


def draw_dump(random: Random) -> list[Row]:
    """Make allocations of MEMORY_BASIC_INFORMATION: neighbours in one allocation, reserved and committed."""
    at, rows = 0, []
    while at < END - 8 * UNIT:
        at += random.choice([0, UNIT, 2 * UNIT])
        base, kind = at, random.choice([0x20000, 0x40000])
        for _ in range(random.randint(1, 4)):
            size, state = random.randint(1, 20) * PAGE, random.choice([0x1000, 0x1000, 0x2000])
            rows.append(make_mbi(at, size, state, AllocationBase=base, Type=kind))
            at += size
        at = -(-at // UNIT) * UNIT
    return rows


@settings(max_examples=scale(40), deadline=None)
@given(SEEDS)
def test_a_dump_sums_up_as_plain_loops_do(seed: int) -> None:
    """Size of all, commit of what is committed, allocations by their base, holes at 64 KiB."""
    rows = draw_dump(Random(seed))
    snapshot = load_foreign(rows, host=WINDOWS, range=SPACE, bits=32)
    total = summarize(snapshot).to_pylist()[0]
    holes = find_holes_slowly([(row["start"], row["start"] + row["size"]) for row in rows])
    unusable = sum(size for _, size, kind in holes if kind == "Unusable")
    assert total["size"] == sum(row["size"] for row in rows) + unusable
    assert total["committed"] == sum(row["size"] for row in rows if row["State"] == 0x1000)
    assert total["total_ws"] is None
    bases = {row["AllocationBase"] for row in rows}
    assert (total["blocks"], total["allocations"]) == (len(rows), len(bases))
    assert list_allocations(snapshot).num_rows == total["allocations"]
    assert _list_holes(snapshot) == holes


@pytest.mark.parametrize("seed", range(5))
def test_a_part_of_a_dump_knows_no_more_than_the_whole(seed: int) -> None:
    """Rows that are left out change no row that is there: nothing is new, gone or changed."""
    random = Random(seed)
    rows = draw_dump(random)
    part = [row for row in rows if random.random() < 0.7]
    whole = load_foreign(rows, host=WINDOWS, range=SPACE, bits=32)
    cut = load_foreign(part, host=WINDOWS, range=SPACE, bits=32, capability=[missing("rows are lost")])
    assert diff(cut, whole).is_empty
    assert diff(whole, cut).is_empty
