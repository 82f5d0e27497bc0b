"""Whose private memory is on Windows: stacks, environment blocks, heaps; and the sections of images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations, list_heaps
from support.loaded import load_table

PAGE = 0x1000
BASE = 0x7FF6_1234_0000
COMMIT, RESERVE = 0x1000, 0x2000
PRIVATE, MAPPED, IMAGE = 0x20000, 0x40000, 0x1000000
GUARD = 0x104
Row = dict[str, Any]


def _region(start: int, pages: int = 1, kind: int = PRIVATE, **more: Any) -> Row:
    row = {"start": start, "size": pages * PAGE, "AllocationBase": start, "Type": kind}
    return row | {"State": COMMIT, "Protect": 4} | more


def _reserve(start: int, base: int, pages: int = 1) -> Row:
    return _region(start, pages, State=RESERVE, Protect=0, AllocationBase=base)


def _make_stack(base: int) -> list[Row]:
    """Make a stack of 16 pages: reserve, guard, and what is in use."""
    rest = {"AllocationBase": base}
    return [
        _reserve(base, base, 12),
        _region(base + 12 * PAGE, 1, **rest, Protect=GUARD),
        _region(base + 13 * PAGE, 3, **rest),
    ]


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


def test_the_stacks_of_a_wow64_thread_are_two() -> None:
    """A 32-bit program's thread runs 64-bit code on a stack of its own; both are named, with their guards."""
    thread = {"tid": 8, "name": "io", "teb": 0x90000, "stack_start": 0x10000, "stack_size": 0x10000}
    thread |= {"stack64_start": 0x40000, "stack64_size": 0x10000}
    rows = [*_make_stack(0x10000), *_make_stack(0x40000), _region(0x90000, 3)]
    snapshot = load_table(rows, tables={"threads": [thread]}, wow64=True)
    own = [("thread stack", "mbi-stack"), ("guard", "mbi-stack-guard"), ("thread stack", "mbi-stack")]
    beside = [
        ("64-bit stack", "mbi-stack-64"),
        ("guard", "mbi-stack-guard"),
        ("64-bit stack", "mbi-stack-64"),
    ]
    assert _tell(snapshot, "type", "subtype", "rule", "details") == [
        *(("Stack", *words, "tid 8 io") for words in own),
        *(("Stack", *words, "64-bit stack of tid 8 io") for words in beside),
        ("Private Data", "TEB", "mbi-teb", "TEB of tid 8 io"),
    ]
    [row] = snapshot.threads.to_pylist()
    assert (row["stack"], row["size"], row["committed"]) == (0x10000, 0x10000, 4 * PAGE)


def test_environment_blocks_are_the_allocation_that_holds_them() -> None:
    """Windows 10 keeps all of them in one reservation; the region where each lies is named."""
    rows = [_region(0x30000, 3), _reserve(0x33000, 0x30000, 5), _region(0x80000, 1), _region(0xA0000)]
    threads = [{"tid": tid, "teb": 0x31000 + tid * PAGE} for tid in (0, 1)]
    together = load_table(rows, tables={"threads": threads}, peb=0x30000)
    assert _tell(together, "subtype", "rule", "details") == [
        ("TEB", "mbi-teb", "PEB, TEB of tid 0, tid 1"),
        ("TEB", "mbi-teb", None),
        (None, "mbi-private", None),
        (None, "mbi-private", None),
    ]
    apart = load_table(rows, tables={"threads": threads}, peb=0x80000)
    assert _tell(apart, "subtype", "rule", "details")[2] == ("PEB", "mbi-peb", "PEB")


HEAPS = [{"id": 0x10000, "flags": 1}, {"id": 0x40000, "flags": 0}, {"id": 0x80000, "flags": 0}]
HEAP_ROWS = [
    _region(0x10000, 4),
    _reserve(0x14000, 0x10000, 12),
    _region(0x40000, 2),
    _region(0x60000, 100),
    _region(0x80000, 8, MAPPED),
    _region(0xA0000, 1, MAPPED, path=r"C:\a.nls"),
]


