"""Sources that tell unlike things, compared: what only one of them says is no change."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import DiffResult, LoadedSnapshot, diff
from mmpscope.analysis.diffs.parts import diff_modules
from mmpscope.analysis.diffs.schema import METRICS
from mmpscope.analysis.reporters.diff_report import report_diff
from mmpscope.analysis.reporters.screen import Screen
from mmpscope.analysis.schema import MODULES
from mmpscope.analysis.tables import build_table
from support.foreign import WINDOWS, load_foreign, make_mbi, make_vmmap, missing
from support.loaded import load_blocks, load_map, load_text
from support.snapshots import PAGE, make_snapshot, region

KB = 1024
LINUX = {"os": "linux"}


def linux(start: int, pages: int, perms: str = "rw-p", **more: Any) -> dict[str, Any]:
    """Write a region of a Linux map."""
    return {"start": start, "size": pages * 4096, "perms": perms, **more}


def totals_of(result: DiffResult) -> dict[str, tuple[int | None, int | None, int | None]]:
    """Return before, after and change of each figure."""
    rows = result.totals.to_pylist()
    return {row["metric"]: (row["a"], row["b"], row["delta"]) for row in rows}


def text_of(a: LoadedSnapshot, b: LoadedSnapshot, result: DiffResult) -> str:
    """Return what the command would print."""
    return "\n".join(report_diff((a, b), result, [], 0).draw(Screen(300)))


def words_of(result: DiffResult) -> list[tuple[str, int]]:
    """Return word and address of each component that changed."""
    rows = result.components.to_pylist()
    return [(row["word"], row["address_b"] or row["address_a"]) for row in rows if row["word"] != "same"]


# Lists that lack regions


def load_part(*regions: dict[str, Any]) -> LoadedSnapshot:
    """Load a list that lacks some regions."""
    return load_foreign(regions, host=LINUX, capability=[missing("an excerpt")])


@pytest.mark.parametrize("turned", [False, True])
def test_what_only_one_side_lists_is_neither_new_nor_gone(*, turned: bool) -> None:
    """The list of the other is not whole: it may be there all the same."""
    whole = load_foreign([linux(0x10000, 1), linux(0x20000, 2)], host=LINUX)
    sides = (load_part(linux(0x10000, 1), linux(0x30000, 1)), whole)
    result = diff(*(reversed(sides) if turned else sides))
    assert (words_of(result), result.ranges.num_rows) == ([], 0)
    side = "b" if turned else "a"
    assert f"{side} lists not all regions: only those that both list" in result.mode_reason
    assert "and no totals" in result.mode_reason
    assert "nothing changed of what both tell" in text_of(*sides, result)


@pytest.mark.parametrize("both", [False, True])
def test_a_part_of_the_regions_cannot_be_matched(*, both: bool) -> None:
    """Of two processes nothing is compared then, and no sentence says that ranges are."""
    part, whole = load_part(linux(0x10000, 1)), load_foreign([linux(0x10000, 2)], host=LINUX)
    pair = (part, part if both else whole)
    result = diff(*pair, "different")
    sides = "both list" if both else "a lists"
    assert f"{sides} not all regions: nothing is compared of two processes then" in result.mode_reason
    assert "that both list" not in result.mode_reason
    assert "what changed is not known" in text_of(*pair, result)
    assert "nothing changed" not in text_of(*pair, result)


def test_what_both_list_is_compared_by_like_ranges() -> None:
    """Rights and counters of a region that both have; one that ends elsewhere may be a part of several."""
    before = load_part(linux(0x10000, 1, Rss=0), linux(0x20000, 2, Rss=4096), linux(0x30000, 1, Rss=0))
    after = load_part(linux(0x10000, 1, "r--p", Rss=0), linux(0x20000, 2, Rss=8192), linux(0x30000, 4, Rss=0))
    result = diff(before, after)
    assert words_of(result) == [("changed", 0x10000), ("changed", 0x20000)]
    [changed] = result.ranges.to_pylist()
    assert (changed["word"], changed["address_a"], changed["protection_b"]) == ("changed", 0x10000, "r--p")


def test_totals_of_a_part_are_shown_and_not_subtracted() -> None:
    """What more was listed is no growth; the reason stands beside it."""
    result = diff(
        load_part(linux(0x10000, 1)), load_foreign([linux(0x10000, 1), linux(0x20000, 9)], host=LINUX)
    )
    assert totals_of(result)["size"] == (4096, 40960, None)
    assert "in a: not all regions are known: an excerpt" in result.totals.to_pylist()[0]["note"]
    assert {row["size_delta"] for row in result.types.to_pylist()} == {None}


# Totals alone


def load_rollup(**counters: int) -> LoadedSnapshot:
    """Load a roll-up of a process."""
    return load_foreign(host=LINUX, tables={"totals": [{"name": "[rollup]", **counters}]})


def test_two_roll_ups_are_subtracted() -> None:
    """What both state; what neither states stays unknown."""
    a, b = load_rollup(Rss=8 * KB, Pss=4 * KB), load_rollup(Rss=12 * KB, Pss=3 * KB)
    result = diff(a, b)
    assert totals_of(result)["total_ws"] == (8 * KB, 12 * KB, 4 * KB)
    assert totals_of(result)["pss"] == (4 * KB, 3 * KB, -KB)
    assert totals_of(result)["size"] == (None, None, None)
    assert "both have totals only: totals are compared, regions are not" in result.mode_reason
    assert "Mappings" in text_of(a, b, result)


@pytest.mark.parametrize("status", [None, {"VmPTE": 64 * KB}])
def test_a_roll_up_is_compared_with_all_regions_less_what_it_leaves_out(status: Any) -> None:
    """The kernel's own sum has no page tables: where the other side knows them they are no change."""
    region = linux(0x10000, 4, Rss=8 * KB, Pss=8 * KB)
    facts = {} if status is None else {"status": status}
    result = diff(load_rollup(Rss=8 * KB, Pss=6 * KB), load_foreign([region], host=LINUX, **facts))
    assert totals_of(result)["total_ws"][2] == 0
    assert totals_of(result)["pss"] == (6 * KB, 8 * KB, 2 * KB)
    assert (result.components.num_rows, result.ranges.num_rows) == (0, 0)
    assert {row["total_ws_delta"] for row in result.types.to_pylist()[1:8]} == {None}


