"""Linux maps with less than smaps: cores that do not tell shared from private, pmap with names cut short."""

from __future__ import annotations

from typing import Any

import pytest
from mmpscope.analysis import LoadedSnapshot, list_allocations
from mmpscope.formats.model import Capability
from support.loaded import load_table

PAGE = 0x1000
LOW = 0x7F10_0000_0000
Row = dict[str, Any]


def _region(start: int, size: int, perms: str, path: str | None = None, **more: Any) -> Row:
    return {"start": start, "size": size, "perms": perms, "path": path} | more


def _tell(snapshot: LoadedSnapshot, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in snapshot.regions.to_pylist()]


CORE = [
    _region(0x400000, PAGE, "r--?", "/bin/app", offset=0),
    _region(0x401000, 4 * PAGE, "r-x?", "/bin/app", offset=PAGE),
    _region(0x405000, PAGE, "rw-?", "/bin/app", offset=5 * PAGE),
    _region(0x1000000, 4 * PAGE, "rw-?", "[heap]", offset=None),
    _region(LOW, PAGE, "---?"),
    _region(LOW + PAGE, 8 * PAGE, "rw-?"),
    _region(LOW + 9 * PAGE, PAGE, "rw-?"),
]


def test_a_core_claims_nothing_about_sharing() -> None:
    """Committed is the size of what is accessible; private and all that counts pages are unknown."""
    said = [Capability("regions.perms", "partial", None, "a core does not tell private from shared")]
    snapshot = load_table(CORE, capability=said)
    assert _tell(snapshot, "committed", "private") == [
        *[(row["size"] if row["perms"] != "---?" else None, None) for row in CORE]
    ]
    for name in ("total_ws", "private_ws", "shareable_ws", "shared_ws", "cow_shared", "commit_charge"):
        assert _tell(snapshot, name) == [(None,)] * len(CORE), name
    reasons = {row["item"]: row["reason"] for row in snapshot.capability.to_pylist()}
    assert reasons["regions.private"].endswith(": a core does not tell private from shared")


def test_a_core_is_classified_by_names_files_and_shapes() -> None:
    """An executable part makes an image of its file, and a stack pointer a stack, guard included."""
    snapshot = load_table(CORE, tables={"threads": [{"tid": 7, "sp": LOW + 2 * PAGE}]})
    assert _tell(snapshot, "type", "rule", "allocation") == [
        *[("Image", "image-name", 0x400000)] * 3,
        ("Heap", "heap-main", 0x1000000),
        ("Stack", "guard", LOW),
        ("Stack", "stack-pointer", LOW),
        ("Private Data", "private", LOW + 9 * PAGE),
    ]
    assert _tell(snapshot, "state")[4] == ("reserved",)


def test_a_core_whose_modules_were_read_has_images_of_high_confidence() -> None:
    """The core holds ELF headers, or build ids, of what was loaded."""
    module = {"path": "/bin/app", "low": 0x400000, "high": 0x406000, "build_id": "c0ffee", "inode": None}
    snapshot = load_table(CORE, tables={"modules": [module]})
    assert _tell(snapshot, "rule")[:3] == [("image-elf",)] * 3
    assert [(row["path"], row["build_id"]) for row in snapshot.modules.to_pylist()] == [
        ("/bin/app", "c0ffee")
    ]


def test_a_module_that_ends_too_early_has_all_its_parts() -> None:
    """A dump may list the first mapping of a file alone: the data of the program at 619000 is its own."""
    parts = [
        _region(0x400000, 0x1A000, "r-xp", "/bin/app", offset=0, inode=42),
        _region(0x619000, PAGE, "r--p", "/bin/app", offset=0x19000, inode=42),
        _region(0x61A000, PAGE, "rw-p", "/bin/app", offset=0x1A000, inode=42),
    ]
    module = {"path": "/bin/app", "low": 0x400000, "high": 0x41A000, "build_id": "c0ffee"}
    snapshot = load_table(parts, tables={"modules": [module]})
    assert _tell(snapshot, "rule", "details") == [("image-elf", "/bin/app")] * 3
    assert [row["size"] for row in list_allocations(snapshot).to_pylist()] == [0x1C000]


def test_without_an_inode_column_a_name_that_is_not_bracketed_is_a_file() -> None:
    """pmap prints the last part of a path; [ anon ] is no name, and [heap] is the kernel's."""
    rows = [
        _region(0x10000, PAGE, "r-xp", "torture"),
        _region(0x20000, PAGE, "rw-p", "[heap]"),
        _region(0x30000, PAGE, "rw-p"),
        _region(0x40000, PAGE, "rw-s", "data.bin"),
    ]
    assert _tell(load_table(rows), "type", "rule") == [
        ("Image", "image-name"),
        ("Heap", "heap-main"),
        ("Private Data", "private"),
        ("Mapped File", "file"),
    ]