def test_a_heap_is_the_allocation_at_its_id() -> None:
    """The default heap, other heaps, and one in a shared section; what else they hold stays Private Data."""
    snapshot = load_table(HEAP_ROWS, tables={"heaps": HEAPS})
    assert _tell(snapshot, "type", "subtype", "rule") == [
        ("Heap", "main heap", "mbi-heap-main"),
        ("Heap", "main heap", "mbi-heap-main"),
        ("Heap", "private heap", "mbi-heap"),
        ("Private Data", None, "mbi-private"),
        ("Heap", "shareable", "mbi-heap-shared"),
        ("Mapped File", None, "mbi-mapped"),
    ]
    judged = {row["item"]: (row["state"], row["reason"]) for row in snapshot.capability.to_pylist()}
    state, reason = judged["regions.type"]
    assert state == "partial"
    assert "too large for one, are Private Data" in reason


def test_heaps_are_listed_by_their_id() -> None:
    """Two heaps of one kind are two rows, with the address that the system knows them by."""
    more = [{"id": 0x60000, "flags": 0}]
    heaps = list_heaps(load_table(HEAP_ROWS, tables={"heaps": [*HEAPS, *more]})).to_pylist()
    assert [
        (row["address"], row["name"], row["size"] // PAGE, row["committed"] // PAGE) for row in heaps
    ] == [
        (0x10000, "main heap", 16, 4),
        (0x40000, "private heap", 2, 2),
        (0x60000, "private heap", 100, 100),
        (0x80000, "shareable", 8, 8),
    ]


def test_an_id_inside_of_an_allocation_claims_none_of_it() -> None:
    """A heap that was made in memory of the program's own does not own all of that."""
    snapshot = load_table([_region(0x10000, 64)], tables={"heaps": [{"id": 0x12000, "flags": 0}]})
    assert _tell(snapshot, "type", "rule") == [("Private Data", "mbi-private")]
    assert "regions.type" not in {row["item"] for row in snapshot.capability.to_pylist()}


@pytest.mark.parametrize("name", ["coreclr.dll", "CLR.DLL", "mscorwks.dll"])
def test_a_runtime_of_net_says_that_its_heaps_are_not_told(name: str) -> None:
    """No source but a debugger tells managed heaps, and nothing is guessed."""
    rows = [_region(BASE, kind=IMAGE, path=rf"C:\net\{name}"), _region(0x10000)]
    snapshot = load_table(rows)
    judged = {row["item"]: row["reason"] for row in snapshot.capability.to_pylist()}
    assert judged["regions.type"] == "of .NET no source tells the heaps, which are Private Data"
    told = load_table([rows[0], _region(0x10000, Usage="GCHeap")])
    assert "regions.type" not in {row["item"] for row in told.capability.to_pylist()}


def test_views_without_a_file_are_shareable_as_surely_as_is_known() -> None:
    """The system may say that the page file is behind a view, or name the files of other views alone."""
    named = _region(0x10000, kind=MAPPED, path=r"C:\locale.nls")
    views = [_region(0x40000, kind=MAPPED), _region(0x60000, kind=MAPPED)]
    told = [{"start": 0x40000, "size": PAGE, "RegionType": 0x8, "CommitSize": 0}]
    told += [{"start": 0x60000, "size": PAGE, "RegionType": 0, "CommitSize": 0}]
    snapshot = load_table([named, *views], tables={"allocations": told})
    assert _tell(snapshot, "type", "rule", "confidence")[1:] == [
        ("Shareable", "mbi-page-file", "high"),
        ("Shareable", "mbi-no-file", "medium"),
    ]
    assert _tell(load_table(views), "rule", "confidence") == [("mbi-section", "low")] * 2
    assert [row["size"] for row in list_allocations(snapshot).to_pylist()] == [PAGE] * 3


@pytest.mark.parametrize("kind", [0, 0x2, 0x8 | 0x10, 0x200])
def test_f44_a_region_type_that_contradicts_or_is_unknown_tells_nothing(kind: int) -> None:
    """Bits of another build degrade to what VirtualQueryEx says."""
    told = [{"start": 0x40000, "size": PAGE, "RegionType": kind, "CommitSize": 0}]
    snapshot = load_table([_region(0x40000, kind=MAPPED)], tables={"allocations": told})
    assert _tell(snapshot, "rule") == [("mbi-section",)]


def test_an_allocation_of_which_nothing_is_committed_is_a_reservation() -> None:
    """The reserved rest of one that is used is not called so."""
    rows = [_reserve(0x10000, 0x10000, 64), _region(0x90000), _reserve(0x91000, 0x90000, 15)]
    assert _tell(load_table(rows), "subtype", "rule", "state") == [
        ("reservation", "mbi-reserved", "reserved"),
        (None, "mbi-private", "committed"),
        (None, "mbi-private", "reserved"),
    ]


MODULES = [{"path": r"C:\tiny.dll", "low": BASE, "high": BASE + 16 * PAGE}]


def _make_sections(*spans: tuple[str, int, int], module: int = 0) -> list[Row]:
    """Make sections of names, first pages and sizes in bytes."""
    return [
        {"module": module, "name": name, "start": BASE + page * PAGE, "size": size}
        for name, page, size in spans
    ]


SECTIONS = _make_sections(
    (".text", 1, 2 * PAGE - 1), (".rdata", 3, 10), (".data", 4, 3 * PAGE), (".rsrc", 7, 1), (".reloc", 8, 1)
)


def _load_image(spans: Iterable[tuple[int, int]], sections: list[Row] = SECTIONS) -> LoadedSnapshot:
    """Load an image of regions: first page and number of pages."""
    rows = [
        _region(BASE + page * PAGE, pages, IMAGE, AllocationBase=BASE, path=r"C:\tiny.dll")
        for page, pages in spans
    ]
    return load_table(rows, tables={"modules": MODULES, "sections": sections})


def test_regions_of_an_image_name_the_sections_that_they_cover() -> None:
    """One region may cover two sections, and one section two regions; the allocation is the file alone."""
    snapshot = _load_image([(0, 1), (1, 2), (3, 1), (4, 1), (5, 2), (7, 2)])
    named = ["Header", ".text", ".rdata", ".data", ".data", ".rsrc .reloc"]
    assert _tell(snapshot, "details") == [(rf"C:\tiny.dll, {name}",) for name in named]
    assert [row["details"] for row in list_allocations(snapshot).to_pylist()] == [r"C:\tiny.dll"]


def test_sections_of_one_name_are_named_once_and_many_are_counted() -> None:
    """A library of hundreds of sections does not fill the screen."""
    many = _make_sections(*((f".s{number}", 1 + number, PAGE) for number in range(12)))
    [(header,), (details,)] = _tell(_load_image([(0, 1), (1, 12)], many), "details")
    assert header.endswith(", Header")
    assert details.endswith(", .s0 .s1 .s2 .s3 .s4 .s5 .s6 .s7 and 4 more")
    twice = _make_sections((".text", 1, PAGE), (".text", 2, PAGE))
    assert _tell(_load_image([(1, 2)], twice), "details") == [(r"C:\tiny.dll, .text",)]


@pytest.mark.parametrize(
    "sections",
    [
        [],
        _make_sections((".text", 1, PAGE), module=7),
        [{"module": 0, "name": None, "start": None, "size": None}],
        [{"module": 0, "name": ".text", "start": (1 << 64) - 1, "size": (1 << 64) - 1}],
    ],
    ids=["none", "no such module", "nulls", "beyond the end"],
)
def test_strange_sections_take_nothing_from_an_image(sections: list[Row]) -> None:
    """What a hostile file says of sections leaves path, type and figures as they are."""
    snapshot = _load_image([(0, 1), (1, 2)], sections)
    assert [details.partition(",")[0] for (details,) in _tell(snapshot, "details")] == [r"C:\tiny.dll"] * 2
    assert _tell(snapshot, "type", "size") == [("Image", PAGE), ("Image", 2 * PAGE)]
