"""Regions of Windows: MEMORY_BASIC_INFORMATION, the words of WinDbg, modules and threads of a dump."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations
from mmpscope.analysis.rules_windows import RULES
from mmpscope.formats.model import Capability
from support.loaded import load_table

COMMIT, RESERVE = 0x1000, 0x2000
PRIVATE, MAPPED, IMAGE = 0x20000, 0x40000, 0x1000000
READ, WRITE, COPY, RUN, RUN_COPY, GUARD = 0x02, 0x04, 0x08, 0x20, 0x80, 0x104
BASE = 0x7FF6_1234_0000
PAGE = 0x1000
Row = dict[str, Any]


def _region(start: int, size: int = PAGE, kind: int = PRIVATE, protect: int = WRITE, **more: Any) -> Row:
    row = {"start": start, "size": size, "AllocationBase": start, "AllocationProtect": WRITE}
    return row | {"State": COMMIT, "Protect": protect, "Type": kind} | more


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


IMAGE_PARTS = [
    _region(BASE, PAGE, IMAGE, READ),
    _region(BASE + PAGE, 2 * PAGE, IMAGE, RUN, AllocationBase=BASE),
    _region(BASE + 3 * PAGE, PAGE, IMAGE, WRITE, AllocationBase=BASE),
    _region(BASE + 4 * PAGE, PAGE, IMAGE, COPY, AllocationBase=BASE),
]
MODULE = {
    "path": r"C:\app\tiny.exe",
    "low": BASE,
    "high": BASE + 5 * PAGE,
    "timestamp": 0x618012FC,
    "file_version": "1.2.3.4",
    "build_id": "c25cd79f212f335c4c4c44205044422e1",
}
STACK = [
    _region(0x10000, 0xC000, State=RESERVE, Protect=0),
    _region(0x1C000, 0x1000, protect=GUARD, AllocationBase=0x10000),
    _region(0x1D000, 0x3000, AllocationBase=0x10000),
]


@pytest.mark.parametrize(
    ("kind", "protect", "private"),
    [
        (PRIVATE, READ, PAGE),
        (PRIVATE, WRITE, PAGE),
        (IMAGE, RUN, 0),
        (IMAGE, READ, 0),
        (IMAGE, WRITE, PAGE),
        (IMAGE, COPY, PAGE),
        (IMAGE, RUN_COPY, PAGE),
        (MAPPED, READ, 0),
        (MAPPED, WRITE, 0),
        (MAPPED, COPY, PAGE),
    ],
)
def test_private_is_what_can_be_no_one_elses(kind: int, protect: int, private: int) -> None:
    """Image pages that were, or may be, copied on write are private; a shared view that is written is not."""
    [row] = _tell(load_table([_region(BASE, PAGE, kind, protect)]), "committed", "private", "fault")
    assert row == (PAGE, private, None)


def test_a_reservation_commits_nothing() -> None:
    """Reserved addresses cost neither memory nor commit, and have no protection."""
    [row] = load_table([_region(BASE, 1 << 40, State=RESERVE, Protect=None)]).regions.to_pylist()
    assert (row["committed"], row["private"], row["state"]) == (0, 0, "reserved")
    assert row["protection"] == "Reserved"


def test_what_no_source_of_windows_tells_is_null_with_its_reason() -> None:
    """Working sets are unknown for the source's own reason; what Windows does not have does not apply."""
    said = [Capability("working_sets", "unavailable", None, "a minidump does not say what is resident")]
    snapshot = load_table([_region(BASE)], capability=said)
    [row] = snapshot.regions.to_pylist()
    assert row["total_ws"] is row["private_ws"] is row["pss"] is row["commit_charge"] is None
    judged = {row["item"]: (row["state"], row["reason"]) for row in snapshot.capability.to_pylist()}
    assert judged["regions.total_ws"] == (
        "unavailable",
        "1 of 1 regions lack TotalWS: a minidump does not say what is resident",
    )
    assert judged["regions.pss"][0] == judged["regions.commit_charge"][0] == "not applicable"
    assert judged["regions.private"][0] == "partial"
    assert "regions.committed" not in judged


