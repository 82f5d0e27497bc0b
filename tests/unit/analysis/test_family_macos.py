"""Regions of macOS: types and sharing modes of vmmap(1), sizes that it rounds, images in the shared cache."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations
from mmpscope.analysis.rules_macos import RULES
from support.loaded import find_row, load_table

K = 1024
LIBC = "/usr/lib/system/libsystem_c.dylib"
Row = dict[str, Any]


def _region(start: int, size: int, kind: str = "VM_ALLOCATE", mode: str = "PRV", **more: Any) -> Row:
    row = {"start": start, "size": size, "RegionType": kind, "SHRMOD": mode, "PRT": "rw-", "VSIZE": size}
    return row | {"RSDNT": 0, "DIRTY": 0, "SWAP": 0, "path": None} | more


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


@pytest.mark.parametrize(
    ("mode", "private"),
    [("PRV", 32), ("NUL", 32), ("COW", 8), ("SHM", 0), ("ALI", 0), ("S/A", 0), ("ZER", None), (None, None)],
)
def test_sharing_modes_tell_what_is_private(mode: str, private: int | None) -> None:
    """Private pages are all, none, or the dirty ones; an unknown mode leaves that unknown."""
    region = _region(0x1000, 64 * K, mode=mode, RSDNT=32 * K, DIRTY=8 * K, SWAP=16 * K)
    [row] = load_table([region]).regions.to_pylist()
    known = None if private is None else private * K
    assert (row["total_ws"], row["private_ws"], row["swap"]) == (32 * K, known, 16 * K)
    assert row["shareable_ws"] == (None if known is None else 32 * K - known)
    assert row["committed"] is row["private"] is row["shared_ws"] is None


def test_what_older_reports_do_not_print_is_unknown() -> None:
    """Without -resident there are sizes alone; with it, dirty pages of copy-on-write regions are unknown."""
    bare: Row = {"RSDNT": None, "DIRTY": None, "SWAP": None}
    rows = [
        _region(0x1000, K, **bare),
        _region(0x2000, K, mode="COW", **bare | {"RSDNT": K}),
        _region(0x3000, K, mode="SHM", **bare),
    ]
    snapshot = load_table(rows)
    assert _tell(snapshot, "total_ws", "private_ws", "swap") == [
        (None, None, None),
        (K, None, None),
        (None, None, None),
    ]
    judged = {row["item"]: (row["state"], row["reason"]) for row in snapshot.capability.to_pylist()}
    assert judged["regions.committed"][0] == "not applicable"
    assert judged["regions.private_ws"] == ("unavailable", "3 of 3 regions lack RSDNT and DIRTY")


def test_rounded_sizes_are_partial_and_no_more_than_the_region() -> None:
    """10,880 resident bytes are printed as 11K: the region counts whole, and capability tells of rounding."""
    snapshot = load_table([_region(0x1E1BE1580, 10880, mode="NUL", RSDNT=11 * K)])
    assert _tell(snapshot, "total_ws", "fault") == [(10880, None)]
    judged = {row["item"]: row["state"] for row in snapshot.capability.to_pylist()}
    assert judged["regions.total_ws"] == judged["regions.swap"] == "partial"


def test_f35_an_impossible_size_is_left_out() -> None:
    """Rounding adds a sixteenth at most; far more is no size."""
    [row] = load_table([_region(0x1000, 64 * K, RSDNT=(1 << 64) - K)]).regions.to_pylist()
    assert (row["total_ws"], row["fault"]) == (None, "RSDNT is impossible for its size and left out")


TYPES = {
    "STACK GUARD": ("mac-stack-guard", "Stack"),
    "Stack Guard": ("mac-stack-guard", "Stack"),
    "Stack": ("mac-stack", "Stack"),
    "Stack (reserved)": ("mac-stack", "Stack"),
    "MALLOC guard page": ("mac-malloc-guard", "Heap"),
    "MALLOC_NANO": ("mac-malloc", "Heap"),
    "MALLOC_LARGE (reusable)": ("mac-malloc", "Heap"),
    "MALLOC freed, no zone": ("mac-malloc", "Heap"),
    "WebKit Malloc": ("mac-malloc-webkit", "Heap"),
    "JS JIT generated code": ("mac-js", "Managed Heap"),
    "JS VM Gigacage (reserved)": ("mac-js", "Managed Heap"),
    "Java": ("mac-java", "Managed Heap"),
    "__PAGEZERO": ("mac-page-zero", "Private Data"),
    "__TEXT": ("mac-image", "Image"),
    "__AUTH_CONST": ("mac-image", "Image"),
    "__TEXT (graphics)": ("mac-image", "Image"),
    "unused __DATA": ("mac-image", "Image"),
    "unused but dirty shlib __DATA": ("mac-image", "Image"),
    "dyld private memory": ("mac-dyld", "Private Data"),
    "mapped file": ("mac-mapped", "Mapped File"),
    "shared memory": ("mac-shared", "Shareable"),
    "IOKit": ("mac-iokit", "Shareable"),
    "IOAccelerator (graphics)": ("mac-iokit", "Shareable"),
    "page table in kernel": ("mac-page-table", "Page Table"),
    "VM_ALLOCATE (reserved)": ("mac-allocate", "Private Data"),
    "GPU Carveout (reserved)": ("mac-reserved", "Private Data"),
    "Memory Tag 255": ("mac-other", "Private Data"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_the_types_of_vmmap_are_understood(kind: str) -> None:
    """Zones, segments, tags: each type of a report is one of ours; a new one is Private Data, and says so."""
    assert _tell(load_table([_region(0x1000, K, kind)]), "rule", "type") == [TYPES[kind]]


def test_shared_memory_without_a_type_of_its_own_is_told_by_its_mode() -> None:
    """VM_ALLOCATE that is shared is Shareable; a zone of malloc is a heap, shared after fork or not."""
    rows = [_region(0x1000, K, mode="SHM"), _region(0x2000, K, "MALLOC_NANO", "SHM")]
    assert _tell(load_table(rows), "rule") == [("mac-share-mode",), ("mac-malloc",)]


def test_every_rule_has_its_example() -> None:
    """No rule for macOS is without a region here that it claims."""
    assert {rule.id for rule in RULES} == {rule for rule, _ in TYPES.values()} | {"mac-share-mode"}


def test_reservations_are_told_by_their_type() -> None:
    """What vmmap calls reserved is; all else may be touched."""
    rows = [_region(0x1000, K, "VM_ALLOCATE (reserved)", "NUL"), _region(0x2000, K, PRT="---")]
    assert _tell(load_table(rows), "state", "protection") == [("reserved", "rw-"), ("committed", "---")]


def test_a_library_is_all_its_segments_however_far_apart() -> None:
    """The shared cache keeps code and data of a library gigabytes apart; the path joins them."""
    snapshot = load_table(
        [
            _region(0x180000000, 64 * K, "__TEXT", "COW", path=LIBC, PRT="r-x", RSDNT=32 * K),
            _region(0x180010000, 64 * K, "__TEXT", "COW", path="/usr/lib/libz.1.dylib", PRT="r-x"),
            _region(0x1E1BDD3A0, 3360, "__AUTH", "COW", path=LIBC, RSDNT=3360),
            _region(0x1E1BE07F0, 3472, "unused __DATA", "COW", path="on dirty page  unused /System/x"),
        ]
    )
    assert _tell(snapshot, "allocation", "details") == [
        (0x180000000, LIBC),
        (0x180010000, "/usr/lib/libz.1.dylib"),
        (0x180000000, LIBC),
        (0x1E1BE07F0, "on dirty page  unused /System/x"),
    ]
    modules = {row["path"]: row for row in snapshot.modules.to_pylist()}
    assert list(modules) == [LIBC, "/usr/lib/libz.1.dylib"]
    assert (modules[LIBC]["size"], modules[LIBC]["total_ws"]) == (64 * K + 3360, 32 * K + 3360)


def test_f28_a_file_that_is_loaded_twice_is_two_modules() -> None:
    """Each __TEXT begins a load; one that goes on where another ends, with other rights, does not."""
    rows = [
        _region(0x10000, 0x1000, "__TEXT", "COW", path="/x"),
        _region(0x11000, 0x1000, "__TEXT", "COW", path="/x"),
        _region(0x12000, 0x1000, "__DATA", "COW", path="/x"),
        _region(0x90000, 0x2000, "__TEXT", "COW", path="/x"),
        _region(0x92000, 0x1000, "__DATA", "COW", path="/x"),
    ]
    snapshot = load_table(rows)
    assert [row["size"] for row in list_allocations(snapshot).to_pylist()] == [0x3000, 0x3000]
    assert [row["loads"] for row in snapshot.modules.to_pylist()] == [2, 2]
    assert find_row(snapshot, 0x10000)["details"] == "/x (mapped 2 times)"


def test_f25_a_stack_and_its_guard_are_one() -> None:
    """The guard lies directly below; one that is alone, as in an excerpt, stays alone."""
    rows = [
        _region(0x10000, 0x4000, "STACK GUARD", "NUL", PRT="---", path="stack guard for thread 1"),
        _region(0x14000, 0x8000, "Stack", path="thread 1"),
        _region(0x90000, 0x4000, "STACK GUARD", "NUL", PRT="---"),
    ]
    assert _tell(load_table(rows), "subtype", "allocation") == [
        ("guard", 0x10000),
        ("thread stack", 0x10000),
        ("guard", 0x90000),
    ]


def test_f24_pages_of_16_kib_may_exceed_a_small_region() -> None:
    """A region inside a page counts what vmmap says of it, up to its size."""
    snapshot = load_table([_region(0x1000, 64, mode="PRV", RSDNT=16 * K)], page_size=16 * K)
    assert _tell(snapshot, "total_ws", "fault") == [(64, None)]


def test_f47_addresses_stay_exact() -> None:
    """Unaligned addresses of sub-page regions are whole numbers in a data frame."""
    frame = load_table([_region(0x7FFF_1234_5679, 7), _region(0x7FFF_5234_5679, 7)]).regions.to_pandas()
    assert frame["end"].tolist() == [0x7FFF_1234_5680, 0x7FFF_5234_5680]
