"""What a minidump tells besides its map: modules, threads, machine, process, captured memory."""

from __future__ import annotations

import struct
from uuid import UUID

import pytest
from support.minidump_builder import (
    AMD64,
    ARM64,
    END,
    LINUX,
    SMALL,
    TIME,
    X86,
    DumpBuilder,
    fill_space,
    make_context,
)
from support.minidumps import find_capability, list_rows, open_dump, read_dump

_GUID = UUID("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9")
_RSDS = b"RSDS" + _GUID.bytes_le + struct.pack("<I", 0x2A) + b"C:\\b\\toy.pdb\0"
_THREADS = ("tid", "name", "sp", "ip", "stack_start", "stack_size", "teb")


def _begin(architecture: int = AMD64, platform: int = 2) -> DumpBuilder:
    builder = DumpBuilder()
    builder.system(architecture, platform, "Service Pack 1")
    builder.misc()
    builder.memory_info(fill_space(SMALL, END))
    return builder


def test_machine_process_and_moment() -> None:
    """SystemInfo, MiscInfo and the header, in the words of the snapshot."""
    snapshot = read_dump(_begin().finish())
    host, process = snapshot.capture.host, snapshot.process
    assert (host["os"], host["machine"], host["kernel"], host["version"], host["processors"]) == (
        "windows",
        "AMD64",
        "10.0.19045",
        "Service Pack 1",
        8,
    )
    assert (process["pid"], process["create_time"], process["build"]) == (
        4242,
        TIME - 60,
        "19041.1 (WinBuild)",
    )
    assert (process["bits"], process["page_size"]) == (64, 4096)
    assert snapshot.moment["time_ns"] == TIME * 10**9
    assert process["source"] == {"format": "minidump", "version": "MemoryInfoList", "flags": 0}


@pytest.mark.parametrize("size", [24, 44, 232, 832, 1364])
def test_every_version_of_misc_info(size: int) -> None:
    """Older ones end earlier: what they lack is absent, though a flag says that it is there."""
    builder = DumpBuilder()
    builder.system()
    builder.misc(size=size)
    builder.memory_info(fill_space(SMALL, END))
    process = read_dump(builder.finish()).process
    assert process["pid"] == 4242
    assert ("build" in process) == (size >= 832)


def test_a_pid_that_the_flags_do_not_vouch_for_is_unknown() -> None:
    """Missing is not zero."""
    builder = DumpBuilder()
    builder.system()
    builder.misc(flags=0)
    builder.memory_info(fill_space(SMALL, END))
    snapshot = read_dump(builder.finish())
    assert "pid" not in snapshot.process
    assert find_capability(snapshot, "process") is not None


def test_modules_with_version_and_debug_file() -> None:
    """The build id is GUID and age as symbol servers write them; the first module is the program."""
    builder = _begin()
    name = builder.string("C:\\Programs\\Toy\\toy.exe")
    builder.modules([(0x7FF6_1234_0000, 0x6000, name, _RSDS)])
    snapshot = read_dump(builder.finish())
    assert list_rows(snapshot, "modules") == [
        (
            b"C:\\Programs\\Toy\\toy.exe",
            0x7FF6_1234_0000,
            0x7FF6_1234_6000,
            0x5F000000,
            0x1234,
            b"1.2.3.4",
            b"C:\\b\\toy.pdb",
            _GUID.hex.encode() + b"2a",
        )
    ]
    assert (snapshot.process["exe"], snapshot.process["name"]) == ("C:\\Programs\\Toy\\toy.exe", "toy.exe")


@pytest.mark.parametrize(
    ("record", "platform", "build_id"),
    [
        (b"LEpB" + bytes(range(20)), LINUX, bytes(range(20)).hex().encode()),
        (b"RSDS" + bytes(range(16)) + bytes(4) + b"x\0", LINUX, bytes(range(16)).hex().encode()),
        (b"NB10" + struct.pack("<III", 0, 0x3E000000, 7) + b"old.pdb\0", 2, b"3e0000007"),
        (b"RSDS" + bytes(7), 2, None),
        (b"????" + bytes(40), 2, None),
        (b"", 2, None),
    ],
)
def test_kinds_of_build_ids(record: bytes, platform: int, build_id: bytes | None) -> None:
    """Breakpad has the build id of ELF files, old compilers a time in place of a GUID, some nothing."""
    builder = _begin(platform=platform)
    builder.modules([(0x10000, 0x1000, builder.string("x"), record)])
    assert list_rows(read_dump(builder.finish()), "modules", "build_id") == [(build_id,)]


def test_a_padded_list_of_breakpad() -> None:
    """Breakpad aligns the entries of a list to 8 bytes: 4 bytes stand between count and entries."""
    builder = _begin()
    builder.modules([(0x10000, 0x1000, builder.string("x"), b"")], padding=bytes(4))
    builder.threads([(7, 0, 0, 0, b"")], padding=bytes(4))
    snapshot = read_dump(builder.finish())
    assert list_rows(snapshot, "modules", "low") == [(0x10000,)]
    assert list_rows(snapshot, "threads", "tid") == [(7,)]


def test_names_with_lone_surrogates_are_kept() -> None:
    """A file name of Windows is any sequence of 16-bit units."""
    builder = _begin()
    builder.modules([(0x10000, 0x1000, builder.string("C:\\\ud800.dll"), b"")])
    assert list_rows(read_dump(builder.finish()), "modules", "path") == [(b"C:\\\xed\xa0\x80.dll",)]


