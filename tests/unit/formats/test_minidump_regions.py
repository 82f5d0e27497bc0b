"""The map of a minidump: every field of MemoryInfoList, copies of /proc/PID/maps, dumps that have neither."""

from __future__ import annotations

import struct

import pytest
from mmpscope.formats.errors import CorruptError, NotASnapshotError
from support.minidump_builder import (
    AMD64,
    END,
    FREE,
    IMAGE,
    LINUX,
    MAPPED,
    PRIVATE,
    RESERVE,
    SMALL,
    X86,
    Block,
    DumpBuilder,
    fill_space,
    make_small_dump,
)
from support.minidumps import find_capability, list_rows, open_dump, read_dump

_FIELDS = ("start", "size", "AllocationBase", "AllocationProtect", "State", "Protect", "Type")
MAPS = (
    b"00400000-00401000 r-xp 00000000 08:01 42                                 /bin/x\n"
    b"00601000-00602000 rw-p 00001000 08:01 42                                 /bin/x\n"
    b"7fffde000000-7fffde021000 rw-p 00000000 00:00 0                          [stack]\n"
    b"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
)


def test_every_field_of_a_region_is_kept_and_free_ranges_are_no_regions() -> None:
    """What VirtualQueryEx said stands in the columns of its own names, padding left out."""
    snapshot = read_dump(make_small_dump())
    expected = [
        (
            b.base,
            b.size,
            b.base if b.allocation is None else b.allocation,
            b.protect,
            b.state,
            b.protect,
            b.type,
        )
        for b in SMALL
    ]
    assert list_rows(snapshot, "regions", *_FIELDS) == expected
    assert snapshot.process["range"] == {"start": 0, "end": END, "source": "MemoryInfoList"}
    assert snapshot.capture.host["allocation_granularity"] == 65536
    assert find_capability(snapshot, "regions") is None


def test_combined_protections_stay_exact() -> None:
    """PAGE_READWRITE with PAGE_GUARD is 0x104, and unknown bits stay as well."""
    values = [0x104, 0x204, 0x40000020, 0x80000001]
    blocks = [Block(0x10000 * (i + 1), 0x10000, protect=value) for i, value in enumerate(values)]
    assert [row[0] for row in list_rows(read_dump(make_small_dump(blocks)), "regions", "Protect")] == values


@pytest.mark.parametrize(("entry", "header"), [(48, 16), (56, 16), (64, 32), (4096, 17)])
def test_later_versions_of_the_list_may_have_more_fields(entry: int, header: int) -> None:
    """SizeOfHeader and SizeOfEntry say where the next entry begins, not our idea of them."""
    builder = DumpBuilder()
    builder.system()
    builder.memory_info(fill_space(SMALL, END), entry=entry, header=header)
    assert list_rows(read_dump(builder.finish())) == list_rows(read_dump(make_small_dump()))


def test_f13_touching_ranges_are_neighbours() -> None:
    """Ends are exclusive: ranges that touch neither overlap nor leave a hole, and none is dropped."""
    blocks = [Block(0x10000 + 0x1000 * i, 0x1000, protect=2 << i % 2) for i in range(100)]
    snapshot = read_dump(make_small_dump(blocks))
    assert [row[0] for row in list_rows(snapshot, "regions", "start")] == [block.base for block in blocks]


def test_f39_addresses_have_64_bits() -> None:
    """An address above 4 GiB is not cut, nor the last one of the space."""
    rows = list_rows(read_dump(make_small_dump()), "regions", "start", "AllocationBase")
    assert (0x7FF6_1234_1000, 0x7FF6_1234_0000) in rows


def test_f38_a_range_that_wraps_ends_nothing() -> None:
    """Base and size beyond 4 GiB of a 32-bit process: that range is left out, and the list is in doubt."""
    blocks = [Block(0x10000, 0xFFFE_0000), Block(0xFFFF_0000, 0x20000)]
    source = open_dump(make_small_dump(blocks, 0, X86))
    snapshot = source.read(0)
    assert list_rows(snapshot, "regions", "start", "size") == [(0x10000, 0xFFFE_0000)]
    assert [fault.what for fault in source.faults] == ["a range goes past the end of the address space"]
    assert find_capability(snapshot, "regions") == (
        "partial",
        "the entries of MemoryInfoList do not follow each other",
    )


