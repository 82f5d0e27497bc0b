"""What memory is, where it takes more than one region, thread or module to tell."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations, summarize
from support.corpus import read_corpus_file
from support.loaded import find_row, load_blocks, load_map, load_text

LIBRARY = (
    "7f1000000000-7f1000001000 r--p 0 2a /lib/a.so",
    "7f1000001000-7f1000005000 r-xp 1000 2a /lib/a.so",
    "7f1000005000-7f1000006000 r--p 5000 2a /lib/a.so",
    "7f1000006000-7f1000007000 rw-p 6000 2a /lib/a.so",
)
MODULE = {
    "path": "/lib/a.so",
    "inode": 0x2A,
    "base": 0x7F1000000000,
    "low": 0x7F1000000000,
    "high": 0x7F1000007000,
    "elf_class": 64,
    "build_id": "c0ffee",
}
DATA_SEGMENT = {"module": 0, "offset": 0x6000, "vaddr": 0x6000, "filesz": 0x800, "memsz": 0x3000, "flags": 6}


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


def _load_library(*lines: str, memsz: int = 0x3000, **more: Any) -> LoadedSnapshot:
    tables = {"modules": [MODULE], "segments": [{**DATA_SEGMENT, "memsz": memsz}]}
    return load_map(*LIBRARY, *lines, tables=tables, **more)


def test_all_parts_of_a_loaded_file_are_one_image() -> None:
    """A file of which some part is executable is a program, with its read-only and its data parts."""
    snapshot = _load_library()
    assert _tell(snapshot, "type", "rule", "allocation") == [("Image", "image-elf", 0x7F1000000000)] * 4
    [allocation] = list_allocations(snapshot).to_pylist()
    assert (allocation["size"], allocation["blocks"]) == (0x7000, 4)
    assert allocation["protection"] == "r--p, r-xp, rw-p"


def test_a_file_that_was_not_read_is_an_image_of_low_confidence() -> None:
    """From text alone, only the executable mapping of a named file speaks for an image."""
    assert _tell(load_map(*LIBRARY), "type", "rule", "confidence") == [("Image", "image-name", "low")] * 4


def test_a_library_that_is_only_read_is_a_mapped_file() -> None:
    """The same file mapped as data is no image, as in VMMap, even beside its own load."""
    snapshot = _load_library("7f2000000000-7f2000007000 r--p 0 2a /lib/a.so")
    assert _tell(snapshot, "type", "rule")[-1] == ("Mapped File", "file")
    assert find_row(snapshot, 0x7F2000000000)["details"] == "/lib/a.so (mapped 2 times)"


@pytest.mark.parametrize("path", ["/tmp/jit-4711.dump", "/dev/uio0"])
def test_what_is_executable_and_no_program(path: str) -> None:
    """perf makes a JIT map its dump executable as a mere marker; a device is no program either."""
    assert (
        find_row(load_map(f"7f0000000000-7f0000001000 r-xp 0 2a {path}"), 0x7F0000000000)["type"]
        == "Mapped File"
    )


def test_f28_views_of_one_file_are_counted_and_named() -> None:
    """Three views of 12 MiB are 36 MiB of addresses, and one file: the details say how often it is mapped."""
    lines = [
        f"{start:x}-{start + 0xC00000:x} r--s 0 2a /srv/big.dll" for start in (1 << 32, 2 << 32, 3 << 32)
    ]
    snapshot = load_map(*lines, "500000000-500001000 r--s 0 2b /srv/other")
    files = {row["type"]: row for row in summarize(snapshot).to_pylist()}["Mapped File"]
    assert (files["size"], files["allocations"]) == (3 * 0xC00000 + 0x1000, 4)
    details = [row["details"] for row in snapshot.regions.to_pylist()]
    assert details == ["/srv/big.dll (mapped 3 times)"] * 3 + ["/srv/other"]


def test_parts_of_one_view_are_one_allocation() -> None:
    """A mapping that mprotect has cut goes on in memory and file; another offset begins another view."""
    snapshot = load_map(
        "10000000-10001000 r--s 0 2a /f",
        "10001000-10003000 rw-s 1000 2a /f",
        "10003000-10004000 r--s 9000 2a /f",
    )
    assert _tell(snapshot, "allocation") == [(0x10000000,), (0x10000000,), (0x10003000,)]


def test_two_loads_of_one_library_are_two_images() -> None:
    """dlmopen loads a library once more, elsewhere."""
    again = [line.replace("7f1000", "7f2000") for line in LIBRARY]
    snapshot = load_map(*LIBRARY, *again)
    assert {row[0] for row in _tell(snapshot, "allocation")} == {0x7F1000000000, 0x7F2000000000}
    assert [row["loads"] for row in snapshot.modules.to_pylist()] == [2, 2]


def test_offsets_that_fall_within_one_load_do_not_split_it() -> None:
    """Small segments share pages of the file: libmm.so was seen with offsets 0, 1000, 0, 1000."""
    snapshot = load_text(read_corpus_file("smaps/arm-tabs.smaps"))
    loads = [row for row in snapshot.modules.to_pylist() if row["path"].startswith("/mnt/nfs/mm/")]
    assert [(row["path"], row["blocks"], row["loads"]) for row in loads] == [
        ("/mnt/nfs/mm/mm", 3, 1),
        ("/mnt/nfs/mm/libmm.so", 4, 1),
    ]


def test_bss_ends_where_the_file_says() -> None:
    """What follows the data of a library belongs to it as far as p_memsz reaches."""
    snapshot = _load_library("7f1000007000-7f1000009000 rw-p")
    row = find_row(snapshot, 0x7F1000007000)
    assert (row["type"], row["subtype"], row["details"]) == ("Image", ".bss", "/lib/a.so .bss")
    assert row["allocation"] == 0x7F1000000000
    assert snapshot.modules.to_pylist()[0]["bss"] == 0x2000


def test_memory_behind_bss_belongs_to_whoever_owns_most_of_it() -> None:
    """The kernel merges .bss with what comes next; details name the smaller part, either way."""
    mostly_bss = find_row(_load_library("7f1000007000-7f100000a000 rw-p"), 0x7F1000007000)
    assert (mostly_bss["type"], mostly_bss["details"]) == (
        "Image",
        "/lib/a.so .bss, and 4 KiB of something else",
    )
    mostly_not = find_row(_load_library("7f1000007000-7f1000107000 rw-p"), 0x7F1000007000)
    assert (mostly_not["type"], mostly_not["details"]) == (
        "Private Data",
        "8 KiB of it are .bss of /lib/a.so",
    )


def test_without_segments_nothing_is_bss() -> None:
    """From text alone, memory behind a library is just memory."""
    assert (
        find_row(load_map(*LIBRARY, "7f1000007000-7f1000009000 rw-p"), 0x7F1000007000)["type"]
        == "Private Data"
    )


def test_bss_that_a_kernel_calls_heap_is_bss() -> None:
    """Before 6.5 the .bss of a program is called [heap] where the two touch; p_memsz knows better."""
    row = find_row(_load_library("7f1000007000-7f1000009000 rw-p 0 0 [heap]"), 0x7F1000007000)
    assert (row["type"], row["rule"]) == ("Image", "image-bss")
    row = find_row(_load_library("7f1000009000-7f1000029000 rw-p 0 0 [heap]"), 0x7F1000009000)
    assert (row["type"], row["rule"]) == ("Heap", "heap-main")


def test_text_that_was_moved_to_huge_pages_is_still_the_program() -> None:
    """00400000-05600000 r-xp /anon_hugepage stands where the text segment of tidb-server was."""
    module = {"path": "/bin/db", "inode": 0x2A, "base": 0, "low": 0x600000, "high": 0x700000, "elf_class": 64}
    text = {"module": 0, "offset": 0, "vaddr": 0x400000, "filesz": 0x200000, "memsz": 0x200000, "flags": 5}
    snapshot = load_map(
        "400000-600000 r-xp 0 1f /anon_hugepage (deleted)",
        "600000-601000 r-xp 200000 2a /bin/db",
        "601000-602000 rw-p 201000 2a /bin/db",
        tables={"modules": [module], "segments": [text]},
    )
    assert _tell(snapshot, "type", "subtype", "details")[0] == ("Image", "moved text", "/bin/db text, moved")
    assert len(list_allocations(snapshot)) == 1


def test_holes_within_a_library_belong_to_it() -> None:
    """uClibc keeps the space between two segments with a no-access mapping that has no file."""
    snapshot = load_text(read_corpus_file("smaps/arm-4.1.25/606.smaps"))
    row = find_row(snapshot, 0xB6ED6000)
    assert (row["type"], row["subtype"], row["allocation"]) == ("Image", "gap", 0xB6E40000)


@pytest.mark.parametrize(
    ("lines", "bits"),
    [
        (("7f2864000000-7f2864021000 rw-p", "7f2864021000-7f2868000000 ---p"), 64),
        (("b6400000-b6421000 rw-p", "b6421000-b6500000 ---p"), 32),
    ],
)
def test_arenas_are_aligned_and_end_without_access(lines: tuple[str, ...], bits: int) -> None:
    """glibc reserves 64 MiB for an arena, 1 MiB in a 32-bit process, and opens it from its start."""
    snapshot = load_map(*lines, elf={"class": bits})
    assert _tell(snapshot, "type", "subtype", "confidence") == [("Heap", "glibc arena", "low")] * 2
    assert len(list_allocations(snapshot)) == 1
    assert [row["name"] for row in snapshot.heaps.to_pylist()] == ["glibc arena"]


@pytest.mark.parametrize(
    "lines",
    [
        ("7f2864000000-7f2864021000 rw-p", "7f2864030000-7f2868000000 ---p"),  # they do not touch
        ("7f2864001000-7f2864021000 rw-p", "7f2864021000-7f2868000000 ---p"),  # not aligned
        ("7f2864000000-7f2864021000 rw-p", "7f2864021000-7f2867000000 ---p"),  # the tail ends too early
        ("7f2864000000-7f2864021000 r--p", "7f2864021000-7f2868000000 ---p"),  # cannot be written
        ("7f2864000000-7f2864021000 rw-p", "7f2864021000-7f286c000000 ---p"),  # the tail is too long
    ],
)
def test_what_only_resembles_an_arena_is_none(lines: tuple[str, ...]) -> None:
    """Of 600 plain mmaps 13 were seen aligned by chance: alignment alone says nothing."""
    assert "Heap" not in {row[0] for row in _tell(load_map(*lines), "type")}


def test_an_arena_in_pieces_is_one_arena() -> None:
    """mprotect and mlock cut regions; the pieces of an arena stay together."""
    snapshot = load_map(
        "7f2864000000-7f2864021000 rw-p",
        "7f2864021000-7f2864030000 rwxp",
        "7f2864030000-7f2864040000 rw-p",
        "7f2864040000-7f2868000000 ---p",
    )
    assert {row[0] for row in _tell(snapshot, "allocation")} == {0x7F2864000000}
    assert {row[0] for row in _tell(snapshot, "type")} == {"Heap"}


def test_a_go_heap_is_known_by_its_address() -> None:
    """Go has its heap at c000000000, and threads that run on stacks in it."""
    threads = [{"tid": 1, "name": "m0", "sp": 0xC000050000}]
    snapshot = load_map(
        "c000000000-c000400000 rw-p", "c000400000-c004000000 ---p", "7f0ab95ca000-7f0abbb7b000 rw-p",
        tables={"threads": threads},
    )  # fmt: skip
    assert _tell(snapshot, "type", "allocation") == [
        ("Managed Heap", 0xC000000000),
        ("Managed Heap", 0xC000000000),
        ("Private Data", 0x7F0AB95CA000),
    ]
    assert snapshot.threads.to_pylist()[0]["stack"] is None


STACKS = (
    "7f0000000000-7f0000001000 ---p",
    "7f0000001000-7f0000801000 rw-p",
    "7fff00000000-7fff00021000 rw-p 0 0 [stack]",
)


def test_a_stack_pointer_finds_a_stack_with_its_guard() -> None:
    """The thread's id is in the details, its guard in the same allocation."""
    threads = [
        {"tid": 10, "name": "main", "sp": 0x7FFF00020000},
        {"tid": 11, "name": "worker", "sp": 0x7F0000800000, "state": "S", "starttime": 7},
    ]
    snapshot = load_map(*STACKS, tables={"threads": threads})
    assert _tell(snapshot, "type", "subtype", "details", "confidence") == [
        ("Stack", "guard", "tid 11 worker", "medium"),
        ("Stack", "thread stack", "tid 11 worker", "high"),
        ("Stack", "main stack", "[stack], tid 10 main", "high"),
    ]
    stacks = [(row["type"], row["subtype"], row["size"]) for row in list_allocations(snapshot).to_pylist()]
    assert stacks == [("Stack", "thread stack", 0x801000), ("Stack", "main stack", 0x21000)]
    rows = snapshot.threads.to_pylist()
    assert [(row["tid"], row["stack"], row["size"]) for row in rows] == [
        (10, 0x7FFF00000000, 0x21000),
        (11, 0x7F0000000000, 0x801000),
    ]
    assert (rows[1]["state"], rows[1]["starttime"]) == ("S", 7)


