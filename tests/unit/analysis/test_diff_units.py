"""Two instances, case by case: which file is which, what is folded into what, and what cannot be told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from mmpscope.analysis import DiffResult, diff
from mmpscope.analysis.diffs.files import FILE_MATCHES, BackingFile, match_files
from mmpscope.analysis.diffs.groups import group_changes
from mmpscope.analysis.diffs.matching import summarize_matching
from mmpscope.analysis.errors import CannotTellError, UsageError
from mmpscope.analysis.identity import is_later
from support.snapshots import PAGE, Row, make_snapshot, region

LOW, FAR = 0x7F00_0000_0000, 0x7FF0_0000_0000
MIB = 1 << 20


def compare(before: list[Row], after: list[Row], **options: Any) -> DiffResult:
    """Compare two lists of regions as two instances."""
    return diff(make_snapshot(before), make_snapshot(after), "different", **options)


def list_units(result: DiffResult, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of every unit that is not the same."""
    return [tuple(row[name] for name in columns) for row in result.components.to_pylist()]


def match(a: BackingFile, b: BackingFile) -> str | None:
    """Tell how two files are matched, alone on their sides; None where they are not."""
    found = match_files([a], [b])
    return FILE_MATCHES[found.how[found.of_a[0]]][0] if found.of_a == found.of_b else None


@pytest.mark.parametrize(
    ("path", "build", "other", "other_build", "word"),
    [
        ("/lib/libz.so.1.2", "aa", "/lib/libz.so.1.2", "aa", "path+build id"),
        ("/lib/libz.so.1.2", "aa", "/lib/libz.so.1.2", "bb", "path"),
        ("/lib/libz.so.1.2", None, "/lib/libz.so.1.2", "bb", "path"),
        ("/lib/libz.so.1.2", "aa", "/opt/libz.so.1.2", "aa", "build id"),
        ("/lib/libz.so.1.2", "aa", "/lib/libz.so.1.3.7", "bb", "path without version"),
        ("/usr/lib/libfoo-2.0.so", "aa", "/usr/lib/libfoo-2.1.so", "bb", "path without version"),
        ("/jdk-17/lib/libjvm.so", "aa", "/jdk-21/lib/libjvm.so", "bb", "path without version"),
        ("/lib/libz.so.1", "aa", "/opt/libz.so.1", "bb", "file name"),
        ("/lib/libz.so.1", "aa", "/opt/libz.so.2", "bb", "file name without version"),
        ("C:\\app\\x.dll", "aa", "D:\\app\\x.dll", "aa", "build id"),
        ("/lib/libz.so.1", "aa", "/lib/libxz.so.1", "bb", None),
    ],
)
def test_a_library_is_known_again_by_the_surest_way(
    path: str, build: str | None, other: str, other_build: str | None, word: str | None
) -> None:
    """Path and build, path, build, then names without versions."""
    assert match(BackingFile(path, build, True), BackingFile(other, other_build, True)) == word


def test_data_of_another_number_is_another_file() -> None:
    """part-1 and part-2 are no versions of one file, as libraries of such names would be."""
    assert match(BackingFile("/d/part-1", None, False), BackingFile("/d/part-2", None, False)) is None


def test_names_that_could_be_two_files_match_nothing() -> None:
    """Two libz in one process, both of other builds and directories: nobody knows which is which."""
    a = [BackingFile(f"/a{n}/libz.so", "aa", True) for n in "xy"]
    b = [BackingFile(f"/b{n}/libz.so", "bb", True) for n in "xy"]
    found = match_files(a, b)
    assert not set(found.of_a) & set(found.of_b)


def test_directories_break_ties() -> None:
    """Of two files of one name each goes to that of its own directory, in whatever order they come."""
    a = [BackingFile("/x/libz.so", "aa", True), BackingFile("/y/libz.so", "bb", True)]
    b = [BackingFile("/y/libz.so", "cc", True), BackingFile("/x/libz.so", "dd", True)]
    found = match_files(a, b)
    assert found.of_a == found.of_b[::-1]


def test_a_deleted_file_is_the_file() -> None:
    """Linux says that a file was deleted behind its path; its memory is what it was."""
    one = region(LOW, MIB, "Mapped File", path="/var/cache")
    assert compare([one], [region(FAR, MIB, "Mapped File", path="/var/cache (deleted)")]).is_empty