def test_f38_the_end_of_2_to_the_64_is_no_overflow() -> None:
    """A last range that ends exactly there is a range, and the end of all of it can be stored."""
    snapshot = read_dump(make_small_dump([Block(0x10000, (1 << 64) - 0x10000)], 0))
    assert snapshot.process["range"]["end"] == (1 << 64) - 1
    assert list_rows(snapshot, "regions", "size") == [((1 << 64) - 0x10000,)]


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (Block(0x30000, 0x10000), "there is a gap between two ranges"),
        (Block(0x18000, 0x10000), "a range begins before the end of another"),
        (Block(0x20000, 0), "a range of no bytes"),
    ],
)
def test_ranges_that_do_not_follow_each_other_are_told(second: Block, what: str) -> None:
    """VirtualQueryEx leaves no gap and no overlap: where there is one, the list is not whole."""
    builder = DumpBuilder()
    builder.system()
    at = builder.memory_info([Block(0, 0x10000, FREE), Block(0x10000, 0x10000), second])
    source = open_dump(builder.finish())
    assert (source.faults[0].what, source.faults[0].offset) == (what, at + 16 + 2 * 48)
    assert (find_capability(source.read(0), "regions") or ("",))[0] == "partial"


def test_addresses_of_32_bits_may_be_sign_extended() -> None:
    """A writer that casts pointers to signed numbers puts 0x80000000 at 0xffffffff80000000."""
    high = 0xFFFF_FFFF_8000_0000
    builder = DumpBuilder()
    builder.system(X86)
    builder.memory_info(
        [Block(0, 0x8000_0000, FREE), Block(high, 0x10000), Block(high + 0x10000, 0x7FFF_0000, FREE)]
    )
    source = open_dump(builder.finish())
    snapshot = source.read(0)
    assert list_rows(snapshot, "regions", "start", "AllocationBase") == [(0x8000_0000, 0x8000_0000)]
    assert snapshot.process["range"]["end"] == 1 << 32
    assert {fault.what.split(";")[0] for fault in source.faults} == {
        "start of 32 bits is sign-extended",
        "AllocationBase of 32 bits is sign-extended",
    }


def _linux(*, text: bytes | None = MAPS, blocks: list[Block] | None = None) -> DumpBuilder:
    builder = DumpBuilder()
    builder.system(AMD64, LINUX, "Linux 6.1.0 x86_64")
    if text is not None:
        builder.stream(0x47670009, text)
    if blocks is not None:
        builder.memory_info(blocks)
    return builder


def test_a_copy_of_maps_is_read_as_the_kernel_wrote_it() -> None:
    """Names, offsets and inodes come along, and the usable range is that of the kernel."""
    snapshot = read_dump(_linux().finish())
    rows = list_rows(snapshot, "regions", "start", "size", "perms", "path")
    assert rows[0] == (0x400000, 0x1000, b"r-xp", b"/bin/x")
    assert len(rows) == 4
    assert snapshot.process["range"]["end"] == 0x7FFF_FFFF_F000
    assert snapshot.process["elf"] == {"class": 64, "machine": "x86_64"}
    assert "allocation_granularity" not in snapshot.capture.host


def test_files_of_proc_are_facts_and_the_environment_is_left_out() -> None:
    """Secrets stand in the environment: that it was there is said, what it was is not kept."""
    builder = _linux()
    builder.stream(0x47670004, b"Name:\ttoy\nPid:\t77\nVmRSS:\t    12 kB\n")
    builder.stream(0x47670005, b'DISTRIB_ID=Toy\nDISTRIB_DESCRIPTION="Toy Linux 1"\n')
    builder.stream(0x47670006, b"toy\0-v\0")
    builder.stream(0x47670007, b"TOKEN=hunter2\0")
    builder.stream(0x47670008, struct.pack("<4Q", 6, 16384, 0, 0))
    builder.stream(
        0x4D7A0003, b"Limit  Soft  Hard  Units\nMax open files            10           unlimited      files\n"
    )
    snapshot = read_dump(builder.finish())
    process = snapshot.process
    assert (process["name"], process["pid"], process["page_size"]) == ("toy", 77, 16384)
    assert process["status"]["VmRSS"] == 12 * 1024
    assert process["cmdline"] == ["toy", "-v"]
    assert process["limits"]["Max open files"] == [10, None, "files"]
    assert snapshot.capture.host["os_release"] == "Toy Linux 1"
    assert find_capability(snapshot, "environ") is not None
    assert "hunter2" not in repr(snapshot)


