"""Where addresses go when a snapshot is rebased: zones, distances, and what must not move."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmpscope.formats.mmp.columns import Plain, decode_column, encode_table
from mmpscope.formats.model import Capture, Facts, Snapshot, Table
from mmpscope.formats.redaction import Redactor
from mmpscope.formats.redaction.rules import Kind
from mmpscope.formats.redaction.zones import (
    Zone,
    choose_linux_space,
    choose_windows_space,
    cut_linux,
    cut_windows,
)
from support.rebasing import find_leaks, plan
from support.redacting import KEY

GIB, TIB = 1 << 30, 1 << 40
X86_END = 0x7FFF_FFFF_F000
PROGRAM, HEAP, LIBRARY, STACK = 0x5595_1BD9_7000, 0x5595_2000_0000, 0x7FBD_8000_0000, 0x7FFC_9268_1000
LAYOUTS = [
    *(
        (cut_linux(1 << bits, 1 << bits, machine))
        for bits in (38, 39, 42, 47, 48)
        for machine in ("", "aarch64")
    ),
    cut_linux(1 << 47, X86_END, "x86_64"),
    *(cut_windows(1 << bits, (1 << bits) - (1 << 16)) for bits in (43, 47)),
]


def make_table(ranges: Iterable[tuple[int, int]], **columns: Plain) -> Table:
    """Make a table of ranges, the second number of each being its size."""
    starts, sizes = (list(values) for values in zip(*ranges, strict=True))
    both = {"start": Plain("uint", starts), "size": Plain("uint", sizes, len_of="start")}
    return encode_table({**both, **columns}, len(starts))


def make_snapshot(
    ranges: Iterable[tuple[int, int]] = (), process: Facts | None = None, **host: Any
) -> Snapshot:
    """Make a snapshot of x86-64 Linux with a program, its heap, a library and a stack, and further ranges."""
    usual = [(PROGRAM, 0x5000), (HEAP, 0x21000), (LIBRARY, 0x200000), (STACK, 0x21000), *ranges]
    table = make_table(usual, perms=Plain("text", [b"rw-p"] * len(usual), "utf-8"))
    facts = {"pid": 7, "range": {"start": 0x1000, "end": X86_END}, "stat": {"starttime": 9}}
    capture = Capture(host={"os": "linux", "machine": "x86_64", "id": "h", "boot_id": "b", **host})
    return Snapshot(capture, {**facts, **(process or {})}, {}, {"regions": table})


@pytest.mark.parametrize("zones", LAYOUTS, ids=range(len(LAYOUTS)))
def test_zones_move_without_meeting(zones: list[Zone]) -> None:
    """However far each one moves, all stay in order, apart, and between 0 and the end of the space."""
    for zone, after in pairwise(zones):
        assert zone.start < zone.end <= after.start
        if zone.unit:
            farthest = zone.most - zone.unit
            assert zone.unit % (2 << 20) == zone.least % zone.unit == zone.most % zone.unit == 0
            assert zone.least < zone.most
            assert not zone.least <= 0 <= farthest or zone.least == -32 * GIB
            # Of zones that touch, the second stays where the first does.
            reach = farthest if zone.end == after.start else max(farthest, 0)
            assert zone.end + reach <= after.start + min(after.least, 0)
    assert zones[0].start == zones[0].most == zones[-1].most == 0
    assert zones[-1].end == 1 << 64


@pytest.mark.parametrize(
    ("end", "machine", "space"),
    [
        (X86_END, "x86_64", 1 << 47),
        ((1 << 56) - 4096, "x86_64", 1 << 47),
        (1 << 39, "aarch64", 1 << 39),
        (1 << 52, "aarch64", 1 << 48),
        (1 << 48, "", 1 << 48),
        (X86_END, "", 1 << 47),
        (1 << 38, "riscv64", 1 << 38),
        (1 << 56, "riscv64", 1 << 47),
    ],
)
def test_the_space_of_linux_is_that_of_its_machine(end: int, machine: str, space: int) -> None:
    """A hint for an address above 47 bits does not change how a process is cut."""
    assert choose_linux_space(end, machine) == space


def test_the_space_of_windows_is_that_of_its_version() -> None:
    """8 TiB before Windows 8.1, 128 TiB since."""
    assert [choose_windows_space(end) for end in (0x7FF_FFFF_0000, 0x7FFF_FFFF_0000)] == [1 << 43, 1 << 47]


ADDRESSES = st.one_of(
    st.integers(0, (1 << 64) - 1),
    *(st.integers(place - (1 << 24), place + (1 << 24)) for place in (PROGRAM, HEAP, LIBRARY, STACK, TIB)),
)


@given(ADDRESSES, ADDRESSES)
def test_order_and_near_distances_stay(one: int, two: int) -> None:
    """Addresses of regions keep their order, and those of one zone the distance between them."""
    moved = plan(make_snapshot())
    zones = cut_linux(1 << 47, X86_END, "x86_64")
    inside = [next((z for z in zones if z.start <= each < z.end), None) for each in (one, two)]
    if None in inside:
        return
    new = [moved.move(each, Kind.ADDRESS) for each in (one, two)]
    assert None not in new
    if inside[0] == inside[1]:
        assert new[1] - new[0] == two - one  # type: ignore[operator]  # neither is None
    assert (new[0] < new[1]) == (one < two)  # type: ignore[operator]  # the same


def test_each_zone_of_a_process_moves_by_itself() -> None:
    """Program and heap together; mappings and stack, which ASLR places apart, each by another distance."""
    moved = plan(make_snapshot())
    program, heap, library, stack = (moved.find_distance(each) for each in (PROGRAM, HEAP, LIBRARY, STACK))
    assert program == heap
    assert program > 0 > stack > library
    assert (program % (2 << 20), library % (64 << 20), stack % (2 << 20)) == (0, 0, 0)
    assert [moved.find_distance(each) for each in (0x400000, 0xC0_0000_0000, 0xFFFF_FFFF_FF60_0000)] == [
        0
    ] * 3


def test_an_instance_moves_alike_in_all_its_snapshots() -> None:
    """Whatever regions come and go; another instance moves by other distances, and so does another key."""
    first = plan(make_snapshot())
    later = plan(make_snapshot([(LIBRARY - 40 * GIB, 30 * GIB), (TIB * 60, TIB), (0x400000, 0x1000)]))
    other = plan(make_snapshot(process={"pid": 8}))
    reboot = plan(make_snapshot(boot_id="c"))
    distances = [
        [moved.find_distance(each) for each in (PROGRAM, LIBRARY, STACK, 60 * TIB)]
        for moved in (first, later, other, reboot)
    ]
    assert distances[0] == distances[1]
    assert all(len(set(each)) == 3 for each in zip(*distances, strict=True))


def test_children_move_like_the_program_that_forked_them() -> None:
    """They share its layout: as many distances of one layout would tell where it is."""
    told = {"AT_PHDR": PROGRAM + 64, "AT_RANDOM": STACK + 99, "AT_BASE": LIBRARY}
    family = [plan(make_snapshot(process={"pid": pid, "auxv": told})) for pid in (7, 8)]
    after_exec = plan(make_snapshot(process={"auxv": {**told, "AT_RANDOM": STACK + 199}}))
    distances = [moved.find_distance(LIBRARY) for moved in (*family, after_exec)]
    assert distances[0] == distances[1] != distances[2]


@pytest.mark.parametrize(
    ("across", "stays", "moves"),
    [
        ((0x8FFF_7000, 0x200_0000_0000), (0x300_0000_0000,), (PROGRAM, LIBRARY, STACK)),
        ((60 * TIB, 60 * TIB), (60 * TIB, PROGRAM, LIBRARY, STACK), ()),
        ((103 * TIB - 4096, 8192), (PROGRAM, LIBRARY, STACK), (60 * TIB,)),
        ((STACK - 20 * GIB, 19 * GIB), (LIBRARY, STACK), (PROGRAM,)),
    ],
)
def test_a_region_across_zones_holds_them(
    across: tuple[int, int], stays: tuple[int, ...], moves: tuple[int, ...]
) -> None:
    """The shadow of a sanitizer, a reservation of half the space, one in the room that a zone moves into."""
    moved = plan(make_snapshot([across]))
    assert [moved.find_distance(each) for each in stays] == [0] * len(stays)
    assert all(moved.find_distance(each) for each in moves)
    assert moved.said.state == "skipped"
    assert "a region lies across" in (moved.said.reason or "")


def test_what_cannot_move_is_said() -> None:
    """A process of 32 bits, and macOS, of which we do not know where it places memory."""
    small = make_snapshot(process={"range": {"start": 0, "end": 0xFFFF_E000}})
    small.tables = {"regions": make_table([(0x5655_5000, 0x1000), (0xFFF0_0000, 0x1000)])}
    for snapshot in (small, make_snapshot(os="macos")):
        redactor = Redactor(KEY, rebase=True)
        redacted = redactor.redact(snapshot)
        assert redacted.capability[-1].state == "skipped"
        assert list(redactor.unmoved) == [redacted.capability[-1].reason]
        starts = [decode_column(each.tables["regions"], "start") for each in (snapshot, redacted)]
        assert starts[0] == starts[1]


BOTTOM, EXE, NTDLL = 0x1AB_CDEF_0000, 0x7FF6_1234_0000, 0x7FFB_5678_0000


def make_windows() -> Snapshot:
    """Make a snapshot of Windows with an address in every place that it has for one."""
    regions = [(0x7FFE_0000, 0x1000), (BOTTOM, 0x10000), (EXE, 0x10000), (NTDLL, 0x10000)]
    places = [start for start, _ in regions]
    rows = len(places)
    names = Plain("text", [b"Free", b"Image"], "utf-8")
    largest = Plain("uint", [EXE - BOTTOM, 9])

    def numbers(offset: int) -> Plain:
        return Plain("uint", [place + offset for place in places])

    free = [(0, 0x7FFE_0000), (0x7FFE_1000, 0xF000), (0x7FFF_0000, BOTTOM - 0x7FFF_0000)]
    free += [(BOTTOM + 0x10000, EXE - BOTTOM - 0x10000), (EXE + 0x10000, NTDLL - EXE - 0x10000)]
    free += [(NTDLL + 0x10000, 0x7FFF_FFFF_0000 - NTDLL - 0x10000)]
    tables = {
        "regions": make_table(
            regions, State=Plain("uint", [0x1000] * rows), AllocationBase=Plain("uint", places)
        ),
        "allocations": make_table(regions),
        "threads": encode_table(
            {
                name: numbers(0x10)
                for name in ("sp", "ip", "stack_start", "teb", "stack64_start", "StartAddress")
            },
            rows,
        ),
        "modules": encode_table({"low": numbers(0), "high": numbers(0x10000), "base": numbers(0)}, rows),
        "unloaded_modules": encode_table({"low": numbers(0), "high": numbers(0x10000)}, rows),
        "sections": make_table([(place, 0x100) for place in places], module=Plain("uint", [0] * rows)),
        "heaps": encode_table({"id": numbers(0x20), "flags": Plain("uint", [1] * rows)}, rows),
        "heap_blocks": encode_table({"heap": numbers(0x20), "flags": Plain("uint", [1] * rows)}, rows),
        "memory": make_table(regions),
        "files": make_table(regions),
        "free": make_table(free, VmmapType=Plain("text", [b"Free"] * len(free), "utf-8")),
        "totals": encode_table({"name": names, "Largest": largest}, 2),
    }
    process = {
        "pid": 7,
        "start_time": 99,
        "peb": BOTTOM + 0x2000,
        "image_base": EXE,
        "runtimes": [{"name": "coreclr", "base": NTDLL, "version": None}],
        "stat": {"wchan": 0xFFFF_8000_1234_5678},
        "exe": f"C:\\x\\0x{EXE:x}",
    }
    return Snapshot(Capture(host={"os": "windows", "id": "h", "boot_id": "b"}), process, {}, tables)


def test_no_address_of_windows_is_left() -> None:
    """In no fact and no column; KUSER_SHARED_DATA has the same address in every process, and keeps it."""
    snapshot = make_windows()
    redacted = Redactor(KEY, rebase=True).redact(snapshot)
    assert find_leaks(snapshot, redacted) == []
    moved = plan(snapshot)
    assert moved.find_distance(0x7FFE_0000) == 0
    for name in ("low", "high"):
        column = decode_column(redacted.tables["modules"], name)
        assert column == [
            address + moved.find_distance(address - 1)
            for address in decode_column(snapshot.tables["modules"], name)
        ]
    assert "wchan" not in redacted.process["stat"]
    assert decode_column(redacted.tables["totals"], "Largest") == [None, 9]


def test_holes_that_a_source_lists_fit_between_what_was_moved() -> None:
    """They begin where a region ends, end where one begins, and their sum is what it was."""
    snapshot = make_windows()
    redacted = Redactor(KEY, rebase=True).redact(snapshot)
    holes, regions = (
        list(
            zip(*(decode_column(redacted.tables[name], column) for column in ("start", "size")), strict=True)
        )
        for name in ("free", "regions")
    )
    covered = sorted([*holes, *regions])
    assert all(start + size == after for (start, size), (after, _) in pairwise(covered))
    assert covered[0][0] == 0
    assert sum(size for _, size in holes) == sum(decode_column(snapshot.tables["free"], "size"))


def test_libraries_of_windows_move_alike_in_all_processes_of_a_boot() -> None:
    """They are at the same place in each, which many distances would tell; programs are not."""
    one, other, reboot = make_windows(), make_windows(), make_windows()
    other.process["pid"] = 8
    reboot.capture.host["boot_id"] = "c"
    distances = [[plan(each).find_distance(place) for place in (NTDLL, EXE)] for each in (one, other, reboot)]
    assert distances[0][0] == distances[1][0] != distances[2][0]
    assert len({pair[1] for pair in distances}) == 3


def test_a_program_with_fixed_addresses_keeps_its_base() -> None:
    """What is added to the addresses of its file is 0 before and after; that of a library moves with it."""
    snapshot = make_snapshot([(0x400000, 0x1000)])
    columns = {"base": [0, LIBRARY - 0x1000], "low": [0x400000, LIBRARY], "high": [0x401000, LIBRARY + 4096]}
    table = encode_table({name: Plain("uint", values) for name, values in columns.items()}, 2)
    snapshot.tables = {**snapshot.tables, "modules": table}
    redacted = Redactor(KEY, rebase=True).redact(snapshot).tables["modules"]
    distance = plan(snapshot).find_distance(LIBRARY)
    assert decode_column(redacted, "base") == [0, LIBRARY - 0x1000 + distance]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (f"at 0x{LIBRARY:x}, and", "at 0x{moved:x}, and"),
        (f"at {LIBRARY} bytes", "at "),
        ("of 4711 pages, 0x400000", "of 4711 pages, 0x400000"),
        ("[anon:x]7f0000000000", "[anon:x]7f0000000000"),
    ],
)
def test_addresses_in_texts_move_as_well(text: str, pattern: str) -> None:
    """Hex behind 0x is moved; digits that may be an address become a token; other numbers stay."""
    moved = plan(make_snapshot())
    wanted = pattern.format(moved=moved.move(LIBRARY, Kind.ADDRESS))
    changed = moved.move_text(text)
    assert changed.startswith(wanted)
    assert f"{LIBRARY}" not in changed


def test_tables_of_the_whole_system_have_no_addresses() -> None:
    """What would be one there is of no process that we know, and is left out."""
    snapshot = make_snapshot()
    snapshot.capture.tables = {"regions": make_table([(LIBRARY, 4096)])}
    redactor = Redactor(KEY, rebase=True)
    assert "start" not in redactor.redact(snapshot).capture.tables["regions"].columns
    assert redactor.dropped["regions.start"] == 1
