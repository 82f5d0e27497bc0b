"""VMMap's own regions: its figures and types as they stand, its allocations, its words."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations, list_heaps
from mmpscope.analysis.rules_vmmap import RULES
from support.loaded import load_table

K = 1024
DLL = r"C:\Program Files (x86)\app\app.dll"
Row = dict[str, Any]
FIGURES = {
    "Commit": "committed",
    "PrivateBytes": "private",
    "TotalWS": "total_ws",
    "PrivateWS": "private_ws",
    "ShareableWS": "shareable_ws",
    "SharedWS": "shared_ws",
    "LockedWS": "locked_ws",
}


def _block(start: int, kb: int, kind: str, protection: int | None = 4, **more: Any) -> Row:
    """Write a sub-block; figures are 0 unless given, in bytes."""
    row = {"start": start, "size": kb * K, "VmmapType": kind, "AllocationBase": start, "Blocks": 0}
    return row | dict.fromkeys(FIGURES, 0) | {"Protection": protection, "Details": None} | more


IMAGE = [
    _block(0x10000, 4, "Image (ASLR)", 2, Commit=4 * K, TotalWS=4 * K, ShareableWS=4 * K, SharedWS=4 * K),
    _block(0x11000, 8, "Image (ASLR)", 0x20, AllocationBase=0x10000, Commit=8 * K, Details=".text"),
    _block(
        0x13000,
        4,
        "Image (ASLR)",
        4,
        AllocationBase=0x10000,
        Commit=4 * K,
        PrivateBytes=4 * K,
        Details=".data",
    ),
]
IMAGE_ALLOCATION = _block(0x10000, 16, "Image (ASLR)", 2, Blocks=3, Commit=16 * K, Details=DLL)
STACK = [
    _block(0x40000, 148, "Thread Stack", 0),
    _block(0x65000, 12, "Thread Stack", 0x104, AllocationBase=0x40000, Commit=12 * K, PrivateBytes=12 * K),
    _block(0x68000, 96, "Thread Stack", 4, AllocationBase=0x40000, Commit=96 * K, PrivateBytes=96 * K),
]
STACK_ALLOCATION = _block(
    0x40000, 256, "Thread Stack", 0x104, Blocks=3, Commit=108 * K, Details="Thread ID: 34888"
)


def _load(*rows: Row, allocations: list[Row] | None = None) -> LoadedSnapshot:
    return load_table(rows, tables={"allocations": allocations} if allocations else None)


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


def test_figures_are_taken_as_vmmap_states_them() -> None:
    """Every column of VMMap that we have is its own number; what it does not have does not apply."""
    stated = {name: (7 - n) * K for n, name in enumerate(FIGURES)} | {
        "PrivateWS": 2 * K,
        "ShareableWS": 3 * K,
    }
    snapshot = _load(_block(0x10000, 64, "Shareable", **stated))
    [row] = snapshot.regions.to_pylist()
    assert {name: row[name] for name in FIGURES.values()} == {
        figure: stated[name] for name, figure in FIGURES.items()
    }
    assert row["commit_charge"] is row["pss"] is row["swap"] is None
    judged = {row["item"]: row["state"] for row in snapshot.capability.to_pylist()}
    assert judged["regions.pss"] == "not applicable"
    assert "regions.private" not in judged


def test_total_ws_is_the_sum_where_it_is_not_stated() -> None:
    """The XML has no Total WS; it is private plus shareable, as in every row of a CSV."""
    block = _block(
        0x10000, 64, "Image", PrivateWS=8 * K, ShareableWS=4 * K, PrivateBytes=8 * K, Commit=64 * K
    )
    del block["TotalWS"]
    assert _tell(_load(block), "total_ws", "fault") == [(12 * K, None)]


def test_a_column_that_a_save_lacks_is_unknown() -> None:
    """An absent column is null with a reason, while an empty cell is 0."""
    block = _block(0x10000, 64, "Private Data")
    del block["LockedWS"]
    snapshot = _load(block)
    assert _tell(snapshot, "locked_ws", "shared_ws") == [(None, 0)]
    reasons = {row["item"]: row["reason"] for row in snapshot.capability.to_pylist()}
    assert reasons["regions.locked_ws"] == "1 of 1 regions lack LockedWS"


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        ({"Commit": 4 * K, "PrivateBytes": 8 * K}, "private is more than committed"),
        ({"TotalWS": 4 * K, "ShareableWS": 4 * K, "SharedWS": 8 * K}, "shared_ws is more than shareable_ws"),
        ({"TotalWS": 4 * K}, "private_ws and shareable_ws do not add up to total_ws"),
        ({"Commit": 65 * K}, "Commit is larger than the region"),
    ],
)
def test_contradictions_are_flagged_and_kept(stated: Row, fault: str) -> None:
    """What VMMap states stays in the totals, and the region says what is wrong with it."""
    [row] = _load(_block(0x10000, 64, "Private Data", **stated)).regions.to_pylist()
    assert row["fault"] == fault
    assert all(row[FIGURES[name]] == value for name, value in stated.items())


def test_f35_an_impossible_figure_is_left_out() -> None:
    """A wrapped number is null in the figure and whole in the raw column."""
    [row] = _load(_block(0x10000, 64, "Private Data", Commit=(1 << 64) - K)).regions.to_pylist()
    assert (row["committed"], row["Commit"]) == (None, (1 << 64) - K)
    assert row["fault"] == "Commit is impossible for its size and left out"


def test_parts_of_pages_in_the_managed_heap_may_count_whole_pages() -> None:
    """Generations begin unaligned and count every page that they touch: up to two more than their size."""
    block = _block(0x40AFF34, 446, "Managed Heap", Commit=452 * K, PrivateBytes=452 * K, Details="Gen0")
    assert _tell(_load(block), "committed") == [(452 * K,)]


LABELS = {
    "Image": ("vmmap-image", "Image", None),
    "Image (ASLR)": ("vmmap-image", "Image", None),
    "Mapped File": ("vmmap-mapped", "Mapped File", None),
    "Shareable": ("vmmap-shareable", "Shareable", None),
    "Heap": ("vmmap-heap", "Heap", None),
    "Heap (Private Data)": ("vmmap-heap", "Heap", None),
    "Heap (Shareable)": ("vmmap-heap-shared", "Heap", "shareable"),
    "Managed Heap": ("vmmap-managed", "Managed Heap", None),
    "Thread Stack": ("vmmap-stack", "Stack", "thread stack"),
    "Stack": ("vmmap-stack", "Stack", "thread stack"),
    "Private Data": ("vmmap-private", "Private Data", None),
    "Page Table": ("vmmap-page-table", "Page Table", None),
    "Unusable": ("vmmap-unusable", "Unusable", None),
    "Free": ("vmmap-free", "Free", None),
    "AWE": ("vmmap-unknown", "Private Data", "unknown label"),
}


@pytest.mark.parametrize("label", LABELS)
def test_the_types_of_vmmap_are_its_own(label: str) -> None:
    """Each label is the type that VMMap means by it; one that it never had is called unknown."""
    assert _tell(_load(_block(0x10000, 64, label)), "rule", "type", "subtype") == [LABELS[label]]


def test_every_rule_has_its_example() -> None:
    """No rule for VMMap is without a region here that it claims."""
    assert {rule.id for rule in RULES} == {rule for rule, *_ in LABELS.values()} | {"vmmap-stack-guard"}


def test_an_image_is_named_by_its_allocation_and_its_sections() -> None:
    """VMMap writes the path to the allocation alone, and names of sections to its blocks."""
    snapshot = _load(*IMAGE, allocations=[STACK_ALLOCATION, IMAGE_ALLOCATION])
    assert _tell(snapshot, "details", "allocation") == [
        (DLL, 0x10000),
        (f"{DLL}, .text", 0x10000),
        (f"{DLL}, .data", 0x10000),
    ]
    [module] = snapshot.modules.to_pylist()
    assert (module["path"], module["size"], module["private"], module["blocks"]) == (DLL, 16 * K, 4 * K, 3)
    assert module["timestamp"] is module["bss"] is None


def test_a_block_without_its_allocation_names_no_file() -> None:
    """In a list that was filtered, .text is no path."""
    assert _tell(_load(IMAGE[1], allocations=[STACK_ALLOCATION]), "details") == [(".text",)]
    assert [row["path"] for row in _load(IMAGE[1]).modules.to_pylist()] == [None]


def test_an_allocation_without_blocks_is_its_own_region() -> None:
    """A collapsed allocation keeps its path, and is a region like others."""
    snapshot = _load(IMAGE_ALLOCATION, allocations=[IMAGE_ALLOCATION])
    assert _tell(snapshot, "details", "type") == [(DLL, "Image")]
    assert [row["path"] for row in snapshot.modules.to_pylist()] == [DLL]


def test_a_stack_has_its_guard_and_its_thread() -> None:
    """The guard is a block of its own; an allocation that has one inside is no guard for that."""
    snapshot = _load(*STACK, allocations=[STACK_ALLOCATION])
    assert _tell(snapshot, "type", "subtype", "state", "protection", "details") == [
        ("Stack", "thread stack", "reserved", "Reserved", "Thread ID: 34888"),
        ("Stack", "guard", "committed", "Read/Write/Guard", "Thread ID: 34888"),
        ("Stack", "thread stack", "committed", "Read/Write", "Thread ID: 34888"),
    ]
    [allocation] = list_allocations(snapshot).to_pylist()
    assert (allocation["subtype"], allocation["blocks"]) == ("thread stack", 3)


def test_f28_a_file_that_is_mapped_twice_says_so() -> None:
    """Views add up in size, and their details say how many there are."""
    views = [_block(0x10000 * n, 64, "Mapped File", Blocks=1, Details=r"C:\big.nls") for n in (1, 2)]
    snapshot = _load(*views, allocations=views)
    assert _tell(snapshot, "details") == [(r"C:\big.nls (mapped 2 times)",)] * 2


def test_a_reservation_without_a_protection_is_told_by_its_commit() -> None:
    """A save without the column Protection still tells what is reserved, as far as it knows the commit."""
    rows = [
        _block(0x10000, 64, "Private Data", None),
        _block(0x20000, 64, "Private Data", None, Commit=64 * K),
    ]
    assert _tell(_load(*rows), "state", "protection") == [("reserved", None), ("committed", None)]
    assert _tell(_load(_block(0x10000, 64, "Private Data", None, Commit=None)), "state") == [(None,)]


def test_heaps_are_listed_by_kind() -> None:
    """Private and shareable heaps are two rows."""
    rows = [_block(0x10000, 64, "Heap (Private Data)"), _block(0x20000, 64, "Heap (Shareable)")]
    assert [(row["name"], row["size"]) for row in list_heaps(_load(*rows)).to_pylist()] == [
        (None, 64 * K),
        ("shareable", 64 * K),
    ]


def test_f47_addresses_stay_exact() -> None:
    """A 64-bit address is the same number in a data frame, beside an allocation base that is unknown."""
    rows = [_block(0x7FF9_1234_0000, 64, "Image"), _block(0x7FF9_2234_0000, 4, "Image", AllocationBase=None)]
    frame = _load(*rows).regions.to_pandas()
    assert frame["address"].tolist() == frame["allocation"].tolist() == [0x7FF9_1234_0000, 0x7FF9_2234_0000]


def test_heaps_are_told_apart_by_the_number_that_vmmap_gives_them() -> None:
    """XML has it in a column, CSV and text in the details; a block without one is of no known heap."""
    rows = [
        _block(0x10000, 4, "Heap (Private Data)", Id=1),
        _block(0x20000, 8, "Heap (Private Data)", Id=2),
        _block(0x30000, 16, "Heap (Private Data)", Id=1),
        _block(0x40000, 4, "Heap (Shareable)", Id=0, Details="Heap ID: 3 [COMPATABILITY]"),
        _block(0x50000, 4, "Heap (Private Data)", Id=0),
        _block(0x60000, 64, "Managed Heap", Id=0, Details="Heap ID: 1"),
    ]
    heaps = list_heaps(_load(*rows)).to_pylist()
    assert [(row["name"], row["size"] // K, row["address"]) for row in heaps] == [
        ("heap 1", 20, 0x10000),
        ("heap 2", 8, 0x20000),
        ("heap 3", 4, 0x40000),
        (None, 4, 0x50000),
        (None, 64, 0x60000),
    ]