def test_working_sets_are_taken_where_a_source_has_them() -> None:
    """Whoever asks for pages, too, states them in columns, and then private is no estimate."""
    pages = {"PrivateWS": PAGE, "ShareableWS": PAGE, "SharedWS": PAGE, "LockedWS": 0, "PrivateBytes": PAGE}
    snapshot = load_table([_region(BASE, 4 * PAGE, IMAGE, RUN) | pages])
    [row] = snapshot.regions.to_pylist()
    assert (row["total_ws"], row["private_ws"], row["shareable_ws"]) == (2 * PAGE, PAGE, PAGE)
    assert (row["shared_ws"], row["locked_ws"], row["private"], row["fault"]) == (PAGE, 0, PAGE, None)
    assert "regions.private" not in {row["item"] for row in snapshot.capability.to_pylist()}


def test_f35_an_impossible_working_set_is_left_out() -> None:
    """A number below zero that wrapped around is no figure, and the region says so."""
    pages = {"PrivateWS": (1 << 64) - PAGE, "ShareableWS": 0}
    [row] = load_table([_region(BASE) | pages]).regions.to_pylist()
    assert row["private_ws"] is row["total_ws"] is None
    assert row["fault"] == "PrivateWS is impossible for its size and left out"
    assert row["PrivateWS"] == (1 << 64) - PAGE


def test_an_unknown_state_or_type_is_unknown() -> None:
    """What a source leaves out is null, not free and not private."""
    [row] = load_table([_region(BASE, State=None, Type=None)]).regions.to_pylist()
    assert row["state"] is row["committed"] is row["private"] is None
    assert (row["type"], row["rule"], row["confidence"]) == ("Private Data", "mbi-unknown", "low")


@pytest.mark.parametrize(
    ("protect", "words"),
    [(0x104, "Read/Write/Guard"), (0x80, "Execute/Copy on Write"), (0x01, "No access"), (None, None)],
)
def test_protections_are_written_in_vmmaps_words(protect: int | None, words: str | None) -> None:
    """Combined protections keep all their parts; none that is stated is null."""
    assert _tell(load_table([_region(BASE, protect=protect or 0, Protect=protect)]), "protection") == [
        (words,)
    ]


def test_an_image_is_an_allocation_with_its_module() -> None:
    """Sections are joined by AllocationBase and named by the module at their address."""
    snapshot = load_table(IMAGE_PARTS, tables={"modules": [MODULE]})
    assert _tell(snapshot, "type", "rule", "details") == [("Image", "mbi-image", MODULE["path"])] * 4
    [module] = snapshot.modules.to_pylist()
    assert {name: module[name] for name in ("path", "address", "size", "private", "blocks")} == {
        "path": MODULE["path"],
        "address": BASE,
        "size": 5 * PAGE,
        "private": 2 * PAGE,
        "blocks": 4,
    }
    assert (module["timestamp"], module["version"], module["build_id"]) == (
        0x618012FC,
        "1.2.3.4",
        MODULE["build_id"],
    )
    assert module["bss"] is None


def test_an_image_without_a_module_is_one_without_a_name() -> None:
    """What MEM_IMAGE says holds without a list of modules."""
    [module] = load_table(IMAGE_PARTS).modules.to_pylist()
    assert (module["path"], module["size"], module["timestamp"]) == (None, 5 * PAGE, None)


def test_f28_views_of_one_file_are_counted_and_named() -> None:
    """A library that is mapped three times says so."""
    views = [_region(BASE + n * 0x10000, kind=MAPPED, path=r"C:\big.dll") for n in range(3)]
    snapshot = load_table([*views, _region(BASE + 0x90000, kind=MAPPED)])
    assert _tell(snapshot, "type", "rule", "confidence", "details") == [
        *[("Mapped File", "mbi-mapped", "high", r"C:\big.dll (mapped 3 times)")] * 3,
        ("Shareable", "mbi-no-file", "medium", None),
    ]