def test_types_of_two_like_totals_are_compared() -> None:
    """Two summaries of one debugger speak the same words."""

    def load(heap: int) -> LoadedSnapshot:
        rows = [
            {"name": "Heap", "count": 1, "RegionSize": heap},
            {"name": "Free", "count": 9, "RegionSize": KB},
        ]
        return load_foreign(host=WINDOWS, tables={"totals": rows})

    a, b = load(4 * KB), load(5 * KB)
    result = diff(a, b)
    types = {row["type"]: row["size_delta"] for row in result.types.to_pylist()}
    assert (types["Heap"], types["Free"], types["Image"], types["Total"]) == (KB, 0, None, KB)
    assert "Mappings" not in text_of(a, b, result)


def test_vmmaps_summary_and_its_list_add_up_alike() -> None:
    """A save that was filtered states totals of all; with a whole save they are compared type by type."""
    rows = (make_vmmap(0x10000, 64 * KB, "Image"), make_vmmap(0x200000, 4 * KB, "Shareable"))
    whole = load_foreign(rows, host=WINDOWS, tables={"allocations": rows}, bits=32, page_table=8 * KB)
    totals = [
        {"name": name, "Size": size}
        for name, size in (("Total", 136 * KB), ("Image", 64 * KB), ("Shareable", 4 * KB))
    ]
    totals += [{"name": "Page Table", "Size": 8 * KB}, {"name": "Unusable", "Size": 60 * KB}]
    filtered = load_foreign(
        rows[:1], host=WINDOWS, tables={"totals": totals}, capability=[missing("filtered to Image")]
    )
    result = diff(filtered, whole)
    assert totals_of(result)["size"] == (136 * KB, 136 * KB, 0)
    assert {row["type"]: row["size_delta"] for row in result.types.to_pylist()}["Image"] == 0
    assert words_of(result) == []


# Facts that one source tells otherwise


def test_another_system_is_another_instance() -> None:
    """A save from Windows and a map of Linux have nothing in common, whatever their addresses."""
    windows = load_foreign([make_vmmap(0x10000, 64 * KB)], host=WINDOWS)
    result = diff(windows, load_foreign([linux(0x10000, 16)], host=LINUX))
    assert (result.mode, result.identity.verdict) == ("different", "different instances")
    assert "operating system is windows in a and linux in b" in result.mode_reason
    assert (result.components.num_rows, result.ranges.num_rows) == (0, 0)
    android = load_foreign([linux(0x10000, 16)], host={"os": "android"})
    assert diff(android, load_foreign([linux(0x10000, 16)], host=LINUX)).mode == "same"


