"""The diff of small snapshots, case by case: what a user did to the memory, and the rows that tell it."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from mmpscope import analysis
from mmpscope.analysis import diff
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.errors import UsageError
from support.compared import HOST, LOW, PROCESS, compare, find_total, list_rows
from support.snapshots import PAGE, make_snapshot, region

KIB, MIB = 1 << 10, 1 << 20


def test_an_mprotect_in_the_middle_is_a_change_of_one_page() -> None:
    """The kernel splits one mapping in three; the answer is one page of other rights, no change of size."""
    whole = [region(LOW, 4 * PAGE)]
    split = [
        region(LOW, PAGE),
        region(LOW + PAGE, PAGE, protection="r--p"),
        region(LOW + 2 * PAGE, 2 * PAGE),
    ]
    result = compare(whole, split)
    columns = ("word", "address_a", "end_a", "protection_a", "protection_b", "size_delta")
    page = (LOW + PAGE, LOW + 2 * PAGE)
    assert list_rows(result, "ranges", *columns) == [("changed", *page, "rw-p", "r--p", 0)]
    figures = ("word", "regions_a", "regions_b", "size_delta", "private_delta")
    assert list_rows(result, "components", *figures) == [("changed", 1, 3, 0, 0)]


def test_a_split_and_a_merge_of_like_neighbours_are_no_change() -> None:
    """The same memory in one region or in three, with the same sums, is the same."""
    one = [region(LOW, 3 * PAGE, total_ws=2 * PAGE)]
    three = [
        region(LOW, PAGE, total_ws=PAGE),
        region(LOW + PAGE, PAGE),
        region(LOW + 2 * PAGE, PAGE, total_ws=PAGE),
    ]
    assert compare(one, three).is_empty
    assert compare(three, one).is_empty


def test_a_split_file_keeps_its_backing() -> None:
    """Behind a split the offset goes on, and a later unlink adds to the name: no range changes."""
    file = {"inode": 7, "dev_major": 8, "path": "/data"}
    one = [region(LOW, 3 * PAGE, "Mapped File", offset=PAGE, **file)]
    file["path"] = "/data (deleted)"
    two = [
        region(LOW, PAGE, "Mapped File", offset=PAGE, **file),
        region(LOW + PAGE, 2 * PAGE, "Mapped File", offset=2 * PAGE, **file),
    ]
    assert compare(one, two).is_empty


@pytest.mark.parametrize(
    "other",
    [
        {"inode": 8},
        {"dev_minor": 1},
        {"offset": PAGE},
        {"type": "Image"},
        {"state": "reserved"},
        {"protection": "r--p"},
        {"inode": 0, "path": "[anon:x]"},
    ],
)
def test_each_fact_is_compared(other: dict[str, Any]) -> None:
    """Another file, place in it, type, state or right at the same address is a change of that range."""
    file: dict[str, Any] = {"inode": 7, "path": "/data", "type": "Mapped File"}
    result = compare([region(LOW, PAGE, **_take_type(file))], [region(LOW, PAGE, **_take_type(file | other))])
    assert list_rows(result, "ranges", "word", "size_a", "size_b") == [("changed", PAGE, PAGE)]
    assert list_rows(result, "components", "word", "size_delta") == [("changed", 0)]


def _take_type(columns: dict[str, Any]) -> dict[str, Any]:
    return {("type_" if name == "type" else name): value for name, value in columns.items()}


def test_a_heap_that_grew_is_one_new_range_and_one_grown_component() -> None:
    """The range that appeared is exact; it is a part of a region, so its counters are not its own."""
    result = compare(
        [region(LOW, MIB, "Heap", path="[heap]", total_ws=PAGE)],
        [region(LOW, 3 * MIB, "Heap", path="[heap]", total_ws=MIB)],
    )
    columns = ("word", "address_b", "end_b", "size_delta", "total_ws_b", "total_ws_delta", "details_b")
    assert list_rows(result, "ranges", *columns) == [
        ("new", LOW + MIB, LOW + 3 * MIB, 2 * MIB, None, None, "[heap]")
    ]
    figures = ("word", "type_b", "size_delta", "private_delta", "total_ws_delta")
    assert list_rows(result, "components", *figures) == [("grown", "Heap", 2 * MIB, 2 * MIB, MIB - PAGE)]


def test_a_range_of_whole_regions_shows_their_counters() -> None:
    """Two touching regions of one kind that came together are one range, with the sum of both."""
    rows = [region(LOW, PAGE, total_ws=PAGE), region(LOW + PAGE, PAGE, total_ws=0)]
    other = region(LOW - MIB, PAGE)
    result = compare([other], [other, *rows])
    assert list_rows(result, "ranges", "word", "size_b", "total_ws_b", "total_ws_delta") == [
        ("new", 2 * PAGE, PAGE, PAGE)
    ]
    assert list_rows(result, "components", "word", "size_b") == [("new", PAGE), ("new", PAGE)]


def test_counters_alone_are_a_change_without_a_range() -> None:
    """A page that was touched changes no fact of any range."""
    result = compare([region(LOW, MIB)], [region(LOW, MIB, total_ws=PAGE, private_ws=PAGE)])
    assert result.ranges.num_rows == 0
    assert list_rows(result, "components", "word", "total_ws_delta") == [("changed", PAGE)]


def test_a_component_of_two_types_shows_the_larger_and_types_stay_exact() -> None:
    """A file in the middle of an anonymous reservation: one component, and each type gets its own bytes."""
    file = {"inode": 9, "path": "/f", "private": 0}
    after = [region(LOW, PAGE), region(LOW + PAGE, 2 * PAGE, "Mapped File", **file)]
    result = compare([region(LOW, 3 * PAGE)], after)
    columns = ("word", "type_a", "type_b", "size_delta", "private_delta")
    assert list_rows(result, "components", *columns) == [
        ("changed", "Private Data", "Mapped File", 0, -2 * PAGE)
    ]
    types = {row[0]: row[1:] for row in list_rows(result, "types", "type", "size_delta", "private_delta")}
    assert types["Private Data"] == (-2 * PAGE, -2 * PAGE)
    assert types["Mapped File"] == (2 * PAGE, 0)
    assert types["Total"] == (0, -2 * PAGE)


def test_a_file_mapping_that_moved_is_one_row() -> None:
    """The same stretch of one file, gone there and new here: moved, with both addresses and its deltas."""
    file = {"inode": 9, "path": "/lib/x", "offset": PAGE}
    result = compare(
        [region(LOW, PAGE, "Image", **file)], [region(LOW + 9 * PAGE, PAGE, "Image", pss=5, **file)]
    )
    columns = ("word", "match", "address_a", "address_b", "size_delta", "pss_delta")
    assert list_rows(result, "components", *columns) == [("moved", "backing", LOW, LOW + 9 * PAGE, 0, 5)]
    assert sorted(list_rows(result, "ranges", "word")) == [("gone",), ("new",)]


def test_anonymous_memory_and_doubtful_files_are_not_called_moved() -> None:
    """A freed and an allocated block look like a move; and one of two views cannot be told from the other."""
    result = compare([region(LOW, PAGE)], [region(LOW + 9 * PAGE, PAGE)])
    assert list_rows(result, "components", "word") == [("gone",), ("new",)]
    file = {"inode": 9, "path": "/f"}
    after = [region(LOW + at * PAGE, PAGE, "Mapped File", **file) for at in (5, 9)]
    result = compare([region(LOW, PAGE, "Mapped File", **file)], after)
    assert list_rows(result, "components", "word") == [("gone",), ("new",), ("new",)]


def test_f30_growth_that_was_given_back_is_called_lazyfree() -> None:
    """F30: Rss 200 to 900 MiB, LazyFree 0 to 720: effective growth is -20 MiB, and MADV_FREE is named."""
    before = region(LOW, 1024 * MIB, "Heap", total_ws=200 * MIB)
    after = region(LOW, 1024 * MIB, "Heap", total_ws=900 * MIB, lazyfree=720 * MIB)
    result = compare([before], [after])
    for name in ("components", "movers"):
        [row] = result.to_tables()[name].to_pylist()
        assert (row["total_ws_delta"], row["effective_ws_delta"]) == (700 * MIB, -20 * MIB)
        assert "MADV_FREE" in row["note"]
    [heap] = [row for row in result.types.to_pylist() if row["type"] == "Heap"]
    assert "MADV_FREE" in heap["note"]
    assert "MADV_FREE" in find_total(result, "total_ws")["note"]


_RAW_COUNTERS = ("Shared_Clean", "Private_Clean", "Shared_Hugetlb", "Private_Hugetlb")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"swap": 4 * MIB}, {"total_ws": 4 * MIB}, "net growth is only pages swapped in"),
        ({"total_ws": 4 * MIB}, {"swap": 4 * MIB}, "net loss is only pages swapped out"),
        ({}, {"total_ws": 2 * MIB, "thp": 2 * MIB}, "transparent huge pages"),
        ({}, {"total_ws": MIB, "Shared_Clean": MIB, "inode": 5}, "clean file pages"),
        ({}, {"total_ws": MIB, "Private_Clean": MIB, "inode": 5}, "clean file pages"),
        ({}, {"total_ws": 2 * MIB, "thp": 2 * MIB, "committed": 17 * MIB}, None),
        ({}, {"total_ws": 2 * MIB, "Private_Hugetlb": 2 * MIB}, "hugetlb pages"),
        ({}, {"total_ws": 4 * MIB, "Private_Hugetlb": 2 * MIB}, None),
        ({"swap": MIB}, {"total_ws": 2 * MIB, "lazyfree": MIB}, "together"),
        ({}, {"pss": MIB}, None),
        ({}, {"swap": MIB}, None),
        ({"total_ws": 2 * MIB}, {"swap": MIB}, None),
        ({}, {"total_ws": MIB, "Private_Clean": MIB}, None),
        ({}, {"total_ws": 2 * MIB, "lazyfree": MIB}, None),
        ({}, {"total_ws": MIB}, None),
        ({"total_ws": MIB}, {}, None),
    ],
)
def test_growth_that_is_no_new_memory_is_called_what_it_is(
    before: dict[str, int], after: dict[str, int], words: str | None
) -> None:
    """Swap, huge pages, clean file pages, or several together; clean anonymous pages and all else grow."""
    counters: dict[str, Any] = dict.fromkeys(_RAW_COUNTERS, 0) | {"inode": after.get("inode", 0)}
    rows = [region(LOW, 16 * MIB, **(counters | values)) for values in (before, after)]
    [row] = compare([rows[0]], [rows[1]]).components.to_pylist()
    assert (row["note"] is None) if words is None else (words in row["note"])


def test_gate_areas_take_no_part() -> None:
    """[vsyscall] that appears is no change of the process."""
    gate = region(0xFFFF_FFFF_FF60_0000, PAGE, path="[vsyscall]", subtype="gate")
    assert compare([region(LOW, PAGE)], [region(LOW, PAGE), gate]).is_empty


def test_page_tables_are_a_row_without_addresses() -> None:
    """What is in the total and in no region has a row of its own, so that components add up."""
    a, b = (
        make_snapshot([region(LOW, PAGE)], process={"status": {"VmPTE": size}})
        for size in (8 * KIB, 12 * KIB)
    )
    result = diff(a, b)
    columns = ("word", "match", "type_b", "address_b", "regions_b", "size_delta", "private_delta")
    assert list_rows(result, "components", *columns) == [
        ("grown", "summary", "Page Table", None, None, 4 * KIB, 4 * KIB)
    ]
    assert find_total(result, "size")["delta"] == 4 * KIB


def test_movers_are_the_largest_changes_be_they_growth_or_loss() -> None:
    """The two largest changes of four, the larger first, and the others folded into one row; sums hold."""
    before = [region(LOW + at * MIB, 512 * KIB, private=0) for at in range(4)]
    after = [dict(row) for row in before]
    for row, private in zip(after, (5, 90, 0, 40), strict=True):
        row["private"] = private
    before[2]["private"] = 70
    result = compare(before, after, limit=2)
    columns = ("word", "rows", "private_a", "private_b", "private_delta")
    assert list_rows(result, "movers", *columns) == [
        ("changed", 1, 0, 90, 90),
        ("changed", 1, 70, 0, -70),
        ("others", 2, 0, 45, 45),
    ]
    everything = compare(before, after, limit=0)
    assert [row[0] for row in list_rows(everything, "movers", "private_delta")] == [90, -70, 40, 5]
    by_pss = compare(
        before, [{**row, "pss": int(row["address"] == LOW)} for row in after], limit=1, metric="pss"
    )
    assert list_rows(by_pss, "movers", "word", "address_b")[0] == ("changed", LOW)


def test_two_instances_are_not_compared_by_address_unless_forced() -> None:
    """Another start time: what the memory is decides, no range by address; mode same forces addresses."""
    a = make_snapshot([region(LOW, PAGE)], host=HOST, process=PROCESS)
    b = make_snapshot([region(LOW, MIB)], host=HOST, process=PROCESS | {"stat": {"starttime": 4}})
    result = diff(a, b)
    assert (result.mode, result.identity.verdict) == ("different", "different instances")
    assert "start time" in result.mode_reason
    assert "not by address" in result.mode_reason
    assert find_total(result, "size")["delta"] == MIB - PAGE
    assert result.ranges.num_rows == 0
    assert list_rows(result, "components", "word", "match") == [("new", "cohort"), ("gone", "cohort")]
    forced = diff(a, b, mode="same")
    assert (forced.mode, forced.components.num_rows) == ("same", 1)
    assert "as asked" in forced.mode_reason


def test_the_mode_is_always_stated() -> None:
    """Proven, unproven, asked for: each says what was done and by which facts."""
    assert compare([], []).mode_reason.startswith("same instance (boot id")
    unproven = diff(make_snapshot(), make_snapshot())
    assert unproven.mode == "same"
    assert "taken for one instance" in unproven.mode_reason
    assert compare([], [], mode="different").mode == "different"


def test_snapshots_that_have_no_address_in_common_are_taken_for_two_processes() -> None:
    """Nothing says whose they are, and nothing lies at one place; what is asked for is done all the same."""
    a, b = (make_snapshot([region(at, PAGE)]) for at in (LOW, LOW + MIB))
    result = diff(a, b)
    assert (result.mode, result.components.num_rows) == ("different", 0)
    assert "and no address in common: taken for two processes" in result.mode_reason
    assert diff(a, b, "same").mode == "same"


@pytest.mark.parametrize(
    ("other", "mode"),
    [
        (region(LOW, 2 * PAGE), "same"),
        (region(LOW - PAGE, 2 * PAGE), "same"),
        (region(LOW, PAGE, inode=7, path="/lib/b"), "different"),
        (region(LOW - PAGE, 3 * PAGE), "different"),
    ],
)
def test_a_place_that_begins_or_ends_alike_is_in_common(other: dict[str, Any], mode: str) -> None:
    """A heap grows at its end and a stack at its start; another file at one place is another process."""
    assert diff(make_snapshot([region(LOW, PAGE)]), make_snapshot([other])).mode == mode


@pytest.mark.parametrize("options", [{"mode": "both"}, {"metric": "rss"}, {"limit": -1}])
def test_unknown_words_are_refused_with_a_choice(options: dict[str, Any]) -> None:
    """A mode, metric or limit that means nothing is a usage error, and the message says what would do."""
    with pytest.raises(UsageError, match=r"Choose|Give"):
        compare([], [], **options)


def test_the_mapping_counts_stand_apart() -> None:
    """Both counts and their limits, not mixed with bytes."""
    a, b = (
        make_snapshot([region(LOW + at * MIB, PAGE) for at in range(n)], system={"max_map_count": 99})
        for n in (2, 5)
    )
    before, after = diff(a, b).map_count
    assert (before.count, after.count, after.limit) == (2, 5, 99)


def test_modules_are_matched_by_path_and_address() -> None:
    """Loaded, unloaded, moved, and replaced by another build; what is as it was is not listed."""
    stay = {"path": "/bin/a", "address": LOW, "size": MIB, "build_id": "aa"}
    other = {**stay, "path": "/lib/moved", "address": LOW + 8 * MIB}
    a = make_snapshot(modules=[stay, other, {**stay, "path": "/lib/old"}, {**stay, "path": "/lib/x"}])
    b = make_snapshot(
        modules=[
            stay,
            {**other, "address": LOW + 16 * MIB},
            {**stay, "path": "/lib/new"},
            {**stay, "path": "/lib/x", "build_id": "bb"},
        ]
    )
    columns = ("word", "path", "size_delta")
    assert list_rows(diff(a, b), "modules", *columns) == [
        ("moved", "/lib/moved", 0),
        ("new", "/lib/new", MIB),
        ("gone", "/lib/old", -MIB),
        ("rebuilt", "/lib/x", 0),
    ]
    apart = diff(a, b, mode="different")
    assert ("moved", "/lib/moved", 0) not in list_rows(apart, "modules", *columns)


def test_a_library_that_is_loaded_twice_is_matched_copy_by_copy() -> None:
    """Of two copies the one that stayed is matched first, and the other one is gone."""
    copies = [{"path": "/lib/x", "address": LOW + at * MIB, "size": PAGE} for at in range(2)]
    result = diff(make_snapshot(modules=copies), make_snapshot(modules=copies[1:]))
    assert list_rows(result, "modules", "word", "address_a") == [("gone", LOW)]


def test_a_thread_is_known_by_id_and_start_time() -> None:
    """An id that was given again is another thread; a new name is a change, what it is doing is none."""
    a = make_snapshot(
        threads=[
            {"tid": 1, "starttime": 5, "name": "main", "state": "S"},
            {"tid": 2, "starttime": 6, "name": "pool", "state": "S"},
            {"tid": 3, "starttime": 7, "name": "old", "state": "S"},
        ]
    )
    b = make_snapshot(
        threads=[
            {"tid": 1, "starttime": 5, "name": "main", "state": "R"},
            {"tid": 2, "starttime": 6, "name": "pool-1", "state": "S"},
            {"tid": 3, "starttime": 9, "name": "old", "state": "S"},
        ]
    )
    assert list_rows(diff(a, b), "threads", "word", "tid", "starttime") == [
        ("changed", 2, 6),
        ("gone", 3, 7),
        ("new", 3, 9),
    ]


def test_memory_of_two_kinds_that_goes_altogether_is_two_ranges() -> None:
    """A process that lost all its memory: an empty side knows every fact of what it has."""
    rows = [region(LOW, PAGE), region(LOW + PAGE, PAGE, "Heap", path="[heap]")]
    assert list_rows(compare(rows, []), "ranges", "word", "type_a") == [
        ("gone", "Private Data"),
        ("gone", "Heap"),
    ]


def test_two_processes_without_memory_are_alike() -> None:
    """Kernel threads and zombies have no regions on either side."""
    assert compare([], []).is_empty
    assert [row[0] for row in list_rows(compare([], []), "totals", "metric")] == [*METRICS]


def test_public_names_are_no_modules() -> None:
    """A module of the same name would take a function's place as soon as anything imports it."""
    modules = {module.name for module in pkgutil.iter_modules(analysis.__path__)}
    assert not modules & set(analysis.__all__)
    importlib.import_module("mmpscope.analysis.diffs.snapshots")
    assert callable(analysis.diff)