@pytest.mark.parametrize("thread", [{"sp": 0x1E000}, {"sp": 0, "stack_start": 0x1D000}], ids=["sp", "stack"])
def test_f25_a_stack_is_the_allocation_that_a_thread_stands_in(thread: Mapping[str, int]) -> None:
    """Reserve, guard and stack are one, by the stack pointer or by the memory that the dump has of it."""
    threads = [{"tid": 1468, "name": "main", **thread}]
    snapshot = load_table([*STACK, _region(0x90000)], tables={"threads": threads})
    assert _tell(snapshot, "type", "subtype", "rule", "details", "allocation") == [
        ("Stack", "thread stack", "mbi-stack", "tid 1468 main", 0x10000),
        ("Stack", "guard", "mbi-stack-guard", "tid 1468 main", 0x10000),
        ("Stack", "thread stack", "mbi-stack", "tid 1468 main", 0x10000),
        ("Private Data", None, "mbi-private", None, 0x90000),
    ]
    [row] = snapshot.threads.to_pylist()
    assert (row["stack"], row["size"], row["committed"]) == (0x10000, 0x10000, 0x4000)


def test_environment_blocks_of_threads_are_named() -> None:
    """Several of them may lie in one region."""
    threads = [{"tid": tid, "teb": 0x50000 + tid * 0x2000} for tid in (1, 2)]
    [row] = load_table([_region(0x50000, 0x8000)], tables={"threads": threads}).regions.to_pylist()
    assert (row["type"], row["subtype"], row["rule"]) == ("Private Data", "TEB", "mbi-teb")
    assert row["details"] == "TEB of tid 1, tid 2"


USAGES = {
    "Image": ("windbg-image", "Image"),
    "RegionUsageImage": ("windbg-image", "Image"),
    "Stack64": ("windbg-stack", "Stack"),
    "Heap32": ("windbg-heap", "Heap"),
    "HeapBlock": ("windbg-heap", "Heap"),
    "PageHeap": ("windbg-page-heap", "Heap"),
    "TEB": ("windbg-teb", "Private Data"),
    "PEB32": ("windbg-peb", "Private Data"),
    "RegionUsageProcessParametrs": ("windbg-parameters", "Private Data"),
    "MappedFile": ("windbg-mapped", "Mapped File"),
    "Free": ("windbg-free", "Free"),
    "Other": ("windbg-other", "Private Data"),
    "<unknown>": ("windbg-unknown", "Private Data"),
    "GCHeap": ("clr-gc", "Managed Heap"),
    "[GCHeapReserve]": ("clr-gc", "Managed Heap"),
    "HandleTable": ("clr-gc-tables", "Managed Heap"),
    "HostCodeHeap": ("clr-code", "Managed Heap"),
    "LoaderHeap": ("clr-loader", "Managed Heap"),
    "IndirectionCellHeap": ("clr-stubs", "Managed Heap"),
    "NewStubPrecodeHeap": ("clr-stubs", "Managed Heap"),
    "CLR": ("clr-other", "Managed Heap"),
    "a word of next year": ("mbi-private", "Private Data"),
}


@pytest.mark.parametrize("usage", USAGES)
def test_what_windbg_knows_is_believed(usage: str) -> None:
    """Each word of !address and !maddress has its type; a new one leaves it to what Windows says."""
    assert _tell(load_table([_region(BASE, Usage=usage)]), "rule", "type") == [USAGES[usage]]


def test_a_guard_page_within_a_stack_of_windbg_is_told() -> None:
    """The same usage covers all of a stack; the protection tells its guard."""
    [row] = load_table([_region(BASE, protect=GUARD, Usage="Stack")]).regions.to_pylist()
    assert (row["type"], row["subtype"], row["rule"]) == ("Stack", "guard", "windbg-stack-guard")


def test_a_stack_of_windbg_is_one_allocation() -> None:
    """!address prints no AllocationBase, and the same thread behind each part of a stack."""
    rows = [{**row, "Usage": "Stack", "Details": "[~0; 1b34.2a10]", "AllocationBase": None} for row in STACK]
    rows.append(_region(0x20000, Usage="Stack", Details="[~1; 1b34.2a14]", AllocationBase=None))
    assert [row["size"] for row in list_allocations(load_table(rows)).to_pylist()] == [0x10000, PAGE]