def test_rights_of_a_core_lack_their_last_letter() -> None:
    """Private or shared is not in a core: rw-? is no other right than rw-p, and r--? is one."""
    core = load_foreign([linux(0x10000, 1, "rw-?"), linux(0x20000, 1, "r--?")], host=LINUX)
    smaps = load_foreign([linux(0x10000, 1), linux(0x20000, 1)], host=LINUX)
    [changed] = diff(core, smaps).ranges.to_pylist()
    assert (changed["address_a"], changed["protection_a"], changed["protection_b"]) == (
        0x20000,
        "r--?",
        "rw-p",
    )


def test_names_are_compared_as_far_as_both_have_them() -> None:
    """pmap prints the last part of a path and no inode; a core names files alone."""
    full = load_map(
        "10000-11000 r--p 0 2a /lib/libc.so.6", "20000-21000 rw-p 0 0 [heap]", "30000-31000 r--p 0 2b /x"
    )
    pmap = load_foreign(
        [
            linux(0x10000, 1, "r--p", path="libc.so.6"),
            linux(0x20000, 1, path=None),
            linux(0x30000, 1, "r--p", path="y"),
        ],
        host=LINUX,
    )
    result = diff(full, pmap)
    assert [row["address_a"] for row in result.ranges.to_pylist()] == [0x30000]
    assert "types are not compared, since they rest on other facts in a than in b" in result.mode_reason
    assert {row["size_delta"] for row in result.types.to_pylist()[1:8]} == {None}
    assert totals_of(result)["size"][2] == 0


def test_vmmap_and_a_minidump_of_one_process_differ_in_memory_alone() -> None:
    """Their types rest on other facts; rights and states have one set of words."""
    save = load_foreign([make_vmmap(0x10000, 64 * KB, "Heap (Private Data)")], host=WINDOWS, bits=32)
    dump = load_foreign([make_mbi(0x10000, 64 * KB), make_mbi(0x90000, 4096)], host=WINDOWS, bits=32)
    result = diff(save, dump)
    assert [(row["word"], row["address_b"]) for row in result.ranges.to_pylist()] == [("new", 0x90000)]


def test_types_that_rest_on_what_one_side_lacks_are_no_change() -> None:
    """Threads make a stack of private data; without them on the other side neither is one."""
    lines = ("10000-11000 ---p", "11000-91000 rw-p")
    bare = load_map(*lines)
    told = load_map(*lines, tables={"threads": [{"tid": 1, "sp": 0x90000}]})
    assert [row["type"] for row in told.regions.to_pylist()] == ["Stack", "Stack"]
    result = diff(bare, told)
    assert result.is_empty
    assert not any(row["size_delta"] for row in result.types.to_pylist())
    assert result.threads.num_rows == 0


def test_totals_of_an_estimate_are_not_blamed_on_a_source_without_regions() -> None:
    """A roll-up has no VmFlags, and no figure that they would make more exact."""
    smaps = load_blocks(("10000-20000 rw-p", {"Rss": 8}, "rd wr ac"), status={"VmPTE": 0})
    notes = [row["note"] or "" for row in diff(load_rollup(Rss=8 * KB), smaps).totals.to_pylist()]
    assert not any("estimated" in note for note in notes)


def test_nothing_is_known_beside_an_empty_map() -> None:
    """As before: neither totals nor regions are compared with no address space."""
    result = diff(load_rollup(Rss=8 * KB), load_text(b""))
    assert {row["delta"] for row in result.totals.to_pylist()} == {None}
    assert [row["metric"] for row in result.totals.to_pylist()] == list(METRICS)


# Stated allocations


def load_heap(private: int, lost: int, *, grown: int = 0) -> LoadedSnapshot:
    """Load a managed heap of 64 KiB of which the sub-blocks lack some bytes to rounding."""
    heap = make_vmmap(0x10000, 64 * KB + grown, "Managed Heap", PrivateBytes=private, Commit=64 * KB)
    parts = [
        make_vmmap(0x10000, 32 * KB, "Managed Heap", base=0x10000, PrivateBytes=private, Commit=32 * KB),
        make_vmmap(0x18000, 32 * KB + grown - lost, "Managed Heap", base=0x10000, Commit=32 * KB - lost),
    ]
    return load_foreign(parts, host=WINDOWS, tables={"allocations": [heap]}, bits=32, page_table=0)


