"""Minidumps that lie: counts, places and sizes that are not true cost one sentence, never memory or time."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mmpscope.formats.errors import CorruptError, FormatError, LimitError, TruncatedError
from support.corpus import find_corpus_file, read_corpus_file
from support.effort import scale
from support.minidump_builder import AMD64, END, SMALL, DumpBuilder, fill_space, make_context, make_small_dump
from support.minidumps import find_capability, list_rows, open_dump

_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
from mmpscope.formats.errors import FormatError, NotASnapshotError
from mmpscope.formats.registry import open_source
for partial in (False, True):
    try:
        source = open_source(sys.argv[1], partial=partial)
        print("rows", source.read(0).tables["regions"].rows)
    except FormatError as error:
        print("refused" if isinstance(error, NotASnapshotError) else type(error).__name__)
"""


def _open_limited(path: Path) -> list[str]:
    """Open a file in a process of 512 MiB, within 10 seconds."""
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(path)], capture_output=True, text=True, timeout=10, check=False
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("huge-counts.dmp", ["LimitError", "LimitError"]),
        ("invalid-range.dmp", ["TruncatedError", "refused"]),
        ("invalid-record-count.dmp", ["TruncatedError", "refused"]),
        ("microdump-is-text.dmp", ["refused", "refused"]),
        ("windows-no-memoryinfo.dmp", ["refused", "refused"]),
        ("win11-x64-memoryinfo.dmp", ["rows 430", "rows 430"]),
        ("linux-maps-stream.dmp", ["rows 35", "rows 35"]),
    ],
)
def test_public_files_within_bounds(name: str, told: list[str]) -> None:
    """Each of them is read or refused in 512 MiB and 10 seconds, with and without --partial."""
    assert _open_limited(find_corpus_file(f"minidump/{name}")) == told


@pytest.mark.parametrize("count", [558, 1 << 24, 1 << 40, (1 << 64) - 1])
def test_a_count_is_checked_before_anything_is_read(count: int) -> None:
    """2^40 regions in a small file are refused at once, with the place; --partial reads what is there."""
    builder = DumpBuilder()
    builder.system()
    at = builder.memory_info(fill_space(SMALL, END), count=count)
    began = time.process_time()
    with pytest.raises(CorruptError) as caught:
        open_dump(builder.finish())
    source = open_dump(builder.finish(), partial=True)
    assert time.process_time() - began < 10
    assert caught.value.offset == at
    assert f"tells of {count:,} entries, and there is room for" in str(caught.value)
    assert source.read(0).tables["regions"].rows == len(SMALL)
    assert (find_capability(source.read(0), "regions") or ("",))[0] == "partial"


@pytest.mark.parametrize(("header", "entry"), [(16, 0), (16, 47), (0, 48), (15, 48), (16, 1 << 31)])
def test_impossible_sizes_of_header_and_entry_are_refused(header: int, entry: int) -> None:
    """An entry of no bytes would be read for ever."""
    builder = DumpBuilder()
    builder.stream(16, struct.pack("<IIQ", header, entry, 3) + bytes(3 * 48))
    with pytest.raises(CorruptError, match="MemoryInfoList has a header of"):
        open_dump(builder.finish())


def test_a_header_beyond_its_stream_leaves_room_for_nothing() -> None:
    """SizeOfHeader may not point out of the stream either."""
    builder = DumpBuilder()
    builder.stream(16, struct.pack("<IIQ", 1 << 31, 48, 1) + bytes(48))
    with pytest.raises(CorruptError, match="room for 0"):
        open_dump(builder.finish())


def _make_rich_dump() -> bytes:
    """A dump with every stream that has a reader."""
    builder = DumpBuilder()
    builder.system(csd="Service Pack 1")
    builder.misc()
    builder.modules([(0x10000, 0x1000, builder.string("C:\\a.exe"), b"RSDS" + bytes(20) + b"a.pdb\0")])
    builder.unloaded([(0x50000, 0x2000, builder.string("gone.dll"))])
    builder.threads([(5, 0x7000, 0x30000, 0x1000, make_context(AMD64, 1, 2))])
    builder.thread_infos([(5, 1, 2)])
    builder.thread_names([(5, builder.string("main"))])
    builder.stream(5, struct.pack("<IQII", 1, 0x20000, 0x10, 0))
    builder.stream(9, struct.pack("<QQQQ", 1, 0x100, 0x40000, 0x10))
    builder.stream(22, struct.pack("<HHI", 2, 0x0F, 77) + bytes(18 * 8))
    builder.stream(12, struct.pack("<IIII", 16, 40, 0, 0))
    builder.stream(10, b"comment\0")
    builder.stream(0x47670009, b"00010000-00011000 r--p 00000000 00:00 0\n")
    builder.stream(0x47670008, struct.pack("<2Q", 6, 4096))
    builder.memory_info(fill_space(SMALL, END))
    return builder.finish()


RICH = _make_rich_dump()


def test_a_cut_dump_is_cut_at_every_byte() -> None:
    """It is refused as cut, and --partial gives what is whole, or says that there is no map left."""
    seen = set()
    for size in range(0, len(RICH), 7):
        with pytest.raises((TruncatedError, FormatError)) as caught:
            open_dump(RICH[:size])
        assert isinstance(caught.value, TruncatedError)
        try:
            source = open_dump(RICH[:size], partial=True)
        except FormatError as error:
            seen.add(type(error).__name__)
            continue
        assert source.faults
        seen.add("opened")
    assert "opened" in seen


