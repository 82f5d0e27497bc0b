"""The figures of a region, formula by formula, from the counters of the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, summarize
from support.loaded import find_row, load_blocks, load_map, load_table, load_text
from support.smaps_text import Block, MapLine, make_block

KB = 1024
RW = "1000000-1100000 rw-p"  # 1 MiB
WRITABLE = "rd wr mr mw me ac"


def _figures(line: str, counters: dict[str, int], flags: str = WRITABLE) -> dict[str, Any]:
    snapshot = load_blocks((line, counters, flags))
    return find_row(snapshot, int(line.split("-")[0], 16))


def _pick(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] // KB if isinstance(row[name], int) else row[name] for name in names)


def test_writable_private_memory_is_committed_private_and_charged() -> None:
    """What can be written is backed by the system, touched or not."""
    row = _figures(RW, {"Rss": 8, "Anonymous": 8, "Private_Dirty": 8, "Pss": 8})
    assert _pick(row, "committed", "private", "commit_charge") == (1024, 1024, 1024)
    assert _pick(row, "total_ws", "private_ws", "shareable_ws", "uss", "pss") == (8, 8, 0, 8, 8)
    assert row["state"] == "committed"


def test_a_reservation_commits_only_what_it_holds() -> None:
    """Memory without access rights is set aside; pages left in it still count, in memory or swapped out."""
    row = _figures("1000000-1100000 ---p", {"Rss": 8, "Anonymous": 8, "Swap": 4}, "mr mw me")
    assert _pick(row, "size", "committed", "private", "commit_charge") == (1024, 12, 12, 0)
    assert row["state"] == "reserved"


def test_memory_without_reserve_commits_only_what_it_holds() -> None:
    """The shadow of a sanitizer is terabytes of MAP_NORESERVE, and no terabytes of commitment."""
    row = _figures("10000000-7fff8000 rw-p", {"Rss": 20, "Anonymous": 20}, "rd wr mr mw me nr")
    assert _pick(row, "committed", "private", "commit_charge") == (20, 20, 0)
    assert row["state"] == "committed"


def test_read_only_file_pages_are_committed_but_not_private() -> None:
    """Program text belongs to the file, except for the pages that were written to."""
    row = _figures(
        "1000000-1100000 r-xp 0 2a /bin/a", {"Rss": 64, "Anonymous": 4, "Swap": 8}, "rd ex mr mw me"
    )
    assert _pick(row, "committed", "private", "private_ws", "shareable_ws") == (1024, 12, 4, 60)


def test_what_was_writable_once_stays_private() -> None:
    """The kernel keeps the charge of memory that is made read-only (flag ac): relro parts of libraries."""
    row = _figures("1000000-1100000 r--p 0 2a /bin/a", {"Rss": 4, "Anonymous": 4}, "rd mr mw me ac")
    assert _pick(row, "private", "commit_charge") == (1024, 1024)


def test_shared_mappings_hold_nothing_private() -> None:
    """A shared view has resident pages, all of them shareable, whether another process maps them or not."""
    row = _figures("1000000-1100000 rw-s 0 2a /f", {"Rss": 40, "Private_Dirty": 40}, "rd wr sh mr mw me ms")
    assert _pick(row, "committed", "private", "private_ws", "cow_shared") == (1024, 0, 0, 0)
    assert _pick(row, "total_ws", "shareable_ws", "shared_ws", "commit_charge") == (40, 40, 0, 0)


def test_pages_of_a_fork_are_shared_until_somebody_writes() -> None:
    """Anonymous pages that are mapped twice can only come from a fork."""
    row = _figures(RW, {"Rss": 100, "Anonymous": 100, "Shared_Dirty": 60, "Private_Dirty": 40})
    assert _pick(row, "cow_shared", "private_ws", "shareable_ws", "shared_ws") == (60, 40, 60, 60)


def test_shared_file_pages_are_no_fork_pages() -> None:
    """Shared pages count as file pages first, as many as there are."""
    counters = {"Rss": 100, "Anonymous": 20, "Shared_Clean": 80, "Private_Dirty": 20}
    row = _figures("1000000-1100000 rw-p 0 2a /lib/a", counters)
    assert _pick(row, "cow_shared", "private_ws", "shareable_ws", "shared_ws") == (0, 20, 80, 80)


def test_huge_tlb_pages_are_resident_beside_rss() -> None:
    """The kernel counts hugetlb pages apart; here they are part of the working set."""
    counters = {"KernelPageSize": 2048, "Private_Hugetlb": 2048, "Shared_Hugetlb": 4096}
    row = _figures("40000000-41000000 rw-p 0 0 /anon_hugepage (deleted)", counters, WRITABLE + " ht")
    assert _pick(row, "total_ws", "private_ws", "shareable_ws", "shared_ws") == (6144, 2048, 4096, 4096)
    assert row["uss"] == 0


def test_locked_swapped_lazy_and_huge_pages_have_columns_of_their_own() -> None:
    """What is not a working set is still a figure."""
    row = _figures(
        RW, {"Rss": 96, "Anonymous": 96, "Locked": 8, "Swap": 16, "LazyFree": 32, "AnonHugePages": 64}
    )
    assert _pick(row, "locked_ws", "swap", "lazyfree", "thp") == (8, 16, 32, 64)


def test_maps_alone_leave_residence_unknown() -> None:
    """Without counters nothing is known of pages, and of a reservation not even what it commits."""
    snapshot = load_map("1000000-1100000 rw-p", "1100000-1200000 ---p", "1200000-1300000 r--p 0 2a /lib/a.so")
    data, reserved, file = (find_row(snapshot, address) for address in (0x1000000, 0x1100000, 0x1200000))
    assert (data["committed"], data["private"]) == (1 << 20, 1 << 20)
    assert (reserved["committed"], reserved["private"]) == (None, None)
    assert (file["committed"], file["private"]) == (1 << 20, None)
    for row in (data, reserved, file):
        assert row["total_ws"] is row["private_ws"] is row["swap"] is row["commit_charge"] is None
    states = {item["item"]: item["state"] for item in snapshot.capability.to_pylist()}
    assert states["regions.total_ws"] == "unavailable"
    assert states["regions.committed"] == "partial"


def _load_old_kernel(*left_out: bytes) -> LoadedSnapshot:
    counters = {"Rss": 16, "Anonymous": 8, "Swap": 4, "Shared_Clean": 8, "Private_Dirty": 8}
    text = make_block(Block(MapLine(0x1000000, 0x1100000, b"r--p"), counters))
    lines = [line for line in text.split(b"\n") if not line.startswith(left_out)]
    return load_text(b"\n".join(lines))


def test_without_flags_the_charge_is_unknown_and_private_is_what_is_held() -> None:
    """Linux before 3.8 prints no VmFlags: what was charged is not told, and that is said."""
    snapshot = _load_old_kernel(b"VmFlags")
    row = find_row(snapshot, 0x1000000)
    assert (row["commit_charge"], row["private"]) == (None, 12 * KB)
    items = {item["item"]: item for item in snapshot.capability.to_pylist()}
    assert items["regions.commit_charge"]["state"] == "unavailable"
    assert "VmFlags" in items["regions.commit_charge"]["reason"]
    assert items["regions.private"]["state"] == "partial"


def test_without_anonymous_the_private_working_set_is_unknown() -> None:
    """Linux before 2.6.35 prints no Anonymous: null, with the reason, in place of a guess."""
    snapshot = _load_old_kernel(b"VmFlags", b"Anonymous")
    row = find_row(snapshot, 0x1000000)
    assert (row["total_ws"], row["private_ws"], row["shareable_ws"], row["private"]) == (
        16 * KB,
        None,
        None,
        None,
    )
    reasons = {item["item"]: item["reason"] for item in snapshot.capability.to_pylist()}
    assert reasons["regions.private_ws"] == "1 of 1 regions lack Anonymous"


def test_kernels_that_print_no_huge_tlb_counters_have_none_here() -> None:
    """Linux before 4.4 lacks the two lines; only a region that may have such pages is then unknown."""
    gone = (b"Shared_Hugetlb", b"Private_Hugetlb")
    assert find_row(_load_old_kernel(*gone), 0x1000000)["total_ws"] == 16 * KB
    line = MapLine(0x40000000, 0x40200000, b"rw-p", path=b"/anon_hugepage (deleted)")
    text = make_block(Block(line, {"KernelPageSize": 2048}, b"rd wr ht "))
    small = make_block(Block(MapLine(0x1000000, 0x1001000), {"KernelPageSize": 4}))
    kept = [row for row in (small + text).split(b"\n") if not row.startswith(gone)]
    assert find_row(load_text(b"\n".join(kept)), 0x40000000)["total_ws"] is None


def test_f24_pages_of_64_kib_are_no_huge_pages() -> None:
    """Where every page has 64 KiB that is the page size, for the process and for what is taken for huge."""
    counters = {"KernelPageSize": 64, "MMUPageSize": 64, "Rss": 128, "Anonymous": 128}
    snapshot = load_blocks(
        (RW, counters, WRITABLE), ("1200000-1400000 rw-p", {**counters, "Rss": 64}, WRITABLE)
    )
    assert snapshot.granularity == 1 << 16
    assert find_row(snapshot, 0x1000000)["total_ws"] == 128 * KB
    mixed = load_blocks(
        (RW, {"KernelPageSize": 4}, WRITABLE), ("40000000-40200000 rw-p", {"KernelPageSize": 2048}, "")
    )
    assert mixed.granularity == 4096


def test_a_page_size_that_no_page_has_is_no_granularity() -> None:
    """What a stranger writes into KernelPageSize must not become the unit of all holes and alignments."""
    odd = {"start": 0x10000, "size": 0x1000, "perms": "rw-p"}
    for pages in (4095, 5000, 1 << 63):
        assert load_table([{**odd, "KernelPageSize": pages}]).granularity == 4096


def test_f36_counters_in_kib_become_bytes_whatever_the_page_size() -> None:
    """The unit of every figure is the byte: 128 kB are 131072, with pages of 64 KiB as of 4."""
    for page in (4, 16, 64):
        row = _figures(RW, {"KernelPageSize": page, "Rss": 128, "Anonymous": 128, "Pss": 128})
        assert (row["total_ws"], row["private_ws"], row["pss"]) == (131072, 131072, 131072)


def test_f35_a_wrapped_counter_is_flagged_kept_and_left_out_of_totals() -> None:
    """A counter below zero that was printed as 2^64 less a bit is no exabyte of memory."""
    wrapped = (1 << 64) - 123 * KB * KB
    good = {
        "start": 0x1000000,
        "size": 1 << 20,
        "perms": "rw-p",
        "Rss": 8 * KB,
        "Anonymous": 8 * KB,
        "Pss": 8 * KB,
    }
    bad = {**good, "start": 0x2000000, "Rss": 0, "Anonymous": 0, "Pss": wrapped}
    more = {"Shared_Clean": 0, "Shared_Dirty": 0, "Private_Clean": 0, "Private_Dirty": 0, "Swap": 0}
    snapshot = load_table([{**good, **more}, {**bad, **more}])
    row = find_row(snapshot, 0x2000000)
    assert row["pss"] is None
    assert row["Pss"] == wrapped
    assert row["fault"] == "Pss is impossible for its size and left out"
    reasons = {item["item"]: item["reason"] for item in snapshot.capability.to_pylist()}
    assert reasons["regions.pss"] == "1 of 2 regions have impossible counters (column fault)"
    private = {row["type"]: row for row in summarize(snapshot).to_pylist()}["Private Data"]
    assert private["pss"] == 8 * KB
    assert "pss" in private["partial"].split(", ")
    assert "total_ws" not in private["partial"].split(", ")


@pytest.mark.parametrize(
    ("counters", "fault"),
    [
        ({"Rss": 8, "Anonymous": 12}, "Anonymous is larger than Rss"),
        ({"Rss": 8, "Pss": 12}, "Pss is larger than Rss"),
        ({"Rss": 8, "Anonymous": 8, "Locked": 12}, "Locked is larger than Rss"),
        (
            {"Rss": 8, "Private_Clean": 8, "Private_Dirty": 4},
            "Private_Clean and Private_Dirty are more than Rss",
        ),
        ({"Rss": 8, "Shared_Clean": 12}, "Shared_Clean and Shared_Dirty are more than Rss"),
        ({"Rss": 1028, "Anonymous": 4}, "Rss is larger than the region"),
        ({"Size": 512}, "Size is not the length of the range"),
        ({"Size": 1028}, "Size counts a guard page that the range hides"),
    ],
)
def test_a_source_that_contradicts_itself_is_flagged(counters: dict[str, int], fault: str) -> None:
    """What is wrong in small is kept and said; the working sets still add up."""
    row = _figures(RW, counters)
    assert fault in row["fault"].split("; ")
    assert row["private_ws"] + row["shareable_ws"] == row["total_ws"]


def test_a_region_that_overlaps_another_is_flagged() -> None:
    """No kernel maps an address twice; hostile text may."""
    snapshot = load_map("1000-3000 rw-p", "2000-4000 rw-p", "4000-5000 rw-p")
    faults = [row["fault"] for row in snapshot.regions.to_pylist()]
    assert faults == [None, "it begins below the end of a region before it", None]
