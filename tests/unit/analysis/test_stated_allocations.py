"""Allocations that a source states by themselves, as VMMap does: figures, summary, free space, listing."""

from __future__ import annotations

from typing import Any

from mmpscope.analysis import LoadedSnapshot, check_fit, find_free, list_allocations, summarize
from mmpscope.analysis.freespace import compare_stated_free
from mmpscope.analysis.listing import expand_allocations, nest_regions
from mmpscope.analysis.reporters.head import draw_head
from mmpscope.analysis.reporters.screen import Screen
from support.foreign import WINDOWS, load_foreign, make_mbi, make_vmmap

KIB = 1024
IMAGE, HEAP = "Image (ASLR)", "Managed Heap"
ALLOCATIONS = (
    make_vmmap(0x110000, 64 * KIB, IMAGE, PrivateBytes=4 * KIB, Commit=64 * KIB, TotalWS=8 * KIB, Blocks=2),
    make_vmmap(0x200000, 20 * KIB, HEAP, PrivateBytes=20 * KIB, Commit=20 * KIB, Blocks=1),
    make_vmmap(0x300000, 4 * KIB, "Shareable", PrivateBytes=4 * KIB, Blocks=1),
)
REGIONS = (
    make_vmmap(0x110000, 4 * KIB, IMAGE, base=0x110000, Protection=2, Details="Header"),
    make_vmmap(0x111000, 28 * KIB, IMAGE, base=0x110000, PrivateBytes=12 * KIB, Details=".text"),
    make_vmmap(0x118000, 32 * KIB, IMAGE, base=0x110000, PrivateBytes=1 * KIB, Details=".data"),
    make_vmmap(0x200034, 15 * KIB, HEAP, base=0x200000, PrivateBytes=15 * KIB, Details="Gen1"),
    make_vmmap(0x204000, 4 * KIB, HEAP, base=0x200000, PrivateBytes=4 * KIB),
    make_vmmap(0x300000, 4 * KIB, "Shareable", base=0x300000),
)
SPACE = {"start": 0, "end": 0x400000, "source": "Free and Unusable rows of VMMap"}


def load_save(**more: Any) -> LoadedSnapshot:
    """Load the allocations above with their sub-blocks."""
    tables = {"allocations": ALLOCATIONS, **more.pop("tables", {})}
    return load_foreign(REGIONS, host=WINDOWS, tables=tables, range=SPACE, bits=32, **more)


def _by_type(snapshot: LoadedSnapshot) -> dict[str, dict[str, Any]]:
    return {row["type"]: row for row in summarize(snapshot).to_pylist()}


def test_allocations_are_as_the_source_states_them() -> None:
    """Figures are not those of the sub-blocks, and blocks is what VMMap counts, whatever it lists."""
    image, heap, shared = list_allocations(load_save()).to_pylist()
    assert (image["address"], image["size"], image["end"]) == (0x110000, 64 * KIB, 0x120000)
    assert (image["type"], image["private"], image["total_ws"], image["blocks"]) == (
        "Image",
        4 * KIB,
        8 * KIB,
        2,
    )
    assert (heap["type"], heap["size"], heap["blocks"]) == ("Managed Heap", 20 * KIB, 1)
    assert [row["first"] for row in (image, heap, shared)] == [0, 3, 5]


def test_private_is_a_sum_over_sub_blocks_where_they_fill_their_allocation() -> None:
    """VMMap's summary: images have more than their own row says, shared memory less; a heap whose
    generations were rounded, 1 KiB less in all, has what its own row says.
    """
    rows = _by_type(load_save())
    assert [rows[kind]["private"] for kind in ("Image", "Managed Heap", "Shareable")] == [
        13 * KIB,
        20 * KIB,
        0,
    ]
    assert rows["Managed Heap"]["size"] == 20 * KIB
    assert rows["Image"]["committed"] == 64 * KIB
    assert (rows["Total"]["blocks"], rows["Total"]["allocations"]) == (4, 3)
    assert rows["Image"]["largest"] == 64 * KIB


def test_page_table_is_what_the_source_says() -> None:
    """VMMap states it in bytes, and it is in Total."""
    rows = _by_type(load_save(page_table=32 * KIB))
    assert [rows["Page Table"][name] for name in ("size", "private", "private_ws")] == [32 * KIB] * 3
    assert rows["Total"]["committed"] == (32 + 64 + 20) * KIB