def test_a_stack_without_a_guard_is_less_sure() -> None:
    """Memory that a stack pointer points into may also be a pool that a program cuts stacks from."""
    threads = [{"tid": 11, "name": "worker", "sp": 0x7F0000800000}]
    snapshot = load_map(STACKS[1], tables={"threads": threads})
    assert _tell(snapshot, "type", "rule", "confidence") == [("Stack", "stack-bare", "medium")]


def test_many_threads_of_one_stack_are_not_all_listed() -> None:
    """Details stay short, whatever a program does."""
    threads = [{"tid": tid, "sp": 0x7F0000700000 + tid} for tid in range(1, 10)]
    row = find_row(load_map(*STACKS, tables={"threads": threads}), 0x7F0000001000)
    assert row["details"] == "tid 1, tid 2, tid 3 and 6 more"


def test_f25_stacks_without_names_are_told_by_their_shape() -> None:
    """Linux before 3.4 and after 4.4 names no thread stacks: a guard below and a stack's size tell."""
    snapshot = load_map(*STACKS, status={"Threads": 2})
    assert _tell(snapshot, "type", "rule", "confidence")[:2] == [
        ("Stack", "guard", "medium"),
        ("Stack", "stack-pattern", "low"),
    ]


def test_f25_named_stacks_are_the_same_stacks() -> None:
    """Linux 3.4 to 4.4 calls them [stack:TID]: a comparison across kernels shows no change of type."""
    snapshot = load_text(read_corpus_file("maps/arm-stack-tid.maps"))
    assert set(_tell(snapshot, "type", "subtype")) == {("Stack", "thread stack")}


