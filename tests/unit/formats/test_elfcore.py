"""ELF cores of every class, byte order and machine, and what a core cannot say."""

from __future__ import annotations

from io import BytesIO

import pytest
from mmpscope.formats.elfcore.reader import open_core
from mmpscope.formats.errors import CorruptError, LimitError, NotASnapshotError, TruncatedError
from mmpscope.formats.mmp.columns import decode_table
from mmpscope.formats.model import Fact, Snapshot
from mmpscope.formats.registry import list_formats
from mmpscope.formats.source import ListedSource
from support.core_builder import (
    EXECUTE,
    READ,
    WRITE,
    CoreFile,
    Region,
    make_auxv,
    make_files,
    make_prstatus,
    make_psinfo,
)
from support.elf_builder import BUILD_ID, ElfFile, make_note

PAGE = 4096
AT_PHDR, AT_PAGESZ, AT_SYSINFO_EHDR = 3, 6, 33
PROGRAM, LIBRARY = 0x400000, 0x7F0000000000


def _open(data: bytes, *, partial: bool = False) -> ListedSource:
    return open_core(BytesIO(data), "x.core", partial=partial)


def _read(data: bytes, *, partial: bool = False) -> Snapshot:
    return _open(data, partial=partial).read(0)


def _rows(snapshot: Snapshot, table: str, *names: str) -> list[tuple[Fact, ...]]:
    columns = decode_table(snapshot.tables[table])
    return list(zip(*(columns[name] for name in names), strict=True))


def _reasons(snapshot: Snapshot) -> dict[str, str | None]:
    return {item.item: item.reason for item in snapshot.capability if item.state != "ok"}