def test_a_split_and_a_merge_of_like_neighbours_are_no_birth() -> None:
    """The kernel merges neighbours in one run and not in another."""
    whole = region(LOW, 4 * PAGE)
    parts = [region(FAR, PAGE), region(FAR + PAGE, 3 * PAGE)]
    assert compare([whole], parts).is_empty


def test_a_guard_belongs_to_what_it_guards() -> None:
    """A stack without a name is one block with its guard, in the cohort of its own rights."""
    own: dict[str, Any] = {"allocation": FAR, "type_": "Stack"}
    guard = region(FAR, PAGE, subtype="guard", protection="---p", **own)
    stack = region(FAR + PAGE, 8 * MIB, subtype="thread stack", **own)
    columns = ("word", "match", "confidence", "unit", "blocks_a", "blocks_b", "size_delta")
    assert list_units(compare([region(LOW, PAGE)], [region(LOW, PAGE), guard, stack]), *columns) == [
        ("new", "cohort", "low", "thread stack of 8M to 16M", 0, 1, 8 * MIB + PAGE)
    ]


def test_blocks_of_one_class_are_counted_and_never_paired() -> None:
    """Three blocks before, two after, of other sizes in one class: one row, no addresses."""
    before = [region(LOW + n * MIB, 5 * PAGE) for n in range(3)]
    after = [region(FAR + n * MIB, 7 * PAGE) for n in range(2)]
    columns = ("word", "match", "blocks_a", "blocks_b", "size_delta", "address_a", "address_b")
    assert list_units(compare(before, after), *columns) == [("shrunk", "cohort", 3, 2, -PAGE, None, None)]


def test_as_many_bytes_in_more_blocks_are_a_change() -> None:
    """Sums are alike, and yet it is not the same."""
    before = [region(LOW, 6 * PAGE), region(LOW + MIB, 6 * PAGE)]
    after = [region(FAR + n * MIB, 4 * PAGE) for n in range(3)]
    assert list_units(compare(before, after), "word", "size_delta") == [("changed", 0)]


def test_named_memory_of_other_rights_is_changed() -> None:
    """Nothing came or went: the rights did."""
    one = region(LOW, PAGE, path="[anon:cache]")
    columns = ("word", "match", "unit", "protection_a", "protection_b")
    assert list_units(compare([one], [one | {"protection": "r--p"}]), *columns) == [
        ("changed", "name", "[anon:cache]", "rw-p", "r--p")
    ]


def test_an_id_in_a_name_is_another_in_every_run() -> None:
    """Android names stacks by thread id."""
    one, two = (region(LOW, PAGE, path=f"[anon:stack_and_tls:{tid}]") for tid in (41, 42))
    assert compare([one], [two]).is_empty


@pytest.mark.parametrize(
    "name", ["/dev/zero (deleted)", "/SYSV00000000 (deleted)", "/anon_hugepage (deleted)"]
)
def test_anonymous_memory_has_no_name_whatever_linux_writes(name: str) -> None:
    """It is a cohort, as other memory of its kind."""
    one = region(FAR, PAGE, "Shareable", path=name)
    assert list_units(compare([region(LOW, PAGE)], [region(LOW, PAGE), one]), "match") == [("cohort",)]


def test_the_summary_says_how_much_was_matched_how() -> None:
    """Percent of committed bytes; of a cohort, as much as both sides have."""
    named = region(LOW, 8 * PAGE, path="[anon:cache]")
    before, after = (
        [named, region(FAR, 4 * PAGE)],
        [named, region(FAR, 5 * PAGE), region(FAR + MIB, 3 * PAGE)],
    )
    told = summarize_matching(compare(before, after).matching)
    assert told == "matched 85 % of committed bytes: 57 % by name, 28 % by cohort"


def test_without_committed_bytes_the_address_space_is_matched() -> None:
    """Text of maps tells no committed bytes of reservations, as none here does."""
    rows = [region(LOW, PAGE, committed=None, path="[anon:cache]")]
    assert (
        summarize_matching(compare(rows, rows).matching)
        == "matched 100 % of the address space: 100 % by name"
    )