def test_what_an_allocation_has_besides_its_sub_blocks_is_not_free() -> None:
    """A generation begins within its heap, and leaves the start to nobody; that is no hole."""
    holes = find_free(load_save()).to_pylist()
    assert [(row["address"], row["size"], row["type"]) for row in holes] == [
        (0, 0x110000, "Free"),
        (0x120000, 0xE0000, "Free"),
        (0x205000, 0xB000, "Unusable"),
        (0x210000, 0xF0000, "Free"),
        (0x301000, 0xF000, "Unusable"),
        (0x310000, 0xF0000, "Free"),
    ]
    assert (holes[1]["before"], holes[1]["after"]) == ("Image .data", "Managed Heap Gen1")
    assert (holes[0]["before"], holes[-1]["after"]) == (None, None)


def test_unusable_has_no_blocks_and_free_has() -> None:
    """As VMMap prints it: 188 blocks of Free, and none of Unusable, so that Total counts regions alone."""
    rows = _by_type(load_save())
    assert (rows["Unusable"]["size"], rows["Unusable"]["largest"]) == (0x1A000, 0xF000)
    assert (rows["Unusable"]["blocks"], rows["Free"]["blocks"]) == (None, 4)


def test_free_rows_of_the_source_are_compared_with_the_gaps() -> None:
    """Where they are not the same, ours are shown, and the head and the reasons say so."""
    gaps = find_free(load_save())
    said = [
        {"start": row["address"], "size": row["size"], "VmmapType": row["type"]} for row in gaps.to_pylist()
    ]
    agreed, disputed = (load_save(tables={"free": rows}) for rows in (said, said[1:]))
    assert compare_stated_free(agreed) is None
    assert compare_stated_free(disputed) == (
        "the source lists 5 free ranges that add up to 2,990,080 bytes, between its allocations are 6 of "
        "4,104,192 bytes, which are shown; the first that differs is at 0"
    )
    assert "free space is doubtful" in "".join(draw_head(disputed, Screen(300)))
    assert [row["state"] for row in disputed.capability.to_pylist() if row["item"] == "free"] == ["partial"]
    assert find_free(disputed).equals(gaps)


def test_sub_blocks_stand_under_their_allocation_whatever_its_count_of_blocks() -> None:
    """An allocation of one block may list two rows: they are indented, and the allocation stands above."""
    snapshot = load_save()
    rows = nest_regions(list_allocations(snapshot), snapshot.regions).to_pylist()
    assert [(row["address"], row["level"]) for row in rows] == [
        (0x110000, 0),
        (0x110000, 1),
        (0x111000, 1),
        (0x118000, 1),
        (0x200000, 0),
        (0x200034, 1),
        (0x204000, 1),
        (0x300000, 0),
    ]


def test_an_allocation_without_listed_sub_blocks_stays() -> None:
    """Damage may take its rows; the allocation is there all the same, in lists and in sums."""
    snapshot = load_foreign(REGIONS[:3], host=WINDOWS, tables={"allocations": ALLOCATIONS}, range=SPACE)
    allocations = list_allocations(snapshot)
    assert [row["first"] for row in allocations.to_pylist()] == [0, None, None]
    assert expand_allocations(allocations, snapshot.regions).num_rows == 5
    assert _by_type(snapshot)["Managed Heap"]["private"] == 20 * KIB
    assert [row["after"] for row in find_free(snapshot).to_pylist()][1] is None


def test_windows_places_memory_at_64_kib_and_knows_no_limit_of_linux() -> None:
    """The range of a 64-bit process is assumed where nobody states it; a request is aligned, in pages."""
    snapshot = load_foreign([make_mbi(0x10000, 0x1000)], host={"os": "windows"}, bits=64)
    assert snapshot.usable_range == (0, 0x7FFF_FFFF_0000, "assumed: 64-bit Windows")
    assert (snapshot.granularity, snapshot.page_size) == (0x10000, 0x1000)
    answer = check_fit(snapshot, 0x20001)
    assert [check.name for check in answer.checks] == ["address space", "commit limit", "job"]
    assert (answer.size, answer.align, answer.address) == (0x21000, 0x10000, 0x20000)
    small = load_foreign([make_mbi(0x10000, 0x1000)], host={"os": "windows"}, bits=32)
    assert small.usable_range[:2] == (0, 0xFFFF_0000)