def _as_blocks(text: bytes) -> list[Block]:
    ranges = [line.split()[0].split(b"-") for line in text.splitlines()]
    return [Block(int(a, 16), int(b, 16) - int(a, 16)) for a, b in ranges]


def test_f34_of_two_maps_the_one_with_names_is_used_and_said() -> None:
    """Both tell of the same regions: no fault, and the capability list says which one it was."""
    snapshot = read_dump(_linux(blocks=_as_blocks(MAPS)).finish())
    assert "perms" in snapshot.tables["regions"].columns
    told = "4 regions of 147,456 bytes"
    expected = ("skipped", f"LinuxMaps is used: {told}; MemoryInfoList: {told}")
    assert find_capability(snapshot, "MemoryInfoList") == expected


def test_f34_two_maps_that_disagree_are_a_fault() -> None:
    """Nothing is preferred in silence."""
    source = open_dump(_linux(blocks=_as_blocks(MAPS)[:3]).finish())
    assert [fault.what.split(":")[0] for fault in source.faults] == ["two maps that disagree"]


def test_f34_a_damaged_map_gives_way_to_the_other() -> None:
    """One of two maps is enough; that the other is damaged is said."""
    source = open_dump(_linux(text=b"no map", blocks=_as_blocks(MAPS)).finish())
    assert "State" in source.read(0).tables["regions"].columns
    assert [fault.what for fault in source.faults] == ["LinuxMaps has no map line"]


def test_on_linux_holes_of_memory_info_are_no_gaps() -> None:
    """Writers for Linux list no free ranges: the range is the kernel's rule, and the list is whole."""
    snapshot = read_dump(_linux(text=None, blocks=_as_blocks(MAPS)[:3]).finish())
    assert snapshot.process["range"]["end"] == 0x7FFF_FFFF_F000
    assert snapshot.tables["regions"].rows == 3
    assert find_capability(snapshot, "regions") is None


def test_a_dump_without_a_map_is_refused_with_advice() -> None:
    """It names what the dump has, and how to take one that helps."""
    builder = DumpBuilder()
    builder.system()
    builder.misc()
    with pytest.raises(NotASnapshotError) as caught:
        open_dump(builder.finish())
    assert "it holds SystemInfo, MiscInfo." in str(caught.value)
    assert "procdump -ma" in str(caught.value)


def test_captured_memory_alone_is_no_map() -> None:
    """A full dump without MemoryInfoList tells what was copied, not what was reserved or free."""
    builder = DumpBuilder()
    builder.system()
    builder.stream(9, struct.pack("<QQQQ", 1, 0, 0x10000, 0x1000))
    with pytest.raises(NotASnapshotError, match="Memory64List lists the memory that was captured"):
        open_dump(builder.finish())


def test_an_empty_list_is_refused() -> None:
    """No entry at all is not an empty address space."""
    builder = DumpBuilder()
    builder.system()
    builder.memory_info([])
    with pytest.raises(CorruptError, match="MemoryInfoList is empty, at byte"):
        open_dump(builder.finish())


def test_reserved_ranges_and_types_are_rows() -> None:
    """Only free ranges are left out."""
    blocks = [
        Block(0x10000, 0x1000, RESERVE, 0, PRIVATE),
        Block(0x20000, 0x1000, 0x1000, 2, MAPPED),
        Block(0x30000, 0x1000, 0x1000, 2, IMAGE),
    ]
    rows = list_rows(read_dump(make_small_dump(blocks)), "regions", "State", "Type")
    assert rows == [(0x2000, 0x20000), (0x1000, 0x40000), (0x1000, 0x1000000)]