def test_what_is_in_no_sub_block_has_a_row_so_that_changes_add_up() -> None:
    """Totals are sums over allocations, rows are about sub-blocks; what is between the two is told."""
    result = diff(load_heap(KB, KB), load_heap(9 * KB, 3 * KB, grown=8 * KB))
    rest = [row for row in result.components.to_pylist() if row["details_a"] == "in no sub-block"]
    assert [(row["word"], row["match"], row["type_a"]) for row in rest] == [
        ("changed", "summary", "Managed Heap")
    ]
    assert (rest[0]["size_a"], rest[0]["size_b"], rest[0]["size_delta"]) == (KB, 3 * KB, 2 * KB)
    totals = totals_of(result)
    for name in METRICS:
        deltas = [row[f"{name}_delta"] or 0 for row in result.components.to_pylist()]
        assert totals[name][2] is None or totals[name][2] == sum(deltas), name
    # 8 KiB more of the heap, and 56 KiB that nothing can be allocated in behind it
    assert totals["size"] == (64 * KB, 128 * KB, 64 * KB)


def test_sub_blocks_of_more_than_their_allocation_have_no_before_and_after() -> None:
    """No unsigned number says -4; the change is known all the same."""
    smaller = make_vmmap(0x10000, 64 * KB, "Managed Heap", PrivateBytes=KB, Commit=60 * KB)
    tight = load_foreign(
        [
            make_vmmap(0x10000, 32 * KB, "Managed Heap", base=0x10000, PrivateBytes=KB, Commit=32 * KB),
            make_vmmap(0x18000, 32 * KB, "Managed Heap", base=0x10000, Commit=32 * KB),
        ],
        host=WINDOWS,
        tables={"allocations": [smaller]},
        bits=32,
        page_table=0,
    )
    [row] = diff(load_heap(KB, 0), tight).components.to_pylist()
    assert (row["committed_a"], row["committed_b"], row["committed_delta"]) == (0, None, -4 * KB)


# Names that are cut


@pytest.mark.parametrize(
    ("full", "cut"),
    [
        ("/srv/t dir/[heap]", "[heap]"),
        ("/srv/bad\\xff\\xfe.bin", "bad??.bin"),
        ("/srv/utf8-\u00e9\u4e2d.bin", "utf8-?????.bin"),
        ("/SYSV0000002a (deleted)", "[ shmid=0x1 ]"),
        ("[heap]", None),
    ],
)
def test_odd_names_are_no_change_where_pmap_has_cut_and_mended_them(full: str, cut: str | None) -> None:
    """pmap prints the last part of a path, a question mark for each odd byte, and names of its own."""
    other = linux(0x20000, 1, path="/lib/b")
    a = load_foreign([linux(0x10000, 1, path=full, inode=0), other | {"inode": 7}], host=LINUX)
    b = load_foreign([linux(0x10000, 1, path=cut), other | {"path": "b"}], host=LINUX)
    assert diff(a, b).is_empty
    assert diff(b, a).is_empty


def test_modules_go_by_the_last_part_of_their_path_where_a_source_has_no_more() -> None:
    """libc.so.6 of pmap is no other library than /lib/libc.so.6 of maps."""
    full = load_map("10000-11000 r-xp 0 2a /lib/libc.so.6", "20000-21000 r-xp 0 2b /lib/libm.so.6")
    pmap = load_foreign(
        [linux(0x10000, 1, "r-xp", path="libc.so.6"), linux(0x20000, 1, "r-xp", path="libz.so.1")], host=LINUX
    )
    assert [row["path"] for row in pmap.modules.to_pylist()] == ["libc.so.6", "libz.so.1"]
    words = {(row["word"], row["path"]) for row in diff(full, pmap).modules.to_pylist()}
    assert words == {("gone", "/lib/libm.so.6"), ("new", "libz.so.1")}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("C:\\Windows\\System32\\OLEAUT32.dll", "C:\\windows\\system32\\oleaut32.dll", 0),
        ("/usr/lib/libA.so", "/usr/lib/liba.so", 2),
    ],
)
def test_case_tells_files_apart_but_on_windows(before: str, after: str, changes: int) -> None:
    """Seen: OLEAUT32.dll gone and oleaut32.dll new, at one address, in two runs of one program."""
    tables = [
        build_table(MODULES, {"path": [path], "address": [0x10000], "size": [4096]}, 1)
        for path in (before, after)
    ]
    for same_instance in (True, False):
        assert diff_modules(*tables, same_instance=same_instance).num_rows == changes