@pytest.mark.parametrize("elf_class", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_core_of_any_class_and_byte_order_is_read(elf_class: int, order: str) -> None:
    """Regions, names, threads and process come out the same whatever the width and order of words."""
    notes = (
        make_prstatus(7, [0x1000 + i for i in range(48)], elf_class=elf_class, order=order, signal=11)
        + make_psinfo(7, b"shop", b"./shop --all", elf_class=elf_class, order=order)
        + make_auxv([(AT_PHDR, 0x400040), (AT_PAGESZ, 16384)], elf_class=elf_class, order=order)
        + make_files([(0x400000, 0x404000, 3, b"/opt/my shop")], elf_class=elf_class, order=order)
    )
    regions = [Region(0x400000, 0x4000, READ | EXECUTE), Region(0x500000, 0x8000)]
    machine = 21 if elf_class == 64 else 20
    snapshot = _read(CoreFile(regions, notes, elf_class, order, machine).build())
    assert _rows(snapshot, "regions", "start", "size", "perms", "offset", "path", "filesz") == [
        (0x400000, 0x4000, b"r-x?", 3 * PAGE, b"/opt/my shop", 0),
        (0x500000, 0x8000, b"rw-?", None, None, 0),
    ]
    assert _rows(snapshot, "threads", "tid", "signal", "sp", "ip") == [(7, 11, 0x1001, 0x1020)]
    process = snapshot.process
    assert (process["name"], process["pid"], process["uid"], process["gid"]) == ("shop", 7, 1000, 1001)
    assert (process["exe"], process["page_size"]) == ("/opt/my shop", 16384)
    assert process["elf"]["byte_order"] == ("little" if order == "<" else "big")
    assert process["elf"]["class"] == elf_class


@pytest.mark.parametrize(
    ("machine", "elf_class", "sp", "ip"),
    [
        (62, 64, 19, 16),
        (3, 32, 15, 12),
        (183, 64, 31, 32),
        (40, 32, 13, 15),
        (20, 32, 1, 32),
        (21, 64, 1, 32),
        (22, 64, 17, 1),
        (243, 64, 2, 0),
        (8, 64, 29, 34),
        (258, 64, 3, 33),
    ],
)
def test_registers_stand_where_the_machine_has_them(machine: int, elf_class: int, sp: int, ip: int) -> None:
    """A stack is found by its stack pointer, so the wrong register would name the wrong stack."""
    notes = make_prstatus(1, list(range(100, 160)), elf_class=elf_class)
    snapshot = _read(CoreFile([Region(PAGE, PAGE)], notes, elf_class, "<", machine).build())
    assert _rows(snapshot, "threads", "sp", "ip") == [(100 + sp, 100 + ip)]


def test_registers_of_an_unknown_machine_are_null_with_a_reason() -> None:
    """A guess at a register is worse than none; thread ids stand at the same place everywhere."""
    snapshot = _read(CoreFile([Region(PAGE, PAGE)], make_prstatus(5, [1, 2]), machine=9999).build())
    assert _rows(snapshot, "threads", "tid", "sp", "ip") == [(5, None, None)]
    assert "not known to this version" in str(_reasons(snapshot)["threads.sp"])


def test_user_ids_of_16_bits_are_read_on_machines_that_have_them() -> None:
    """On i386 the ids in NT_PRPSINFO are half as wide, and everything behind them stands elsewhere."""
    notes = make_psinfo(9, b"old", b"old -v", elf_class=32, short_ids=True)
    process = _read(CoreFile([Region(PAGE, PAGE)], notes, 32, "<", 3).build()).process
    assert (process["uid"], process["gid"], process["pid"], process["name"]) == (1000, 1001, 9, "old")


def test_more_program_headers_than_e_phnum_can_hold() -> None:
    """Above 65,534 the number is in section 0: Elasticsearch and the like map more than that."""
    regions = [Region(PAGE * 2 * index, PAGE) for index in range(1, 70_001)]
    data = CoreFile(regions).build()
    assert _read(data).tables["regions"].rows == 70_000


def test_a_cut_core_tells_its_many_program_headers_by_the_place_of_its_notes() -> None:
    """The kernel writes section 0 last, so a core that a full disk has cut lost it, and nothing else."""
    regions = [Region(PAGE * 2 * index, PAGE) for index in range(1, 66_001)]
    notes = make_psinfo(3, b"big", b"big")
    data = CoreFile(regions, notes).build()
    source = _open(data[:-64])
    assert source.read(0).tables["regions"].rows == 66_000
    assert any("section 0" in fault.what for fault in source.faults)


def test_a_cut_core_loads_whole_and_says_how_many_bytes_are_missing() -> None:
    """Cores are cut by ulimit -c and full disks; the memory map stands first and is all that we need."""
    data = CoreFile([Region(0x10000, 0x4000, data=bytes(0x4000))], make_psinfo(3, b"cut", b"cut")).build()
    source = _open(data[:-0x1234])
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == 1
    assert "regions" not in _reasons(snapshot)
    assert [fault.lost for fault in source.faults] == ["4,660 bytes of data"]


def test_cut_program_headers_are_refused_and_read_with_partial() -> None:
    """Half a memory map looks like a small process: it takes a decision to use it, and it stays marked."""
    data = CoreFile([Region(PAGE * 2 * index, PAGE) for index in range(1, 11)]).build()
    cut = data[: 64 + 56 * 6 + 10]
    with pytest.raises(TruncatedError, match="within its 11 program headers"):
        _open(cut)
    snapshot = _read(cut, partial=True)
    assert snapshot.tables["regions"].rows == 5
    assert _reasons(snapshot)["regions"] == "the program headers are cut"


def test_notes_behind_the_cut_cost_only_themselves() -> None:
    """gdb writes the notes last: a cut core of it still has its memory map."""
    notes = make_prstatus(1, [0] * 30) + make_psinfo(1, b"cut", b"cut")
    data = CoreFile([Region(PAGE, PAGE)], notes).build()
    source = _open(data[: -len(notes) + 8])
    assert source.read(0).tables["regions"].rows == 1
    assert any(fault.what == "the notes are cut" for fault in source.faults)
    assert "process" in _reasons(source.read(0))


def test_a_table_of_files_names_regions_by_overlap() -> None:
    """Files span several PT_LOADs and PT_LOADs several files; nothing is split, and the table is kept."""
    files = [
        (0x10000, 0x14000, 0, b"/a"),
        (0x21000, 0x22000, 5, b"/b"),
        (0x30000, 0x31000, 1, b"/c"),
        (0x31000, 0x32000, 9, b"/d"),
    ]
    regions = [
        Region(0x10000, 0x1000),
        Region(0x11000, 0x3000),
        Region(0x20000, 0x4000),
        Region(0x30000, 0x2000),
        Region(0x50000, 0x1000),
    ]
    snapshot = _read(CoreFile(regions, make_files(files)).build())
    assert _rows(snapshot, "regions", "path", "offset") == [
        (b"/a", 0),
        (b"/a", 0x1000),
        (b"/b", None),
        (b"/c", 0x1000),
        (None, None),
    ]
    assert _rows(snapshot, "files", "start", "size", "offset", "path")[1] == (0x21000, 0x1000, 0x5000, b"/b")


def test_gdb_writes_offsets_in_bytes() -> None:
    """The note says its unit: a page where the kernel wrote it, 1 where gdb did."""
    notes = make_files([(0x10000, 0x11000, 0x7000, b"/a")], page=1)
    snapshot = _read(CoreFile([Region(0x10000, 0x1000)], notes).build())
    assert _rows(snapshot, "regions", "offset") == [(0x7000,)]


def test_a_core_that_a_program_wrote_is_not_taken_for_a_whole_map() -> None:
    """gcore leaves out what it does not dump, text of libraries among it: holes there are no free space."""
    data = CoreFile([Region(0x10000, 0x1000)], sections=3).build()
    reasons = _reasons(_read(data))
    assert "left out regions" in str(reasons["regions"])
    assert "gdb writes every region as readable" in str(reasons["regions.perms"])


def test_files_without_a_region_show_that_regions_are_missing() -> None:
    """The kernel lists each mapping twice, so one that is in the table of files alone was left out."""
    notes = make_files([(0x10000, 0x11000, 0, b"/a"), (0x20000, 0x21000, 0, b"/b")])
    reasons = _reasons(_read(CoreFile([Region(0x10000, 0x1000)], notes).build()))
    assert reasons["regions"] == "1 mappings of files are named but have no PT_LOAD"


def test_vdso_and_gates_are_named_by_their_addresses() -> None:
    """A core has no name for them; a gate that is not known as one would count as memory of the process."""
    notes = make_auxv([(AT_SYSINFO_EHDR, 0x7FFF0000)])
    regions = [Region(0x7FFF0000, 0x2000, READ | EXECUTE), Region(0xFFFFFFFFFF600000, 0x1000, EXECUTE)]
    snapshot = _read(CoreFile(regions, notes).build())
    assert _rows(snapshot, "regions", "path") == [(b"[vdso]",), (b"[vsyscall]",)]
    assert snapshot.process["range"]["end"] < 0xFFFFFFFFFF600000


def test_modules_come_from_the_pages_of_their_headers() -> None:
    """The kernel dumps the first page of each ELF file, and it holds build id and PT_LOAD list."""
    image = ElfFile(
        loads=[(0, 0, 0x1000, 0x1000, READ | EXECUTE), (0x1000, 0x2000, 0x200, 0x900, READ | WRITE)],
        notes=make_note(b"GNU\0", 3, BUILD_ID),
    ).build()
    page = image + bytes(PAGE - len(image))
    regions = [
        Region(LIBRARY, 0x1000, READ | EXECUTE, page),
        Region(LIBRARY + 0x2000, 0x1000, READ | WRITE),
        Region(LIBRARY + 0x10000, 0x1000, READ | EXECUTE),
        Region(LIBRARY + 0x20000, 0x1000, READ),
    ]
    files = [
        (LIBRARY, LIBRARY + 0x1000, 0, b"/usr/lib/liba.so"),
        (LIBRARY + 0x2000, LIBRARY + 0x3000, 1, b"/usr/lib/liba.so"),
        (LIBRARY + 0x10000, LIBRARY + 0x11000, 0, b"/usr/lib/libb.so"),
        (LIBRARY + 0x20000, LIBRARY + 0x21000, 0, b"/usr/share/data"),
    ]
    snapshot = _read(CoreFile(regions, make_files(files)).build())
    assert _rows(snapshot, "modules", "path", "base", "low", "high", "build_id", "reason") == [
        (b"/usr/lib/liba.so", LIBRARY, LIBRARY, LIBRARY + 0x3000, BUILD_ID.hex().encode(), None),
        (
            b"/usr/lib/libb.so",
            None,
            LIBRARY + 0x10000,
            LIBRARY + 0x11000,
            None,
            b"its first page is not in the core",
        ),
    ]
    assert _rows(snapshot, "segments", "module", "vaddr", "memsz") == [(0, 0, 0x1000), (0, 0x2000, 0x900)]


@pytest.mark.parametrize(
    ("kind", "word"), [(1, "object file"), (2, "program"), (3, "library"), (0xFE00, "kind")]
)
def test_a_program_is_refused_in_words(kind: int, word: str) -> None:
    """Someone gives the program instead of its core; `/bin/true` has program headers as well."""
    data = ElfFile(kind=kind, loads=[(0, 0, 4096, 4096, 5)]).build()
    with pytest.raises(NotASnapshotError, match=f"{word}.*, not a core"):
        _open(data)


def test_a_core_with_nothing_in_it_is_refused() -> None:
    """Some dumpers keep the registers only: no map, no answer."""
    with pytest.raises(NotASnapshotError, match="no PT_LOAD"):
        _open(CoreFile([], make_prstatus(1, [0] * 30)).build())


def test_notes_of_another_system_are_said_not_to_be_read() -> None:
    """FreeBSD cores have the same PT_LOADs; its notes have the same numbers and other contents."""
    notes = make_note(b"FreeBSD\0", 1, bytes(200)) + make_note(b"FreeBSD\0", 3, bytes(200))
    snapshot = _read(CoreFile([Region(PAGE, PAGE)], notes, osabi=9).build())
    assert snapshot.capture.host["os"] == "freebsd"
    assert snapshot.tables["regions"].rows == 1
    assert snapshot.tables["threads"].rows == 0
    assert "freebsd" in str(_reasons(snapshot)["threads"])
    assert "range" not in snapshot.process


def test_a_range_beyond_the_address_space_is_left_out_and_counted() -> None:
    """A wrapped range would be everywhere; the other regions stand, and free space is not known any more."""
    regions = [
        Region(0x10000, 0x1000),
        Region((1 << 64) - PAGE, 2 * PAGE),
        Region((1 << 64) - PAGE, 3 * PAGE),
    ]
    source = _open(CoreFile(regions).build())
    assert source.read(0).tables["regions"].rows == 1
    assert [fault.what for fault in source.faults] == [
        "a range ends beyond the address space (2 times, here first)"
    ]
    assert _reasons(source.read(0))["regions"] == "2 program headers are damaged"


def test_regions_that_overlap_are_kept_and_told() -> None:
    """The kernel never writes them, so the core was put together by something else."""
    source = _open(CoreFile([Region(0x10000, 0x2000), Region(0x11000, 0x1000)]).build())
    assert source.read(0).tables["regions"].rows == 2
    assert [fault.what for fault in source.faults] == ["a region overlaps the next one"]


@pytest.mark.parametrize("entry", [0, 1, 55, 57, 0xFFFF])
def test_program_headers_of_another_size_are_refused(entry: int) -> None:
    """With a size of 0 a billion headers fit into any file."""
    with pytest.raises(CorruptError, match="program headers have"):
        _open(CoreFile([Region(PAGE, PAGE)], phentsize=entry).build())


def test_a_huge_number_of_program_headers_is_refused_before_it_is_read() -> None:
    """Section 0 can claim four billion of them in a file of 200 bytes."""
    data = bytearray(CoreFile([Region(PAGE, PAGE)], phnum=0xFFFF, sections=1).build())
    data[-20:-16] = b"\xff\xff\xff\xff"  # sh_info of the one section header
    with pytest.raises(TruncatedError, match="4294967295 program headers"):
        _open(bytes(data))


def test_more_program_headers_than_a_process_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of gigabytes may hold that many; each would cost memory."""
    monkeypatch.setattr("mmpscope.formats.elfcore.headers._MAX_SEGMENTS", 9)
    with pytest.raises(LimitError, match="11 program headers"):
        _open(CoreFile([Region(PAGE * index, PAGE) for index in range(1, 11)]).build())


@pytest.mark.parametrize("count", [3, 1 << 20, 1 << 63])
def test_a_table_of_files_that_claims_too_much_costs_names_only(count: int) -> None:
    """A count is data of a stranger: nothing is allocated by it."""
    notes = make_files([(0x10000, 0x11000, 0, b"/a")], count=count)
    source = _open(CoreFile([Region(0x10000, 0x1000)], notes).build())
    assert source.read(0).tables["regions"].rows == 1
    assert any("table of mapped files is damaged" in fault.what for fault in source.faults)


def test_an_offset_beyond_64_bits_costs_one_name() -> None:
    """Offset times page size is beyond every column type."""
    notes = make_files([(0x10000, 0x11000, 1 << 63, b"/a"), (0x11000, 0x12000, 1, b"/b")])
    snapshot = _read(CoreFile([Region(0x10000, 0x1000), Region(0x11000, 0x1000)], notes).build())
    assert _rows(snapshot, "regions", "path") == [(None,), (b"/b",)]


@pytest.mark.parametrize("content", [b"", b"\0" * 11, b"\xff" * 64], ids=["empty", "short", "huge sizes"])
def test_bad_notes_cost_only_themselves(content: bytes) -> None:
    """Threads and names are worth having, but the memory map does not depend on them."""
    assert _read(CoreFile([Region(PAGE, PAGE)], content).build()).tables["regions"].rows == 1


@pytest.mark.parametrize("step", range(7))
def test_a_core_cut_anywhere_gives_a_format_error_or_a_snapshot(step: int) -> None:
    """Whatever is left of a file, nobody sees a traceback."""
    notes = make_prstatus(1, [0] * 30) + make_psinfo(1, b"a", b"a") + make_auxv([(AT_PAGESZ, 4096)])
    data = CoreFile([Region(PAGE * index, PAGE, data=b"x") for index in range(1, 5)], notes).build()
    for end in range(step, len(data), 7):
        try:
            _open(data[:end], partial=end % 2 == 0)
        except (CorruptError, TruncatedError, NotASnapshotError):
            continue


def test_cores_are_known_by_their_magic() -> None:
    """No other format of ours begins with it, and the name of the file says nothing."""
    data = CoreFile([Region(PAGE, PAGE)]).build()
    known = [known.name for known in list_formats() if known.sniff(data)]
    assert known[0] == "elf-core"