def test_a_process_with_one_thread_has_no_stacks_by_shape() -> None:
    """Where all threads have their stacks, memory that looks like one is just memory."""
    snapshot = load_map(*STACKS, status={"Threads": 1})
    assert _tell(snapshot, "type", "subtype")[:2] == [("Private Data", "reservation"), ("Private Data", None)]


def test_the_limit_for_stacks_is_a_stack_size() -> None:
    """`ulimit -s` of 10 MiB makes stacks of 10 MiB."""
    lines = ("7f0000000000-7f0000001000 ---p", "7f0000001000-7f0000a01000 rw-p")
    assert _tell(load_map(*lines), "type")[1] == ("Private Data",)
    limits = {"Max stack size": [0xA00000, None, "bytes"]}
    assert _tell(load_map(*lines, limits=limits), "type")[1] == ("Stack",)


def test_guards_inside_a_stack_show_as_a_flag() -> None:
    """glibc 2.42 installs guards within the stack (flag gu): there is no region of their own."""
    snapshot = load_blocks(("7f0000001000-7f0000801000 rw-p", {}, "rd wr mr mw me ac gu"))
    assert _tell(snapshot, "type", "rule") == [("Stack", "stack-pattern")]


def test_a_large_area_without_access_is_a_reservation() -> None:
    """Above 1 MiB it is no guard, even below a stack."""
    threads = [{"tid": 11, "name": "worker", "sp": 0x7F0000800000}]
    snapshot = load_map("7effffe00000-7f0000001000 ---p", *STACKS[1:], tables={"threads": threads})
    assert _tell(snapshot, "type", "subtype")[0] == ("Private Data", "reservation")