def test_a_figure_that_one_side_lacks_is_unknown_and_no_drop() -> None:
    """Between two instances, too: the row says which figure cannot be compared."""
    known = region(LOW, PAGE, path="[anon:a]", swap=PAGE)
    other = region(LOW + MIB, PAGE, path="[anon:b]", swap=0)
    result = compare([known, other], [known | {"swap": None}, other])
    assert list_units(result, "word", "unit", "swap_delta", "unknown") == [("same", "[anon:a]", None, "swap")]


def test_the_largest_hole_names_the_regions_that_took_it() -> None:
    """One region in the middle of the largest hole: what was the hole before, what is left, and by whom.

    Between two instances nobody took it: there it is told what the hole lies between.
    """
    edge: dict[str, Any] = {"usable_range": (0, 64 * MIB, "written by hand")}
    taken = region(32 * MIB, MIB, path="[anon:cache]")
    a = make_snapshot([region(0, MIB)], **edge)
    b = make_snapshot([region(0, MIB), taken], **edge)
    columns = ("word", "size_a", "size_b", "size_delta", "between_b", "taken_by", "given_back_by")
    told = "Private Data rw-p [anon:cache], 1,024 KiB at 2000000"
    low, whole = ("Private Data rw-p and Private Data rw-p [anon:cache]", "Private Data rw-p and its end")
    for result, expected in (
        (diff(a, b, "same"), ("shrunk", 63 * MIB, 31 * MIB, -32 * MIB, low, told, None)),
        (diff(b, a, "same"), ("grown", 31 * MIB, 63 * MIB, 32 * MIB, whole, None, told)),
        (diff(a, b, "different"), ("shrunk", 63 * MIB, 31 * MIB, -32 * MIB, low, None, None)),
    ):
        [row] = result.largest_free.to_pylist()
        assert tuple(row[name] for name in columns) == expected


def test_who_cut_the_largest_hole_comes_before_larger_regions_in_it() -> None:
    """A page in the middle took half of the hole; the megabytes at its edges took no more than themselves."""
    edge: dict[str, Any] = {"usable_range": (0, 64 * MIB, "written by hand")}
    wall = region(30 * MIB, PAGE, path="[anon:wall]")
    edges = [region(at * MIB, 2 * MIB, path=f"[anon:{at}]") for at in (1, 4, 8, 12)]
    a = make_snapshot([region(0, MIB)], **edge)
    b = make_snapshot([region(0, MIB), *edges, wall], **edge)
    walled = make_snapshot([region(0, MIB), *edges, wall, region(62 * MIB, MIB, path="[anon:end]")], **edge)
    for other, first in (
        (b, ["[anon:wall]", "[anon:1]", "[anon:4]"]),
        (walled, ["[anon:end]", "[anon:wall]", "[anon:1]"]),
    ):
        for result, name in ((diff(a, other, "same"), "taken_by"), (diff(other, a, "same"), "given_back_by")):
            [told] = result.largest_free.column(name).to_pylist()
            assert re.findall(r"\[anon:\w+\]", told) == first
            assert told.endswith(f"{len(other.regions) - 4} more regions")


def test_groups_are_named_by_what_they_are() -> None:
    """By directory, name and size class; what has no such fact is called so."""
    files = [
        region(LOW, PAGE, "Mapped File", path="/var/lib/x"),
        region(LOW + MIB, PAGE, path="[anon:cache]"),
    ]
    pair = (make_snapshot([region(FAR, PAGE)]), make_snapshot([region(FAR, PAGE), *files]))
    result = diff(*pair, "different")
    for by, names in (
        ("directory", {"/var/lib/", "(no directory)"}),
        ("name", {"x", "[anon:cache]"}),
        ("path", {"/var/lib/x", "[anon:cache]"}),
        ("size-class", {"4K to 8K"}),
        ("type", {"Mapped File", "Private Data"}),
    ):
        rows = group_changes(pair, result, by).to_pylist()
        assert {row["unit"] for row in rows} == names
        assert {row["match"] for row in rows} == {f"by {by}"}


def test_what_cannot_be_grouped_is_refused() -> None:
    """An unknown word is told the known ones; types that rest on other facts cannot be compared."""
    pair = (make_snapshot([region(FAR, PAGE)]), make_snapshot([region(FAR, PAGE)]))
    result = diff(*pair)
    with pytest.raises(UsageError, match=r"colour is nothing to group by.*size-class"):
        group_changes(pair, result, "colour")
    apart = DiffResult(**{**vars(result), "scope": result.scope._replace(types=False)})
    with pytest.raises(CannotTellError, match="rest on other facts"):
        group_changes(pair, apart, "rule")