@settings(max_examples=scale(300))
@given(st.data())
def test_changed_bytes_cost_at_most_a_sentence(data: st.DataObject) -> None:
    """Whatever a byte, a word or a place is changed to: a FormatError, or a snapshot that can be read."""
    dump = bytearray(RICH)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(dump) - 4))
        value = data.draw(
            st.sampled_from([b"\0", b"\xff", b"\xff" * 4, b"\x01", b"\0" * 4, b"\xff\xff\xff\x7f"])
        )
        dump[at : at + len(value)] = value
    for partial in (False, True):
        try:
            source = open_dump(bytes(dump), partial=partial)
        except FormatError:
            continue
        for table in source.read(0).tables:
            list_rows(source.read(0), table)


@pytest.mark.parametrize(
    ("place", "what"),
    [
        (1 << 31, "the name of a module lies beyond the end of the file"),
        (None, "the name of a module is UTF-16 of an odd number of bytes"),
    ],
)
def test_a_damaged_name_costs_that_name(place: int | None, what: str) -> None:
    """Regions and other modules load, and the fault has its place."""
    builder = DumpBuilder()
    builder.system()
    odd = builder.put(struct.pack("<I", 3) + b"abc")
    builder.modules(
        [(0x10000, 0x1000, odd if place is None else place, b""), (0x20000, 1, builder.string("b"), b"")]
    )
    builder.memory_info(fill_space(SMALL, END))
    source = open_dump(builder.finish())
    assert list_rows(source.read(0), "modules", "path") == [(None,), (b"b",)]
    assert [(fault.what, fault.offset) for fault in source.faults] == [(what, place or odd)]


def test_a_damaged_list_costs_that_list() -> None:
    """A module list of 2^31 entries: no modules, with the reason; the regions are there."""
    builder = DumpBuilder()
    builder.system()
    builder.stream(4, struct.pack("<I", 1 << 31) + bytes(108))
    builder.memory_info(fill_space(SMALL, END))
    source = open_dump(builder.finish())
    snapshot = source.read(0)
    assert snapshot.tables["regions"].rows == len(SMALL)
    state, reason = find_capability(snapshot, "modules") or ("", None)
    assert (state, reason) == ("unavailable", source.faults[0].what)


def test_names_that_overlap_do_not_multiply() -> None:
    """60,000 modules whose names all lie in the same 64 KiB would be gigabytes of text."""
    builder = DumpBuilder()
    builder.system()
    text = builder.put(struct.pack("<I", 60_000) * 16_000)
    packed = b"".join(
        struct.pack("<QIIII", i << 16, 1, 0, 0, text + 4 * (i % 900)) + bytes(84) for i in range(60_000)
    )
    builder.stream(4, struct.pack("<I", 60_000) + packed)
    builder.memory_info(fill_space(SMALL, END))
    source = open_dump(builder.finish())
    assert any("overlap each other" in fault.what for fault in source.faults)
    assert source.read(0).tables["modules"].rows == 60_000


def test_doubled_and_overlapping_streams_are_faults() -> None:
    """The first of two is used; bytes that belong to two streams are told."""
    builder = DumpBuilder()
    builder.system()
    place = builder.memory_info(fill_space(SMALL, END))
    builder.streams.append((16, 16, 32))
    builder.streams.append((0x777, 100, place + 50))
    source = open_dump(builder.finish())
    assert source.read(0).tables["regions"].rows == len(SMALL)
    told = {fault.what for fault in source.faults}
    assert told == {
        "there are two MemoryInfoList streams: the first is used",
        "MemoryInfoList and 0x777 overlap",
    }


def test_unused_and_empty_entries_of_the_directory_are_no_streams() -> None:
    """Writers leave room in the directory, with whatever stands there."""
    builder = DumpBuilder()
    builder.streams.append((0, 1 << 30, 1 << 31))
    builder.streams.append((3, 0, 1 << 31))
    builder.system()
    builder.memory_info(fill_space(SMALL, END))
    assert open_dump(builder.finish()).faults == []


def test_a_directory_of_too_many_streams_is_refused() -> None:
    """No dump has thousands of them."""
    with pytest.raises(LimitError, match="a directory of 100,000 streams"):
        open_dump(DumpBuilder().finish(count=100_000))


def test_a_public_dump_cut_before_its_memory_is_refused() -> None:
    """A public dump cut anywhere before its memory is refused as cut, and never anything else."""
    whole = read_corpus_file("minidump/win11-x64-memoryinfo.dmp")
    for size in range(0, 41_000, 997):
        with pytest.raises(TruncatedError):
            open_dump(whole[:size])
    assert open_dump(whole[:60_000], partial=True).read(0).tables["regions"].rows == 430


def test_a_full_dump_costs_what_its_lists_cost(tmp_path: Path) -> None:
    """A sparse dump of 10 GB opens in 512 MiB and 10 seconds: memory contents are not read."""
    path = tmp_path / "full.dmp"
    builder = DumpBuilder()
    builder.system()
    builder.memory_info(fill_space(SMALL, END))
    builder.stream(9, struct.pack("<QQQQ", 1, 0x10000, 0x10000, 10 << 30))
    path.write_bytes(builder.finish())
    with path.open("r+b") as file:
        file.truncate((10 << 30) + 0x10000)
    assert _open_limited(path) == ["rows 5", "rows 5"]


def test_small_dump_is_small() -> None:
    """The smallest dump with a map is read without a complaint."""
    assert open_dump(make_small_dump()).faults == []