OLD, OLD_GONE, REPLACED = (
    ("/lib/foo.so", 0x10000, "aa"),
    ("/lib/foo.so (deleted)", 0x10000, "aa"),
    ("/lib/foo.so", 0x90000, "bb"),
)
"""A library; the same mapping after its file was replaced on disk; what is in its place now."""


@pytest.mark.parametrize(
    ("before", "after", "same_instance", "words"),
    [
        ([OLD], [OLD_GONE], True, []),
        ([OLD_GONE], [OLD], True, []),
        ([OLD], [OLD_GONE, REPLACED], True, ["new"]),
        ([OLD_GONE], [REPLACED], True, ["rebuilt"]),
        ([OLD_GONE], [REPLACED], False, ["rebuilt"]),
        ([OLD_GONE, REPLACED], [REPLACED], False, ["gone"]),
        ([OLD_GONE, REPLACED], [("/lib/foo.so", 0x20000, "bb")], False, ["gone"]),
    ],
)
def test_a_library_whose_file_was_replaced_is_the_same_library(
    before: list[tuple[str, int, str]],
    after: list[tuple[str, int, str]],
    *,
    same_instance: bool,
    words: list[str],
) -> None:
    """The kernel writes (deleted) behind the path of what stays mapped: nothing was unloaded."""
    tables = []
    for rows in (before, after):
        names = dict(zip(("path", "address", "build_id"), map(list, zip(*rows, strict=True)), strict=True))
        tables.append(build_table(MODULES, {**names, "size": [4096] * len(rows)}, len(rows)))
    found = diff_modules(*tables, same_instance=same_instance)
    assert found.column("word").to_pylist() == words


def test_a_file_that_was_replaced_is_no_other_one_where_a_source_has_no_inodes() -> None:
    """A core from before beside smaps from after: the path has got (deleted) behind it, and is the same."""
    core = load_foreign([linux(0x10000, 1, path="/lib/foo.so")], host=LINUX)
    proc = load_foreign([linux(0x10000, 1, path="/lib/foo.so (deleted)", inode=7)], host=LINUX)
    for pair in ((core, proc), (proc, core)):
        assert diff(*pair, "same").ranges.num_rows == 0


def test_free_space_is_compared_within_bounds_that_are_known() -> None:
    """Text does not say where an address space starts: a guess that is 60 KiB off is no change."""
    rows = [region(0x10_0000, PAGE)]
    stated = make_snapshot(rows, usable_range=(0x1000, 0x7FFF_FFFF_F000, "vm.mmap_min_addr"))
    guessed = make_snapshot(rows, usable_range=(0x10000, 0x7FFF_FFFF_F000, "inferred: a usual end"))
    for a, b in ((stated, guessed), (guessed, stated)):
        result = diff(a, b, "same")
        [free] = [row for row in result.types.to_pylist() if row["type"] == "Free"]
        assert (free["size_delta"], free["largest_delta"], free["unknown"]) == (None, None, "size")
        assert [row["size_delta"] for row in result.largest_free.to_pylist()] == [0]
    other = make_snapshot(rows, usable_range=(0x1000, 0xFFFF_E000, "ELF class"))
    wide = diff(other, stated, "different").types.to_pylist()
    assert [row["size_delta"] for row in wide if row["type"] == "Free"] == [0x7FFF_FFFF_F000 - 0xFFFF_E000]


# Threads of which one side tells less


@pytest.mark.parametrize("turned", [False, True])
def test_a_thread_without_start_time_is_known_by_its_id(*, turned: bool) -> None:
    """A core tells ids alone: the thread neither ended nor started, and its name did not change."""
    core = make_snapshot(threads=[{"tid": 7}])
    proc = make_snapshot(threads=[{"tid": 7, "starttime": 99, "name": "sleep"}, {"tid": 8, "starttime": 100}])
    result = diff(*((proc, core) if turned else (core, proc)), "same")
    assert [(row["word"], row["tid"]) for row in result.threads.to_pylist()] == [
        ("gone" if turned else "new", 8)
    ]


def test_threads_without_names_tell_nothing_of_another_process() -> None:
    """Where a side tells no names, no thread of two processes is known again, new or gone."""
    core = make_snapshot(threads=[{"tid": 7}, {"tid": 8}])
    proc = make_snapshot(threads=[{"tid": 70, "starttime": 99, "name": "sleep"}])
    for pair in ((core, proc), (proc, core)):
        assert diff(*pair, "different").threads.num_rows == 0