@pytest.mark.parametrize(
    ("boots", "clocks", "later"),
    [("xx", (2, 1), True), ("xx", (1, 2), False), ("xy", (2, 1), False), ("xx", (2, None), False)],
)
def test_the_clock_of_one_boot_tells_which_is_later(
    boots: str, clocks: tuple[int | None, ...], later: bool
) -> None:
    """Clocks of two boots, or of one side alone, say nothing."""
    a, b = (
        make_snapshot(host={"boot_id": boot}, moment={"mono_ns": clock} if clock else {})
        for boot, clock in zip(boots, clocks, strict=True)
    )
    assert is_later(a, b) == later


@pytest.mark.parametrize(
    ("one", "two", "later"),
    [
        ({"name": "x", "exe": "/srv/x"}, {"name": "y", "exe": "/srv/x (deleted)"}, True),
        ({"name": "x", "exe": "/srv/x"}, {"name": "x", "exe": "/opt/x"}, False),
        ({"name": "x"}, {"name": "y"}, False),
        ({"name": "x"}, {}, True),
    ],
)
def test_of_two_programs_none_is_the_later(one: dict[str, Any], two: dict[str, Any], later: bool) -> None:
    """A program that was started anew is later than before; two programs stay in the order given."""
    a, b = (
        make_snapshot(host={"boot_id": "x"}, moment={"mono_ns": clock}, process=process)
        for clock, process in ((2, one), (1, two))
    )
    assert is_later(a, b) == later


def test_a_part_of_a_file_with_other_rights_is_one_change() -> None:
    """RELRO in one run only: not r--p gone and rw-p new, but one part of a file that is not quite sure."""
    code = region(LOW, 4 * PAGE, "Image", protection="r-xp", path="/lib/libz.so")
    data = region(LOW + 8 * PAGE, 2 * PAGE, "Image", protection="r--p", path="/lib/libz.so")
    result = compare([code, data], [code, data | {"protection": "rw-p"}])
    columns = ("word", "match", "confidence", "protection_a", "protection_b", "size_delta")
    assert list_units(result, *columns) == [("changed", "file+size", "medium", "r--p", "rw-p", 0)]
    assert [row["match"] for row in result.matching.to_pylist()] == ["path", "file+size", "not matched"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([("rw-p", 64)], [("r-xp", 64)], ["changed"]),
        ([("rw-p", 15)], [("r-xp", 15)], ["gone", "new"]),
        ([("rw-p", 64)], [("r-xp", 63)], ["gone", "new"]),
        ([("rw-p", 64), ("r-xp", 64)], [("r-xp", 64)], ["gone"]),
        ([("rw-p", 64)], [("r-xp", 64), ("r--p", 64)], ["gone", "new", "new"]),
    ],
)
def test_a_block_with_other_rights_is_one_change_where_only_it_can_be_meant(
    before: list[tuple[str, int]], after: list[tuple[str, int]], words: list[str]
) -> None:
    """A JIT made its code executable; small blocks, other sizes, and two that may be it are left alone."""
    sides = [
        [region(LOW + at * MIB, n * PAGE, protection=rights) for at, (rights, n) in enumerate(side)]
        for side in (before, after)
    ]
    found = list_units(compare(*sides), "word", "match", "confidence")
    assert sorted(word for word, *_ in found) == words
    assert (("changed", "size", "low") in found) == (words == ["changed"])


def test_a_bss_is_no_part_with_other_rights() -> None:
    """It is memory that no file backs: of the same size as data that went, by chance."""
    code = region(LOW, 4 * PAGE, "Image", protection="r-xp", path="/lib/libz.so")
    data = region(LOW + 4 * PAGE, PAGE, "Image", protection="r--p", path="/lib/libz.so", allocation=LOW)
    bss = region(LOW + 4 * PAGE, PAGE, "Image", subtype=".bss", allocation=LOW)
    modules = [{"path": "/lib/libz.so", "address": LOW, "end": LOW + 5 * PAGE}]
    a, b = (make_snapshot([code, rest], modules=modules) for rest in (data, bss))
    assert sorted(list_units(diff(a, b, "different"), "word")) == [("gone",), ("new",)]