def test_unloaded_modules_are_a_table_of_their_own() -> None:
    """What was loaded once explains a hole, and is no module of the process now."""
    builder = _begin()
    builder.unloaded([(0x50000, 0x2000, builder.string("gone.dll"))], entry=32)
    snapshot = read_dump(builder.finish())
    assert list_rows(snapshot, "unloaded_modules", "path", "low", "high") == [(b"gone.dll", 0x50000, 0x52000)]
    assert snapshot.tables["modules"].rows == 0


@pytest.mark.parametrize("architecture", [X86, AMD64, ARM64])
def test_stack_and_instruction_pointer_of_each_processor(architecture: int) -> None:
    """They stand at other places of each CONTEXT."""
    builder = DumpBuilder()
    builder.system(architecture)
    builder.memory_info(fill_space(SMALL[:1], 0x7FFF0000))
    builder.threads([(5, 0x7000, 0x30000, 0x1000, make_context(architecture, 0x30F00, 0x401234))])
    snapshot = read_dump(builder.finish())
    assert list_rows(snapshot, "threads", *_THREADS) == [
        (5, None, 0x30F00, 0x401234, 0x30000, 0x1000, 0x7000)
    ]


def test_a_context_of_another_processor_is_a_fault_and_no_pointer() -> None:
    """A 32-bit context in a dump of x64 would give a pointer made of noise."""
    builder = _begin()
    builder.threads([(5, 0, 0, 0, make_context(X86, 1, 2)), (6, 0, 0, 0, make_context(AMD64, 3, 4))])
    source = open_dump(builder.finish())
    assert list_rows(source.read(0), "threads", "sp", "ip") == [(None, None), (3, 4)]
    assert [fault.what for fault in source.faults] == ["the context of a thread is of another processor"]


def test_names_and_times_of_threads() -> None:
    """Two more lists tell of some threads, and of some that are gone."""
    builder = _begin()
    builder.threads([(5, 0, 0, 0, b""), (6, 0, 0, 0, b"")])
    builder.thread_names([(6, builder.string("worker")), (99, builder.string("gone"))])
    builder.thread_infos([(5, 123456789, 0x7FF612341000), (99, 1, 2)])
    rows = list_rows(read_dump(builder.finish()), "threads", "tid", "name", "CreateTime", "StartAddress")
    assert rows == [(5, None, 123456789, 0x7FF612341000), (6, b"worker", None, None)]


def test_f37_a_64_bit_dump_of_a_32_bit_process() -> None:
    """wow64.dll shows it: the process has 32 bits, the dump and its contexts have 64, and that is said."""
    builder = _begin()
    names = [builder.string(f"C:\\Windows\\{name}") for name in ("a.exe", "System32\\WOW64.dll")]
    builder.modules([(0x10000 * (i + 1), 0x1000, name, b"") for i, name in enumerate(names)])
    builder.threads([(5, 0x7000, 0x30000, 0x1000, make_context(AMD64, 1 << 40, 2))])
    snapshot = read_dump(builder.finish())
    assert (snapshot.process["bits"], snapshot.process["wow64"]) == (32, True)
    assert list_rows(snapshot, "threads", "sp") == [(1 << 40,)]
    assert "32-bit process" in str(find_capability(snapshot, "bits"))


def test_captured_memory_is_listed_and_never_read() -> None:
    """Both lists give ranges; that the memory itself is cut off costs a fault and nothing else."""
    builder = _begin()
    builder.stream(5, struct.pack("<IQIIQII", 2, 0x20000, 0x100, 0, 0x30000, 0x10, 0))
    builder.stream(9, struct.pack("<QQQQ", 1, 0x1000, 0x40000, 1 << 40))
    source = open_dump(builder.finish())
    rows = list_rows(source.read(0), "memory")
    assert rows == [(0x20000, 0x100), (0x30000, 0x10), (0x40000, 1 << 40)]
    what = "the file ends before the memory that Memory64List tells of"
    assert [fault.what for fault in source.faults] == [what]


def test_counters_handles_and_comments() -> None:
    """What Windows counted of the process, how many handles it had, and what procdump wrote."""
    builder = _begin()
    builder.stream(22, struct.pack("<HHI", 2, 0x0F, 77) + struct.pack("<18Q", *range(1, 19)))
    builder.stream(12, struct.pack("<IIII", 16, 40, 147, 0))
    builder.stream(10, b"*** procdump -ma toy\0rest")
    builder.stream(11, "d\xfcmp\0".encode("utf-16-le"))
    builder.stream(
        21,
        struct.pack("<HHIIIIIIQQ", 1, 15, 0, 4096, 9, 1, 9, 65536, 0x10000, 0x7FFFFFFEFFFF).ljust(492, b"\0"),
    )
    snapshot = read_dump(builder.finish())
    counters = snapshot.process["vm_counters"]
    assert (counters["PageFaultCount"], counters["WorkingSetSize"], counters["PrivateUsage"]) == (77, 2, 11)
    assert snapshot.process["handles"] == 147
    assert snapshot.process["comments"] == ["*** procdump -ma toy", "d\xfcmp"]
    assert snapshot.capture.host["highest_user_address"] == 0x7FFFFFFEFFFF


def test_unknown_streams_are_listed() -> None:
    """What we do not read is named with its size, by its number where it has no name."""
    builder = _begin()
    builder.stream(0x12345, b"abcd")
    assert read_dump(builder.finish()).process["streams"]["0x12345"] == 4


def test_what_a_small_dump_lacks_is_said() -> None:
    """Null with a reason: threads, modules, what is resident."""
    snapshot = read_dump(_begin().finish())
    assert find_capability(snapshot, "threads") == ("unavailable", "the dump has no ThreadList")
    assert find_capability(snapshot, "modules") == ("unavailable", "the dump has no ModuleList")
    assert find_capability(snapshot, "working_sets") == (
        "unavailable",
        "a minidump does not say what is resident",
    )