def test_a_guard_inside_a_heap_is_part_of_the_heap() -> None:
    """scudo keeps no-access pages between its blocks."""
    heap = "rw-p 0 0 [anon:scudo:primary]"
    snapshot = load_map(f"10000000-10010000 {heap}", "10010000-10012000 ---p", f"10012000-10020000 {heap}")
    assert _tell(snapshot, "type", "subtype")[1] == ("Heap", "guard")


def test_f33_gate_areas_are_shown_and_not_counted() -> None:
    """[vsyscall] and [vectors] are rows of subtype gate: in no size, no block count, no mapping count."""
    snapshot = load_map("10000-11000 rw-p", "ffffffffff600000-ffffffffff601000 --xp 0 0 [vsyscall]")
    assert _tell(snapshot, "subtype") == [(None,), ("gate",)]
    total, image = summarize(snapshot).to_pylist()[:2]
    assert (total["size"], total["blocks"], image["size"]) == (0x1000, 1, 0)
    arm = load_map("10000-11000 rw-p", "ffff0000-ffff1000 r-xp 0 0 [vectors]")
    assert _tell(arm, "subtype") == [(None,), ("gate",)]


def test_vectors_that_are_a_real_mapping_count() -> None:
    """arm64 maps the [vectors] of a 32-bit program like any other page; the flag de tells."""
    snapshot = load_blocks(("ffff0000-ffff1000 r-xp 0 0 [vectors]", {}, "rd ex mr me de"))
    assert _tell(snapshot, "subtype") == [("named",)]


def test_deleted_files_keep_their_type() -> None:
    """A library that was updated under a running program is still an image, and the details say so."""
    deleted = [f"{line} (deleted)" for line in LIBRARY]
    assert set(_tell(load_map(*deleted), "type", "details")) == {("Image", "/lib/a.so (deleted)")}


def test_paths_that_are_no_text_are_shown_and_kept() -> None:
    """Odd bytes are shown as \\xNN, and stand exactly in a column of their own."""
    path = b"/srv/bad-\xff\xfe.bin"
    snapshot = load_text(b"10000-11000 r--s 00000000 fe:00 42 " + path + b"\n")
    [row] = snapshot.regions.to_pylist()
    assert (row["path"], row["path_bytes"]) == ("/srv/bad-\\xff\\xfe.bin", path)