def test_views_that_windbg_does_not_know_are_told_by_windows() -> None:
    """<unknown> beside MEM_MAPPED is a section, whatever it is for."""
    assert _tell(load_table([_region(BASE, kind=MAPPED, Usage="<unknown>")]), "rule") == [("mbi-section",)]


def test_the_words_of_windbg_are_details_where_nothing_better_is_known() -> None:
    """A path goes before what stands in brackets behind the usage, and that before the usage."""
    rows = [
        _region(BASE, kind=IMAGE, Usage="Image", Details="[tiny]", path="C:\\tiny.exe"),
        _region(BASE + 0x10000, Usage="Heap", Details="ID: 0; Type: Segment"),
        _region(BASE + 0x20000, Usage="GCHeap"),
        _region(BASE + 0x30000, Usage="<unknown>"),
    ]
    assert _tell(load_table(rows), "details") == [
        ("C:\\tiny.exe",),
        ("ID: 0; Type: Segment",),
        ("GCHeap",),
        (None,),
    ]


def test_a_linux_dump_in_windbg_owns_no_whole_libraries() -> None:
    """There every private mapping is MEM_PRIVATE; of an image only what is written to is private."""
    parts = [
        _region(
            BASE + n * PAGE,
            protect=protect,
            Usage="Image",
            path="/usr/share/dotnet/dotnet",
            AllocationBase=None,
        )
        for n, protect in enumerate((READ, RUN, WRITE))
    ]
    snapshot = load_table(parts)
    assert _tell(snapshot, "type", "private", "allocation") == [
        ("Image", 0, BASE),
        ("Image", 0, BASE),
        ("Image", PAGE, BASE),
    ]
    assert [row["path"] for row in snapshot.modules.to_pylist()] == ["/usr/share/dotnet/dotnet"]


def test_f47_addresses_near_the_top_stay_exact() -> None:
    """No address goes through a float, with nulls beside it or not."""
    rows = [_region(0x7FFF_FFFE_F000), _region((1 << 64) - 2 * PAGE, Protect=None, AllocationBase=None)]
    frame = load_table(rows).regions.to_pandas()
    assert frame["address"].tolist() == [0x7FFF_FFFE_F000, (1 << 64) - 2 * PAGE]
    assert frame["allocation"].tolist() == frame["address"].tolist()
    assert str(frame["AllocationBase"].dtype) == "UInt64"


def test_an_allocation_base_above_its_region_is_none() -> None:
    """Hostile input cannot make an allocation begin after its parts."""
    snapshot = load_table([_region(BASE, AllocationBase=BASE + PAGE)])
    assert [row["address"] for row in list_allocations(snapshot).to_pylist()] == [BASE]


def test_f23_a_32_bit_process_reaches_to_the_top_of_its_space() -> None:
    """The last region ends at 2^32 and is like any other."""
    [row] = load_table([_region(0xFFFF_0000, 0x10000)], bits=32).regions.to_pylist()
    assert (row["end"], row["committed"]) == (1 << 32, 0x10000)


def test_every_rule_has_its_example() -> None:
    """No rule for Windows is without a region here that it claims."""
    claimed = {rule for rule, _ in USAGES.values()} | {
        *("mbi-teb", "mbi-stack-guard", "mbi-stack", "mbi-image", "mbi-mapped", "mbi-section"),
        *("mbi-private", "mbi-unknown", "windbg-stack-guard", "mbi-no-file"),
    }
    assert {rule.id for rule in RULES} == claimed | _ELSEWHERE


_ELSEWHERE = {
    *("mbi-stack-64", "mbi-peb", "mbi-heap-main", "mbi-heap", "mbi-heap-shared"),
    *("mbi-page-file", "mbi-reserved"),
}
"""Rules that test_windows_owners.py has examples of."""


def test_a_list_without_regions_is_an_empty_table() -> None:
    """Modules and threads of a dump without a memory map have nothing to stand on."""
    snapshot = load_table([], tables={"modules": [MODULE], "threads": [{"tid": 1, "sp": 0x1000}]})
    assert snapshot.regions.num_rows == snapshot.modules.num_rows == 0
    assert [row["stack"] for row in snapshot.threads.to_pylist()] == [None]
