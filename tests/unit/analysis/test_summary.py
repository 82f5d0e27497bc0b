"""The summary: sums by type, what they cover, and allocations."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations, summarize
from mmpscope.analysis.schema import COUNTERS, SUMMARY, TYPES
from support.corpus import read_corpus_file
from support.loaded import load_blocks, load_map, load_table, load_text

KB = 1024
SUMS = ("size", *COUNTERS, "blocks", "allocations")


def _by_type(snapshot: LoadedSnapshot) -> dict[str, dict[str, Any]]:
    return {row["type"]: row for row in summarize(snapshot).to_pylist()}


def _load(**facts: Any) -> LoadedSnapshot:
    return load_blocks(
        ("1000000-1100000 rw-p", {"Rss": 8, "Anonymous": 8, "Pss": 8, "Private_Dirty": 8}, "rd wr ac"),
        ("1100000-1300000 ---p", {}, "mr"),
        ("2000000-2100000 rw-p 0 0 [heap]", {"Rss": 100, "Anonymous": 100, "Locked": 4}, "rd wr ac"),
        ("3000000-3100000 rw-s 0 2a /srv/f", {"Rss": 40, "Shared_Dirty": 30}, "rd wr sh"),
        **facts,
    )


def test_the_rows_are_total_and_then_the_types_in_order() -> None:
    """Every snapshot has the same rows, whatever it holds."""
    table = summarize(_load())
    assert table.column("type").to_pylist() == ["Total", *TYPES]
    assert table.column_names == [field.name for field in SUMMARY]


def test_figures_add_up_by_type() -> None:
    """Size, Committed, Private and working sets are sums over the regions of a type."""
    rows = _by_type(_load())
    private, heap, file = rows["Private Data"], rows["Heap"], rows["Mapped File"]
    assert (private["size"], private["committed"], private["private"]) == (3 << 20, 1 << 20, 1 << 20)
    assert (private["total_ws"], private["blocks"], private["allocations"]) == (8 * KB, 2, 2)
    assert private["largest"] == 2 << 20
    assert (heap["private_ws"], heap["locked_ws"]) == (100 * KB, 4 * KB)
    assert (file["shareable_ws"], file["shared_ws"], file["private"]) == (40 * KB, 30 * KB, 0)


def test_total_is_everything_but_free() -> None:
    """Total adds up all types, Page Table and Unusable included."""
    rows = _by_type(_load(status={"VmPTE": 52 * KB, "VmPMD": 4 * KB}))
    for name in SUMS:
        assert rows["Total"][name] == sum(rows[kind][name] or 0 for kind in TYPES if kind != "Free"), name
    assert rows["Total"]["partial"] is None
    assert rows["Total"]["largest"] == 2 << 20


def test_page_tables_are_private_memory_of_the_kernel() -> None:
    """VmPTE, and VmPMD where a kernel counts it apart, are size, committed, private and resident."""
    row = _by_type(_load(status={"VmPTE": 52 * KB, "VmPMD": 4 * KB}))["Page Table"]
    assert [row[name] for name in ("size", "committed", "private", "total_ws", "private_ws")] == [56 * KB] * 5
    assert (row["shareable_ws"], row["pss"], row["blocks"]) == (0, 0, None)


def test_maps_tell_no_private_working_set() -> None:
    """Not even that of shared memory, which has none: a total of at least 0 would say nothing."""
    rows = _by_type(load_map("10000-20000 rw-p", "30000-40000 rw-s 0 2a /f", status={"VmPTE": 0}))
    assert rows["Mapped File"]["private_ws"] is None
    assert rows["Total"]["private_ws"] is None
    assert "private_ws" in rows["Total"]["partial"].split(", ")


def test_page_tables_beyond_64_bits_are_unknown() -> None:
    """A status that a stranger wrote may hold two numbers that no sum can hold."""
    row = _by_type(_load(status={"VmPTE": (1 << 64) - 1, "VmPMD": 1}))["Page Table"]
    assert row["size"] is None


def test_unknown_page_tables_are_said_in_the_total() -> None:
    """Without status the row is null, and Total names what it lacks."""
    rows = _by_type(_load())
    assert rows["Page Table"]["size"] is None
    assert rows["Total"]["partial"] == "size, committed, private, total_ws, private_ws"
    assert rows["Total"]["size"] == 5 << 20


def test_a_sum_over_nulls_says_what_it_leaves_out() -> None:
    """Null where nothing is known; else the sum of what is, and the name of the figure in partial."""
    known = {"start": 0x1000000, "size": 4096, "perms": "rw-p", "Rss": 4096, "Pss": None}
    snapshot = load_table([known, {**known, "start": 0x2000000, "Rss": None, "Pss": None}])
    row = _by_type(snapshot)["Private Data"]
    assert (row["total_ws"], row["pss"]) == (4096, None)
    assert {"total_ws", "pss"} <= set(row["partial"].split(", "))
    assert "size" not in row["partial"].split(", ")


def test_regions_and_holes_make_up_the_range() -> None:
    """Sizes of all types, gate areas apart, are the usable range."""
    snapshot = _load()
    rows = _by_type(snapshot)
    low, high, _ = snapshot.usable_range
    assert sum(rows[name]["size"] for name in TYPES if name != "Page Table") == high - low


@pytest.mark.parametrize("facts", [{}, {"status": {"Threads": 1}}])
def test_f20_of_no_address_space_every_figure_is_unknown(facts: dict[str, Any]) -> None:
    """Of an empty map, of a kernel thread or of what may not be read, nothing is known, and nothing is 0."""
    for kind, row in _by_type(load_text(b"", **facts)).items():
        assert [name for name in (*SUMS, "largest") if row[name] is not None] == [], kind


def test_a_total_that_no_region_knows_is_unknown() -> None:
    """A type without regions has 0 of everything, which makes no total of a figure that maps do not tell."""
    total = _by_type(load_map("10000-20000 rw-p", "30000-40000 ---p", status={"VmPTE": 52 * KB}))["Total"]
    assert (total["committed"], total["total_ws"], total["pss"]) == (64 * KB + 52 * KB, None, None)
    assert {"committed", "total_ws", "pss"} <= set(total["partial"].split(", "))


def test_sums_beyond_64_bits_are_unknown_and_never_wrap() -> None:
    """Hostile regions may overlap and add up to more than there is."""
    huge = {"start": 0, "size": (1 << 64) - 4096, "perms": "rw-p"}
    row = _by_type(load_table([huge, {**huge, "start": 4096, "size": (1 << 64) - 8192}]))["Private Data"]
    assert row["size"] is None
    assert "size" in row["partial"].split(", ")


@pytest.mark.parametrize("name", ["torture", "sleep", "java"])
def test_the_largest_allocation_is_the_largest_of_its_type(name: str) -> None:
    """Largest and the number of allocations come from the table of allocations."""
    snapshot = load_text(read_corpus_file(f"smaps/linux-6.18/{name}.smaps"))
    allocations = [row for row in list_allocations(snapshot).to_pylist() if row["subtype"] != "gate"]
    for kind, row in _by_type(snapshot).items():
        sizes = [each["size"] for each in allocations if each["type"] == kind]
        if sizes:
            assert (row["allocations"], row["largest"]) == (len(sizes), max(sizes))


def test_allocations_join_their_regions() -> None:
    """Sums over parts, the rights of all of them, and the row of the first."""
    snapshot = load_map("10000-11000 r--s 0 2a /f", "11000-13000 rw-s 1000 2a /f", "20000-21000 rw-p")
    first, second = list_allocations(snapshot).to_pylist()
    assert (first["address"], first["size"], first["end"], first["blocks"]) == (0x10000, 0x3000, 0x13000, 2)
    assert (first["protection"], first["details"], first["first"]) == ("r--s, rw-s", "/f", 0)
    assert (second["first"], second["blocks"]) == (2, 1)