def test_a_device_is_a_file_whatever_its_name() -> None:
    """pmap -d has no inode, yet a device: there a file may be called [heap]."""
    row = _region(0x10000, PAGE, "rw-s", "[heap]", dev_major=0xFE, dev_minor=0)
    assert _tell(load_table([row]), "type", "rule") == [("Mapped File", "file")]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("memfd:jit cache (deleted)", "shm-memfd"),
        ("memfd:java_heap (deleted)", "heap-jvm"),
        ("zero (deleted)", "shm-anonymous"),
        ("SYSV0000abab (deleted)", "shm-sysv"),
        ("[ shmid=0x0 ]", "shm-sysv"),
    ],
)
def test_shared_objects_are_known_by_the_last_part_of_their_names(name: str, rule: str) -> None:
    """What pmap cuts off tells nothing that the rest does not."""
    assert _tell(load_table([_region(0x10000, PAGE, "rw-s", name)]), "rule") == [(rule,)]


def test_two_objects_of_one_name_are_not_called_one_file() -> None:
    """Without inode and path nobody knows whether `zero (deleted)` is mapped twice, or two things once."""
    rows = [_region(0x10000 * n, PAGE, "rw-s", "zero (deleted)") for n in (1, 2)]
    assert _tell(load_table(rows), "details") == [("zero (deleted)",)] * 2


def test_dirty_alone_tells_nothing_about_sharing() -> None:
    """pmap -x has RSS and Dirty: the working set is known, its parts are not."""
    row = _region(0x10000, 4 * PAGE, "rw-p", Rss=2 * PAGE, Dirty=PAGE)
    [found] = load_table([row]).regions.to_pylist()
    assert (found["total_ws"], found["committed"], found["Dirty"]) == (2 * PAGE, 4 * PAGE, PAGE)
    assert found["private_ws"] is found["shared_ws"] is found["pss"] is found["uss"] is None


def test_without_any_family_names_are_left() -> None:
    """A table that has none of the columns we know is listed, with every figure unknown."""
    [row] = load_table([{"start": 0x1000, "size": PAGE, "path": "[heap]"}]).regions.to_pylist()
    assert (row["type"], row["state"], row["committed"]) == ("Heap", None, None)


@pytest.mark.parametrize(
    ("perms", "text_is_there", "expected"),
    [("?", False, "Image"), ("p", False, "Mapped File"), ("?", True, "Mapped File")],
)
def test_a_library_whose_text_gcore_left_out_is_an_image(
    perms: str, text_is_there: bool, expected: str
) -> None:
    """gdb dumps r-- and rw- of a library; with all of a file in the map, or in other lists, it is data."""
    rows = [
        _region(LOW, PAGE, f"r--{perms}", "/lib/a.so", offset=0),
        _region(LOW + 5 * PAGE, PAGE, f"rw-{perms}", "/lib/a.so", offset=5 * PAGE),
    ]
    if text_is_there:
        rows.insert(1, _region(LOW + PAGE, PAGE, f"r--{perms}", "/lib/a.so", offset=PAGE))
    module = {"path": "/lib/a.so", "base": LOW, "low": LOW, "high": LOW + 6 * PAGE, "elf_class": 64}
    text = {"module": 0, "offset": PAGE, "vaddr": PAGE, "filesz": 4 * PAGE, "memsz": 4 * PAGE, "flags": 5}
    snapshot = load_table(rows, tables={"modules": [module], "segments": [text]})
    assert _tell(snapshot, "type") == [(expected,)] * len(rows)


def test_without_access_rights_nothing_is_said_of_whose_memory_it_is() -> None:
    """showmap -a prints none: neither what is committed nor what is private is known, and none of it is 0."""
    row = {
        "start": LOW,
        "size": 4 * PAGE,
        "perms": None,
        "path": "/dev/ashmem/dalvik-main space",
        "Rss": 2 * PAGE,
    }
    counters = {"Shared_Clean": 0, "Shared_Dirty": 0, "Private_Clean": 0, "Private_Dirty": 2 * PAGE}
    snapshot = load_table([row | counters])
    figures = _tell(snapshot, "total_ws", "uss", "committed", "private", "private_ws", "shareable_ws")
    assert figures == [(2 * PAGE, 2 * PAGE, None, None, None, None)]
